"""The plain twin of `bumps`: the same regression from its formulas, all rows at once."""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import OUTLIER

FloatArray = NDArray[np.float64]


def heights(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Return the Matern bumps (nu = 5/2) [n, M] at centres [M, d], both in units of the length scales."""
    a = np.sqrt(5.0 * np.sum((points[:, None] - centres) ** 2, axis=2))
    found: FloatArray = (1.0 + a + a**2 / 3.0) * np.exp(-a)
    return found


def inputs(X: FloatArray, lengths: FloatArray, centres: FloatArray, jitter: float) -> FloatArray:
    """Return phi [n, m] of rows [n, d], for centres [M, d] in units of the lengths [d]."""
    factor = np.linalg.cholesky(heights(centres, centres) + jitter * np.eye(len(centres)))
    white = np.linalg.solve(factor, heights(X / lengths, centres).T).T
    plane = np.clip(X, -OUTLIER, OUTLIER) / np.sqrt(X.shape[1])
    return np.hstack([white, np.ones((len(X), 1)), plane])


def solution(phi: FloatArray, Y: FloatArray, weights: FloatArray, ridge: float) -> FloatArray:
    """Return beta [m, D] for inputs phi [n, m], targets less their offset [n, D] and weights [n]."""
    weighted = weights[:, None] * phi
    gram = weighted.T @ phi + ridge * np.eye(phi.shape[1])
    return np.asarray(np.linalg.solve(gram, weighted.T @ Y), np.float64)


def left_out(phi: FloatArray, Y: FloatArray, weights: FloatArray, ridge: float) -> FloatArray:
    """Return the prediction for each row [n, D], solved without it."""
    others = weights * (1.0 - np.eye(len(phi)))
    return np.stack([row @ solution(phi, Y, other, ridge) for row, other in zip(phi, others, strict=True)])
