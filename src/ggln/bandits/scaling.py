"""Rewards scaled to [0, 1], as the published totals of the bandits imply."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Clip:
    """Rewards between two percentiles of all arms' rewards in an episode go to [0, 1], others to its ends.

    Parameters
    ----------
    percentile : float
        In [0, 50); the other one is as far from 100. 0 takes the least and the greatest reward.

    Examples
    --------
    >>> import numpy as np
    >>> rewards = np.arange(11.0)
    >>> Clip(0).scale(rewards)(rewards)[:3]
    array([0. , 0.1, 0.2])
    >>> Clip(20).scale(rewards)(rewards)[:5]
    array([0.  , 0.  , 0.  , 0.1667, 0.3333])
    """

    percentile: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.percentile < 50.0:
            raise ValueError(
                f"percentile must be at least 0 and less than 50, got {self.percentile}: 0 clips nothing"
            )

    def scale(self, rewards: FloatArray) -> "Scale":
        """Return the scale that the rewards of an episode give."""
        low, high = np.percentile(rewards, [self.percentile, 100.0 - self.percentile])
        if high == low:  # one reward for all arms at all times: it becomes 1/2
            return Scale(low - 0.5, high + 0.5)
        return Scale(float(low), float(high))


class Scale(NamedTuple):
    """From rewards as they are to [0, 1]."""

    low: float
    high: float

    def __call__(self, rewards: FloatArray) -> FloatArray:
        """Return the rewards, scaled and clipped."""
        scaled: FloatArray = np.clip((rewards - self.low) / (self.high - self.low), 0.0, 1.0)
        return scaled

    def expected(self, mean: FloatArray, deviation: FloatArray) -> FloatArray:
        """Return the mean of Gaussian rewards after scaling and clipping.

        With a = (low - m) / s and b = (high - m) / s, E clip(x, low, high) is
        low Φ(a) + high (1 - Φ(b)) + m (Φ(b) - Φ(a)) + s (φ(a) - φ(b)).
        """
        a, b = (self.low - mean) / deviation, (self.high - mean) / deviation
        inside = mean * (ndtr(b) - ndtr(a)) + deviation * (_density(a) - _density(b))
        clipped = self.low * ndtr(a) + self.high * ndtr(-b) + inside
        return self(clipped)


def _density(x: FloatArray) -> FloatArray:
    density: FloatArray = np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)
    return density
