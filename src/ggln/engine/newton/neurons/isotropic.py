"""Neurons of several Gaussian outputs that share one variance."""

from typing import Any, NamedTuple

import numpy as np

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
    Stride,
    Width,
    expand_planes,
)


class Isotropic(NamedTuple):
    """Outputs of one variance (Eq. 5): planes L, then q for each output."""

    outputs: Any

    @property
    def planes(self) -> int:
        """Natural parameters of an input."""
        return 1 + int(self.outputs)

    def natural(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return planes [n, 1 + D] of means [n, D] and variances [n, D] or [D], which are averaged."""
        precisions = np.broadcast_to(1.0 / np.mean(variances, axis=-1, keepdims=True), (len(means), 1))
        return np.concatenate([precisions, precisions * means], axis=1)

    def gaussians(self, planes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances [.., D] of planes [.., 1 + D]."""
        means = planes[..., 1:] / planes[..., :1]
        return means, np.broadcast_to(1.0 / planes[..., :1], means.shape)

    def variances(self, covariances: FloatArray) -> FloatArray:
        """Return the variances of each output."""
        return covariances

    def rescale(self, covariances: FloatArray, scale: FloatArray) -> FloatArray:
        """Return variances in units of which one is `scale` [D] of the others."""
        return covariances * scale**2

    def alone(self, planes: FloatArray) -> FloatArray:
        """Return the planes [.., D, 2] of each output alone, real or complex."""
        precisions = np.broadcast_to(planes[..., :1], planes[..., 1:].shape)
        return np.stack([precisions, planes[..., 1:]], axis=-1)


@Loss.register(Isotropic)
def loss_isotropic(kind, totals, row, y, t):
    """-D log L + L |y - mu|^2."""
    L = totals[row, 0]
    if not L > LEAST_PRECISION:
        return np.inf
    squares = 0.0
    for d in range(y.shape[1]):
        squares += (y[t, d] - totals[row, 1 + d] / L) ** 2
    return -y.shape[1] * np.log(L) + L * squares


@Derive.register(Isotropic)
def derive_isotropic(kind, totals, row, y, t, root, residue):
    """sqrt(D) a / L and sqrt(2 / L) (b_d - mu_d a)."""
    L, outputs = totals[row, 0], y.shape[1]
    scale, squares = np.sqrt(2.0 / L), 0.0
    root[:] = 0.0
    root[0, 0] = np.sqrt(outputs) / L
    for d in range(outputs):
        mu = totals[row, 1 + d] / L
        e = np.sqrt(L) * (y[t, d] - mu)
        root[1 + d, 0], root[1 + d, 1 + d] = -scale * mu, scale
        residue[1 + d] = -np.sqrt(2.0) * e
        squares += e * e
    residue[0] = (squares - outputs) / np.sqrt(outputs)


@Width.register(Isotropic)
def width_isotropic(kind, hat, root):
    """Mean over outputs."""
    total = 0.0
    for d in range(1, hat.shape[0]):
        total += hat[d, d]
    return total / (hat.shape[0] - 1)


@Stride.register(Isotropic)
def stride_isotropic(kind, totals, row, change):
    """Keep a quarter of L."""
    lost = -change[0] / totals[row, 0]
    return 1.0 if lost <= 1.0 - KEPT else (1.0 - KEPT) / lost


@MeanOf.register(Isotropic)
def mean_isotropic(kind, totals, mean):
    """Q / L."""
    for d in range(mean.size):
        mean[d] = totals[1 + d] / totals[0]


@Bound.register(Isotropic)
def bound_isotropic(kind, totals, centre, reach, least, most):
    """The centre itself where there is no density."""
    L = totals[0]
    totals[0] = min(max(L, least), most)
    for d in range(centre.size):
        mean = centre[d]
        if L > LEAST_PRECISION:
            mean = min(max(totals[1 + d] / L, mean - reach), mean + reach)
        totals[1 + d] = totals[0] * mean


@Damp.register(Isotropic)
def damp_isotropic(kind, variance):
    """Scale the precision, and leave the mean."""
    return 1.0 / (1.0 + variance)


@Put.register(Isotropic)
def put_isotropic(kind, axis, value, precision, planes):
    """Along an axis, the mean is 0 across it."""
    planes[0] = precision
    for d in range(planes.size - 1):
        planes[1 + d] = precision * value if axis < 0 or d == axis else 0.0


@Expand.register(Isotropic)
def expand_isotropic(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Plane by plane."""
    expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient)
