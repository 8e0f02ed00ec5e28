"""The Bernoulli neuron: gated geometric mixing of probabilities (Veness et al., Gated Linear Networks, 2019).

With x_j = logit(p_j) of its inputs, a neuron predicts sigma(w . x): the weighted geometric mean of Bernoulli
distributions, normalised. Its log-loss has the gradient (sigma(w . x) - y) x. Neurons pass on logits, kept in
[-limits.mean_range, limits.mean_range], which is to clip probabilities.

For several classes, each against all others, a neuron has an output and a vector of weights for each class.
Its gates, and so its context, are the same for all classes; a class sees nothing of the others. A row of the
pool holds the weights of all classes, one after the other. Loops run over classes outside of rows: what a
tile of four neurons needs for one class fits the second-level cache. An output whose target is NaN has
nothing to learn from a row: its neurons are passed over, and what they predicted is not recorded.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.constants import LANES, TILE
from ggln.engine.jit import inner_fast
from ggln.engine.neurons.description import weight_rows
from ggln.engine.neurons.projection import clip, move
from ggln.engine.neurons.protocol import AddMoments, Energies, Infer, Learn, Send, SendBase
from ggln.engine.neurons.univariate import weights_at
from ggln.engine.switching import exp_negative

FACTORS = 64
"""Likelihoods multiplied before their logarithm is taken: each is at least 1/2, so that none underflows."""


class Bernoulli(NamedTuple):
    """One output for each class, a single one for two classes; and the logit of the bias input."""

    outputs: Any
    bias: Any

    def sizes(self) -> tuple[int, int, int]:
        """Return the lengths of an input's natural parameters, of an output, and of the moments."""
        classes = int(self.outputs)
        return classes, classes, classes

    def bias_counts(self) -> tuple[int, int]:
        """Return how many dense and how many one-hot biases each neuron has."""
        return 1, 0


@weight_rows.register(Bernoulli)
def _one_for_each_class(kind: Bernoulli) -> int:
    return int(kind.outputs)


@inner_fast
def sigmoid(z):
    """1 / (1 + e^-z), without overflow on either side."""
    small = exp_negative(-abs(np.float64(z)))
    return (1.0 if z >= 0 else small) / (1.0 + small)


@inner_fast
def line_of(layer, output):
    """Return the line of the messages that an output reads: the base predictions are the same for all."""
    return 0 if layer.first == 0 else output


@inner_fast
def weights_of(pool, slot, layer, output):
    """Return the weights of one output in the row that starts at `slot`, as a view."""
    return weights_at(pool, np.int64(slot) + output * (layer.stride // LANES), layer.stride)


@inner_fast
def product(row, x, total, prior):
    """W . x for w = prior + row: the logit of the geometric mean."""
    logit = prior * total
    for j in range(row.size):
        logit += row[j] * x[j]
    return logit


@inner_fast
def products(row0, row1, row2, row3, x, total, prior):
    """`product` for a tile of four rows that share the loads of x."""
    logit0 = logit1 = logit2 = logit3 = prior * total
    for j in range(row0.size):
        logit0 += row0[j] * x[j]
        logit1 += row1[j] * x[j]
        logit2 += row2[j] * x[j]
        logit3 += row3[j] * x[j]
    return logit0, logit1, logit2, logit3


@inner_fast
def predict(logit, limits):
    """Keep a logit in its range."""
    return clip(logit, -limits.mean_range, limits.mean_range)


@inner_fast
def slope(x, logit, target, rate):
    """Return s of the step w -= s x, in the type of x: rate times sigma(logit) - y."""
    return x.dtype.type(rate * (sigmoid(logit) - target))


@inner_fast
def capped(step, squares, limits):
    """Return the learning rate min(rate, cap / curvature): no Hessian has a trace above |x|^2 / 4."""
    quarter = limits.one / (limits.one + limits.one + limits.one + limits.one)
    return min(step.rate, step.cap / max(quarter * squares, limits.min_sum))


@inner_fast
def learn_single(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k, d):
    """Output d of neuron k over a block. Shapes as in `neuron.learn`."""
    prior, line = layer.prior, line_of(layer, d)
    for t in range(columns.size):
        if np.isnan(targets[t, d]):
            continue
        row = weights_of(pool, slots[k, columns[t]], layer, d)
        x = messages.dense[t, line]
        rate = messages.paces[t] * capped(step, messages.moments[t, line], limits)
        logit = predict(product(row, x, messages.sums[t, line], prior), limits)
        outputs[t, k, d] = logit
        s = slope(x, logit, targets[t, d], rate)
        for j in range(row.size):
            row[j] = move(projection, row[j], row[j] - s * x[j], prior, rate, limits.floor)


@inner_fast
def learn_tile(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k, d):
    """Output d of neurons k to k + 3 over a block. Shapes as in `neuron.learn`."""
    prior, floor, line = layer.prior, limits.floor, line_of(layer, d)
    for t in range(columns.size):
        column, target = columns[t], targets[t, d]
        if np.isnan(target):
            continue
        row0 = weights_of(pool, slots[k, column], layer, d)
        row1 = weights_of(pool, slots[k + 1, column], layer, d)
        row2 = weights_of(pool, slots[k + 2, column], layer, d)
        row3 = weights_of(pool, slots[k + 3, column], layer, d)
        x = messages.dense[t, line]
        rate = messages.paces[t] * capped(step, messages.moments[t, line], limits)
        logit0, logit1, logit2, logit3 = products(row0, row1, row2, row3, x, messages.sums[t, line], prior)
        logit0, logit1 = predict(logit0, limits), predict(logit1, limits)
        logit2, logit3 = predict(logit2, limits), predict(logit3, limits)
        outputs[t, k, d], outputs[t, k + 1, d] = logit0, logit1
        outputs[t, k + 2, d], outputs[t, k + 3, d] = logit2, logit3
        s0, s1 = slope(x, logit0, target, rate), slope(x, logit1, target, rate)
        s2, s3 = slope(x, logit2, target, rate), slope(x, logit3, target, rate)
        for j in range(row0.size):
            row0[j] = move(projection, row0[j], row0[j] - s0 * x[j], prior, rate, floor)
            row1[j] = move(projection, row1[j], row1[j] - s1 * x[j], prior, rate, floor)
            row2[j] = move(projection, row2[j], row2[j] - s2 * x[j], prior, rate, floor)
            row3[j] = move(projection, row3[j], row3[j] - s3 * x[j], prior, rate, floor)


@Learn.register(Bernoulli)
def _learn(
    kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
):
    tiled = layer.first + layer.size - layer.size % TILE
    k = layer.first + start
    while k < layer.first + stop:
        for d in range(kind.outputs):
            if k < tiled:
                learn_tile(
                    projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k, d
                )
            else:
                learn_single(
                    projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k, d
                )
        k += TILE if k < tiled else 1


@Infer.register(Bernoulli)
def _infer(kind, limits, layer, pool, slots, columns, messages, outputs, start, stop):
    tiled = layer.first + layer.size - layer.size % TILE
    k = layer.first + start
    while k < layer.first + stop:
        for d in range(kind.outputs):
            line = line_of(layer, d)
            for t in range(columns.size):
                x, total, column = messages.dense[t, line], messages.sums[t, line], columns[t]
                row0 = weights_of(pool, slots[k, column], layer, d)
                if k < tiled:
                    row1 = weights_of(pool, slots[k + 1, column], layer, d)
                    row2 = weights_of(pool, slots[k + 2, column], layer, d)
                    row3 = weights_of(pool, slots[k + 3, column], layer, d)
                    logits = products(row0, row1, row2, row3, x, total, layer.prior)
                    outputs[t, k, d], outputs[t, k + 1, d] = (
                        predict(logits[0], limits),
                        predict(logits[1], limits),
                    )
                    outputs[t, k + 2, d], outputs[t, k + 3, d] = (
                        predict(logits[2], limits),
                        predict(logits[3], limits),
                    )
                else:
                    outputs[t, k, d] = predict(product(row0, x, total, layer.prior), limits)
        k += TILE if k < tiled else 1


@inner_fast
def finish(kind, layer, messages, t, line):
    """Append the bias input, pad with zeros, and sum up what all neurons share # OUT."""
    x = messages.dense[t, line]
    zero = x.dtype.type(0)
    for j in range(layer.dense, layer.stride):
        x[j] = zero
    x[layer.dense - 1] = kind.bias
    total = squares = zero
    for j in range(layer.stride):
        total += x[j]
        squares += x[j] * x[j]
    messages.sums[t, line], messages.moments[t, line] = total, squares


@SendBase.register(Bernoulli)
def _send_base(kind, layer, means, precisions, messages, start, stop):
    for t in range(start, stop):
        for j in range(means.shape[1]):
            messages.dense[t, 0, j] = means[t, j, 0]
        finish(kind, layer, messages, t, 0)


@Send.register(Bernoulli)
def _send(kind, layer, below, outputs, messages, start, stop):
    for t in range(start, stop):
        for d in range(kind.outputs):
            for j in range(below.size):
                messages.dense[t, d, j] = outputs[t, below.first + j, d]
            finish(kind, layer, messages, t, d)


@Energies.register(Bernoulli)
def _energies(kind, outputs, target, energy, scale):
    # the log-loss of logit z is max(z, 0) - y z + log(1 + e^-|z|), summed over the outputs
    for k in range(energy.size):
        linear, factor = 0.0, 1.0
        for d in range(kind.outputs):
            if np.isnan(target[d]):
                continue
            z = np.float64(outputs[k, d])
            linear += max(z, 0.0) - target[d] * z
            factor *= 1.0 + exp_negative(-abs(z))
            if d % FACTORS == FACTORS - 1:
                linear += np.log(factor)
                factor = 1.0
        energy[k] = linear + np.log(factor)
        scale[k] = 1.0


@AddMoments.register(Bernoulli)
def _add_moments(kind, outputs, weights, spread, mean, second):
    # y is 0 or 1: its second moment is its mean
    for k in range(weights.size):
        if weights[k] > 0.0:
            for d in range(kind.outputs):
                probability = weights[k] * sigmoid(outputs[k, d])
                mean[d] += probability
                second[d] += probability
