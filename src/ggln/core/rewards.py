"""What networks are taught of a reward, and what is expected of it when they have spoken.

Three kinds: a Gaussian, whose mean and variance a network predicts; a Bernoulli variable; and a tree of them
over a reward in [0, 1] that is cut into 2^depth bins ("CTree", Sezener et al., 2020), with a Bernoulli
variable at each inner node that says whether the reward lies in the upper half of what is left.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Rewards(Protocol):
    """A kind of reward. Rewards are in the units of the networks."""

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return what the networks learn, [n, D], of rewards [n, 1]; NaN is nothing."""

    def moments(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance [...] of the reward, of the targets' moments [..., D]."""


class GaussianRewards(NamedTuple):
    """Real numbers; the networks predict them as they are."""

    least: float  # of the variance

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return the rewards."""
        return rewards

    def moments(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance."""
        mean = first[..., 0]
        return mean, np.maximum(second[..., 0] - mean**2, self.least)


class BernoulliRewards(NamedTuple):
    """0 or 1, or numbers in between, which count as so much of a 1."""

    least: float  # of the variance

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return the rewards."""
        return rewards

    def moments(self, first: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return p and p (1 - p)."""
        chance = first[..., 0]
        return chance, np.maximum(chance * (1.0 - chance), self.least)


class TreeRewards(NamedTuple):
    """Numbers in [0, 1], as the path to their bin.

    Node 1 is the root; node i has the children 2 i, the lower half, and 2 i + 1; its target has number i - 1.
    """

    depth: int

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return 1 where a node's path goes up, 0 where it goes down, NaN where it does not come by.

        Examples
        --------
        >>> TreeRewards(2).targets(np.array([[0.3], [1.0]]))
        array([[ 0.,  1., nan],
               [ 1., nan,  1.]])
        """
        bins = 2**self.depth
        leaves = np.minimum((rewards[:, 0] * bins).astype(np.int64), bins - 1)
        found = np.full((rewards.shape[0], bins - 1), np.nan)
        nodes = np.ones(rewards.shape[0], np.int64)
        for level in range(self.depth - 1, -1, -1):
            up = leaves >> level & 1
            found[np.arange(nodes.size), nodes - 1] = up
            nodes = 2 * nodes + up
        return found

    def leaves(self, chances: FloatArray) -> FloatArray:
        """Return the probabilities [..., 2^depth] of the bins, of the nodes' chances to go up [..., D]."""
        found = np.ones((*chances.shape[:-1], 1))
        for level in range(self.depth):
            up = chances[..., 2**level - 1 : 2 ** (level + 1) - 1]
            found = np.stack([found * (1.0 - up), found * up], axis=-1).reshape(*found.shape[:-1], -1)
        return found

    def moments(self, first: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the moments of a reward that is uniform within each bin."""
        bins = 2**self.depth
        centres, leaves = (np.arange(bins) + 0.5) / bins, self.leaves(first)
        mean = leaves @ centres
        variance: Any = leaves @ centres**2 - mean**2 + 1.0 / (12.0 * bins**2)
        return mean, variance
