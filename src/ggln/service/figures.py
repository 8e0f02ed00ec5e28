"""What a model's life looks like so far: sums, a curve over all rows, the latest events one by one.

Figures are learnt with the model, event by event in the order of the log, and saved with it. So they, too,
are a function of the log.
"""

import json
import math
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from ggln.service import constants


class Curve:
    """Sums over as many rows each, of which there are never more than some hundred.

    points: rows and sums of each; the last may still grow.
    """

    def __init__(self, sums: int) -> None:
        self.sums, self.width = sums, 1
        self.points: list[list[float]] = []

    def add(self, values: Sequence[float]) -> None:
        """Add a row."""
        if self.points and self.points[-1][0] < self.width:
            last = self.points[-1]
            last[0] += 1
            for i, value in enumerate(values, 1):
                last[i] += value
            return
        if len(self.points) == constants.POINTS:
            pairs = zip(self.points[::2], self.points[1::2], strict=True)
            self.points = [[a + b for a, b in zip(one, other, strict=True)] for one, other in pairs]
            self.width *= 2
        self.points.append([1, *values])

    def means(self) -> list[list[float]]:
        """Return how many rows there were at the end of each point, and the means within it."""
        found, rows = [], 0
        for count, *sums in self.points:
            rows += int(count)
            found.append([rows, *(value / count for value in sums)])
        return found


class Figures:
    """Figures of a model, by names that a kind of model gives them.

    totals: sums over all rows that were judged; bins: counts for calibration; recent: the latest events;
    brief: the places of their fields that only those have which are shown one by one.
    """

    def __init__(self, totals: Sequence[str], bins: int, curve: int, brief: Sequence[int] = ()) -> None:
        self.rows = 0  # learnt
        self.judged = 0  # of which so many were predicted before
        self.totals = dict.fromkeys(totals, 0.0)
        self.bins = [[0, 0] for _ in range(bins)]
        self.curve = Curve(curve)
        self.recent: deque[list[Any]] = deque(maxlen=constants.RECENT)
        self.brief = brief
        self.lock = threading.Lock()  # for whoever looks on while events are added

    def add(
        self, totals: Sequence[float], curve: Sequence[float], own: int, right: bool, recent: list[Any]
    ) -> None:
        """Add an event that was predicted before it was learnt; own: the bin that it falls into."""
        with self.lock:
            self.judged += 1
            for name, value in zip(self.totals, totals, strict=True):
                self.totals[name] += value
            self.bins[own][0] += 1
            self.bins[own][1] += int(right)
            self.curve.add(curve)
            self.recent.append(recent)
            if self.brief and len(self.recent) > constants.SHOWN:
                for place in self.brief:
                    self.recent[-constants.SHOWN - 1][place] = None

    def latest(self, count: int | None = None) -> list[list[Any]]:
        """Return the latest events, the last one at the end."""
        with self.lock:
            found = list(self.recent)
        return found if count is None else found[-count:]

    def mean(self, name: str) -> float | None:
        """Return the mean of what was summed; None where there is nothing yet."""
        return self.totals[name] / self.judged if self.judged else None

    def state(self) -> dict[str, Any]:
        """Return all as plain values, to be saved; sums are the first of them (`sums_of`)."""
        return {
            "rows": self.rows,
            "judged": self.judged,
            "totals": self.totals,
            "bins": self.bins,
            "width": self.curve.width,
            "points": self.curve.points,
            "recent": list(self.recent),
        }

    def restore_sums(self, state: dict[str, Any]) -> None:
        """Take over rows and totals."""
        self.rows, self.judged, self.totals = state["rows"], state["judged"], state["totals"]

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.restore_sums(state)
        self.bins = state["bins"]
        self.curve.width, self.curve.points = state["width"], state["points"]
        self.recent = deque(state["recent"], maxlen=constants.RECENT)


ENCODER = json.JSONEncoder(allow_nan=False)


def json_of(value: Any) -> str:
    """Return a value as JSON, in which numbers that it cannot hold are null."""
    try:
        return ENCODER.encode(value)
    except ValueError:
        return ENCODER.encode(_finite(value))


def _finite(value: Any) -> Any:
    """Return a value of JSON with None for what is infinite or no number."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def sums_of(text: str) -> dict[str, Any]:
    """Return rows, judged rows and totals from the beginning of a state in JSON, which may be long."""
    head, _, _ = text.partition(', "bins"')
    found: dict[str, Any] = json.loads(f"{head}}}")
    return found
