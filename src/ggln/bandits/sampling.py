"""Decisions from posteriors: upper bounds, draws, and the probability that a draw of an arm is the highest.

What an arm is expected to pay is a mixture of Gaussians (`Posterior`); a weight c multiplies deviations.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from ggln.engine.surfaces.posterior import Posterior

FloatArray = NDArray[np.float64]

NODES, WIDEST = 257, 8.0
"""Points of the integral over draws, and how many deviations of the widest arm they reach: with twice as many
points probabilities move by less than 1e-6."""
LEAST_DEVIATION = 1e-9
"""Of a draw, in units of the widest: what is known for certain is a step, which no grid resolves."""


def upper_bounds(posterior: Posterior, weight: float, pending: FloatArray) -> FloatArray:
    """Return mean + c deviation [n, A].

    pending: [A], decisions whose rewards are still to come, as if so many had been made in this context. They
    will narrow the posterior whatever they pay: v becomes v / (1 + pending v / noise).
    """
    variance = posterior.variance()
    variance = variance / (1.0 + pending * variance / np.maximum(posterior.noise(), np.finfo(float).tiny))
    found: FloatArray = posterior.mean() + weight * np.sqrt(variance)
    return found


def draws(posterior: Posterior, weight: float, random: Generator) -> FloatArray:
    """Return a draw of what each arm is expected to pay [n, A]: of a regression, and of its Gaussian."""
    rows, arms, _ = posterior.means.shape
    levels = np.cumsum(posterior.shares, axis=1)
    chosen = (random.random((rows, arms, 1)) > levels / levels[:, -1:]).sum(axis=2)[..., None]
    mean, variance = (
        np.take_along_axis(values, chosen, 2)[..., 0] for values in (posterior.means, posterior.variances)
    )
    found: FloatArray = mean + weight * np.sqrt(variance) * random.standard_normal((rows, arms))
    return found


def chances(posterior: Posterior, weight: float) -> FloatArray:
    """Return the probability [n, A] that an arm's draw is the highest.

    With F_a the distribution of arm a's draw, that is the integral of prod_{b != a} F_b over dF_a, a sum over
    the cells of a grid of points.
    """
    rows = zip(posterior.means, posterior.variances, strict=True)
    return np.array([_chances(posterior.shares, *row, weight) for row in rows])


def _chances(shares: FloatArray, means: FloatArray, variances: FloatArray, weight: float) -> FloatArray:
    deviations, asked = weight * np.sqrt(variances), shares > 0.0
    widest = float(deviations[asked].max())
    if widest == 0.0:
        certain: FloatArray = ties(np.sum(shares * means, axis=1)[None])[0]
        return certain
    deviations = np.maximum(deviations, LEAST_DEVIATION * widest)
    low = float((means - WIDEST * deviations)[asked].min())
    high = float((means + WIDEST * deviations)[asked].max())
    # points where some arm's draws may be the highest, closest where arms are narrow: at all their quantiles
    spread = np.linspace(-WIDEST, WIDEST, NODES // means.shape[0] + 9)
    points = (means[asked][:, None] + deviations[asked][:, None] * spread).ravel()
    points = np.unique(np.concatenate([points, np.linspace(low, high, NODES)]))
    levels = np.einsum("ak,akp->ap", shares, ndtr((points - means[..., None]) / deviations[..., None]))
    middle = 0.5 * (levels[:, 1:] + levels[:, :-1])
    logs = np.log(np.maximum(middle, np.finfo(float).tiny))
    found = np.sum(np.diff(levels, axis=1) * np.exp(logs.sum(axis=0) - logs), axis=1)
    return np.asarray(found / found.sum())


def ties(scores: FloatArray) -> FloatArray:
    """Return the probability [n, A] of each arm where the highest score is played; equal ones share it.

    Examples
    --------
    >>> ties(np.array([[1.0, 2.0, 2.0]]))
    array([[0. , 0.5, 0.5]])
    """
    best = scores == scores.max(axis=1, keepdims=True)
    found: FloatArray = best / best.sum(axis=1, keepdims=True)
    return found
