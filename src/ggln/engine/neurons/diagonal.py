"""Diagonal precisions: each output has its own variance, and no correlations."""

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
from ggln.engine.neurons.description import FloatArray, spread
from ggln.engine.neurons.projection import clip


class Diagonal(NamedTuple):
    """P = diag(L_1, ..., L_D). Natural parameters: L_1, ..., L_D, then q."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any

    def sizes(self) -> tuple[int, int, int]:
        """Return the lengths of an input's natural parameters, of an output, and of the moments."""
        d = int(self.outputs)
        return 2 * d, 2 * d, 3 * d

    def bias_counts(self) -> tuple[int, int]:
        """Return how many dense and how many one-hot biases each neuron has."""
        return 2 * int(self.outputs), 0


@spread.register(Diagonal)
def _spread_of_diagonals(_kind: Diagonal, units: FloatArray) -> FloatArray:
    found: FloatArray = (1 - BIAS_LEAK) * units**2 + BIAS_LEAK
    return found


@Predict.register(Diagonal)
def _predict_diagonal(kind, natural, initial, limits, output, scratch):
    for d in range(kind.outputs):
        mean = natural[kind.outputs + d] / max(natural[d], initial[d], limits.min_sum)
        output[d] = clip(mean, -limits.mean_range, limits.mean_range)
        output[kind.outputs + d] = clip(natural[d], limits.min_precision, limits.max_precision)


@Respond.register(Diagonal)
def _respond_diagonal(kind, output, scratch, target, moments, coefficients):
    trace = output.dtype.type(0)
    for d in range(kind.outputs):
        mean, precision = output[d], output[kind.outputs + d]
        residual = target[d] - mean
        coefficients[d] = residual * (target[d] + mean) - output.dtype.type(1) / precision
        coefficients[kind.outputs + d] = -residual - residual
        squares, mixed, weighted = moments[3 * d], moments[3 * d + 1], moments[3 * d + 2]
        spread = weighted - mean * (mixed + mixed - mean * squares)
        trace += (squares / precision + spread + spread) / precision
    return trace


@CountConstraints.register(Diagonal)
def _count_diagonal(kind):
    return 4 * kind.outputs


@Constrain.register(Diagonal)
def _constrain_diagonal(kind, natural, limits, constraints, bounds, scales):
    constraints[:] = bounds[:] = natural.dtype.type(0)
    for d in range(kind.outputs):
        k = 2 * d
        constraints[k, d], bounds[k], scales[k] = limits.one, limits.max_precision, limits.max_precision
        k += 1
        constraints[k, d], bounds[k], scales[k] = -limits.one, -limits.min_precision, limits.min_precision
        for side in range(2):
            k = 2 * kind.outputs + 2 * d + side
            constraints[k, d] = -limits.mean_range
            constraints[k, kind.outputs + d] = limits.one if side == 0 else -limits.one
            scales[k] = limits.mean_range * max(natural[d], limits.min_precision)


@ToNatural.register(Diagonal)
def _to_natural_diagonal(kind, output, natural):
    for d in range(kind.outputs):
        natural[d] = output[kind.outputs + d]
        natural[kind.outputs + d] = output[kind.outputs + d] * output[d]


@AddIsotropic.register(Diagonal)
def _add_isotropic_diagonal(kind, natural, precision):
    for d in range(kind.outputs):
        natural[d] += precision


@CountBiases.register(Diagonal)
def _count_biases_diagonal(kind):
    return 2 * kind.outputs


@WriteBias.register(Diagonal)
def _write_bias_diagonal(kind, i, natural):
    axis = i // 2
    natural[:] = natural.dtype.type(0)
    for d in range(kind.outputs):
        natural[d] = kind.bias_precision if d == axis else kind.bias_precision * natural.dtype.type(BIAS_LEAK)
    weighted = kind.bias_precision * kind.bias_mean
    natural[kind.outputs + axis] = weighted if i % 2 == 1 else -weighted


@AddMoments.register(Diagonal)
def _add_moments_diagonal(kind, natural, moments):
    for d in range(kind.outputs):
        a, b = natural[d], natural[kind.outputs + d]
        moments[3 * d] += a * a
        moments[3 * d + 1] += a * b
        moments[3 * d + 2] += b * b


@LogDeterminant.register(Diagonal)
def _log_determinant_diagonal(kind, output):
    total = 0.0
    for d in range(kind.outputs):
        total += np.log(np.float64(output[kind.outputs + d]))
    return total


@SquaredDistance.register(Diagonal)
def _squared_distance_diagonal(kind, output, target):
    total = 0.0
    for d in range(kind.outputs):
        residual = np.float64(target[d]) - np.float64(output[d])
        total += residual * residual * np.float64(output[kind.outputs + d])
    return total


@Marginals.register(Diagonal)
def _marginals_diagonal(kind, output, mean, variance):
    for d in range(kind.outputs):
        mean[d], variance[d] = output[d], 1.0 / np.float64(output[kind.outputs + d])
