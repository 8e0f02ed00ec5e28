"""Networks row by row: a row is predicted by every neuron, and then learnt where it fell.

A context adds up gradients and curvatures of its rows, and takes a Newton step whenever they have grown by a
quarter. `inspect` is the plain twin of predicting.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import CACHE_LINE
from ggln.engine.jit import fast_kernel, inlined, inner_exact, inner_fast, prefetch
from ggln.engine.newton import constants
from ggln.engine.newton.contexts import factorise, invert_factor, make_unit, solve_inverted
from ggln.engine.newton.gates import descend, descend_rows
from ggln.engine.newton.lanes import LANES, load, multiply_add, repeat, spread, store, times, total
from ggln.engine.newton.network import Network, find_centre, write_inputs
from ggln.engine.newton.neurons.protocol import bound, damp, derive, expand, loss, stride
from ggln.engine.pinned import Pinned, record_at

FloatArray = NDArray[np.float64]


class Scratch(NamedTuple):
    """Buffers for a block of rows, and for one of them."""

    inputs: Any  # [BLOCK_ROWS, Q, M]
    below: Any  # [BLOCK_ROWS, widest layer, Q]
    above: Any  # [BLOCK_ROWS, widest layer, Q]
    centre: Any  # [D]
    totals: Any  # [Q]
    raw: Any  # [1, Q]
    change: Any  # [Q]
    root: Any  # [Q, Q]
    residue: Any  # [Q]
    factors: Any  # [Q, M]
    scaled: Any  # [Q, M]
    matrix: Any  # [M, M]
    factor: Any  # [M, M]
    shares: Any  # [M]
    unit: Any  # [2 LANES - 1]
    gradient: Any  # [M]
    step: Any  # [M]
    contexts: Any  # [N]  of a row that comes alone, in all neurons
    places: Any  # [BLOCK_ROWS]  contexts of a block, in one neuron


def make_scratch(network: Network, kind: Any) -> Scratch:
    """Return buffers for a network."""
    planes, widest, inputs = kind.planes, int(network.sizes.max()), network.tables.shape[2]
    rows = constants.BLOCK_ROWS
    return Scratch(
        np.zeros((rows, planes, inputs)),
        np.empty((rows, widest, planes)),
        np.empty((rows, widest, planes)),
        np.empty(int(kind.outputs)),
        np.empty(planes),
        np.empty((1, planes)),
        np.empty(planes),
        np.empty((planes, planes)),
        np.empty(planes),
        np.zeros((planes, inputs)),
        np.zeros((planes, inputs)),
        np.zeros((inputs, inputs)),
        np.zeros((inputs, inputs)),
        np.zeros(inputs),
        make_unit(),
        np.zeros(inputs),
        np.zeros(inputs),
        np.zeros(int(network.sizes.sum()), np.int64),
        np.zeros(rows, np.int64),
    )


@inlined
def dot(one, first, other, second, size):
    """Return the sum over j < size of one[first + j] * other[second + j], whose padding is zero."""
    value = times(load(one, first), load(other, second))
    for j in range(LANES, size, LANES):
        value = multiply_add(load(one, first + j), load(other, second + j), value)
    return total(value)


@inner_fast
def add_curvature(factors, size, weight, scaled, curvatures, place):
    """Add weight * F'F to the Hessian that begins at `place` of curvatures # OUT (`trees.add_region`).

    scaled: a buffer like the factors, [Q, M]. Columns of whole vectors are done one after the other, two
    factors at a time, which stay in registers: that is what a row of one output has.
    """
    planes, width = factors.shape
    by = spread(weight)
    for i in range(planes):
        for j in range(0, size, LANES):
            store(scaled, i * width + j, times(by, load(factors, i * width + j)))
    first = place  # of the line that begins the triangle's next block of lines
    for left in range(0, size, LANES):
        i = 0
        while i < planes:
            pair = i + 1 < planes
            one = load(factors, i * width + left)
            other = load(factors, (i + 1) * width + left) if pair else spread(0.0)
            line = first
            for top in range(left, size, LANES):
                for j in range(top, min(top + LANES, size)):
                    value = multiply_add(repeat(scaled, i * width + j), one, load(curvatures, line + left))
                    if pair:
                        value = multiply_add(repeat(scaled, (i + 1) * width + j), other, value)
                    store(curvatures, line + left, value)
                    line += top + LANES
            i += 2
        first += LANES * (left + LANES)


@inlined
def curvature_weight(told, share):
    """Return how much the curvature of a row of weight `share` counts in a region that knows `told` rows.

    Of many rows, one stands for the next few: what a region knows of its curvature decides how long a step
    is, not where it ends. Gradients miss no row.
    """
    each = 1.0
    while told >= 2.0 * constants.CURVED_ROWS * each:
        each *= 2.0
    if each == 1.0:
        return share
    return each * (np.floor((told + share) / each) - np.floor(told / each))


@inner_fast
def unpack_curvature(curvatures, place, size, share, pulls, layer, matrix):
    """Write the lower triangle of a context's Hessian # OUT [M, M]: a share of its region's, and the pull."""
    width, part = matrix.shape[1], spread(share)
    for j in range(size):
        for k in range(0, j + 1, LANES):
            store(matrix, j * width + k, times(part, load(curvatures, place + k)))
        matrix[j, j] += pulls[layer, j]
        place += j - j % LANES + LANES


@inlined
def learn_context(
    kind, inputs, i, size, Y, t, weight, totals, gradients, curvatures, told_of, fresh, n, c, factors, scaled,
    root, residue, gradient,
):  # fmt: skip
    """Add the gradient and the curvature of row t, of a positive weight, to context c of neuron n.

    inputs: [.., Q, M], of which `size` are used, at place i; totals: [1, Q], as predicted, a density;
    gradients to fresh: as in `Network` # OUT; the others are buffers.
    """
    derive(kind, totals, 0, Y, t, root, residue)
    planes, contexts, width = totals.shape[1], gradients.shape[1], gradients.shape[2]
    for j in range(0, size, LANES):
        store(gradient, j, spread(0.0))
    expand(kind, root, residue, inputs, i, size, 1.0, 0, factors, gradient)
    told = spread(0.0)
    for i in range(planes):
        for j in range(0, size, LANES):
            told = multiply_add(load(factors, i * width + j), load(factors, i * width + j), told)
    share, place = min(weight, constants.MOST_TOLD / total(told)), (n * contexts + c) * width
    for j in range(0, size, LANES):
        before = load(gradients, place + j)
        store(gradients, place + j, multiply_add(spread(share), load(gradient, j), before))
    region = c * told_of.shape[1] // contexts
    start = (n * told_of.shape[1] + region) * curvatures.shape[2]
    before = told_of[n, region]
    told_of[n, region] += share
    fresh[n, c] += share
    curved = curvature_weight(before, share)
    if curved > 0.0:
        add_curvature(factors, size, curved, scaled, curvatures, start)


@inlined
def take_step(
    kind, inputs, i, size, totals, tables, gradients, curvatures, told_of, pulls, layer, counts, fresh,
    spreads, n, c, pace, matrix, factor, shares, unit, gradient, step, change,
):  # fmt: skip
    """Take a Newton step for all rows learnt since the last one; the last keeps enough of its precision.

    All layers learn the same rows at the same time, and what one corrects is passed on by those above it. So
    each takes its part of the step: together they would take it as often as there are layers.

    inputs: [.., Q, M], of which `size` are used, at place i; totals: [1, Q], as predicted; tables to spreads:
    as in `Network` # OUT; the others are buffers.
    """
    contexts, width = tables.shape[1], tables.shape[2]
    place = (n * contexts + c) * width
    region = c * told_of.shape[1] // contexts
    start = (n * told_of.shape[1] + region) * curvatures.shape[2]
    share = min((counts[n, c] + fresh[n, c]) / told_of[n, region], 1.0)
    unpack_curvature(curvatures, start, size, share, pulls, layer, matrix)
    factorise(matrix, size, factor, shares)
    invert_factor(factor, shares, size, unit, matrix)
    for j in range(0, size, LANES):
        store(gradient, j, load(gradients, place + j))
        store(gradients, place + j, spread(0.0))
        store(step, j, spread(0.0))
    solve_inverted(matrix, size, gradient, step)
    for q in range(change.size):
        change[q] = -dot(inputs, (i * change.size + q) * width, step, 0, size)
    length = spread(-stride(kind, totals, 0, change) * pace)
    for j in range(0, size, LANES):
        store(tables, place + j, multiply_add(length, load(step, j), load(tables, place + j)))
    known = counts[n, c] + 1.0
    counts[n, c] += fresh[n, c]
    spreads[n, c] *= known / (counts[n, c] + 1.0)
    fresh[n, c] = 0.0


@inner_exact
def bring(numbers, neuron, context):
    """Have numbers[neuron, context] brought into the cache."""
    place = (neuron * numbers.shape[1] + context) * numbers.shape[2]
    for j in range(0, numbers.shape[2], 4 * CACHE_LINE // numbers.itemsize):
        prefetch(numbers, place + j)


@inlined
def follow_one(kind, network, X, base, Y, weights, learning, scratch, outputs):
    """Predict rows one after the other, each before it is learnt, if rows are to be learnt at all.

    outputs: [n, Q] # OUT, the last layer's product; the others as in `follow`. What a neuron learns from a
    row depends on its inputs alone. So a block of rows goes through one neuron after the other, layer by
    layer, and each learns what it would learn if all rows came alone.
    """
    planes, layers, width = scratch.totals.size, network.sizes.size, network.tables.shape[2]
    axes = network.span.shape[1] if network.along_axes else 0
    sizes, counts_of, first_of, looked_at = network.sizes, network.inputs, network.first, network.features
    precisions, bias_range, regressions = network.precisions, network.bias_range, network.regressions
    span, limits, reach, pace = network.span, network.limits, network.reach, network.pace
    records, grown = network.gates.records, network.gates.grown
    contexts, places = scratch.contexts, scratch.places
    tables, gradients, curvatures = network.tables, network.gradients, network.curvatures
    counts, fresh, spreads = network.counts, network.fresh, network.spread
    told_of, pulls = network.told, network.pulls
    inputs, below, above, centre, own = (
        scratch.inputs,
        scratch.below,
        scratch.above,
        scratch.centre,
        scratch.totals,
    )
    raw, change, root, residue = scratch.raw, scratch.change, scratch.root, scratch.residue
    factors, scaled = scratch.factors, scratch.scaled
    matrix, factor, shares, unit = scratch.matrix, scratch.factor, scratch.shares, scratch.unit
    gradient, step = scratch.gradient, scratch.step
    for first in range(0, X.shape[0], constants.BLOCK_ROWS):
        rows = min(constants.BLOCK_ROWS, X.shape[0] - first)
        if rows == 1:
            descend(records, grown, X, first, contexts)
            for neuron in range(contexts.size):
                bring(tables, neuron, contexts[neuron])
                place = neuron * tables.shape[1] + contexts[neuron]
                prefetch(spreads, place)
                if learning:
                    bring(gradients, neuron, contexts[neuron])
                    prefetch(counts, place)
                    prefetch(fresh, place)
        for layer in range(layers):
            size, neurons = counts_of[layer], sizes[layer - 1] if layer > 0 else 0
            for i in range(rows):
                write_inputs(
                    kind, X, base, regressions, first + i, below, neurons, looked_at, layer, axes,
                    precisions, bias_range, inputs, i, size, own,
                )  # fmt: skip
            for k in range(sizes[layer]):
                neuron = first_of[layer] + k
                if rows > 1:
                    descend_rows(records, grown, neuron, X, first, places[:rows])
                    for i in range(rows):
                        bring(tables, neuron, places[i])
                        if learning:
                            bring(gradients, neuron, places[i])
                for i in range(rows):
                    t, context = first + i, places[i] if rows > 1 else contexts[neuron]
                    place = (neuron * tables.shape[1] + context) * width
                    narrowed = damp(kind, spreads[neuron, context])
                    for q in range(planes):
                        raw[0, q] = dot(inputs, (i * planes + q) * width, tables, place, size)
                        above[i, k, q] = narrowed * raw[0, q]
                    if learning and weights[t] > 0.0 and loss(kind, raw, 0, Y, t) < np.inf:
                        learn_context(
                            kind, inputs, i, size, Y, t, weights[t], raw, gradients, curvatures, told_of,
                            fresh, neuron, context, factors, scaled, root, residue, gradient,
                        )  # fmt: skip
                        if constants.GROWTH * fresh[neuron, context] >= counts[neuron, context]:
                            take_step(
                                kind, inputs, i, size, raw, tables, gradients, curvatures, told_of, pulls,
                                layer, counts, fresh, spreads, neuron, context, pace, matrix, factor, shares,
                                unit, gradient, step, change,
                            )  # fmt: skip
            trusted = neurons if layer > 0 else regressions
            for i in range(rows):
                furthest = reach[layer] + find_centre(kind, inputs, i, trusted, span, centre, own)
                for k in range(sizes[layer]):
                    for q in range(planes):
                        own[q] = above[i, k, q]
                    bound(kind, own, centre, furthest, limits[0], limits[1])
                    for q in range(planes):
                        below[i, k, q] = own[q]
        last = sizes[layers - 1]
        for i in range(rows):
            for q in range(planes):
                value = 0.0
                for k in range(last):
                    value += below[i, k, q]
                outputs[first + i, q] = value / last


@fast_kernel
def follow(kind, networks, first, scratches, buffers, X, base, Y, weights, learning, said):
    """Let rows pass networks, and write what each says # OUT [E, n, Q]; networks learn them if they are to.

    networks: pinned, those from `first` on; scratches: pinned, `buffers` of them, in turn. X: [n, d]; base:
    [n, R, Q], what base models say; Y: [n, D]; weights: [n]; both may be empty if nothing is learnt.

    All rows, a block on threads or one that comes alone, pass through this kernel: compiled once, they round
    alike.
    """
    for e in range(said.shape[0]):
        network, scratch = record_at(networks, first + e), record_at(scratches, e % buffers)
        follow_one(kind, network, X, base, Y, weights, learning, scratch, said[e])


def ask(
    kind: Any,
    network: Network,
    X: FloatArray,
    base: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    learning: bool = False,
) -> FloatArray:
    """Return what one network says of rows, [n, Q]."""
    said = np.empty((1, len(X), kind.planes))
    pins = Pinned([network]), 0, Pinned([make_scratch(network, kind)]), 1
    follow(kind, *pins, X, base, Y, weights, learning, said)
    found: FloatArray = said[0]
    return found
