"""Waiting for the rows of a stream, while signals may come and readers may go."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ggln.cli import signals

STANDARD_OUTPUT = 1
LONGEST_WAIT = 1e6
"""Milliseconds that are waited for input at a time: a poll cannot be asked for any number of them."""


class Waiting:
    """Waits for input, until a signal says that it is over, or nobody reads the answers any more.

    Meanwhile it keeps the model in its file.
    """

    def __init__(self, every: float) -> None:
        self.every, self.stopped, self.saved = every, False, time.monotonic()
        self.save: Callable[[], None] = lambda: None
        self.wake, self.alarm = os.pipe()
        os.set_blocking(self.alarm, False)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Let signals end the input, and nothing else: a row that is being learnt is learnt."""
        descriptor = signal.set_wakeup_fd(self.alarm)
        try:
            with signals.handled(self._stop):
                yield
        finally:
            signal.set_wakeup_fd(descriptor)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def __call__(self, descriptor: int) -> bool:
        """Wait for bytes to read; return False once it is over."""
        watched = select.poll()
        for number, events in ((descriptor, select.POLLIN), (self.wake, select.POLLIN), (STANDARD_OUTPUT, 0)):
            watched.register(number, events)  # of the output errors are reported, asked for or not
        while not self.stopped:
            self.keep()
            ready = dict(watched.poll(min(1000.0 * self.every, LONGEST_WAIT)))
            self.require_reader(ready.get(STANDARD_OUTPUT, 0))
            if descriptor in ready and not self.stopped:
                return True
        return False

    def require_reader(self, events: int | None = None) -> None:
        """Raise BrokenPipeError if nobody reads the answers any more: further rows are not to be learnt."""
        if events is None:
            output = select.poll()
            output.register(STANDARD_OUTPUT, 0)
            events = dict(output.poll(0)).get(STANDARD_OUTPUT, 0)
        if events & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            raise BrokenPipeError

    def keep(self) -> None:
        """Save the model if it is time to."""
        if time.monotonic() - self.saved >= self.every:
            self.save()
            self.saved = time.monotonic()
