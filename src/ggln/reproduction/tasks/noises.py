"""Ten tables that differ in their noise alone: shapes that a Gaussian around the mean does not have.

Five features are uniform on [0, 1], and the level is Friedman's first function, f = 10 sin(pi x1 x2)
+ 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, with values from 0 to 30.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Noise = Callable[[np.random.Generator, FloatArray, FloatArray], FloatArray]
"""From random numbers, rows [n, 5] and their levels [n] to targets [n]."""

FEATURES = 5
STEP = 2.0
"""Between values on the lattice."""
SHARE_OF_ZEROS = 0.3


def level(X: FloatArray) -> FloatArray:
    """Friedman's first function."""
    found: FloatArray = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return found + 10.0 * X[:, 3] + 5.0 * X[:, 4]


def zero_inflated(random: np.random.Generator, X: FloatArray, f: FloatArray) -> FloatArray:
    """Zero with a chance of 0.3, else of a gamma distribution with mean f and deviation f / sqrt(5)."""
    return np.where(random.random(len(X)) < SHARE_OF_ZEROS, 0.0, f * random.gamma(5.0, 0.2, len(X)))


NOISES: dict[str, Noise] = {
    "normal": lambda random, X, f: f + random.normal(size=len(X)),
    "t(2)": lambda random, X, f: f + random.standard_t(2, len(X)),
    "uniform": lambda random, X, f: f + random.uniform(-2.0, 2.0, len(X)),
    "exponential": lambda random, X, f: f + 2.0 * random.exponential(size=len(X)),
    "lognormal": lambda random, X, f: f + random.lognormal(size=len(X)),
    "zero-inflated": zero_inflated,
    "counts": lambda random, X, f: random.poisson(np.exp(f / 10.0)).astype(float),  # noqa: ARG005
    "two modes": lambda random, X, f: (
        f + random.choice([-2.0, 2.0], len(X)) + 0.5 * random.normal(size=len(X))
    ),
    "widths": lambda random, X, f: f + np.exp(3.0 * (X[:, 0] - 0.5)) * random.normal(size=len(X)),
    "lattice": lambda random, X, f: STEP * np.round((f + 2.0 * random.normal(size=len(X))) / STEP),
}
"""Deviations are 1 to 2 where the level alone decides, and from 0.2 to 4.5 for "widths"."""

CELLS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "zero-inflated": lambda y: np.where(y == 0.0, 0.75, 0.0),
    "counts": lambda y: np.full(len(y), 0.5),
    "lattice": lambda y: np.full(len(y), 0.5 * STEP),
}
"""Half the width of the cell around targets that repeat; other targets have none."""


def sample(noise: str, rows: int, seed: int, part: int) -> tuple[FloatArray, FloatArray]:
    """Return rows [n, 5] and targets [n]; part: 0 for training, 1 for new rows."""
    random = np.random.default_rng([seed, part, list(NOISES).index(noise)])
    X = random.random((rows, FEATURES))
    return X, NOISES[noise](random, X, level(X))


def half_cells(noise: str, y: FloatArray) -> FloatArray:
    """Return half the width of each target's cell, [n]."""
    return CELLS[noise](y) if noise in CELLS else np.zeros(len(y))
