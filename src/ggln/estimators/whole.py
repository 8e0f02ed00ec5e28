"""Learning that is done as a whole or not at all, by one thread at a time.

A learner changes many arrays for each row. An exception in between, such as the one of Ctrl-C, would leave it
between two rows. So signals wait until a part of the rows is learnt; and where a part takes long, because all
is solved afresh, a copy learns it, which takes the learner's place when it is done.
"""

import _signal  # type: ignore[import-not-found]  # `signal` looks up names of handlers, for 10 us
import copy
import functools
import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

PART = 1024
"""Rows that are learnt between two looks at signals: about a tenth of a second."""
SIGNALS = [
    int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)
]
"""Signals that may come with an exception, if somebody handles them so."""

Method = TypeVar("Method", bound=Callable[..., Any])

_locks: "WeakKeyDictionary[Any, threading.RLock]" = WeakKeyDictionary()
_making = threading.Lock()


def lock_of(estimator: Any) -> "threading.RLock":
    """Return the lock of whoever lets an estimator learn; its copies and its files know nothing of it."""
    found = _locks.get(estimator)
    if found is None:
        with _making:
            found = _locks.setdefault(estimator, threading.RLock())
    return found


Handler = Callable[[int, FrameType | None], object]


def _take_over(hear: Handler) -> dict[int, Handler]:
    """Let one handler hear all signals; return whose they were. They come to the main thread alone."""
    handlers: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            handler = _signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                _signal.signal(number, hear)
    return handlers


def _give_back(handlers: dict[int, Handler]) -> None:
    for number, handler in handlers.items():
        _signal.signal(number, handler)


class Uninterrupted:
    """Lets signals wait."""

    def __enter__(self) -> Self:
        self._came: tuple[int, FrameType | None] | None = None
        self._handlers = _take_over(self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = number, frame

    def __exit__(self, *exception: object) -> None:
        _give_back(self._handlers)
        if self._came is not None:
            self._handlers[self._came[0]](*self._came)


class Interruptible:
    """Lets signals come at any time, with the exception of their handlers and no other.

    Compiled code that calls Python may swallow what is raised there, or end with an exception of its own.
    """

    def __enter__(self) -> Self:
        self._raised: BaseException | None = None
        self._handlers = _take_over(self._pass_on)
        return self

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        try:
            self._handlers[number](number, frame)
        except BaseException as error:
            self._raised = error
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        _give_back(self._handlers)
        if self._raised is not None and error is not self._raised:
            raise self._raised


def whole(method: Method) -> Method:
    """Return a method of an estimator that is done as a whole, by one thread at a time; it must be short."""

    @functools.wraps(method)
    def done(self: Any, *arguments: Any, **options: Any) -> Any:
        with lock_of(self), Uninterrupted():
            return method(self, *arguments, **options)

    return cast("Method", done)


def learn_part(
    learner: Any, rows: int, lesson: Callable[[Any], Any], keep: Callable[[Any], object]
) -> tuple[Any, Any]:
    """Let a learner take a lesson of so many rows; return who has taken it, and what it said.

    keep: takes over whoever has learnt. Whatever happens, all is as it was before or as it is afterwards.
    """
    if learner.solves_within(rows):
        with Interruptible():
            learner = copy.deepcopy(learner)
            found = lesson(learner)
        with Uninterrupted():
            keep(learner)
        return learner, found
    with Uninterrupted():
        found = lesson(learner)
        keep(learner)
    return learner, found


def parts(rows: int) -> Iterator[slice]:
    """Yield so many rows in parts."""
    for start in range(0, rows, PART):
        yield slice(start, min(start + PART, rows))


def stretches(counted: NDArray[np.bool_]) -> Iterator[slice]:
    """Yield rows in parts of which all rows count, or none."""
    turns = np.flatnonzero(np.diff(counted)) + 1
    for start, stop in itertools.pairwise([0, *turns.tolist(), counted.size]):
        for own in parts(stop - start):
            yield slice(start + own.start, start + own.stop)
