"""Bringing data to [-1, 1], column by column, and the noise in both units."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SCALING = 11  # stream of random numbers: the noise that widens the range
CONSTANT = 1e-9
"""A column whose range is below this fraction of its size is constant, and is scaled by its size instead."""

LEAST_NOISE = 1e-6
"""Noise of less than this part of half the range counts as so much: its square would vanish beside others."""


class Range(NamedTuple):
    """The affine map of each column: user = middle + half * scaled."""

    middle: FloatArray  # [D]
    half: FloatArray  # [D]
    spread: float  # root mean square deviation of the scaled columns

    def to_scaled(self, rows: FloatArray) -> FloatArray:
        """Return rows [n, D] in units in which the data fill [-1, 1]."""
        scaled: FloatArray = (rows - self.middle) / self.half
        return scaled

    def to_user(self, scaled: FloatArray) -> FloatArray:
        """Return rows [n, D] in the user's units."""
        rows: FloatArray = self.middle + self.half * scaled
        return rows

    def noise(self, level: float, unit: str) -> FloatArray:
        """Return the noise's deviation in each scaled column: isotropic in the unit that it is given in."""
        if unit == "data":
            return np.maximum(level / self.half, LEAST_NOISE)
        return np.full(self.half.size, level * self.spread)


def find_range(rows: FloatArray, widened_by: float | None, seed: int) -> Range:
    """Return the range of rows [n, D], or of rows with noise of deviation `widened_by` (the MNIST rule)."""
    seen = rows
    if widened_by is not None:
        random = np.random.default_rng([seed, SCALING])
        seen = rows + widened_by * random.standard_normal(rows.shape)
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    size = np.maximum(np.abs(low), np.abs(high))
    half = np.where(half > CONSTANT * size, half, np.where(size > 0, size, 1.0))
    deviations: Any = ((rows - middle) / half).std(axis=0)
    spread = float(np.sqrt(np.mean(deviations**2)))
    return Range(middle, half, spread if spread > 0 else 1.0)
