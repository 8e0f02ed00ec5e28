"""Isotropic precisions P = L I (Eq. 5): one number for all outputs."""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.jit import inner_fast
from ggln.engine.neurons.covariance import (
    Constrain,
    CountConstraints,
    LogDeterminant,
    Marginals,
    SquaredDistance,
)
from ggln.engine.neurons.description import inputs_first
from ggln.engine.neurons.projection import clip
from ggln.engine.neurons.protocol import padded


class Isotropic(NamedTuple):
    """P = L I. Natural parameters: L, then q = sum w_j p_j mu_j."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any

    def sizes(self) -> tuple[int, int, int]:
        """Return the lengths of an input's natural parameters, of an output, and of the moments."""
        d = int(self.outputs)
        return padded(1 + d), d + 1, 5 + 2 * d

    def bias_counts(self) -> tuple[int, int]:
        """Return how many dense and how many one-hot biases each neuron has."""
        return 0, 2 * int(self.outputs)


@inputs_first.register(Isotropic)
def _has_inputs_first(_kind: Isotropic) -> bool:
    return True


@inner_fast
def predict_isotropic(kind, natural, initial, limits, output):
    """Write the product's mean, then its precision, both in their ranges, into `output` # OUT.

    initial: the precision with the initial weights, times limits.rounding.
    """
    scale = limits.one / max(natural[0], initial, limits.min_sum)
    for d in range(kind.outputs):
        output[d] = clip(natural[1 + d] * scale, -limits.mean_range, limits.mean_range)
    output[kind.outputs] = clip(natural[0], limits.min_precision, limits.max_precision)


@inner_fast
def respond_isotropic(kind, step, limits, output, target, moments, coefficients):
    """Write c of the step w_j -= rate c . phi_j into `coefficients` # OUT, and return its rate.

    With L the precision, r = y - mu and u_j = h_j - p_j mu, the gradient is (|r|^2 - D/L) p_j - 2 r . u_j and
    its Hessian (D / L^2) p p' + (2 / L) U U'. A capped step is bounded by the Hessian's trace. A split one
    bounds the two terms apart, by their own largest eigenvalues: the first moves the precision, the second
    the mean. For the one-hot inputs U'U is diagonal but for what mu adds, so that its norm is D times smaller
    than its trace; the dense ones count with their trace. The precision's step is shortened where the
    quadratic model would overshoot: the variance moves towards |r|^2 / D by the fraction pace * `step.cap` at
    most. moments: see `isotropic_loops.finish`.
    """
    one, zero, size = output.dtype.type(1), output.dtype.type(0), kind.outputs
    precision = output[size]
    distance = length = slant = along = zero
    dense, hot = moments[1], moments[3]
    for d in range(size):
        mean, residual = output[d], target[d] - output[d]
        distance += residual * residual
        along += residual * mean
        coefficients[1 + d] = -residual - residual
        length += mean * mean
        slant += moments[5 + size + d] * moments[5 + size + d]
        dense -= mean * (moments[5 + d] + moments[5 + d] - mean * moments[0])
        hot -= mean * (moments[5 + size + d] + moments[5 + size + d] - mean * moments[2])
    narrow = distance - size * one / precision
    squares = moments[0] + moments[2]
    if step.split:
        hot = min(hot, moments[4] + moments[2] * length + 2 * one * np.sqrt(slant * length))
        rate = step.cap * precision / max(2 * one * (max(dense, zero) + hot), limits.min_sum)
        excess = max(precision * distance / size - one, zero)
        own = step.cap * precision * precision / max(size * one * squares, limits.min_sum)
        own *= limits.pace / (one + limits.pace * step.cap * excess)
        coefficients[0] = own / rate * narrow + along + along
        return rate
    coefficients[0] = narrow + along + along
    spread = max(dense, zero) + hot
    trace = (size * one * squares / precision + spread + spread) / precision
    return min(step.rate, step.cap / max(trace, limits.min_sum))


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
