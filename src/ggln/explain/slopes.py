"""Local slopes: the exact derivative of the predicted mean by each feature, while no gate changes side.

The derivative goes back from the output to the precisions and weighted means of the base inputs, and from
there to the features: straight for a feature's own Gaussian, through mean and precision for Bayesian linear
regression.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.bases.base_models import AxesBase
from ggln.engine.bases.base_models import slopes as base_slopes
from ggln.engine.bases.regression import JointBase
from ggln.engine.bases.triangle import derivatives
from ggln.engine.gradient import inspect
from ggln.engine.gradient.ensemble import Ensemble
from ggln.engine.gradient.learner import Learner
from ggln.engine.neurons.protocol import Limits
from ggln.explain.layers import Neurons, apply, blocks, forward, mix

FloatArray = NDArray[np.float64]


class Adjoint(NamedTuple):
    """Derivatives of each output O of a mixture by the inputs of a layer."""

    weighted_means: FloatArray  # [T, O, m, D]
    precisions: FloatArray  # [T, O, m, D] or [T, O, m, D, D]


def slopes(learner: Learner, rows: FloatArray) -> FloatArray:
    """Return the derivatives [n, features, D] of the predicted means, in the user's units."""
    ensemble = learner.ensemble
    side = learner.side(rows)
    by_column = np.zeros((*side.shape, learner.settings.outputs))
    for block in blocks(ensemble, rows.shape[0]):
        for network in range(ensemble.networks):
            layers = forward(ensemble, network, side[block])
            adjoint = _backward(layers, ensemble.belief(network), ensemble.rules.limits)
            by_column[block] += _by_column(ensemble, network, side[block], adjoint)
    by_column /= ensemble.networks
    scale = learner.targets.shift_and_scale()[1]
    widths = learner.inputs.shift_and_scale()[1]
    by_column[np.abs(side) >= learner.inputs.limit] = 0.0
    return by_column / widths[:, None] * scale


def _backward(layers: list[Neurons], belief: FloatArray, limits: Limits) -> Adjoint:
    """Return the derivatives of the mixture's means by the base inputs."""
    outputs = layers[0].mean.shape[2]
    rows, end = layers[0].mean.shape[0], belief.size
    above: Adjoint | None = None
    for layer in reversed(layers):
        neurons = layer.mean.shape[1]
        on_mean = np.zeros((rows, outputs, neurons, outputs))
        on_mean += belief[end - neurons : end, None] * np.eye(outputs)[:, None]
        end -= neurons
        on_precision = np.zeros((rows, outputs, *layer.total.shape[1:]))
        mean, precision = layer.kept * layer.mean, layer.precision[:, None]
        if above is not None:
            on_precision += above.precisions[:, :, :neurons]
            on_precision += _outer(above.weighted_means[:, :, :neurons], mean[:, None], layer.total.ndim == 4)
            on_mean += apply(precision, above.weighted_means[:, :, :neurons])
        on_mean *= (np.abs(layer.mean) < limits.mean_range)[:, None]
        on_total = _through_limits(layer, on_mean, on_precision, limits)
        on_sum = apply(layer.inverse[:, None], on_mean)
        upwards = np.swapaxes(layer.weights, 1, 2)
        above = Adjoint(_mix_each(upwards, on_sum), _mix_each(upwards, on_total))
    assert above is not None
    return above


def _mix_each(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Mix [T, m, K] values [T, O, K, ..] of each output O: [T, O, m, ..]."""
    moved = np.moveaxis(values, 1, -1)
    return np.moveaxis(mix(weights, np.ascontiguousarray(moved)), -1, 1)


def _outer(left: FloatArray, right: FloatArray, full: bool) -> FloatArray:
    """Derivative of left . P right by a symmetric P: its symmetric part, or its diagonal."""
    if not full:
        return left * right
    product = left[..., :, None] * right[..., None, :]
    return 0.5 * (product + np.swapaxes(product, -1, -2))


def _through_limits(
    layer: Neurons, on_mean: FloatArray, on_precision: FloatArray, limits: Limits
) -> FloatArray:
    """Return the derivative by the sum of precisions, given those by mean and precision of each neuron.

    mean = f(total) summed with f(x) = 1 / max(x, min_sum), precision = g(total) with g clipping to its range.
    """
    low, high, least = float(limits.min_precision), float(limits.max_precision), float(limits.min_sum)
    on_inverse = _outer(on_mean, layer.summed[:, None], layer.total.ndim == 4)
    if layer.total.ndim == 3:
        free = (layer.total > low) & (layer.total < high)
        by_inverse = np.where(layer.total > least, -(layer.inverse**2), 0.0)
        return on_precision * free[:, None] + on_inverse * by_inverse[:, None]
    values, vectors = np.linalg.eigh(layer.total)
    inverse, clipped = 1.0 / np.maximum(values, least), np.clip(values, low, high)
    turned = vectors[:, None]
    back = np.swapaxes(turned, -1, -2)
    inner = _differences(values, clipped, (values > low) & (values < high))[:, None] * (
        back @ on_precision @ turned
    )
    by_inverse = np.where(values > least, -(inverse**2), 0.0)
    inner = inner + _differences(values, inverse, by_inverse)[:, None] * (back @ on_inverse @ turned)
    result: FloatArray = turned @ inner @ back
    return result


def _differences(at: FloatArray, values: FloatArray, derivatives: NDArray[Any]) -> FloatArray:
    """Return the divided differences [.., D, D] of a function of eigenvalues (Daleckii and Krein)."""
    gap = at[..., :, None] - at[..., None, :]
    close = np.abs(gap) <= 1e-9 * np.abs(at).max(axis=-1)[..., None, None]
    rise = values[..., :, None] - values[..., None, :]
    mean = 0.5 * (derivatives[..., :, None] * 1.0 + derivatives[..., None, :])
    return np.where(close, mean, rise / np.where(close, 1.0, gap))


def _by_column(ensemble: Ensemble, network: int, side: FloatArray, adjoint: Adjoint) -> FloatArray:
    """Return the derivatives [T, features, O] by the side information."""
    features = side.shape[1]
    rows, outputs = adjoint.weighted_means.shape[:2]
    found = np.zeros((rows, side.shape[1], outputs))
    if ensemble.base_inputs == 0:
        return found
    means, variances = inspect.base_rows(ensemble, network, side)
    precisions = 1.0 / variances
    on_weighted = adjoint.weighted_means[:, :, : ensemble.base_inputs]  # [T, O, inputs, D]
    on_precision = adjoint.precisions[:, :, : ensemble.base_inputs]
    if on_precision.ndim == 5:
        on_precision = np.diagonal(on_precision, axis1=3, axis2=4)
    by_mean = precisions[:, None, :, None] * on_weighted
    by_precision = (on_precision + on_weighted * means[:, None]).sum(axis=3)  # [T, O, inputs]
    if isinstance(ensemble.base, AxesBase):  # every feature moves one input of each output
        size = ensemble.base.outputs
        along = np.diagonal(by_mean.reshape(rows, outputs, features, size, size), axis1=3, axis2=4).sum(
            axis=3
        )
        return np.swapaxes(along * (np.abs(side) < ensemble.base.limit)[:, None], 1, 2)
    own = means[:, :features], precisions[:, :features]
    mean_slopes, precision_slopes = base_slopes(ensemble.base, network, side, *own)
    total = (by_mean[:, :, :features] * mean_slopes[:, None]).sum(axis=3)
    total += by_precision[:, :, :features] * precision_slopes[:, None]
    found[:] = np.swapaxes(total, 1, 2)
    if isinstance(ensemble.base, JointBase):
        return found + _by_joint(ensemble.base, network, side, precisions, by_mean, by_precision)
    return found


def _by_joint(
    base: JointBase,
    network: int,
    side: FloatArray,
    precisions: FloatArray,
    by_mean: FloatArray,
    by_precision: FloatArray,
) -> FloatArray:
    """Return what the regression on all features adds to the derivatives [T, features, O] by each of them."""
    inputs = np.hstack([side, np.ones((len(side), 1))])
    on_mean, on_precision = derivatives(base.triangle[network], inputs, precisions[:, -1])
    inside = np.abs(inputs @ on_mean) < base.limit
    found = np.einsum("tod,td,fd->tfo", by_mean[:, :, -1], inside, on_mean[:-1])
    found += np.einsum("to,tf->tfo", by_precision[:, :, -1], on_precision[:, :-1])
    total: FloatArray = found
    return total
