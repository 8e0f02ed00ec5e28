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
        self.lost = 0.0
        threading.Thread(target=self._work, daemon=True).start()

    def now(self) -> float:
        """Return seconds since some moment, without those in which the machine stood still."""
        return time.monotonic() - self.lost

    def _work(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(NAP)
            now = time.monotonic()
            if now - last > LONG_NAP:
                self.lost += now - last - NAP
            last = now
