"""Neurons of several Gaussian outputs, each with its own variance."""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.newton.neurons.plain import FloatArray, precision_planes
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
    Stride,
    Width,
    expand_planes,
)


class Diagonal(NamedTuple):
    """Outputs with a variance each: planes L for each output, then q for each."""

    outputs: Any

    @property
    def planes(self) -> int:
        """Natural parameters of an input."""
        return 2 * int(self.outputs)

    def natural(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return planes [n, 2 D] of Gaussians of means [n, D] and variances [n, D] or [D]."""
        precisions = np.broadcast_to(1.0 / variances, means.shape)
        return np.concatenate([precisions, precisions * means], axis=1)

    def gaussians(self, planes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances [.., D] of planes [.., 2 D]."""
        outputs = planes.shape[-1] // 2
        return planes[..., outputs:] / planes[..., :outputs], 1.0 / planes[..., :outputs]

    def variances(self, covariances: FloatArray) -> FloatArray:
        """Return the variances of each output."""
        return covariances

    def rescale(self, covariances: FloatArray, scale: FloatArray) -> FloatArray:
        """Return variances in units of which one is `scale` [D] of the others."""
        return covariances * scale**2

    def alone(self, planes: FloatArray) -> FloatArray:
        """Return the planes [.., D, 2] of each output alone, real or complex."""
        outputs = planes.shape[-1] // 2
        return np.stack([planes[..., :outputs], planes[..., outputs:]], axis=-1)


@precision_planes.register(Diagonal)
def _one_for_each_output(kind: Diagonal) -> Any:
    return np.arange(int(kind.outputs))


@Loss.register(Diagonal)
def loss_diagonal(kind, totals, row, y, t):
    """Sum over outputs of -log L + L (y - mu)^2."""
    total = 0.0
    for d in range(y.shape[1]):
        L = totals[row, d]
        if not L > LEAST_PRECISION:
            return np.inf
        total += -np.log(L) + L * (y[t, d] - totals[row, y.shape[1] + d] / L) ** 2
    return total


@Derive.register(Diagonal)
def derive_diagonal(kind, totals, row, y, t, root, residue):
    """As `derive_univariate`, for each output."""
    outputs = y.shape[1]
    root[:] = 0.0
    for d in range(outputs):
        L = totals[row, d]
        mu, scale = totals[row, outputs + d] / L, np.sqrt(2.0 / L)
        e = np.sqrt(L) * (y[t, d] - mu)
        root[d, d], root[outputs + d, d], root[outputs + d, outputs + d] = 1.0 / L, -scale * mu, scale
        residue[d], residue[outputs + d] = e * e - 1.0, -np.sqrt(2.0) * e


@Width.register(Diagonal)
def width_diagonal(kind, hat, root):
    """Mean over outputs."""
    outputs, total = hat.shape[0] // 2, 0.0
    for d in range(outputs):
        total += hat[outputs + d, outputs + d]
    return total / outputs


@Stride.register(Diagonal)
def stride_diagonal(kind, totals, row, change):
    """Keep a quarter of every L."""
    lost = 0.0
    for d in range(totals.shape[1] // 2):
        lost = max(lost, -change[d] / totals[row, d])
    return 1.0 if lost <= 1.0 - KEPT else (1.0 - KEPT) / lost


@MeanOf.register(Diagonal)
def mean_diagonal(kind, totals, mean):
    """Q / L."""
    for d in range(mean.size):
        mean[d] = totals[mean.size + d] / totals[d]


@Bound.register(Diagonal)
def bound_diagonal(kind, totals, centre, reach, least, most):
    """As `bound_univariate`, for each output."""
    outputs = centre.size
    for d in range(outputs):
        mean = centre[d]
        if totals[d] > LEAST_PRECISION:
            mean = min(max(totals[outputs + d] / totals[d], mean - reach), mean + reach)
        totals[d] = min(max(totals[d], least), most)
        totals[outputs + d] = totals[d] * mean


@Damp.register(Diagonal)
def damp_diagonal(kind, variance):
    """Scale the precision, and leave the mean."""
    return 1.0 / (1.0 + variance)


@Put.register(Diagonal)
def put_diagonal(kind, axis, value, precision, planes):
    """Along an axis, nothing is said of the others."""
    outputs = planes.size // 2
    for d in range(outputs):
        own = precision if axis < 0 or d == axis else 0.0
        planes[d], planes[outputs + d] = own, own * value


@Expand.register(Diagonal)
def expand_diagonal(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Plane by plane."""
    expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient)
