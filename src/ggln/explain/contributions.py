"""Exact contributions: for a given input, the network is linear in its base inputs and biases.

Given a row, every neuron's weights are fixed, so its natural parameters are a weighted sum of those of its
inputs; keeping a precision or a mean in its range multiplies them by a known factor. Going from the output
back to the base gives the factor with which each base input enters the predicted mean and precision, and
what the inputs contribute adds up to the prediction.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gradient.learner import Learner
from ggln.engine.neurons.description import biases
from ggln.explain.layers import Neurons, apply, blocks, forward, mix

FloatArray = NDArray[np.float64]


class Explanation(NamedTuple):
    """Contributions to the predictions of some rows, in the target's units.

    ``intercept + mean.sum(axis=1)`` is the predicted mean. For networks that were solved, the contributions
    are those of the features, and the intercept is the mean prediction of the background. For networks that
    learn by gradient steps, they are those of base inputs and biases; ``precision.sum(axis=1)`` is the
    average precision of the mixture's components (with one component: the inverse of the predicted
    variance).
    """

    names: list[str]
    mean: FloatArray  #: (n, inputs), or (n, inputs, outputs)
    precision: FloatArray | None  #: the same of the precision; None for networks that were solved
    intercept: float | FloatArray
    biases: int  #: how many of the inputs, the last ones, are biases

    @property
    def prediction(self) -> FloatArray:
        """What the contributions add up to: the predicted mean, (n,) or (n, outputs)."""
        total: FloatArray = self.intercept + self.mean.sum(axis=1)
        return total

    def together(self, groups: Mapping[str, Sequence[str]]) -> "Explanation":
        """Return the same with what the inputs of a group contribute added up under the group's name.

        groups: names of inputs by the name of their group; inputs in none of them stay alone.
        """
        group_of = {name: group for group, names in groups.items() for name in names}
        owners = [group_of.get(name, name) for name in self.names]
        names = list(dict.fromkeys(owners))
        members = [[i for i, owner in enumerate(owners) if owner == name] for name in names]
        mean, precision = (
            None if part is None else np.stack([part[:, some].sum(axis=1) for some in members], axis=1)
            for part in (self.mean, self.precision)
        )
        assert mean is not None
        return self._replace(names=names, mean=mean, precision=precision)


def explain(learner: Learner, rows: FloatArray, base_names: list[str]) -> Explanation:
    """Return the contributions of all base inputs and biases to the prediction of each row."""
    ensemble, outputs = learner.ensemble, learner.settings.outputs
    side = learner.side(rows)
    names = input_names(learner, base_names)
    count = len(biases(ensemble.rules.kind)[0])
    mean, precision = np.zeros((2, rows.shape[0], len(names), outputs))
    for block in blocks(ensemble, rows.shape[0]):
        for network in range(ensemble.networks):
            layers = forward(ensemble, network, side[block])
            to_mean, to_precision = _backward(layers, ensemble.belief(network), count)
            mean[block] += to_mean / ensemble.networks
            precision[block] += to_precision / (ensemble.networks * ensemble.spreads[network])
    shift, scale = learner.targets.shift_and_scale()
    mean, precision = scale * mean, precision / scale**2
    if outputs == 1:
        return Explanation(names, mean[..., 0], precision[..., 0], float(shift[0]), count)
    return Explanation(names, mean, precision, shift, count)


def input_names(learner: Learner, base_names: list[str]) -> list[str]:
    """Return the names of base inputs and biases, in the order of a first-layer row of weights."""
    base = [] if learner.settings.base_model == "none" else base_names
    if learner.settings.base_model == "linear":
        base = [*base, "linear regression"]
    if learner.settings.outputs == 1:
        return [*base, "bias -", "bias +"]
    if learner.settings.base_model == "axes":
        base = [f"{name} -> y{d}" for name in base for d in range(learner.settings.outputs)]
    directions = biases(learner.ensemble.rules.kind)[0]
    return [
        *base,
        *("bias " + " ".join(f"{np.sign(x):+.0f}*y{d}" for d, x in enumerate(u) if x) for u in directions),
    ]


def _chain(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Apply `inner`, then `outer`, both diagonals [T, K, D] or both matrices [T, K, D, D]."""
    return outer * inner if outer.ndim == 3 else outer @ inner


def _backward(layers: list[Neurons], belief: FloatArray, biases: int) -> tuple[FloatArray, FloatArray]:
    """Return what each base input and bias adds to the mean and to the precision, [T, inputs, D] each.

    belief: [N], the weights with which the neurons are mixed; biases: how many inputs of a layer these are.
    """
    last = layers[-1]
    mean_factor, precision_factor = np.zeros_like(last.total), np.zeros_like(last.total)
    end = belief.size
    rows, _, outputs = last.weighted_means.shape
    bias_means, bias_precisions = np.zeros((2, rows, biases, outputs))
    for i in range(len(layers) - 1, -1, -1):
        layer = layers[i]
        start = end - layer.weights.shape[1]
        own = belief[start:end].reshape(-1, *[1] * (layer.total.ndim - 2))
        end = start
        full = layer.total.ndim == 4
        to_mean = layer.kept[..., None] * layer.inverse if full else layer.kept * layer.inverse
        to_message = _chain(layer.precision, to_mean)
        on_sum = own * to_mean + _chain(mean_factor, to_message)
        on_total = own * layer.narrowed + _chain(precision_factor, layer.narrowed)
        upwards = np.swapaxes(layer.weights, 1, 2)
        mean_factor, precision_factor = mix(upwards, on_sum), mix(upwards, on_total)
        means = apply(mean_factor, layer.weighted_means)
        precisions = _chain(precision_factor, layer.precisions)
        if full:
            precisions = np.diagonal(precisions, axis1=2, axis2=3)
        if i > 0:
            bias_means += means[:, -biases:]
            bias_precisions += precisions[:, -biases:]
            mean_factor, precision_factor = mean_factor[:, :-biases], precision_factor[:, :-biases]
    means[:, -biases:] += bias_means
    precisions = precisions.copy()
    precisions[:, -biases:] += bias_precisions
    return means, precisions
