"""What networks are taught of a reward, and what is expected of it when they have spoken.

Three kinds: a Gaussian, whose mean and variance a network predicts; a Bernoulli variable; and a tree of them
over a reward in [0, 1] that is cut into 2^depth bins ("CTree", Sezener et al., 2020), with a Bernoulli
variable at each inner node that says whether the reward lies in the upper half of what is left.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Rewards(Protocol):
    """A kind of reward. Rewards are in the units of the networks.

    Arms have tallies [A, 3, bins] of what they paid: number, sum and sum of squares of rewards in each bin.
    """

    @property
    def bins(self) -> int:
        """Return how many bins are tallied."""

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return what the networks learn, [n, D], of rewards [n, 1]; NaN is nothing."""

    def tally(self, rewards: FloatArray, arms: NDArray[np.int64], tallies: FloatArray) -> None:
        """Count rewards [n, 1] that arms [n] paid # OUT tallies."""

    def moments(
        self, first: FloatArray, second: FloatArray, tallies: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance [A, n] of the reward, of the targets' moments [A, n, D]."""


class Untallied:
    """Rewards whose moments are in the networks alone."""

    __slots__ = ()
    bins = 0

    def tally(self, rewards: FloatArray, arms: NDArray[np.int64], tallies: FloatArray) -> None:
        """Count nothing."""


@dataclass(frozen=True)
class GaussianRewards(Untallied):
    """Real numbers; the networks predict them as they are."""

    least: float  # of the variance

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return the rewards."""
        return rewards

    def moments(self, first: FloatArray, second: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance."""
        mean = first[..., 0]
        return mean, np.maximum(second[..., 0] - mean**2, self.least)


@dataclass(frozen=True)
class BernoulliRewards(Untallied):
    """0 or 1, or numbers in between, which count as so much of a 1."""

    least: float  # of the variance

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return the rewards."""
        return rewards

    def moments(self, first: FloatArray, _: FloatArray, __: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return p and p (1 - p); the second moment of 0 and 1 is the first."""
        chance = first[..., 0]
        return chance, np.maximum(chance * (1.0 - chance), self.least)


@dataclass(frozen=True)
class TreeRewards:
    """Numbers in [0, 1], as the path to their bin.

    Node 1 is the root; node i has the children 2 i, the lower half, and 2 i + 1; its target has number i - 1.
    """

    depth: int

    @property
    def bins(self) -> int:
        """Return how many leaves there are."""
        return int(2**self.depth)

    def targets(self, rewards: FloatArray) -> FloatArray:
        """Return 1 where a node's path goes up, 0 where it goes down, NaN where it does not come by.

        Examples
        --------
        >>> TreeRewards(2).targets(np.array([[0.3], [1.0]]))
        array([[ 0.,  1., nan],
               [ 1., nan,  1.]])
        """
        leaves = self._leaves_of(rewards)
        found = np.full((rewards.shape[0], self.bins - 1), np.nan)
        nodes = np.ones(rewards.shape[0], np.int64)
        for level in range(self.depth - 1, -1, -1):
            up = leaves >> level & 1
            found[np.arange(nodes.size), nodes - 1] = up
            nodes = 2 * nodes + up
        return found

    def leaves(self, chances: FloatArray) -> FloatArray:
        """Return the probabilities [..., bins] of the bins, of the nodes' chances to go up [..., D]."""
        found = np.ones((*chances.shape[:-1], 1))
        for level in range(self.depth):
            up = chances[..., 2**level - 1 : 2 ** (level + 1) - 1]
            found = np.stack([found * (1.0 - up), found * up], axis=-1).reshape(*found.shape[:-1], -1)
        return found

    def tally(self, rewards: FloatArray, arms: NDArray[np.int64], tallies: FloatArray) -> None:
        """Count rewards, their sums and squares, one after the other, however they are cut into calls."""
        bins, paid = self._leaves_of(rewards), rewards[:, 0]
        for power in range(3):
            np.add.at(tallies[:, power], (arms, bins), paid**power)

    def moments(self, first: FloatArray, _: FloatArray, tallies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the moments of a reward that is, within each bin, as those that the arm paid there.

        They are joined by one that is uniform in the bin: it is all that is known of one that was not seen.
        """
        leaves, centres = self.leaves(first), (np.arange(self.bins) + 0.5) / self.bins
        numbers, uniform = 1.0 + tallies[:, None, 0], 1.0 / (12.0 * self.bins**2)
        mean = np.sum(leaves * (centres + tallies[:, None, 1]) / numbers, axis=-1)
        squares = np.sum(leaves * (centres**2 + uniform + tallies[:, None, 2]) / numbers, axis=-1)
        return mean, np.maximum(squares - mean**2, uniform)

    def _leaves_of(self, rewards: FloatArray) -> NDArray[np.int64]:
        """Return the bins [n] of rewards [n, 1]."""
        return np.minimum((rewards[:, 0] * self.bins).astype(np.int64), self.bins - 1)
