"""Regions, draws and covariances of a t copula; `ggln.engine.student` has its density.

freedom: degrees of freedom nu > 0; infinity is the Gaussian copula.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtr, fdtr, ndtr, ndtri, stdtr
from scipy.stats import chi2

from ggln.distributions.formulas import Float
from ggln.engine.student import LEAST

KNOTS = np.linspace(-4.5, 4.5, 37)
"""Normal scores at which quantiles are taken for covariances; linear between them, and beyond."""
KNOT_LEVELS = ndtr(KNOTS)
ORDERS, POINTS, RADII = 30, 60, 64
"""Terms of the series, points along each direction, and radii of a t distribution: covariances are right to
a thousandth of the product of deviations."""


def region(squares: Float, outputs: int, freedom: float) -> Float:
    """Probability of {z : z' R^-1 z <= squares}."""
    if math.isinf(freedom):
        inside: Float = chdtr(outputs, squares)
    else:
        inside = fdtr(outputs, freedom, squares / outputs)
    return inside


def sampled(normal: Float, uniform: Float, freedom: float) -> Float:
    """Levels (.., D), strictly between 0 and 1, of t vectors from Gaussian ones and uniform numbers (..)."""
    if math.isinf(freedom):
        levels = ndtr(normal)
    else:
        levels = stdtr(freedom, normal * np.sqrt(freedom / chi2.ppf(uniform, freedom))[..., None])
    found: Float = np.clip(levels, LEAST, 1.0 - 2.0**-53)
    return found


@lru_cache
def radii(freedom: float) -> Float:
    """Factors r, each of the same probability: a t vector is r times a Gaussian one."""
    if math.isinf(freedom):
        return np.ones(1)
    levels = (np.arange(RADII) + 0.5) / RADII
    found: Float = np.sqrt(freedom / chi2.ppf(levels, freedom))
    return found


@lru_cache
def series(freedom: float) -> tuple[Float, Float]:
    """Return what turns quantiles at KNOTS into values (r, points), and these into coefficients (points, K).

    E[g(Z) h(Z')] = sum_k a_k b_k rho^k for standard Gaussians of correlation rho, with the coefficients a_k,
    b_k of g and h in orthonormal Hermite polynomials (Mehler).
    """
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    weights = weights / weights.sum()
    polynomials = np.empty((ORDERS, POINTS))
    polynomials[0], polynomials[1] = 1.0, points
    for k in range(2, ORDERS):
        polynomials[k] = (points * polynomials[k - 1] - math.sqrt(k - 1) * polynomials[k - 2]) / math.sqrt(k)
    values = np.outer(radii(freedom), points)
    at = values if math.isinf(freedom) else np.sign(values) * -ndtri(stdtr(freedom, -np.abs(values)))
    first = np.clip(np.searchsorted(KNOTS, at) - 1, 0, KNOTS.size - 2)
    part = (at - KNOTS[first]) / (KNOTS[first + 1] - KNOTS[first])
    turned = np.zeros((*at.shape, KNOTS.size))
    np.put_along_axis(turned, first[..., None], (1.0 - part)[..., None], axis=-1)
    np.put_along_axis(turned, first[..., None] + 1, part[..., None], axis=-1)
    return turned, (weights * polynomials).T


def correlations(quantiles: Float, joined: Float, freedom: float) -> Float:
    """Correlations (n, D, D) of outputs with quantiles (n, D, knots) at Phi(KNOTS).

    joined: (D, D) or (n, D, D), the correlations R of scores.
    """
    turned, polynomials = series(freedom)
    centred = quantiles - quantiles.mean(axis=2, keepdims=True)
    centred /= np.maximum(np.abs(centred).max(axis=2, keepdims=True), 1e-300)
    joint = np.zeros((len(quantiles), *joined.shape[-2:]))
    mean, squares = np.zeros(quantiles.shape[:2]), np.zeros(quantiles.shape[:2])
    for own in turned:  # one radius after the other
        values = centred @ own.T  # (n, D, points)
        coefficients = values @ polynomials  # (n, D, K)
        mean += coefficients[..., 0] / len(turned)
        squares += values**2 @ polynomials[:, 0] / len(turned)
        for k in range(ORDERS):
            each = coefficients[..., k]
            joint += each[:, :, None] * each[:, None] * joined**k / len(turned)
    deviations = np.sqrt(np.maximum(squares - mean**2, 1e-300))
    found: Float = joint - mean[:, :, None] * mean[:, None]
    found /= deviations[:, :, None] * deviations[:, None]
    return np.clip(found, -1.0, 1.0)
