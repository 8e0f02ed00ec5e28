"""Measuring in processes of their own: memory that was given back still counts in the peak of a process."""

import multiprocessing
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ggln.reproduction.shared.record import Results

MEGABYTE = 2**20


def alone(function: Callable[..., Results], *arguments: Any) -> Results:
    """Return what a function of a module returns in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def peak() -> float:
    """Return the most memory that this process has held, in bytes."""
    try:
        # On Linux, what `getrusage` tells of a new process begins with the peak of the one that started it.
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
