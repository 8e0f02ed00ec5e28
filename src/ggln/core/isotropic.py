"""Isotropic precisions P = L I (Eq. 5): one number for all outputs."""

from typing import Any, NamedTuple

import numpy as np

from ggln.core.covariance import (
    Constrain,
    CountConstraints,
    LogDeterminant,
    Marginals,
    SquaredDistance,
)
from ggln.core.jit import fast_kernel
from ggln.core.projection import clip


class Isotropic(NamedTuple):
    """P = L I. Natural parameters: L, then q = sum w_j p_j mu_j."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any


@fast_kernel
def predict_isotropic(kind, natural, initial, limits, output):
    """Write the product's mean, then its precision, both in their ranges, into `output` # OUT.

    initial: the precision with the initial weights, times limits.rounding.
    """
    scale = limits.one / max(natural[0], initial, limits.min_sum)
    for d in range(kind.outputs):
        output[d] = clip(natural[1 + d] * scale, -limits.mean_range, limits.mean_range)
    output[kind.outputs] = clip(natural[0], limits.min_precision, limits.max_precision)


@fast_kernel
def respond_isotropic(kind, spectral, output, target, moments, coefficients):
    """Write c of dl/dw_j = c . phi_j into `coefficients` # OUT; return the Hessian's trace, or a bound.

    H = (D / L^2) p p' + (2 / L) U U' with rows u_j = h_j - p_j mu. Its trace counts each of the D directions; a step
    is limited by the largest eigenvalue alone, which for one-hot inputs is D times smaller. With A
    the one-hot h_j, A'A is diagonal, so that |U| <= |A| + |p| |mu| there, with |A|^2 its largest entry. The dense
    inputs count with their trace. moments: see `isotropic_loops.finish`.
    """
    one, zero, size = output.dtype.type(1), output.dtype.type(0), kind.outputs
    precision = output[size]
    slope, length = -size * one / precision, zero
    dense, hot = moments[1], moments[3]
    for d in range(size):
        mean, residual = output[d], target[d] - output[d]
        slope += residual * (target[d] + mean)
        coefficients[1 + d] = -residual - residual
        length += mean * mean
        dense -= mean * (moments[5 + d] + moments[5 + d] - mean * moments[0])
        hot -= mean * (moments[5 + size + d] + moments[5 + size + d] - mean * moments[2])
    coefficients[0] = slope
    if spectral:
        reach = np.sqrt(moments[4]) + np.sqrt(moments[2] * length)
        hot = min(hot, reach * reach)
    spread = max(dense, zero) + hot
    return (size * one * (moments[0] + moments[2]) / precision + spread + spread) / precision


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
