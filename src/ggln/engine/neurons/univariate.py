"""The neuron for one output, in four-neuron tiles: where nearly all of the time goes.

With p_j the precision of input j and a_j = p_j, b_j = p_j mu_j its natural parameters, a neuron needs
L = w . a and q = w . b, predicts the mean q / L with precision L (Eq. 3), and the gradient of its loss
(Appendix B) is A a - B b with two scalars. A neuron goes through the tile or the single loop according to its
index alone, so that neither threads nor blocks can change a bit of the result.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.constants import CACHE_LINE, LANES, TILE
from ggln.engine.jit import Protocol, inner_fast, prefetch
from ggln.engine.neurons.projection import Clip, Exact, LogBarrier, clip, move, repair, settle
from ggln.engine.neurons.protocol import AddMoments, Energies, Infer, Learn, Send, SendBase

PRECISION, WEIGHTED = 0, 1  # lines of the messages: a and b
MEAN, OUT_PRECISION = 0, 1  # columns of the outputs


class Univariate(NamedTuple):
    """One output, with bias inputs of mean +-bias_mean."""

    outputs: Any
    bias_mean: Any
    bias_precision: Any

    def sizes(self) -> tuple[int, int, int]:
        """Return the lengths of an input's natural parameters, of an output, and of the moments."""
        return 2, 2, 3

    def bias_counts(self) -> tuple[int, int]:
        """Return how many dense and how many one-hot biases each neuron has."""
        return 2, 0


def add_barrier(projection, slope, pull, total, weighted, rate, limits):
    """Add the barrier's gradient to the scalars A and B."""


def mend(projection, row, a, b, sums, moments, prior, limits):
    """Apply the projection's repair to a row # OUT whose precision or mean may have left its range."""


AddBarrier, Mend = Protocol(add_barrier), Protocol(mend)


@AddBarrier.register(Clip)
@AddBarrier.register(Exact)
def _no_barrier(projection, slope, pull, total, weighted, rate, limits):
    return slope, pull


@AddBarrier.register(LogBarrier)
def _add_barrier(projection, slope, pull, total, weighted, rate, limits):
    edge, least, most = limits.mean_range, limits.min_precision, limits.max_precision
    near = limits.floor * edge * max(total, least)
    force = rate * projection.strength
    too_precise = force / max(most - total, limits.floor * most)
    too_vague = force / max(total - least, limits.floor * least)
    too_high = force / max(edge * total - weighted, near)
    too_low = force / max(edge * total + weighted, near)
    slope += too_precise - too_vague - edge * (too_high + too_low)
    return slope, pull - too_high + too_low


@inner_fast
def predict(total, weighted, initial, limits):
    """Mean and precision of the product (Eq. 3), in their ranges; `initial` is L with the initial weights."""
    floor = max(limits.rounding * initial, limits.min_sum)
    mean = clip(weighted / max(total, floor), -limits.mean_range, limits.mean_range)
    return mean, clip(total, limits.min_precision, limits.max_precision)


@inner_fast
def gradient(projection, total, weighted, initial, target, moments, limits, step):
    """Mean, precision, step A and B of w -= A a - B b (Appendix B), and the learning rate in force.

    moments: sums of a^2, ab and b^2 over the inputs, for the trace of the Hessian (Eq. in Appendix B):
    |a|^2 / L^2 + (2 / L) |b - mean a|^2.
    """
    mean, precision = predict(total, weighted, initial, limits)
    residual = target - mean
    spread = max(moments[2] - mean * (moments[1] + moments[1] - mean * moments[0]), limits.min_sum)
    trace = (moments[0] / precision + spread + spread) / precision
    rate = min(step.rate, step.cap / trace)
    slope = rate * (residual * (target + mean) - limits.one / precision)
    pull = rate * (residual + residual)
    slope, pull = add_barrier(projection, slope, pull, total, weighted, rate, limits)
    return mean, precision, slope, pull, rate


@Mend.register(Clip)
def _no_mending(projection, row, a, b, sums, moments, prior, limits):
    pass


@Mend.register(Exact)
@Mend.register(LogBarrier)
def _mend(projection, row, a, b, sums, moments, prior, limits):
    total, weighted = product(row, a, b, sums, prior)
    edge = limits.mean_range
    precise, vague = total > limits.max_precision, total < limits.min_precision
    high, low = weighted > edge * total, weighted < -edge * total
    if not (precise or vague or high or low):
        settle(projection, row, prior)
        return
    rows = np.empty((3, row.size), row.dtype)
    targets, lengths = np.empty(3, row.dtype), np.empty(3, row.dtype)
    count = 0
    if precise or vague:
        sign = limits.one if precise else -limits.one
        bound = limits.max_precision if precise else limits.min_precision
        for j in range(row.size):
            rows[count, j] = sign * a[j]
        targets[count] = sign * (bound - prior * sums[0])
        lengths[count] = moments[0]
        count += 1
    for violated, sign in ((high, limits.one), (low, -limits.one)):  # both, where the precision is negative
        if violated:
            for j in range(row.size):
                rows[count, j] = sign * b[j] - edge * a[j]
            targets[count] = prior * (edge * sums[0] - sign * sums[1])
            lengths[count] = moments[2] - sign * edge * (moments[1] + moments[1]) + edge * edge * moments[0]
            count += 1
    repair(projection, row, rows[:count], targets[:count], lengths[:count], prior)


@inner_fast
def weights_at(pool, slot, size):
    """Return the row of `size` weights that starts at `slot`, as a view."""
    start = np.int64(slot) * LANES
    return pool[start : start + size]


@inner_fast
def fetch(pool, slots, column, size, k):
    """Bring the rows that half a tile, from neuron k on, needs next towards the cache."""
    for i in range(TILE // 2):
        ahead = np.int64(slots[k + i, column]) * LANES
        for j in range(0, size, CACHE_LINE):
            prefetch(pool, ahead + j)


@inner_fast
def product(row, a, b, sums, prior):
    """L = w . a and q = w . b for w = prior + row (Eq. 3)."""
    total, weighted = prior * sums[0], prior * sums[1]
    for j in range(row.size):
        total += row[j] * a[j]
        weighted += row[j] * b[j]
    return total, weighted


@inner_fast
def products(row0, row1, row2, row3, a, b, sums, prior):
    """`product` for a tile of four rows that share the loads of a and b."""
    total0 = total1 = total2 = total3 = prior * sums[0]
    weighted0 = weighted1 = weighted2 = weighted3 = prior * sums[1]
    for j in range(row0.size):
        total0 += row0[j] * a[j]
        total1 += row1[j] * a[j]
        total2 += row2[j] * a[j]
        total3 += row3[j] * a[j]
        weighted0 += row0[j] * b[j]
        weighted1 += row1[j] * b[j]
        weighted2 += row2[j] * b[j]
        weighted3 += row3[j] * b[j]
    return (total0, weighted0), (total1, weighted1), (total2, weighted2), (total3, weighted3)


@inner_fast
def store(outputs, t, k, prediction):
    """Keep a prediction, mean and precision, of neuron k for row t # OUT."""
    outputs[t, k, MEAN], outputs[t, k, OUT_PRECISION] = prediction


@inner_fast
def learn_single(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k):
    """Neuron k over a block. Shapes as in `neuron.learn`."""
    prior, floor = layer.prior, limits.floor
    for t in range(columns.size):
        row = weights_at(pool, slots[k, columns[t]], layer.stride)
        a, b = messages.dense[t, PRECISION], messages.dense[t, WEIGHTED]
        sums, moments, target = messages.sums[t], messages.moments[t], targets[t, 0]
        total, weighted = product(row, a, b, sums, prior)
        mean, precision, slope, pull, rate = gradient(
            projection, total, weighted, prior * sums[0], target, moments, limits, step
        )
        store(outputs, t, k, (mean, precision))
        for j in range(row.size):
            row[j] = move(projection, row[j], row[j] - slope * a[j] + pull * b[j], prior, rate, floor)
        mend(projection, row, a, b, sums, moments, prior, limits)


@inner_fast
def learn_tile(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k):
    """Neurons k to k + 3 over a block. Shapes as in `neuron.learn`."""
    prior, floor = layer.prior, limits.floor
    for t in range(columns.size):
        column = columns[t]
        following = columns[min(t + 1, columns.size - 1)]
        fetch(pool, slots, following, layer.stride, k)
        row0 = weights_at(pool, slots[k, column], layer.stride)
        row1 = weights_at(pool, slots[k + 1, column], layer.stride)
        row2 = weights_at(pool, slots[k + 2, column], layer.stride)
        row3 = weights_at(pool, slots[k + 3, column], layer.stride)
        a, b = messages.dense[t, PRECISION], messages.dense[t, WEIGHTED]
        sums, moments, target = messages.sums[t], messages.moments[t], targets[t, 0]
        s0, s1, s2, s3 = products(row0, row1, row2, row3, a, b, sums, prior)
        initial = prior * sums[0]
        mean0, precision0, slope0, pull0, rate0 = gradient(
            projection, s0[0], s0[1], initial, target, moments, limits, step
        )
        mean1, precision1, slope1, pull1, rate1 = gradient(
            projection, s1[0], s1[1], initial, target, moments, limits, step
        )
        mean2, precision2, slope2, pull2, rate2 = gradient(
            projection, s2[0], s2[1], initial, target, moments, limits, step
        )
        mean3, precision3, slope3, pull3, rate3 = gradient(
            projection, s3[0], s3[1], initial, target, moments, limits, step
        )
        store(outputs, t, k, (mean0, precision0))
        store(outputs, t, k + 1, (mean1, precision1))
        store(outputs, t, k + 2, (mean2, precision2))
        store(outputs, t, k + 3, (mean3, precision3))
        fetch(pool, slots, following, layer.stride, k + TILE // 2)
        for j in range(row0.size):
            row0[j] = move(projection, row0[j], row0[j] - slope0 * a[j] + pull0 * b[j], prior, rate0, floor)
            row1[j] = move(projection, row1[j], row1[j] - slope1 * a[j] + pull1 * b[j], prior, rate1, floor)
            row2[j] = move(projection, row2[j], row2[j] - slope2 * a[j] + pull2 * b[j], prior, rate2, floor)
            row3[j] = move(projection, row3[j], row3[j] - slope3 * a[j] + pull3 * b[j], prior, rate3, floor)
        for row in (row0, row1, row2, row3):
            mend(projection, row, a, b, sums, moments, prior, limits)


@Learn.register(Univariate)
def _learn(
    kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
):
    tiled = layer.first + layer.size - layer.size % TILE
    k = layer.first + start
    while k < layer.first + stop:
        if k < tiled:
            learn_tile(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k)
            k += TILE
        else:
            learn_single(projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, k)
            k += 1


@Infer.register(Univariate)
def _infer(kind, limits, layer, pool, slots, columns, messages, outputs, start, stop):
    tiled = layer.first + layer.size - layer.size % TILE
    k = layer.first + start
    while k < layer.first + stop:
        for t in range(columns.size):
            column = columns[t]
            a, b, sums = messages.dense[t, PRECISION], messages.dense[t, WEIGHTED], messages.sums[t]
            initial = layer.prior * sums[0]
            row0 = weights_at(pool, slots[k, column], layer.stride)
            if k < tiled:
                following = columns[min(t + 1, columns.size - 1)]
                fetch(pool, slots, following, layer.stride, k)
                fetch(pool, slots, following, layer.stride, k + TILE // 2)
                row1 = weights_at(pool, slots[k + 1, column], layer.stride)
                row2 = weights_at(pool, slots[k + 2, column], layer.stride)
                row3 = weights_at(pool, slots[k + 3, column], layer.stride)
                s0, s1, s2, s3 = products(row0, row1, row2, row3, a, b, sums, layer.prior)
                store(outputs, t, k, predict(s0[0], s0[1], initial, limits))
                store(outputs, t, k + 1, predict(s1[0], s1[1], initial, limits))
                store(outputs, t, k + 2, predict(s2[0], s2[1], initial, limits))
                store(outputs, t, k + 3, predict(s3[0], s3[1], initial, limits))
            else:
                total, weighted = product(row0, a, b, sums, layer.prior)
                store(outputs, t, k, predict(total, weighted, initial, limits))
        k += TILE if k < tiled else 1


@inner_fast
def finish(kind, layer, messages, t):
    """Append the bias inputs -r and +r, pad with zeros, and sum up what all neurons share # OUT."""
    a, b = messages.dense[t, PRECISION], messages.dense[t, WEIGHTED]
    zero = a.dtype.type(0)
    for j in range(layer.dense - 2, layer.stride):
        a[j] = b[j] = zero
    a[layer.dense - 2] = a[layer.dense - 1] = kind.bias_precision
    b[layer.dense - 2] = -kind.bias_precision * kind.bias_mean
    b[layer.dense - 1] = kind.bias_precision * kind.bias_mean
    total = weighted = squares = mixed = weighted_squares = zero
    for j in range(layer.stride):
        total += a[j]
        weighted += b[j]
        squares += a[j] * a[j]
        mixed += a[j] * b[j]
        weighted_squares += b[j] * b[j]
    messages.sums[t, 0], messages.sums[t, 1] = total, weighted
    messages.moments[t, 0], messages.moments[t, 1] = squares, mixed
    messages.moments[t, 2] = weighted_squares


@SendBase.register(Univariate)
def _send_base(kind, layer, means, precisions, messages, start, stop):
    for t in range(start, stop):
        for j in range(means.shape[1]):
            messages.dense[t, PRECISION, j] = precisions[t, j]
            messages.dense[t, WEIGHTED, j] = precisions[t, j] * means[t, j, 0]
        finish(kind, layer, messages, t)


@Send.register(Univariate)
def _send(kind, layer, below, outputs, messages, start, stop):
    for t in range(start, stop):
        for j in range(below.size):
            precision = outputs[t, below.first + j, OUT_PRECISION]
            messages.dense[t, PRECISION, j] = precision
            messages.dense[t, WEIGHTED, j] = precision * outputs[t, below.first + j, MEAN]
        finish(kind, layer, messages, t)


@Energies.register(Univariate)
def _energies(kind, outputs, target, energy, scale):
    half = outputs.dtype.type(0.5)
    for k in range(energy.size):
        precision, residual = outputs[k, OUT_PRECISION], target[0] - outputs[k, MEAN]
        energy[k] = half * precision * residual * residual
        scale[k] = np.sqrt(precision)


@AddMoments.register(Univariate)
def _add_moments(kind, outputs, weights, spread, mean, second):
    first = square = 0.0
    for k in range(weights.size):
        value, precision = np.float64(outputs[k, MEAN]), np.float64(outputs[k, OUT_PRECISION])
        first += weights[k] * value
        square += weights[k] * (spread / precision + value * value)
    mean[0] += first
    second[0] += square
