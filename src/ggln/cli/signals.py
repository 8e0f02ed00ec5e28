"""Signals that ask a command to end: it says so, and where it can, it first saves what was learnt."""

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

Piece = TypeVar("Piece")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and a terminal or a connection that is gone."""


class StoppedError(BaseException):
    """A signal other than Ctrl-C asked the command to end; as with that one, nothing else may catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = signal.Signals(number)


def stop(number: int, *_: object) -> NoReturn:
    """Raise what a signal stands for."""
    raise KeyboardInterrupt if number == signal.SIGINT else StoppedError(number)


class Ending:
    """Ends a command by an exception, and remembers the signal.

    An exception that is raised in the middle of somebody else's import, callback or destructor may be
    swallowed or turned into another one. What the command then fails with is a consequence of the signal.
    """

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None

    def __call__(self, number: int, *_: object) -> NoReturn:
        """Raise what the signal stands for."""
        self.asked = signal.Signals(number)
        stop(number)


def heard() -> list[signal.Signals]:
    """Return the signals that end a command; `nohup` and a shell's background ask not to hear some."""
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def handled(handler: object) -> Iterator[None]:
    """Let a handler have the signals that end a command."""
    before = {number: signal.signal(number, handler) for number in heard()}  # type: ignore[arg-type]
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


class SignalledPieces:
    """Hands over pieces of work; a signal is heard between two of them, when the work is whole.

    A second signal does not wait for that. `between` says whether the work was whole when it ended.
    """

    def __init__(self) -> None:
        self.pending: int | None = None
        self.between = False

    def _hear(self, number: int, *_: object) -> None:
        if self.between or self.pending is not None:
            stop(number)
        self.pending = number

    def __call__(self, pieces: Iterator[Piece]) -> Generator[Piece, None, None]:
        """Give the pieces one by one."""
        with handled(self._hear):
            while True:
                self.between = True
                if self.pending is not None:
                    stop(self.pending)
                try:
                    piece = next(pieces)
                except StopIteration:
                    return
                self.between = False
                yield piece
