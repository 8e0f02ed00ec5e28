"""Requests that take too long are ended: all are looked at now and then, as a timer for each costs more."""

import asyncio

from ggln.service import constants


class Deadlines:
    """The requests under way, each a task, and when they have to be answered.

    late: those that were ended, until they have noticed.
    """

    def __init__(self) -> None:
        self.until: dict[asyncio.Task[object], float] = {}
        self.late: set[asyncio.Task[object]] = set()
        self.looking = False

    def begin(self) -> "asyncio.Task[object]":
        """Note the request of the current task, and return it."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self.until[task] = loop.time() + constants.REQUEST_SECONDS
        if not self.looking:
            self.looking = True
            loop.call_later(constants.LATE_SECONDS, self._look, loop)
        return task

    def end(self, task: "asyncio.Task[object]") -> None:
        """Forget a request that is answered."""
        del self.until[task]
        self.late.discard(task)

    def is_late(self, task: "asyncio.Task[object]") -> bool:
        """Return whether a task was cancelled because it took too long; from then on it is not cancelled."""
        if task not in self.late:
            return False
        task.uncancel()
        return True

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel what is late, as long as there is anything under way."""
        now = loop.time()
        for task, until in self.until.items():
            if until < now and task not in self.late:
                self.late.add(task)
                task.cancel()
        self.looking = bool(self.until)
        if self.looking:
            loop.call_later(constants.LATE_SECONDS, self._look, loop)
