"""Jobs for the tests, in a module that worker processes can import."""

import os
import time
from pathlib import Path


def square(x, marks=None, seconds=0.0):
    """Return x squared; leave a mark for each time it was asked to."""
    if marks is not None:
        with Path(marks, f"{x}.mark").open("a") as file:
            file.write("x")
    time.sleep(seconds)
    return {"square": x * x, "process": os.getpid()}


def refuse(x):
    if x % 2:
        raise ValueError(f"{x} is odd")
    return {"half": x // 2}


def die_once(x, marks):
    """Take the whole process down at the first try of 3, as running out of memory would."""
    first = not Path(marks, f"{x}.mark").exists()
    result = square(x, marks)
    if x == 3 and first:
        os._exit(9)
    return result
