"""Neurons of several Gaussian outputs with any covariance."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import inner_fast
from ggln.engine.newton.neurons.plain import FloatArray, Numbers, bounded, clip_real, means, precision_planes
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


class Full(NamedTuple):
    """Outputs with a covariance matrix (Eq. 4): planes of the lower triangle of P, row by row, then h."""

    outputs: Any

    @property
    def planes(self) -> int:
        """Natural parameters of an input."""
        return int(self.outputs) * (int(self.outputs) + 3) // 2

    def natural(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return planes [n, Q] of Gaussians of means [n, D] and variances [n, D] or [D], uncorrelated."""
        precisions = np.broadcast_to(1.0 / variances, means.shape)
        triangle = np.zeros((len(means), self.planes - means.shape[1]))
        triangle[:, np.cumsum(np.arange(1, means.shape[1] + 1)) - 1] = precisions
        return np.concatenate([triangle, precisions * means], axis=1)

    def precisions(self, planes: FloatArray) -> FloatArray:
        """Return the matrices P [.., D, D] of planes [.., Q]."""
        outputs = int(self.outputs)
        found = np.empty((*planes.shape[:-1], outputs, outputs), planes.dtype)
        i, k = np.tril_indices(outputs)
        found[..., i, k] = planes[..., : i.size]
        found[..., k, i] = planes[..., : i.size]
        return found

    def gaussians(self, planes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means [.., D] and covariances [.., D, D] of planes [.., Q]."""
        covariances = np.linalg.inv(self.precisions(planes)).astype(np.float64)
        means: FloatArray = np.einsum("...de,...e->...d", covariances, planes[..., -int(self.outputs) :])
        return means, covariances

    def variances(self, covariances: FloatArray) -> FloatArray:
        """Return the variances of each output."""
        found: FloatArray = np.einsum("...dd->...d", covariances)
        return found

    def rescale(self, covariances: FloatArray, scale: FloatArray) -> FloatArray:
        """Return covariances in units of which one is `scale` [D] of the others."""
        return covariances * scale[:, None] * scale

    def alone(self, planes: FloatArray) -> FloatArray:
        """Return the planes [.., D, 2] of each output alone, real or complex."""
        covariances = np.linalg.inv(self.precisions(planes))
        means = np.einsum("...de,...e->...d", covariances, planes[..., -int(self.outputs) :])
        precisions = 1.0 / np.einsum("...dd->...d", covariances)
        return np.stack([precisions, precisions * means], axis=-1)


@precision_planes.register(Full)
def _planes_of_the_diagonal(kind: Full) -> Any:
    return np.cumsum(np.arange(1, int(kind.outputs) + 1)) - 1


@means.register(Full)
def _means_of_matrices(kind: Full, planes: Numbers) -> Numbers:
    weighted = planes[..., -int(kind.outputs) :]
    found: Numbers = np.linalg.solve(kind.precisions(planes), weighted[..., None])[..., 0]
    return found


@bounded.register(Full)
def _bounded_matrices(
    kind: Full, totals: Numbers, centre: Numbers, reach: float, limits: FloatArray
) -> Numbers:
    outputs, matrices = int(kind.outputs), kind.precisions(totals)
    unit, weighted = np.eye(outputs), totals[..., -outputs:, None]
    dense = are_densities(matrices.real)[..., None]
    solved = np.linalg.solve(np.where(dense[..., None], matrices, unit), weighted)[..., 0]
    mean = np.where(dense, clip_real(solved, centre - reach, centre + reach), centre)
    matrices = np.where(dense[..., None], clip_eigenvalues(matrices, *limits), limits[0] * unit)
    i, k = np.tril_indices(outputs)
    return np.concatenate([matrices[..., i, k], (matrices @ mean[..., None])[..., 0]], axis=-1)


def are_densities(matrices: FloatArray) -> NDArray[np.bool_]:
    """Return whether all pivots of matrices [.., D, D] are positive enough."""
    rest, dense = matrices.copy(), np.ones(matrices.shape[:-2], np.bool_)
    for i in range(matrices.shape[-1]):
        pivot = rest[..., i, i]
        dense = dense & (pivot > LEAST_PRECISION)
        column = rest[..., i + 1 :, i]
        safe = np.where(dense, pivot, 1.0)[..., None, None]
        rest[..., i + 1 :, i + 1 :] -= column[..., :, None] * column[..., None, :] / safe
    return dense


def clip_eigenvalues(matrices: Numbers, low: float, high: float) -> Numbers:
    """Return symmetric matrices [.., D, D] with eigenvalues in a range; derivatives by Daleckii and Krein."""
    values, vectors = np.linalg.eigh(matrices.real)
    clipped, back = np.clip(values, low, high), np.swapaxes(vectors, -1, -2)
    found = (vectors * clipped[..., None, :]) @ back
    if np.iscomplexobj(matrices):
        gap = values[..., :, None] - values[..., None, :]
        close = np.abs(gap) <= 1e-9 * np.abs(values).max(axis=-1)[..., None, None]
        free = ((values > low) & (values < high)).astype(np.float64)
        rise = clipped[..., :, None] - clipped[..., None, :]
        inner = 0.5 * (free[..., :, None] + free[..., None, :])
        slope = np.where(close, inner, rise / np.where(close, 1.0, gap))
        found = found + 1j * (vectors @ (slope * (back @ matrices.imag @ vectors)) @ back)
    outside = np.any((values < low) | (values > high), axis=-1, keepdims=True)[..., None]
    return np.where(outside, found, matrices)  # others keep their last bits


@inner_fast
def factor_precision(totals, outputs):
    """Return C with P = C C', and its inverse; all zeros where P is not positive definite."""
    factor, inverse = np.zeros((outputs, outputs)), np.zeros((outputs, outputs))
    place = 0
    for i in range(outputs):
        for k in range(i + 1):
            value = totals[place]
            for j in range(k):
                value -= factor[i, j] * factor[k, j]
            if k < i:
                factor[i, k] = value / factor[k, k]
            elif value > LEAST_PRECISION:
                factor[i, i] = np.sqrt(value)
            else:
                return np.zeros((outputs, outputs)), inverse
            place += 1
    for i in range(outputs):
        inverse[i, i] = 1.0 / factor[i, i]
        for k in range(i):
            value = 0.0
            for j in range(k, i):
                value += factor[i, j] * inverse[j, k]
            inverse[i, k] = -value / factor[i, i]
    return factor, inverse


@inner_fast
def whitened_mean(totals, inverse):
    """Return C^-1 h."""
    outputs = inverse.shape[0]
    first = totals.size - outputs
    result = np.zeros(outputs)
    for i in range(outputs):
        for k in range(i + 1):
            result[i] += inverse[i, k] * totals[first + k]
    return result


@inner_fast
def multiply_transposed(inverse, vector, result):
    """Write C^-T vector # OUT."""
    outputs = inverse.shape[0]
    for i in range(outputs):
        result[i] = 0.0
        for k in range(i, outputs):
            result[i] += inverse[k, i] * vector[k]


@Loss.register(Full)
def loss_full(kind, totals, row, y, t):
    """-log |P| + |C' y - C^-1 h|^2."""
    totals, y = totals[row], y[t]
    outputs = y.size
    factor, inverse = factor_precision(totals, outputs)
    if not factor[0, 0] > 0.0:
        return np.inf
    white, total = whitened_mean(totals, inverse), 0.0
    for i in range(outputs):
        error = -white[i]
        for k in range(i, outputs):
            error += factor[k, i] * y[k]
        total += error * error - 2.0 * np.log(factor[i, i])
    return total


@Derive.register(Full)
def derive_full(kind, totals, row, y, t, root, residue):
    """C^-1 P_j C^-T, off its diagonal times sqrt(2), and sqrt(2) C^-1 (b_j - P_j mu)."""
    totals, y = totals[row], y[t]
    outputs = y.size
    factor, inverse = factor_precision(totals, outputs)
    white, mean = whitened_mean(totals, inverse), np.zeros(outputs)
    multiply_transposed(inverse, white, mean)
    errors = np.zeros(outputs)  # C' (y - mu)
    for i in range(outputs):
        for k in range(i, outputs):
            errors[i] += factor[k, i] * (y[k] - mean[k])
    root[:] = 0.0
    first, place = totals.size - outputs, 0
    for i in range(outputs):
        for k in range(i + 1):
            scale = 1.0 if k == i else np.sqrt(2.0)
            residue[place] = scale * (errors[i] * errors[k] - (1.0 if k == i else 0.0))
            for a in range(i + 1):
                for b in range(k + 1):
                    column = a * (a + 1) // 2 + b if a >= b else b * (b + 1) // 2 + a
                    root[place, column] += scale * inverse[i, a] * inverse[k, b]
            place += 1
        residue[first + i] = -np.sqrt(2.0) * errors[i]
        for a in range(i + 1):
            root[first + i, first + a] = np.sqrt(2.0) * inverse[i, a]
            for b in range(outputs):
                column = a * (a + 1) // 2 + b if a >= b else b * (b + 1) // 2 + a
                root[first + i, column] -= np.sqrt(2.0) * inverse[i, a] * mean[b]


@Width.register(Full)
def width_full(kind, hat, root):
    """Mean over whitened outputs."""
    outputs, total = int(kind.outputs), 0.0
    for d in range(hat.shape[0] - outputs, hat.shape[0]):
        total += hat[d, d]
    return total / outputs


@Damp.register(Full)
def damp_full(kind, variance):
    """Scale the precision, and leave the mean."""
    return 1.0 / (1.0 + variance)


@Stride.register(Full)
def stride_full(kind, totals, row, change):
    """Keep a quarter of P: no eigenvalue of -C^-1 change C^-T, what is lost of it, above 3/4."""
    totals = totals[row]
    outputs = int(kind.outputs)
    _, inverse = factor_precision(totals, outputs)
    lost, most = np.empty((outputs, outputs)), 0.0
    for i in range(outputs):
        for k in range(i + 1):
            value = 0.0
            for a in range(i + 1):
                for b in range(k + 1):
                    column = a * (a + 1) // 2 + b if a >= b else b * (b + 1) // 2 + a
                    value -= inverse[i, a] * inverse[k, b] * change[column]
            lost[i, k], lost[k, i] = value, value
    for i in range(outputs):  # circles around the diagonal hold all eigenvalues: these are rarely needed
        circle = lost[i, i]
        for k in range(outputs):
            circle += abs(lost[i, k]) if k != i else 0.0
        most = max(most, circle)
    if most > 1.0 - KEPT:
        most = np.linalg.eigvalsh(lost)[outputs - 1]
    return 1.0 if most <= 1.0 - KEPT else (1.0 - KEPT) / most


@MeanOf.register(Full)
def mean_full(kind, totals, mean):
    """P^-1 h."""
    _, inverse = factor_precision(totals, mean.size)
    multiply_transposed(inverse, whitened_mean(totals, inverse), mean)


@inner_fast
def clip_precision(totals, outputs, least, most):
    """Bring the eigenvalues of P # OUT into [least, most]."""
    matrix, place = np.empty((outputs, outputs)), 0
    for i in range(outputs):
        for k in range(i + 1):
            matrix[i, k], matrix[k, i] = totals[place], totals[place]
            place += 1
    values, vectors = np.linalg.eigh(matrix)
    place = 0
    for i in range(outputs):
        for k in range(i + 1):
            totals[place] = 0.0
            for j in range(outputs):
                totals[place] += min(max(values[j], least), most) * vectors[i, j] * vectors[k, j]
            place += 1


@Bound.register(Full)
def bound_full(kind, totals, centre, reach, least, most):
    """The centre, and the least precision, where there is no density; else eigenvalues are clipped."""
    outputs = centre.size
    factor, inverse = factor_precision(totals, outputs)
    first = totals.size - outputs
    mean, place = centre.copy(), 0
    if factor[0, 0] > 0.0:
        multiply_transposed(inverse, whitened_mean(totals, inverse), mean)
        trace, wide = 0.0, 0.0  # of P and of P^-1: if both are in range, so are all eigenvalues
        for i in range(outputs):
            mean[i] = min(max(mean[i], centre[i] - reach), centre[i] + reach)
            for k in range(i + 1):
                trace += factor[i, k] * factor[i, k]
                wide += inverse[i, k] * inverse[i, k]
        if trace > most or wide * least > 1.0:
            clip_precision(totals, outputs, least, most)
    else:
        for i in range(outputs):
            for k in range(i + 1):
                totals[place] = least if i == k else 0.0
                place += 1
    for i in range(outputs):
        totals[first + i] = 0.0
        for k in range(outputs):
            column = i * (i + 1) // 2 + k if i >= k else k * (k + 1) // 2 + i
            totals[first + i] += totals[column] * mean[k]


@Put.register(Full)
def put_full(kind, axis, value, precision, planes):
    """Along an axis, nothing is said of the others."""
    outputs, place = int(kind.outputs), 0
    first = planes.size - outputs
    for i in range(outputs):
        own = precision if axis < 0 or i == axis else 0.0
        for k in range(i + 1):
            planes[place] = own if i == k else 0.0
            place += 1
        planes[first + i] = own * value


@Expand.register(Full)
def expand_full(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Plane by plane."""
    expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient)
