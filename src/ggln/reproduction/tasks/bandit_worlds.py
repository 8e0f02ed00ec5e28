"""Bandits whose rewards are known functions of the context: linear ones, and ones that are not."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from ggln.bandits.environments import Episode

FloatArray = NDArray[np.float64]

ARMS, FEATURES, STEPS = 5, 10, 3000
NOISE = 0.5
"""Deviation of the noise of continuous rewards, whose own is about 1."""
ODDS = 2.0
"""Of binary rewards, the logarithm of the odds is so many times the function."""


def linear(X: FloatArray, random: Generator) -> FloatArray:
    """A plane."""
    found: FloatArray = X @ random.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    return found


def products(X: FloatArray, random: Generator) -> FloatArray:
    """Six products of two features each, which may be the same."""
    pairs = random.integers(X.shape[1], size=(6, 2))
    found: FloatArray = (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) @ random.normal(size=6) / np.sqrt(6.0)
    return found


def waves(X: FloatArray, random: Generator) -> FloatArray:
    """Sines of three features, and one of the difference of two."""
    found = np.zeros(len(X))
    for _ in range(3):
        found += random.normal() * np.sin(
            1.5 * X[:, random.integers(X.shape[1])] + random.uniform(0, 2 * np.pi)
        )
    one, other = random.integers(X.shape[1], size=2)
    return np.asarray((found + 1.5 * random.normal() * np.cos(X[:, one] - X[:, other])) / 1.5)


def steps(X: FloatArray, random: Generator) -> FloatArray:
    """Four signs of a feature, each where another one is above a threshold."""
    found = np.zeros(len(X))
    for _ in range(4):
        where = X[:, random.integers(X.shape[1])] > 0.5 * random.normal()
        found += random.normal() * where * np.sign(X[:, random.integers(X.shape[1])])
    return np.asarray(found / np.sqrt(2.0))


FUNCTIONS: dict[str, Callable[[FloatArray, Generator], FloatArray]] = {
    "linear": linear,
    "products": products,
    "waves": waves,
    "steps": steps,
}
WORLDS = (*FUNCTIONS, "binary products", "binary waves")


def episode(world: str, seed: int, length: int = STEPS) -> Episode:
    """Return the episode of a seed: contexts are standard normal, and each arm has a function of its own."""
    name = world.removeprefix("binary ")
    random = np.random.default_rng([seed, list(FUNCTIONS).index(name)])
    X = random.normal(size=(length, FEATURES))
    mean = np.column_stack([FUNCTIONS[name](X, random) for _ in range(ARMS)])
    if name != world:
        chance = expit(ODDS * mean)
        return Episode(X, (random.random(mean.shape) < chance).astype(float), chance)
    return Episode(X, mean + NOISE * random.normal(size=mean.shape), mean)
