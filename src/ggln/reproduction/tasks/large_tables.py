"""Synthetic tables of any number of rows, of three kinds that benchmarks of large tables have."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Table = tuple[FloatArray, FloatArray]

FEATURES = 10
LINKS = 8
TARGET = np.array([0.1, 0.1, 0.1])
"""What the arm reaches for, in lengths of its eight links together."""
ARM_NOISE = 0.01
JETS = 7
MASSES = 7
RESONANCE, WIDTH = 1.5, 0.15
"""Where, on a logarithmic scale, a mass stands out, and how narrowly."""
SCORE_NOISE = 0.84
"""As large as the deviation of the score itself."""


def friedman(rows: int, seed: int = 0, features: int = FEATURES) -> Table:
    """Return Friedman's first function of the unit cube with noise of deviation 1: X [n, features], y [n].

    Five features count, however many there are.
    """
    random = np.random.default_rng(seed)
    X = random.random((rows, features))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + X[:, 3:5] @ [10.0, 5.0]
    return X, y + random.standard_normal(rows)


def arm(rows: int, seed: int) -> Table:
    """Return how far the hand of an arm of eight joints is from a point, X [n, 8], y [n], as kin40k has it.

    The joints turn by up to a quarter of a circle to each side, about axes that alternate; there is next to
    no noise.
    """
    random = np.random.default_rng(seed)
    X = random.uniform(-np.pi / 2, np.pi / 2, (rows, LINKS))
    # the frame of the hand, of each row [3, 3]: where its three axes point
    along, across, up = (np.tile(axis, (rows, 1)) for axis in np.eye(3))
    hand = np.zeros((rows, 3))
    for joint in range(LINKS):
        cos, sin = np.cos(X[:, joint, None]), np.sin(X[:, joint, None])
        along, across = cos * along + sin * across, cos * across - sin * along
        across, up = up, -across  # the next joint turns about another axis
        hand += along / LINKS
    y = np.linalg.norm(hand - TARGET, axis=1)
    return X, y + ARM_NOISE * random.standard_normal(rows)


def collisions(rows: int, seed: int) -> Table:
    """Return a noisy score of collisions, X [n, 28], y [n]: columns as HIGGS has them, a number to predict.

    Seven jets have a momentum, a direction along the beam and an angle about it; seven columns are masses of
    pairs of them. The score has a narrow peak at one mass, a sum over others, and a part that only single
    jets tell. Half of its variance is noise.
    """
    random = np.random.default_rng(seed)
    momenta = random.gamma(2.0, 0.5, (rows, JETS))
    beam, angles = random.standard_normal((rows, JETS)), random.uniform(-np.pi, np.pi, (rows, JETS))
    pairs = list(combinations(range(JETS), 2))[:MASSES]
    masses = np.stack(
        [
            np.sqrt(
                2.0
                * momenta[:, i]
                * momenta[:, j]
                * (np.cosh(beam[:, i] - beam[:, j]) - np.cos(angles[:, i] - angles[:, j]))
            )
            for i, j in pairs
        ],
        axis=1,
    )
    logs = np.log(masses)
    score = 2.0 * np.exp(-(((logs[:, 0] - np.log(RESONANCE)) / WIDTH) ** 2)) + 0.5 * np.tanh(
        logs[:, 1:4].sum(1)
    )
    score += np.cos(angles[:, 5] - angles[:, 6]) * (momenta[:, 5] > momenta[:, 6])
    noise = SCORE_NOISE * random.standard_normal(rows)
    return np.hstack([momenta, beam, angles, masses]), score + noise


TABLES: dict[str, Callable[..., Table]] = {
    "Friedman 1": friedman,
    "kin40k-like": arm,
    "HIGGS-like": collisions,
}
