"""Formulas of Gaussian mixtures for a block of rows.

w, m, s: (b, M), weights, means and deviations; y or x: (b, 1). Results are (b,) unless said otherwise.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, log_ndtr, ndtr, ndtri

Float: TypeAlias = NDArray[np.float64]

SPREAD_TOL = 1e-6  # bound on the error of the integral of F (1 - F), in standard deviations
NODES = 16  # nodes of that integral treated at once
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def dot(w: Float, values: Float) -> Float:
    """sum_j w_j values_j."""
    result: Float = np.einsum("nm,nm->n", w, values)
    return result


def spanned(w: Float, values: Float) -> Float:
    """Least and greatest of the values_j with w_j > 0, (b, 2)."""
    low = values.min(axis=1, where=w > 0.0, initial=np.inf)
    return np.stack([low, values.max(axis=1, where=w > 0.0, initial=-np.inf)], axis=1)


def mean(w: Float, m: Float, s: Float) -> Float:  # noqa: ARG001
    """sum_j w_j m_j; of equal means, they themselves: weights add up to one only nearly."""
    low, high = spanned(w, m).T
    return np.where(low == high, low, dot(w, m))


def log_mix(w: Float, logs: Float) -> Float:
    """log(sum_j w_j exp(logs_j)), -inf where every term is zero."""
    terms = np.log(w) + logs
    top = terms.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    result: Float = np.log(np.exp(terms - top).sum(axis=1)) + top[:, 0]
    return result


def log_normal(z: Float, s: Float) -> Float:
    """Log density of N(0, s^2) at s z, elementwise."""
    return -0.5 * z * z - np.log(s) - LOG_SQRT_2PI


def log_density(w: Float, m: Float, s: Float, y: Float) -> Float:
    """log(sum_j w_j N(y; m_j, s_j^2))."""
    return log_mix(w, log_normal((y - m) / s, s))


def cdf(w: Float, m: Float, s: Float, x: Float) -> Float:
    """F(x) = sum_j w_j Phi((x - m_j) / s_j)."""
    return np.minimum(dot(w, ndtr((x - m) / s)), 1.0)


def sf(w: Float, m: Float, s: Float, x: Float) -> Float:
    """1 - F(x) = sum_j w_j Phi((m_j - x) / s_j)."""
    return np.minimum(dot(w, ndtr((m - x) / s)), 1.0)


def log_cdf(w: Float, m: Float, s: Float, x: Float) -> Float:
    """Logarithm of F(x) = sum_j w_j Phi((x - m_j) / s_j), which above the median is one less 1 - F(x)."""
    z = (x - m) / s
    above = np.minimum(dot(w, ndtr(-z)), 1.0)
    return np.where(above < 0.5, np.log1p(-above), log_mix(w, log_ndtr(z)))


def log_sf(w: Float, m: Float, s: Float, x: Float) -> Float:
    """Logarithm of 1 - F(x): that of F(-x) for -Y."""
    return log_cdf(w, -m, s, -x)


def mean_abs(mean: Float, std: Float) -> Float:
    """E|Z| of Z ~ N(mean, std^2), elementwise."""
    z = mean / std
    result: Float = mean * erf(z / math.sqrt(2.0)) + math.sqrt(2.0 / math.pi) * std * np.exp(-0.5 * z * z)
    return result


def spread_pairwise(w: Float, m: Float, s: Float) -> Float:
    """E|Y - Y'| / 2 = sum_j w_j^2 s_j / sqrt(pi) + sum_{j<k} w_j w_k E|N(m_k - m_j, s_k^2 + s_j^2)|."""
    total = dot(w * w, s) / math.sqrt(math.pi)
    for j in range(m.shape[1] - 1):
        distance = mean_abs(m[:, j + 1 :] - m[:, j, None], np.hypot(s[:, j + 1 :], s[:, j, None]))
        total += w[:, j] * dot(w[:, j + 1 :], distance)
    return total


def spread(w: Float, m: Float, s: Float) -> Float:
    """E|Y - Y'| / 2 = integral of F (1 - F) dx.

    The midpoint rule in u, x = centre + scale sinh(u), converges exponentially once its local step h_j at
    each component resolves that component. Its error is about exp(-pi^2 / (2 step)), for the change of
    variable, plus sum_j w_j h_j exp(-(pi s_j / h_j)^2). Rows that would need more nodes than components are
    summed pairwise, which is then cheaper.
    """
    scale = 1.0 / np.sum(w / s, axis=1, keepdims=True)
    centre = scale * np.sum(w / s * m, axis=1, keepdims=True)
    m = m - centre
    start = np.arcsinh(spanned(w, m - 6.0 * s)[:, :1] / scale)  # the tails beyond hold less than 2e-10
    stop = np.arcsinh(spanned(w, m + 6.0 * s)[:, 1:] / scale)
    total_spread, rows, nodes = np.empty(len(m)), np.arange(len(m)), 4 * NODES
    while rows.size and nodes <= m.shape[1]:
        step = (stop - start)[rows] / nodes
        h = step * np.hypot(scale[rows], m[rows])  # dx / du = hypot(scale, x - centre)
        error = dot(w[rows], h * np.exp(-((math.pi * s[rows] / h) ** 2)))
        fine = error + np.exp(-0.5 * math.pi**2 / step[:, 0]) <= SPREAD_TOL
        done, rows, step = rows[fine], rows[~fine], step[fine]
        total = np.zeros(len(done))
        for first in range(0, nodes, NODES):
            u = start[done] + step * np.arange(first + 0.5, first + NODES)  # (b, NODES)
            z = (scale[done] * np.sinh(u))[:, :, None] - m[done, None]
            f = np.einsum("nm,nkm->nk", w[done], ndtr(z / s[done, None]))
            total += np.sum(f * (1.0 - f) * np.cosh(u), axis=1)
        total_spread[done] = total * (step * scale[done])[:, 0]
        nodes *= 2
    total_spread[rows] = spread_pairwise(w[rows], m[rows], s[rows])
    return total_spread


def score(w: Float, m: Float, s: Float, x: Float, sign: Float) -> Float:
    """Phi^-1(F(x)) and its derivative, (b, 2); sign (b, 1) = -1 goes by 1 - F, accurate in the upper tail."""
    z = (x - m) / s
    value = ndtri(np.minimum(dot(w, ndtr(sign * z)), 1.0))
    return np.stack(
        [sign[:, 0] * value, dot(w, np.exp(-0.5 * z * z) / s) * np.exp(0.5 * value * value)], axis=1
    )
