"""Decisions of one arm that are kept."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Rows(NamedTuple):
    """Contexts, what they paid, and how much each counts."""

    contexts: FloatArray  # [n, d]
    rewards: FloatArray  # [n]
    weights: FloatArray  # [n]

    @classmethod
    def none(cls, features: int) -> "Rows":
        """Return no rows."""
        return cls(np.empty((0, features)), np.empty(0), np.empty(0))

    def appended(self, context: FloatArray, reward: float, weight: float) -> "Rows":
        """Return these rows and a further one."""
        return join([self, Rows(context[None], np.array([reward]), np.array([weight]))])

    def latest(self, count: int) -> "Rows":
        """Return the latest rows, so many at most."""
        return Rows(*(array[-count:] for array in self))

    def counting_as(self, rows: float) -> "Rows":
        """Return the rows with weights that add up to at most so many rows."""
        return self._replace(weights=self.weights * min(1.0, rows / self.weights.sum()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()


def join(parts: list[Rows]) -> Rows:
    """Return all rows, one part after the other."""
    return Rows(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
