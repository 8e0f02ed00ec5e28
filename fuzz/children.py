"""The command `ggln` in a process that is forked: all it needs is imported and compiled already."""

import contextlib
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

BEYOND = 4 << 30
"""Bytes that a child may ask for: the machine has to go on."""
HUNG = 1000


class Ended(NamedTuple):
    """How a command ended."""

    code: int  # minus the signal that ended it; HUNG if it had to be killed
    output: bytes
    errors: str
    seconds: float
    memory: int  # bytes that it took, those that it began with among them


def run(
    arguments: Sequence[str],
    given: bytes,
    folder: Path,
    patience: float,
    end: tuple[signal.Signals, float] | None = None,
) -> Ended:
    """Run a command in a folder; end: a signal that it gets, and after how many seconds."""
    places = [folder.parent / name for name in ("stdin", "stdout", "stderr")]
    places[0].write_bytes(given)
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(arguments, places, folder)
    watched = select.poll()
    descriptor = os.pidfd_open(child)
    watched.register(descriptor, select.POLLIN)
    if end is not None and not watched.poll(1000.0 * end[1]):
        os.kill(child, end[0])
    hung = not watched.poll(1000.0 * patience)
    if hung:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    os.close(descriptor)
    code = HUNG if hung else os.waitstatus_to_exitcode(status)
    text = places[2].read_bytes().decode("utf-8", "surrogateescape")
    return Ended(code, places[1].read_bytes(), text, time.monotonic() - begun, 1024 * used.ru_maxrss)


def _become(arguments: Sequence[str], places: Sequence[Path], folder: Path) -> NoReturn:
    """Be the command, with standard streams of its own, to the end."""
    code = 70
    try:
        flags = [os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2]
        for number, (place, flag) in enumerate(zip(places, flags, strict=True)):
            os.dup2(os.open(place, flag, 0o600), number)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (own + BEYOND, own + BEYOND))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        sys.argv = ["ggln", *arguments]
        from ggln import cli

        cli.run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:  # before the command hears signals, or after it
        code = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        os._exit(code)
