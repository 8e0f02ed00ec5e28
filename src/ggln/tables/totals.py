"""Rows that sum up others: nearly empty, with a target far beyond. Exports have them at their end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ggln.tables import cells
from ggln.tables.read import Row
from ggln.tables.schema import Encoded, Encoder

BEYOND = 3.0
"""So many lengths of the range of all other targets beyond it: a sum over 20 rows is about 10 away."""
LOOKED_AT = 10
"""Rows with the most extreme targets of a piece that are looked at closely."""


class Totals:
    """Looks for such rows, piece by piece, and keeps the range of all other targets."""

    def __init__(self, encoder: Encoder) -> None:
        self.places, self.targets = encoder.places, encoder.schema.targets
        self.low = np.full(len(self.targets), np.inf)
        self.high = np.full(len(self.targets), -np.inf)

    def find(self, encoded: Encoded) -> list[str]:
        """Return what there is to say about the rows of a piece."""
        known = np.flatnonzero(~np.isnan(encoded.Y).any(axis=1))
        if not known.size:
            return []
        extreme = known
        if known.size > LOOKED_AT:
            Y = encoded.Y[known]
            off = np.abs(Y - np.median(Y, axis=0)).max(axis=1)
            extreme = known[np.argsort(-off, kind="stable")[:LOOKED_AT]]
        empty = sorted(int(i) for i in extreme if self._is_empty(encoded.rows[i]))
        others = np.delete(encoded.Y, empty, axis=0)
        others = others[~np.isnan(others).any(axis=1)]
        if len(others):
            self.low = np.minimum(self.low, others.min(axis=0))
            self.high = np.maximum(self.high, others.max(axis=0))
        return [remark for i in empty if (remark := self._about(encoded.numbers[i], encoded.Y[i]))]

    def _is_empty(self, row: Row) -> bool:
        filled = sum(not cells.is_missing(row[place]) for place in self.places)
        return filled <= 1 and len(self.places) - filled >= 2

    def _about(self, number: int, y: NDArray[np.float64]) -> str | None:
        reach = BEYOND * (self.high - self.low)
        outside: Sequence[int] = np.flatnonzero((y > self.high + reach) | (y < self.low - reach)).tolist()
        if not outside or not np.isfinite(reach).all():
            return None
        d = outside[0]
        return (
            f"row {number}: {self.targets[d]!r} is {y[d]:g}, all others are between {self.low[d]:g} and "
            f"{self.high[d]:g}, and nearly all of its cells are empty: if it is a total, leave it out"
        )
