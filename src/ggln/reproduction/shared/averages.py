"""Numbers that were measured several times, with other seeds or on other rows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Mean(NamedTuple):
    """A mean over seeds, and its standard error; None for a single seed."""

    mean: float
    error: float | None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.error is None else f"{self.mean:.3f} ± {self.error:.3f}"


def average(values: Iterable[float]) -> Mean:
    """Return the mean of values, one for each seed."""
    found = list(values)
    return Mean(float(np.mean(found)), standard_error(found))


def standard_error(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the standard error of a mean; None for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
