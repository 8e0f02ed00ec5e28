"""Neurons of one Gaussian output."""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.newton.constants import LEAST_PIVOT
from ggln.engine.newton.lanes import LANES, load, multiply_add, spread, store, times
from ggln.engine.newton.neurons.plain import FloatArray
from ggln.engine.newton.neurons.protocol import (
    KEPT,
    LEAST_PRECISION,
    Bound,
    Damp,
    Derive,
    Expand,
    Loss,
    MeanOf,
    Put,
    Shift,
    Stride,
    Width,
)


class Univariate(NamedTuple):
    """One Gaussian output (Eq. 3): planes L and q."""

    outputs: Any

    @property
    def planes(self) -> int:
        """Natural parameters of an input."""
        return 2

    def natural(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return planes [n, 2] of Gaussians of means [n, 1] and variances [n, 1] or [1]."""
        planes = np.empty((len(means), 2), means.dtype)
        planes[:, :1] = 1.0 / variances
        np.multiply(planes[:, :1], means, out=planes[:, 1:])
        return planes

    def gaussians(self, planes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances [.., 1] of planes [.., 2]."""
        return planes[..., 1:] / planes[..., :1], 1.0 / planes[..., :1]

    def variances(self, covariances: FloatArray) -> FloatArray:
        """Return the variances of each output."""
        return covariances

    def rescale(self, covariances: FloatArray, scale: FloatArray) -> FloatArray:
        """Return variances in units of which one is `scale` [1] of the others."""
        return covariances * scale**2

    def score(self, planes: FloatArray, goals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (y - mu)' P (y - mu) and log |P| [n, k] of planes [n, k, 2] at targets [n, 1]."""
        errors = goals - planes[..., 1] / planes[..., 0]
        return planes[..., 0] * errors**2, np.log(planes[..., 0])


@Loss.register(Univariate)
def loss_univariate(kind, totals, row, y, t):
    """-log L + L (y - q / L)^2 (Eq. 6)."""
    if not totals[row, 0] > LEAST_PRECISION:
        return np.inf
    error = y[t, 0] - totals[row, 1] / totals[row, 0]
    return -np.log(totals[row, 0]) + totals[row, 0] * error * error


@Derive.register(Univariate)
def derive_univariate(kind, totals, row, y, t, root, residue):
    """Factors a / L, sqrt(2 / L) (b - mu a); r = (e^2 - 1, -sqrt(2) e) with e = sqrt(L) (y - mu)."""
    L = totals[row, 0]
    mu, scale = totals[row, 1] / L, np.sqrt(2.0 / L)
    e = np.sqrt(L) * (y[t, 0] - mu)
    root[0, 0], root[1, 0], root[1, 1] = 1.0 / L, -scale * mu, scale
    residue[0], residue[1] = e * e - 1.0, -np.sqrt(2.0) * e


@Width.register(Univariate)
def width_univariate(kind, hat, root):
    """2 g'H^-1 g L with g = dmu/dw = v / sqrt(2 L)."""
    return hat[1, 1]


@Stride.register(Univariate)
def stride_univariate(kind, totals, row, change):
    """Keep a quarter of L."""
    lost = -change[0] / totals[row, 0]
    return 1.0 if lost <= 1.0 - KEPT else (1.0 - KEPT) / lost


@MeanOf.register(Univariate)
def mean_univariate(kind, totals, mean):
    """Q / L."""
    mean[0] = totals[1] / totals[0]


@Bound.register(Univariate)
def bound_univariate(kind, totals, centre, reach, least, most):
    """The centre itself where there is no density."""
    mean = centre[0]
    if totals[0] > LEAST_PRECISION:
        mean = min(max(totals[1] / totals[0], mean - reach), mean + reach)
    totals[0] = min(max(totals[0], least), most)
    totals[1] = totals[0] * mean


@Damp.register(Univariate)
def damp_univariate(kind, variance):
    """Scale the precision, and leave the mean."""
    return 1.0 / (1.0 + variance)


@Put.register(Univariate)
def put_univariate(kind, axis, value, precision, planes):
    """There is one axis."""
    planes[0], planes[1] = precision, precision * value


@Expand.register(Univariate)
def expand_univariate(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Both planes in one go."""
    own, across, along = spread(scale * root[0, 0]), spread(scale * root[1, 0]), spread(scale * root[1, 1])
    r0, r1 = spread(scale * residue[0]), spread(scale * residue[1])
    width = inputs.shape[2]
    place, line = 2 * t * width, first * factors.shape[1]
    for j in range(0, size, LANES):
        a, b = load(inputs, place + j), load(inputs, place + width + j)
        u, v = times(own, a), multiply_add(across, a, times(along, b))
        store(factors, line + j, u)
        store(factors, line + factors.shape[1] + j, v)
        store(gradient, j, multiply_add(r0, u, multiply_add(r1, v, load(gradient, j))))


@Shift.register(Univariate)
def shift_univariate(kind, hat, weight, root, residue):
    """Elimination of a matrix of two by two."""
    first, second = residue[0], residue[1]
    moved_first = weight * (hat[0, 0] * first + hat[1, 0] * second)
    moved_second = weight * (hat[1, 0] * first + hat[1, 1] * second)
    off = -weight * hat[1, 0]
    pivot = max(1.0 - weight * hat[0, 0], LEAST_PIVOT)
    ratio = off / pivot
    last = max(1.0 - weight * hat[1, 1] - ratio * off, LEAST_PIVOT)
    moved_second = (moved_second - ratio * moved_first) / last
    moved_first = (moved_first - off * moved_second) / pivot
    residue[0] = moved_first / root[0, 0]
    residue[1] = (moved_second - root[1, 0] * residue[0]) / root[1, 1]
