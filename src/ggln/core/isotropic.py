"""Isotropic precisions P = L I (Eq. 5): one number for all outputs."""

from typing import Any, NamedTuple

import numpy as np

from ggln.core.covariance import (
    AddHot,
    AddIsotropic,
    AddMoments,
    Constrain,
    CountBiases,
    CountConstraints,
    IsotropicPart,
    LogDeterminant,
    Marginals,
    Predict,
    Respond,
    SquaredDistance,
    ToNatural,
    WriteBias,
)
from ggln.core.projection import clip


class Isotropic(NamedTuple):
    """P = L I. Natural parameters: L, then q = sum w_j p_j mu_j."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any


@Predict.register(Isotropic)
def _predict_isotropic(kind, natural, initial, limits, output, scratch):
    for d in range(kind.outputs):
        mean = natural[1 + d] / max(natural[0], initial[0], limits.min_sum)
        output[d] = clip(mean, -limits.mean_range, limits.mean_range)
    output[kind.outputs] = clip(natural[0], limits.min_precision, limits.max_precision)


@Respond.register(Isotropic)
def _respond_isotropic(kind, output, scratch, target, moments, coefficients):
    one = output.dtype.type(1)
    precision = output[kind.outputs]
    coefficients[0] = -kind.outputs * one / precision
    spread = moments[1]
    for d in range(kind.outputs):
        residual = target[d] - output[d]
        coefficients[0] += residual * (target[d] + output[d])
        coefficients[1 + d] = -residual - residual
        spread -= output[d] * (moments[2 + d] + moments[2 + d] - output[d] * moments[0])
    return (kind.outputs * one * moments[0] / precision + spread + spread) / precision


@CountConstraints.register(Isotropic)
def _count_isotropic(kind):
    return 2 + 2 * kind.outputs


@Constrain.register(Isotropic)
def _constrain_isotropic(kind, natural, limits, constraints, bounds, scales):
    constraints[:] = bounds[:] = natural.dtype.type(0)
    constraints[0, 0], bounds[0], scales[0] = limits.one, limits.max_precision, limits.max_precision
    constraints[1, 0], bounds[1], scales[1] = -limits.one, -limits.min_precision, limits.min_precision
    for d in range(kind.outputs):
        for side in range(2):
            k = 2 + 2 * d + side
            constraints[k, 0] = -limits.mean_range
            constraints[k, 1 + d] = limits.one if side == 0 else -limits.one
            scales[k] = limits.mean_range * max(natural[0], limits.min_precision)


@ToNatural.register(Isotropic)
def _to_natural_isotropic(kind, output, natural):
    natural[0] = output[kind.outputs]
    for d in range(kind.outputs):
        natural[1 + d] = output[kind.outputs] * output[d]


@AddIsotropic.register(Isotropic)
def _add_isotropic_isotropic(kind, natural, precision):
    natural[0] += precision


@IsotropicPart.register(Isotropic)
def _isotropic_part_isotropic(kind, coefficients):
    return coefficients[0]


@CountBiases.register(Isotropic)
def _count_biases_isotropic(kind):
    return 0


@WriteBias.register(Isotropic)
def _write_bias_isotropic(kind, i, natural):
    pass


@AddMoments.register(Isotropic)
def _add_moments_isotropic(kind, natural, moments):
    moments[0] += natural[0] * natural[0]
    for d in range(kind.outputs):
        moments[1] += natural[1 + d] * natural[1 + d]
        moments[2 + d] += natural[0] * natural[1 + d]


@AddHot.register(Isotropic)
def _add_hot_isotropic(kind, axis, precision, weighted, sums, moments):
    sums[0] += precision
    sums[1 + axis] += weighted
    moments[0] += precision * precision
    moments[1] += weighted * weighted
    moments[2 + axis] += precision * weighted


@LogDeterminant.register(Isotropic)
def _log_determinant_isotropic(kind, output):
    return kind.outputs * np.log(np.float64(output[kind.outputs]))


@SquaredDistance.register(Isotropic)
def _squared_distance_isotropic(kind, output, target):
    total = 0.0
    for d in range(kind.outputs):
        residual = np.float64(target[d]) - np.float64(output[d])
        total += residual * residual
    return total * np.float64(output[kind.outputs])


@Marginals.register(Isotropic)
def _marginals_isotropic(kind, output, mean, variance):
    for d in range(kind.outputs):
        mean[d], variance[d] = output[d], 1.0 / np.float64(output[kind.outputs])
