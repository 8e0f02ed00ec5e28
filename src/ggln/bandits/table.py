"""Tables from which contexts are drawn."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

BLOCK = 1 << 16
"""Rows that are made floating-point numbers at a time."""


class Table:
    """Rows of numbers, standardised when they are asked for: a large table of bytes stays one.

    Parameters
    ----------
    values : array of shape (rows, features)
        Any numbers.
    name : str
        What an error calls them.
    """

    def __init__(self, values: ArrayLike, name: str) -> None:
        self.values: NDArray[Any] = np.asarray(values)
        if self.values.ndim != 2 or 0 in self.values.shape:
            raise ValueError(f"{name} must have rows and columns, got an array of shape {self.values.shape}")
        if self.values.dtype.kind not in "biuf":
            raise ValueError(f"{name} must be numbers, got {self.values.dtype}: encode categories one-hot")
        self.mean: FloatArray = self.values.mean(axis=0, dtype=np.float64)
        squares = np.zeros(self.values.shape[1])
        for first in range(0, len(self.values), BLOCK):
            squares += ((self.values[first : first + BLOCK] - self.mean) ** 2).sum(axis=0)
        if not np.isfinite(squares).all():
            raise ValueError(f"{name} must be finite: drop the rows with NaN or infinity")
        self.spread = np.sqrt(squares / len(self.values))
        self.spread[self.spread == 0.0] = 1.0  # a constant feature becomes 0

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return some rows with the mean 0 and the deviation 1 that all rows have."""
        standard: FloatArray = (self.values[rows] - self.mean) / self.spread
        return standard
