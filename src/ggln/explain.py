"""Exact explanations: for a given input, the network is linear in its base inputs and biases.

Given a row, every neuron's weights are fixed, so its natural parameters are a weighted sum of those of its
inputs; keeping a precision or a mean in its range multiplies them by a known factor. Going from the output
back to the base gives the factor with which each base input enters the predicted mean and precision, and
what the inputs contribute adds up to the prediction.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core.biases import biases
from ggln.core.ensemble import Ensemble
from ggln.core.full import Full
from ggln.core.learner import Learner

FloatArray = NDArray[np.float64]


class Explanation(NamedTuple):
    """Contributions in the units of the target.

    ``intercept + mean.sum(axis=1)`` is the predicted mean, ``precision.sum(axis=1)`` the average precision
    of the mixture's components (with one component: the inverse of the predicted variance).
    """

    names: list[str]
    mean: FloatArray  # (n, inputs), or (n, inputs, outputs)
    precision: FloatArray
    intercept: float | FloatArray


class Neurons(NamedTuple):
    """One layer at work on one row; precisions are diagonals [.., D] or matrices [.., D, D]."""

    weights: FloatArray  # [K, m]
    weighted_means: FloatArray  # [m, D]  of the inputs
    precisions: FloatArray  # [m, D] or [m, D, D]  of the inputs
    to_mean: FloatArray  # [K, D] or [K, D, D]  from the sum of weighted means to the mean
    to_message: FloatArray  # the same, to the precision-weighted mean that is passed on
    to_precision: FloatArray  # from the sum of precisions to the precision


def explain(learner: Learner, rows: FloatArray, base_names: list[str]) -> Explanation:
    """Return the contributions of all base inputs and biases to the prediction of each row."""
    ensemble, outputs = learner.ensemble, learner.settings.outputs
    side = learner.side(rows)
    names = _names(learner, base_names)
    mean, precision = np.zeros((2, rows.shape[0], len(names), outputs))
    for t in range(rows.shape[0]):
        for network in range(ensemble.networks):
            layers = _forward(ensemble, network, side[t : t + 1])
            to_mean, to_precision = _backward(
                layers, ensemble.belief(network), len(biases(ensemble.rules.kind)[0])
            )
            mean[t] += to_mean / ensemble.networks
            precision[t] += to_precision / (ensemble.networks * ensemble.spreads[network])
    shift, scale = learner.targets.shift_and_scale()
    mean, precision = scale * mean, precision / scale**2
    if outputs == 1:
        return Explanation(names, mean[..., 0], precision[..., 0], float(shift[0]))
    return Explanation(names, mean, precision, shift)


def _names(learner: Learner, base_names: list[str]) -> list[str]:
    """Return the names of base inputs and biases, in the order of a first-layer row of weights."""
    base = [] if learner.settings.base_model == "none" else base_names
    directions = biases(learner.ensemble.rules.kind)[0]
    if learner.settings.outputs == 1:
        return [*base, "bias -", "bias +"]
    return [
        *base,
        *("bias " + " ".join(f"{np.sign(x):+.0f}*y{d}" for d, x in enumerate(u) if x) for u in directions),
    ]


def _apply(factor: FloatArray, value: FloatArray) -> FloatArray:
    """Multiply by a diagonal [.., D] or by a matrix [.., D, D]."""
    if factor.ndim == value.ndim:
        return factor * value
    product: FloatArray = (factor @ value[..., None])[..., 0]
    return product


def _chain(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Apply `inner`, then `outer`, both diagonals [.., D] or both matrices [.., D, D]."""
    return outer * inner if outer.ndim == 2 else outer @ inner


def _forward(ensemble: Ensemble, network: int, side: FloatArray) -> list[Neurons]:
    """Run one row through the layers, keeping what the way back needs."""
    kind, limits = ensemble.rules_of(network).kind, ensemble.rules.limits
    outputs, full = int(kind.outputs), isinstance(kind, Full)
    means, variances = ensemble.base_row(network, side)
    bias_means, bias_precisions = biases(kind)
    unit = np.eye(outputs) if full else np.ones(outputs)
    precisions = (1.0 / variances).reshape(-1, *[1] * unit.ndim) * unit
    weighted = _apply(precisions, means)
    layers = []
    for weights in ensemble.active_weights(network, side):
        precisions = np.concatenate([precisions, bias_precisions])
        weighted = np.concatenate([weighted, _apply(bias_precisions, bias_means)])
        total = np.tensordot(weights, precisions, 1)
        summed = weights @ weighted
        if full:
            values, vectors = np.linalg.eigh(total)
            inverse = (vectors / np.maximum(values, limits.min_sum)[:, None]) @ np.swapaxes(vectors, 1, 2)
            clipped = np.clip(values, limits.min_precision, limits.max_precision)
            narrowed = (vectors * (clipped / values)[:, None]) @ np.swapaxes(vectors, 1, 2)
        else:
            inverse = 1.0 / np.maximum(total, limits.min_sum)
            narrowed = np.clip(total, limits.min_precision, limits.max_precision) * inverse
        mean = _apply(inverse, summed)
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = np.where(mean == 0, 1.0, np.clip(mean, -limits.mean_range, limits.mean_range) / mean)
        to_mean = kept[:, :, None] * inverse if full else kept * inverse
        output_precision = _chain(narrowed, total)
        layers.append(
            Neurons(weights, weighted, precisions, to_mean, _chain(output_precision, to_mean), narrowed)
        )
        weighted, precisions = _apply(layers[-1].to_message, summed), output_precision
    return layers


def _backward(layers: list[Neurons], belief: FloatArray, biases: int) -> tuple[FloatArray, FloatArray]:
    """Return what each base input and bias adds to the mean and to the precision, [inputs, D] each.

    belief: [N], the weights with which the neurons are mixed; biases: how many inputs of a layer these are.
    """
    last = layers[-1]
    mean_factor, precision_factor = np.zeros_like(last.to_mean), np.zeros_like(last.to_mean)
    end = belief.size
    bias_means, bias_precisions = np.zeros((2, biases, last.weighted_means.shape[1]))
    for i in range(len(layers) - 1, -1, -1):
        layer = layers[i]
        start = end - len(layer.weights)
        own = belief[start:end].reshape(-1, *[1] * (layer.to_mean.ndim - 1))
        end = start
        on_sum = own * layer.to_mean + _chain(mean_factor, layer.to_message)
        on_total = own * layer.to_precision + _chain(precision_factor, layer.to_precision)
        mean_factor = np.tensordot(layer.weights.T, on_sum, 1)
        precision_factor = np.tensordot(layer.weights.T, on_total, 1)
        means = _apply(mean_factor, layer.weighted_means)
        precisions = _chain(precision_factor, layer.precisions)
        if precisions.ndim == 3:
            precisions = np.diagonal(precisions, axis1=1, axis2=2)
        if i > 0:
            bias_means, bias_precisions = bias_means + means[-biases:], bias_precisions + precisions[-biases:]
            mean_factor, precision_factor = mean_factor[:-biases], precision_factor[:-biases]
    means[-biases:] += bias_means
    precisions = precisions.copy()
    precisions[-biases:] += bias_precisions
    return means, precisions
