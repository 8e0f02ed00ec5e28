"""Full precision matrices (Eq. 4), for a handful of outputs: each visit takes an eigendecomposition."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from ggln.engine.constants import BIAS_LEAK
from ggln.engine.neurons.covariance import (
    AddIsotropic,
    AddMoments,
    Constrain,
    CountBiases,
    CountConstraints,
    LogDeterminant,
    Marginals,
    Predict,
    Respond,
    SquaredDistance,
    ToNatural,
    WriteBias,
)
from ggln.engine.neurons.description import FloatArray, directions, has_matrices, spread
from ggln.engine.neurons.projection import clip


class Full(NamedTuple):
    """A full matrix P. Natural parameters: P row by row, then h = sum w_j P_j mu_j."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any

    def sizes(self) -> tuple[int, int, int]:
        """Return the lengths of an input's natural parameters, of an output, and of the moments."""
        d = int(self.outputs)
        return d * d + d, d + d * d, 2 + d + d * d

    def bias_counts(self) -> tuple[int, int]:
        """Return how many dense and how many one-hot biases each neuron has."""
        return 2 * int(self.outputs) ** 2, 0


@has_matrices.register(Full)
def _are_matrices(_kind: Full) -> bool:
    return True


@directions.register(Full)
def _directions_of_matrices(kind: Full) -> FloatArray:
    axes = list(np.eye(int(kind.outputs)))
    for d, e in itertools.combinations(range(len(axes)), 2):
        axes += [np.sqrt(0.5) * (axes[d] + sign * axes[e]) for sign in (1, -1)]
    return np.array(axes)


@spread.register(Full)
def _spread_of_matrices(kind: Full, units: FloatArray) -> FloatArray:
    outer = units[:, :, None] * units[:, None, :]
    return (1 - BIAS_LEAK) * outer + BIAS_LEAK * np.eye(int(kind.outputs))


@Predict.register(Full)
def _predict_full(kind, natural, initial, limits, output, scratch):
    size = kind.outputs
    values, vectors = np.linalg.eigh(natural[: size * size].copy().reshape(size, size))
    output[:] = natural.dtype.type(0)
    for k in range(size):
        along = natural.dtype.type(0)
        for d in range(size):
            along += vectors[d, k] * natural[size * size + d]
        along /= max(values[k], initial[0], limits.min_sum)
        precision = clip(values[k], limits.min_precision, limits.max_precision)
        scratch[k, size] = precision
        for d in range(size):
            scratch[k, d] = vectors[d, k]
            output[d] += along * vectors[d, k]
            for e in range(size):
                output[size + size * d + e] += precision * vectors[d, k] * vectors[e, k]
    for d in range(size):
        output[d] = clip(output[d], -limits.mean_range, limits.mean_range)


@Respond.register(Full)
def _respond_full(kind, output, scratch, target, moments, coefficients):
    # tr(P^-1 P_j P^-1 P_j) <= |P_j|^2 / l^2 and u' P^-1 u <= |u|^2 / l, with l the least eigenvalue:
    # a bound on the trace keeps the step safe, and costs D^2 instead of D^3 for each input.
    size, least = kind.outputs, scratch[0, kind.outputs]
    half = output.dtype.type(0.5)
    spread = moments[1]
    for d in range(size):
        least = min(least, scratch[d, size])
        residual = target[d] - output[d]
        coefficients[size * size + d] = -residual - residual
        spread -= output[d] * (moments[2 + d] + moments[2 + d])
        for e in range(size):
            other = target[e] - output[e]
            value = residual * (target[e] + output[e]) + other * (target[d] + output[d])
            coefficients[size * d + e] = half * value
            spread += output[d] * moments[2 + size + size * d + e] * output[e]
            for k in range(size):
                coefficients[size * d + e] -= scratch[k, d] * scratch[k, e] / scratch[k, size]
    return (moments[0] / least + spread + spread) / least


@CountConstraints.register(Full)
def _count_full(kind):
    return 2 * kind.outputs


@Constrain.register(Full)
def _constrain_full(kind, natural, limits, constraints, bounds, scales):
    # v' P v is linear in the weights for a fixed v: the eigenvectors of P give the tightest such bounds
    size = kind.outputs
    constraints[:] = natural.dtype.type(0)
    vectors = np.linalg.eigh(natural[: size * size].copy().reshape(size, size))[1]
    for k in range(size):
        for d in range(size):
            for e in range(size):
                constraints[2 * k, size * d + e] = vectors[d, k] * vectors[e, k]
                constraints[2 * k + 1, size * d + e] = -vectors[d, k] * vectors[e, k]
        bounds[2 * k] = scales[2 * k] = limits.max_precision
        bounds[2 * k + 1], scales[2 * k + 1] = -limits.min_precision, limits.min_precision


@ToNatural.register(Full)
def _to_natural_full(kind, output, natural):
    size = kind.outputs
    for d in range(size):
        total = output.dtype.type(0)
        for e in range(size):
            natural[size * d + e] = output[size + size * d + e]
            total += output[size + size * d + e] * output[e]
        natural[size * size + d] = total


@AddIsotropic.register(Full)
def _add_isotropic_full(kind, natural, precision):
    for d in range(kind.outputs):
        natural[(kind.outputs + 1) * d] += precision


@CountBiases.register(Full)
def _count_biases_full(kind):
    return 2 * kind.outputs * kind.outputs


@WriteBias.register(Full)
def _write_bias_full(kind, i, natural):
    size, zero, one = kind.outputs, natural.dtype.type(0), natural.dtype.type(1)
    natural[:] = zero
    direction = natural[size * size :]
    which = i // 2
    if which < size:
        direction[which] = one
    else:  # the diagonals e_d + e_e and e_d - e_e of each pair d < e
        pair, length = (which - size) // 2, natural.dtype.type(np.sqrt(0.5))
        d = 0
        while pair >= size - 1 - d:
            pair -= size - 1 - d
            d += 1
        direction[d] = length
        direction[d + 1 + pair] = length if (which - size) % 2 == 0 else -length
    leak = natural.dtype.type(BIAS_LEAK)
    for d in range(size):
        for e in range(size):
            along = (one - leak) * direction[d] * direction[e]
            natural[size * d + e] = kind.bias_precision * (along + (leak if d == e else zero))
    weighted = kind.bias_precision * kind.bias_mean
    for d in range(size):
        direction[d] *= weighted if i % 2 == 1 else -weighted


@AddMoments.register(Full)
def _add_moments_full(kind, natural, moments):
    size = kind.outputs
    for d in range(size):
        h = natural[size * size + d]
        moments[1] += h * h
        for e in range(size):
            p = natural[size * d + e]
            moments[0] += p * p
            moments[2 + d] += p * natural[size * size + e]
            for k in range(size):
                moments[2 + size + size * d + k] += p * natural[size * e + k]


@LogDeterminant.register(Full)
def _log_determinant_full(kind, output):
    size = kind.outputs
    matrix = output[size:].copy().reshape(size, size).astype(np.float64)
    return np.log(np.linalg.eigh(matrix)[0]).sum()


@SquaredDistance.register(Full)
def _squared_distance_full(kind, output, target):
    total, size = 0.0, kind.outputs
    for d in range(size):
        residual = np.float64(target[d]) - np.float64(output[d])
        for e in range(size):
            other = np.float64(target[e]) - np.float64(output[e])
            total += residual * np.float64(output[size + size * d + e]) * other
    return total


@Marginals.register(Full)
def _marginals_full(kind, output, mean, variance):
    size = kind.outputs
    inverse = np.linalg.inv(output[size:].copy().reshape(size, size).astype(np.float64))
    for d in range(size):
        mean[d], variance[d] = output[d], inverse[d, d]
