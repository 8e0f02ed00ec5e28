"""Contextual bandits to try policies on: each draws episodes, in which the reward of every arm is known.

The tasks are those of Riquelme et al. (2018), "Deep Bayesian Bandits Showdown". All take arrays, which the
loaders of `ggln.datasets` bring. An episode depends on the environment and on the seed, on nothing else.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from ggln.bandits.scaling import Clip
from ggln.bandits.table import Table

FloatArray = NDArray[np.float64]

STEPS = 5000
"""Steps of an episode in the paper, fewer where there are fewer rows."""


class Episode(NamedTuple):
    """What happens in one run, whatever the policy does."""

    contexts: FloatArray  #: [steps, features]
    rewards: FloatArray  #: [steps, arms], what each arm would pay
    expected: FloatArray  #: [steps, arms], the mean of that; the reward itself where it is not random

    @property
    def n_arms(self) -> int:
        """Return how many arms there are."""
        return int(self.rewards.shape[1])


class Environment(Protocol):
    """Draws episodes."""

    @property
    def n_arms(self) -> int:
        """Return how many arms there are."""

    @property
    def n_features(self) -> int:
        """Return the length of a context."""

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""


def _gaussian(
    contexts: FloatArray, mean: FloatArray, deviation: FloatArray, random: Generator, clip: Clip | None
) -> Episode:
    """Return an episode with Gaussian rewards; mean and deviation [steps, arms]."""
    rewards = mean + deviation * random.standard_normal(mean.shape)
    if clip is None:
        return Episode(contexts, rewards, mean)
    scale = clip.scale(rewards)
    return Episode(contexts, scale(rewards), scale.expected(mean, deviation))


def _length(steps: int | None, rows: int) -> int:
    """Return the steps of an episode from a table."""
    if steps is not None and not 1 <= steps <= rows:
        raise ValueError(f"steps must be at least 1 and at most the {rows} rows there are, got {steps}")
    return min(STEPS, rows) if steps is None else steps


class Wheel:
    """Uniform contexts in the unit disk; far from its centre, one arm pays fifty times as much as the others.

    The last arm pays 1.2, the other four 1.0, with deviation 0.05. Where the context's norm exceeds `delta`,
    one of the four, by the quadrant, pays 50 with deviation 0.01 instead: the greater `delta`, the rarer.

    Parameters
    ----------
    delta : float, default=0.95
        Radius within which no arm pays 50, in [0, 1].
    steps : int, default=5000
        Length of an episode.
    clip : Clip, optional
        How rewards are scaled to [0, 1]; None leaves them as they are.

    Examples
    --------
    >>> episode = Wheel(delta=0.5, steps=1000, clip=None).episode(0)
    >>> bool((episode.expected.max(axis=1) == 50).mean() > 0.7)  # 1 - delta^2 of the disk
    True
    """

    n_arms = 5
    n_features = 2
    means = (1.0, 1.0, 1.0, 1.0, 1.2)
    deviation = 0.05
    jackpot = (50.0, 0.01)  # mean and deviation

    def __init__(self, delta: float = 0.95, steps: int = STEPS, clip: Clip | None = None) -> None:
        if not 0.0 <= delta <= 1.0:
            raise ValueError(f"delta must be a radius in the unit disk, in [0, 1], got {delta}")
        if steps < 1:
            raise ValueError(f"steps must be at least 1, got {steps}")
        self.delta, self.steps, self.clip = delta, steps, clip

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""
        random = np.random.default_rng(seed)
        angle = random.uniform(-np.pi, np.pi, self.steps)
        radius = np.sqrt(random.uniform(size=self.steps))  # the root makes them uniform in area
        contexts = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        expected = np.tile(self.means, (self.steps, 1))
        deviations = np.full(expected.shape, self.deviation)
        far = np.flatnonzero(radius > self.delta)
        # counted from the first quadrant: (+, +), (+, -), (-, +), (-, -)
        quadrant = 2 * (contexts[far, 0] < 0.0) + (contexts[far, 1] < 0.0)
        expected[far, quadrant], deviations[far, quadrant] = self.jackpot
        return _gaussian(contexts, expected, deviations, random, self.clip)


class Portfolios:
    """Contexts are returns of stocks; an arm pays what a random portfolio of them earns ("financial").

    In each episode, an arm's portfolio is a vector with uniform entries in [-1, 1], normalised to length 1.
    Arm i adds noise with deviation 0.01 (i + 1).

    Parameters
    ----------
    contexts : array of shape (rows, stocks)
        Returns; an episode visits rows in a random order, none twice.
    n_arms : int, default=8
        Portfolios.
    steps : int, optional
        Length of an episode. By default 5000, or all rows if there are fewer.
    clip : Clip, optional
        How rewards are scaled to [0, 1]; None leaves them as they are.
    """

    noise = 0.01

    def __init__(
        self, contexts: ArrayLike, n_arms: int = 8, steps: int | None = None, clip: Clip | None = None
    ) -> None:
        self.table = Table(contexts, "contexts")
        self.steps = _length(steps, len(self.table))
        if n_arms < 1:
            raise ValueError(f"n_arms must be at least 1, got {n_arms}")
        self.n_arms, self.n_features, self.clip = n_arms, int(self.table.values.shape[1]), clip

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""
        random = np.random.default_rng(seed)
        rows = random.permutation(len(self.table))[: self.steps]
        portfolios = random.uniform(-1.0, 1.0, (self.n_features, self.n_arms))
        expected = self.table.values[rows] @ (portfolios / np.linalg.norm(portfolios, axis=0))
        noise = np.tile(self.noise * np.arange(1, self.n_arms + 1), (len(rows), 1))
        return _gaussian(self.table.rows(rows), expected, noise, random, self.clip)


class Ratings:
    """A user rates jokes; some of the ratings are the context, the others are what the arms pay ("jester").

    Parameters
    ----------
    ratings : array of shape (users, jokes)
        An episode visits users in a random order, none twice.
    n_arms : int, default=8
        Jokes that can be told; the others are the context.
    shuffle : bool, default=True
        Draw the jokes that are arms in each episode; otherwise they are the last columns.
    steps : int, optional
        Length of an episode. By default 5000, or all users if there are fewer.
    clip : Clip, optional
        How rewards are scaled to [0, 1]; None leaves them as they are.
    """

    def __init__(
        self,
        ratings: ArrayLike,
        n_arms: int = 8,
        shuffle: bool = True,
        steps: int | None = None,
        clip: Clip | None = None,
    ) -> None:
        self.table = Table(ratings, "ratings")
        columns = int(self.table.values.shape[1])
        if not 1 <= n_arms < columns:
            raise ValueError(f"n_arms must leave some of the {columns} columns as context, got {n_arms}")
        self.steps = _length(steps, len(self.table))
        self.n_arms, self.n_features = n_arms, columns - n_arms
        self.shuffle, self.clip = shuffle, clip

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""
        random = np.random.default_rng(seed)
        rows = random.permutation(len(self.table))[: self.steps]
        jokes = np.arange(self.n_features + self.n_arms)
        columns = random.permutation(jokes) if self.shuffle else jokes
        rewards = self.table.values[rows][:, columns[self.n_features :]].astype(np.float64)
        if self.clip is not None:
            rewards = self.clip.scale(rewards)(rewards)
        return Episode(self.table.rows(rows)[:, columns[: self.n_features]], rewards, rewards)


class Classes:
    """Classification as a bandit: an arm for each class, which pays 1 if the row is of that class, else 0.

    Parameters
    ----------
    X : array of shape (rows, features)
        Contexts, standardised over all rows here; an episode visits rows in a random order, none twice.
    y : array of shape (rows,)
        Classes, counted from 0.
    n_arms : int, optional
        Classes there may be; by default those that `y` has.
    steps : int, optional
        Length of an episode. By default 5000, or all rows if there are fewer.
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, n_arms: int | None = None, steps: int | None = None
    ) -> None:
        self.table = Table(X, "X")
        classes = np.asarray(y)
        if classes.dtype.kind not in "biu":
            raise ValueError(f"y must be classes counted from 0, got {classes.dtype}: number them first")
        self.y = classes.astype(np.intp)
        if self.y.shape != (len(self.table),):
            raise ValueError(f"y must have a class for each of the {len(self.table)} rows of X")
        self.n_arms = int(self.y.max()) + 1 if n_arms is None else n_arms
        if self.y.min() < 0 or self.y.max() >= self.n_arms:
            raise ValueError(f"y must be in 0 to {self.n_arms - 1}, one less than the number of arms")
        self.n_features = int(self.table.values.shape[1])
        self.steps = _length(steps, len(self.table))

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""
        rows = np.random.default_rng(seed).permutation(len(self.table))[: self.steps]
        rewards = (self.y[rows, None] == np.arange(self.n_arms)).astype(np.float64)
        return Episode(self.table.rows(rows), rewards, rewards)


class Mushrooms:
    """Pass (arm 0) or eat (arm 1): an edible mushroom pays 5, a poisonous one 5 or -35 with even odds.

    Parameters
    ----------
    X : array of shape (rows, features)
        Contexts, standardised over all rows here; rows of an episode are drawn with replacement.
    poisonous : array of shape (rows,)
        Whether eating is a risk.
    steps : int, default=5000
        Length of an episode.
    clip : Clip, optional
        How rewards are scaled to [0, 1]; None leaves them as they are.
    """

    n_arms = 2
    good, bad = 5.0, -35.0

    def __init__(
        self, X: ArrayLike, poisonous: ArrayLike, steps: int = STEPS, clip: Clip | None = None
    ) -> None:
        self.table = Table(X, "X")
        self.poisonous = np.asarray(poisonous, bool)
        if self.poisonous.shape != (len(self.table),):
            raise ValueError(f"poisonous must have a value for each of the {len(self.table)} rows of X")
        if steps < 1:
            raise ValueError(f"steps must be at least 1, got {steps}")
        self.n_features = int(self.table.values.shape[1])
        self.steps, self.clip = steps, clip

    def episode(self, seed: int) -> Episode:
        """Return the episode of a seed."""
        random = np.random.default_rng(seed)
        rows = random.integers(len(self.table), size=self.steps)
        unlucky = self.poisonous[rows] & (random.uniform(size=self.steps) < 0.5)
        rewards = np.column_stack([np.zeros(self.steps), np.where(unlucky, self.bad, self.good)])
        nothing, good, bad = 0.0, self.good, self.bad
        if self.clip is not None:
            scale = self.clip.scale(rewards)
            rewards = scale(rewards)
            nothing, good, bad = scale(np.array([nothing, good, bad])).tolist()
        risk = np.where(self.poisonous[rows], (good + bad) / 2.0, good)
        return Episode(self.table.rows(rows), rewards, np.column_stack([np.full(self.steps, nothing), risk]))
