"""Formulas of the t copula, which joins outputs that keep their own distributions.

freedom: degrees of freedom nu > 0; infinity is the Gaussian copula. A level is the probability below a value,
given from both sides, lower = F and upper = 1 - F, so that both tails are accurate. The score of a level is
T^-1, T the t distribution of so many degrees; scores of several outputs have the multivariate t distribution.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri, stdtrit

Float = NDArray[np.float64]
LEAST = 1e-100
"""Levels below this are taken for it: further out, SciPy has no quantiles of three degrees of freedom."""


def scores(lower: Float, upper: Float, freedom: float) -> Float:
    """T^-1 of levels, elementwise."""
    tail = np.maximum(np.fmin(lower, upper), LEAST)
    found: Float = ndtri(tail) if math.isinf(freedom) else stdtrit(freedom, tail)
    return np.where(np.isnan(lower), np.nan, np.where(lower <= upper, found, -found))


def distances(scored: Float, roots: Float) -> Float:
    """Z' R^-1 z of scores (.., D), with roots (.., D, D), R = L L'."""
    white = np.linalg.solve(roots, scored[..., None])[..., 0]
    total: Float = np.sum(white**2, axis=-1)
    return total


def log_copula(scored: Float, roots: Float, freedom: float) -> Float:
    """Log density of the copula: joint density of scores (n, D) less those of each."""
    outputs, squares = scored.shape[1], distances(scored, roots)
    determinant = np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
    if math.isinf(freedom):
        gaussian: Float = 0.5 * (np.sum(scored**2, axis=1) - squares) - determinant
        return gaussian
    half, constant = 0.5 * freedom, log_constant(outputs, freedom)
    alone = (half + 0.5) * np.log1p(scored**2 / freedom).sum(axis=1)
    found: Float = constant - determinant - (half + 0.5 * outputs) * np.log1p(squares / freedom) + alone
    return found


def log_constant(outputs: int, freedom: float) -> float:
    """What log densities of the copula have in common, but for the determinant."""
    if math.isinf(freedom):
        return 0.0
    half = 0.5 * freedom
    return float(
        gammaln(half + 0.5 * outputs) + (outputs - 1) * gammaln(half) - outputs * gammaln(half + 0.5)
    )
