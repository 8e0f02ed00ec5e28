"""The desk: answers and writes, a group of requests at a time, with one commit for all.

While a group is brought to the disk, others queue up and become the next one. Questions to one model in one
group are asked together, which takes little longer than one of them.

Small requests are done where they come in, in the thread of the event loop: to wake another thread for each
and be woken by it takes longer than to write a row to SQLite. Only the end of their transaction, which waits
for the disk, is left to another thread. Long requests, those that may wait for a compiler, and those whose
log is a network away, have a thread of their own.
"""

import asyncio
import contextlib
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.service import constants
from ggln.service.errors import RefusedError, unavailable
from ggln.service.log.operations import Group
from ggln.service.log.store import Statements, Store

FloatArray = NDArray[np.float64]
logger = logging.getLogger("ggln.service")

Answer = Callable[[FloatArray, Sequence[str]], list[dict[str, Any]]]
Write = Callable[[Group, float, list[dict[str, Any]]], Any]


class Job:
    """A request at the desk.

    write: what is done to the log, with the answers to what is asked; answer: gives them, for rows [n, d] and
    the ids of their events. Jobs with the same `answer` are asked together.
    """

    def __init__(
        self,
        write: Write,
        answer: Answer | None = None,
        rows: FloatArray | None = None,
        events: Sequence[str] = (),
        several: bool = True,
        size: int = 1,
        slow: Callable[[], bool] = lambda: False,
    ) -> None:
        self.write, self.answer, self.rows, self.events = write, answer, rows, events
        self.size, self.slow = size, slow  # in rows, and whether there is something to wait for
        self.several = several  # whether a refusal may come when some of it is written
        self.answers: list[dict[str, Any]] = []
        self.answered = answer is None
        self.result: Any = None
        self.error: BaseException | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.future: Any = None

    def settle(self) -> None:
        """Tell whoever waits; a client that has gone away does not."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Desk:
    """Takes jobs and does them in groups."""

    def __init__(self, store: Store, committed: Callable[[int, int], None]) -> None:
        self.store, self.committed = store, committed
        self.jobs: deque[Job] = deque()
        self.small: list[Job] = []  # of the loop
        self.committing = self.scheduled = False
        self.committer = ThreadPoolExecutor(1, "ggln-commit")
        self.arrived = threading.Condition()
        self.open = True
        self.thread = threading.Thread(target=self._work, name="ggln-desk", daemon=True)
        self.thread.start()

    def submit(self, job: Job) -> "asyncio.Future[Any]":
        """Take a job from a coroutine, which waits for what is returned."""
        job.loop = loop = asyncio.get_running_loop()
        job.future = loop.create_future()
        if self.store.shared or job.size > constants.SMALL_ROWS or not self.open:
            self._queue(job)
        else:
            self.small.append(job)
            if not self.scheduled:  # when all who are about to come are here
                self.scheduled = True
                loop.call_soon(loop.call_soon, self._do_small)
        return job.future  # type: ignore[no-any-return]

    def _do_small(self) -> None:
        """Do the small jobs that have come in; those that have to wait are done in the other thread.

        While the disk is busy with those before, questions can be answered already.
        """
        self.scheduled = False
        jobs, self.small = self.small, []
        for job in jobs:
            if job.slow() and not job.answered:
                self._queue(job)
            else:
                self.small.append(job)
        try:
            self._answer(self.small)
        except Exception:
            self._queue_small()  # where each is done alone, and says what is wrong
        if self.small and not self.committing:
            if self.store.busy():  # the loop cannot wait
                self._queue_small()
            else:
                self._write_small()

    def _write_small(self) -> None:
        """Write what the small jobs have to write, but for the wait for the disk."""
        transaction = self.store.writing()
        jobs = self.small
        try:
            statements = transaction.__enter__()
        except Exception:
            self._queue_small()
            return
        try:
            last = self._write(statements, jobs)
        except Exception:
            with contextlib.suppress(Exception):
                transaction.__exit__(*sys.exc_info())
            self._queue_small()
            return
        self.small = []
        self.committing = True
        loop = asyncio.get_running_loop()
        self.committer.submit(self._commit, transaction, jobs, last, loop)

    def _commit(
        self,
        transaction: AbstractContextManager[Statements],
        jobs: list[Job],
        last: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Wait for the disk, in a thread for that alone."""
        try:
            transaction.__exit__(None, None, None)
            self.committed(last, len(jobs))
        except Exception as error:
            for job in jobs:
                job.error = job.error or error
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(self._done_small, jobs)

    def _done_small(self, jobs: list[Job]) -> None:
        """Tell those who wait, and go on with those who have come meanwhile."""
        self.committing = False
        _settle_all(jobs)
        if self.small:
            self._do_small()

    def call(self, job: Job) -> Any:
        """Take a job from another thread, and wait for it."""
        job.future = Future()
        self._queue(job)
        return job.future.result()

    def _queue(self, job: Job) -> None:
        job.error = None  # of a try before
        with self.arrived:
            if not self.open:
                raise unavailable("the service is shutting down")
            self.jobs.append(job)
            self.arrived.notify()

    def _queue_small(self) -> None:
        """Leave the small jobs to the other thread."""
        jobs, self.small = self.small, []
        for job in jobs:
            self._queue(job)

    def close(self) -> None:
        """Finish what has been taken, and stop."""
        with self.arrived:
            self.open = False
            self.arrived.notify()
        self.committer.shutdown()
        self.thread.join()

    # The thread ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self.arrived:
                while not self.jobs and self.open:
                    self.arrived.wait()
                if not self.jobs:
                    return
                group = [self.jobs.popleft() for _ in range(min(len(self.jobs), constants.GROUP_REQUESTS))]
            self._do(group)
            self._settle(group)

    def _do(self, jobs: list[Job]) -> None:
        """Do jobs with one commit; where something unforeseen happens, each alone."""
        try:
            self._answer(jobs)
            with self.store.writing() as statements:
                last = self._write(statements, jobs)
        except Exception as error:
            if len(jobs) > 1 and not isinstance(error, RefusedError):
                for job in jobs:
                    job.error = None
                    self._do([job])
                return
            if not isinstance(error, RefusedError):
                logger.exception("a request failed")
            for job in jobs:
                job.error = job.error or error
            return
        self.committed(last, len(jobs))

    def _answer(self, jobs: list[Job]) -> None:
        """Ask each model once for all rows of the group."""
        asked: dict[Any, list[Job]] = {}
        for job in jobs:
            if not job.answered:
                asked.setdefault(job.answer, []).append(job)
        for answer, own in asked.items():
            rows = [job.rows for job in own if job.rows is not None]
            answers = answer(np.concatenate(rows), [event for job in own for event in job.events])
            for job in own:
                job.answers, answers = answers[: len(job.events)], answers[len(job.events) :]
                job.answered = True

    def _write(self, statements: Statements, jobs: list[Job]) -> int:
        """Write jobs within one transaction; return the last number of the log."""
        now, group = time.time(), Group(statements)
        for job in jobs:
            mark = len(group.rows), len(group.events), group.last
            if job.several:
                statements.run("SAVEPOINT job")
            try:
                job.result = job.write(group, now, job.answers)
            except RefusedError as error:
                job.error = error
                group.last = mark[2]
                del group.rows[mark[0] :], group.events[mark[1] :]
                if job.several:
                    statements.run("ROLLBACK TO SAVEPOINT job")
            if job.several:
                statements.run("RELEASE SAVEPOINT job")
        group.flush()
        return group.last

    def _settle(self, jobs: list[Job]) -> None:
        """Tell all who wait, those of a loop at once."""
        loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
        for job in jobs:
            if job.loop is None:
                job.settle()
            else:
                loops.setdefault(job.loop, []).append(job)
        for loop, own in loops.items():
            try:
                loop.call_soon_threadsafe(_settle_all, own)
            except RuntimeError:  # the loop has ended, and nobody waits
                logger.info("the answers to %d requests were not waited for", len(own))


def _settle_all(jobs: list[Job]) -> None:
    for job in jobs:
        job.settle()
