"""Numbers that were measured with several seeds."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Mean(NamedTuple):
    """A mean over seeds, and its standard error; None for a single seed."""

    mean: float
    error: float | None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.error is None else f"{self.mean:.3f} ± {self.error:.3f}"


def average(values: Iterable[float]) -> Mean:
    """Return the mean of values, one for each seed."""
    found = np.array(list(values))
    error = float(found.std(ddof=1) / np.sqrt(found.size)) if found.size > 1 else None
    return Mean(float(found.mean()), error)
