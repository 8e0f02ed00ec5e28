"""What is known of arms in some contexts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Posterior(NamedTuple):
    """What is known of each arm in some contexts, in the user's units: a mixture of K Gaussians."""

    shares: FloatArray  # [A, K]
    means: FloatArray  # [n, A, K]  of the expected reward
    variances: FloatArray  # [n, A, K]  of the expected reward
    noises: FloatArray  # [n, A, K]  variances of the reward around it

    def mean(self) -> FloatArray:
        """Return the expected rewards [n, A]."""
        found: FloatArray = np.einsum("ak,nak->na", self.shares, self.means)
        return found

    def variance(self) -> FloatArray:
        """Return the variances [n, A] of the expected rewards: within regressions, and between them."""
        away = self.means - self.mean()[..., None]
        found: FloatArray = np.einsum("ak,nak->na", self.shares, self.variances + away**2)
        return found

    def noise(self) -> FloatArray:
        """Return the variances [n, A] of rewards around what is expected."""
        found: FloatArray = np.einsum("ak,nak->na", self.shares, self.noises)
        return found
