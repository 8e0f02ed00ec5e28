"""A clock that stands still while the machine does.

Processes may be stopped for minutes, and no server is to blame for that.
"""

import threading
import time

NAP, LONG_NAP = 0.05, 1.0
"""Seconds between two looks at the clock, and from which on nobody but the machine has slept."""


class Pulse:
    """Seconds for which this process has run."""

    def __init__(self) -> None:
        self.lost, self.last = 0.0, time.monotonic()
        threading.Thread(target=self._work, daemon=True).start()

    def now(self) -> float:
        """Return seconds since some moment, without those in which the machine stood still.

        Whoever wakes first after that, and asks before the pulse has beaten, hears of a long nap at most.
        """
        return min(time.monotonic(), self.last + LONG_NAP) - self.lost

    def _work(self) -> None:
        while True:
            time.sleep(NAP)
            now = time.monotonic()
            if now - self.last > LONG_NAP:
                self.lost += now - self.last - NAP
            self.last = now
