"""The Swiss roll in the plane, scaled to [-1, 1], and what is known of it exactly."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

NOISE = 0.1
"""Deviation of the noise in scaled units; neighbouring turns lie 0.45 apart. The paper gives none."""
MANIFOLD_POINTS = 1000


def curve(u: FloatArray) -> FloatArray:
    """Return points [n, 2] of the roll, t (cos t, sin t) with t = 1.5 pi (1 + 2 u), scaled to [-1, 1]."""
    t = 1.5 * np.pi * (1.0 + 2.0 * np.append(u, np.linspace(0.0, 1.0, 10_001)))
    points = np.column_stack([t * np.cos(t), t * np.sin(t)])
    low, high = points[len(u) :].min(axis=0), points[len(u) :].max(axis=0)
    scaled: FloatArray = (2.0 * points[: len(u)] - low - high) / (high - low)
    return scaled


def sample(rows: int, seed: int) -> FloatArray:
    """Return random points of the roll."""
    return curve(np.random.default_rng(seed).random(rows))


@cache
def manifold() -> FloatArray:
    """Return points all along the roll, as dense as samples are. Not to be written to."""
    return curve((np.arange(MANIFOLD_POINTS) + 0.5) / MANIFOLD_POINTS)


def grid(edge: int = 25) -> FloatArray:
    """Return the points [edge^2, 2] that denoising starts from."""
    ticks = np.linspace(-1.0, 1.0, edge)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def true_mean(rows: FloatArray) -> FloatArray:
    """Return E[y | x] of points y with noise: x + lambda times the score of the smoothed density."""
    roll = manifold()
    # -|x - y|^2 / 2 lambda without |x|^2, which is the same for all y; the largest is taken off before exp
    logs = (rows @ roll.T - 0.5 * (roll**2).sum(axis=1)) / NOISE**2
    logs -= logs.max(axis=1, keepdims=True)
    weights = np.exp(logs, out=logs)
    mean: FloatArray = weights @ roll / weights.sum(axis=1, keepdims=True)
    return mean


def distance(rows: FloatArray) -> float:
    """Return the mean distance of points to the roll."""
    return float(np.sqrt(((rows[:, None] - manifold()[None]) ** 2).sum(axis=-1).min(axis=1)).mean())


def coverage(rows: FloatArray) -> float:
    """Return the mean distance of the roll to the nearest of some points: small if they are all along it."""
    return float(np.sqrt(((rows[:, None] - manifold()[None]) ** 2).sum(axis=-1).min(axis=0)).mean())


def cosine_error(rows: FloatArray, mean: FloatArray) -> float:
    """Return 1 - the mean cosine between the learnt and the true score at noisy points."""
    truth, own = true_mean(rows) - rows, mean - rows
    lengths = np.linalg.norm(truth, axis=1) * np.linalg.norm(own, axis=1)
    return float(1.0 - np.mean((truth * own).sum(axis=1) / np.maximum(lengths, 1e-12)))
