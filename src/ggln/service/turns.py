"""Turns at a model: whoever answers and whoever learns, one at a time."""

import threading
from types import TracebackType
from typing import Self


class Turns:
    """A lock that nobody can keep for himself by asking for it again at once.

    Whoever waits for the lock stands at a gate, and the next one waits outside of it. So a learner that goes
    on and on lets one in who answers after each part of its lesson.
    """

    def __init__(self) -> None:
        self._gate, self._turn = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        with self._gate:
            self._turn.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.release()

    @property
    def taken(self) -> bool:
        """Whether somebody has it now, so that others would have to wait."""
        return self._turn.locked() or self._gate.locked()
