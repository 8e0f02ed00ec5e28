"""How networks are solved: layer after layer, each without a fold of the rows, about which it is then asked.

All that a network needs is handed over: networks can be solved wherever there is room (`Threads.gather`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants
from ggln.engine.newton.contexts import Rows, make_work, order_by_context
from ggln.engine.newton.gates import contexts_of, draw_candidates, feature_odds, grow_gates, share_gates
from ggln.engine.newton.lanes import padded
from ggln.engine.newton.network import (
    Network,
    Shape,
    blank_network,
    choose_features,
    fill_inputs,
    find_centres,
    initial_weights,
    pool_neurons,
    set_scale,
    settle_rows,
    span_of,
)
from ggln.engine.newton.online import ask
from ggln.engine.newton.settings import GATES, Settings
from ggln.engine.newton.trees import Rules, solve_root, solve_tree
from ggln.engine.threads import Progress, Threads

FloatArray = NDArray[np.float64]


def solve_network(
    kind: Any,
    shape: Shape,
    random: np.random.Generator,
    fold: int,  # that is left out
    side: FloatArray,  # [n, d]  rows, standardised
    base: FloatArray,  # [n, R, Q]  what base models say of them
    goals: FloatArray,  # [n, D]  their targets
    weights: FloatArray,  # [n]
    residuals: FloatArray,  # [n, D]  of what is known before
    folds: NDArray[np.int64],  # [n]
    progress: Progress,
) -> tuple[Network, FloatArray]:
    """Return the network, and what it says of the rows that it left out, in their order, [.., Q]."""
    out = folds == fold
    rows = side[~out], base[~out], goals[~out], weights[~out]
    network = fit_network(kind, shape, *rows, random, residuals[~out], progress)
    del rows
    return network, ask(kind, network, side[out], base[out], goals[out], weights[out])


def solve_networks(
    kind: Any,
    settings: Settings,
    table: tuple[FloatArray, FloatArray, FloatArray, FloatArray],  # side, base, goals and weights as above
    above_base: FloatArray,  # [n, D]  residuals of the base models
    threads: Threads,
    progress: Progress,
) -> tuple[list[Network], FloatArray, NDArray[np.bool_]]:
    """Return all networks, and what groups of them say of rows left out, as `mean_left_out` does."""
    goals, weights = table[2:]
    folds, count = settings.assign_folds(len(goals)), settings.networks(len(goals))
    above_mean = goals - np.average(goals, axis=0, weights=weights)
    calls, outside = [], [e // settings.kinds % constants.FOLDS for e in range(count)]
    for e in range(count):
        shape, random = settings.shape(e, len(goals)), settings.random(e, GATES)
        residuals = above_base if shape.regressions else above_mean
        calls.append((kind, shape, random, outside[e], *table, residuals, folds))
    found = threads.gather(solve_network, calls[::-1], progress)[::-1]
    judged = np.full((count, len(goals), kind.planes), np.nan)
    for e, (_, told) in enumerate(found):
        judged[e, folds == outside[e]] = told
    groups = [range(group, count, settings.kinds) for group in range(min(settings.kinds, count))]
    return [network for network, _ in found], *mean_left_out(judged, groups)


def mean_left_out(judged: FloatArray, groups: list[range]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the mean over each group of networks, [n, groups, ..], and which rows every group has left out.

    judged: [E, n, ..], what networks say of the rows that they left out, NaN of the others.
    """
    means, covered = [], np.ones(judged.shape[1], bool)
    for group in groups:
        own = judged[group.start : group.stop : group.step]
        there = ~np.isnan(own[:, :, 0]).T
        covered &= there.any(axis=1)
        means.append(np.nansum(own, axis=0) / np.maximum(there.sum(axis=1), 1)[:, None])
    return np.stack(means, axis=1), covered


def fit_network(
    kind: Any,
    shape: Shape,
    X: FloatArray,  # [n, d]
    base: FloatArray,  # [n, R, Q]
    Y: FloatArray,  # [n, D]
    weights: FloatArray,  # [n]
    random: np.random.Generator,
    residuals_before: FloatArray,  # [n, D]  of the regressions, or of the mean
    progress: Any,
) -> Network:
    """Solve a network, layer after layer; each row goes up as it is predicted when it is left out."""
    rows, planes, outputs = X.shape[0], kind.planes, Y.shape[1]
    judges = np.flatnonzero(weights > 0)
    looked_at = X if judges.size == rows else X[judges]
    span = span_of(Y.min(axis=0), Y.max(axis=0))
    if planes == 1:
        span = np.array([[-shape.most], [shape.most]])  # of logits
    residuals, below = residuals_before, np.empty((rows, 0, planes))
    features = choose_features(
        looked_at, residuals[judges], len(shape.layer_sizes), shape.most_features, random
    )
    network = blank_network(kind, shape, features, span)
    for layer, size in enumerate(shape.layer_sizes):
        error = float(np.sqrt(np.average(residuals**2, axis=0, weights=weights).mean()))
        set_scale(kind, network, shape, layer, error)
        inputs = np.zeros((rows, planes, padded(int(network.inputs[layer]))))
        fill_inputs(kind, network, layer, X, base, below, inputs)
        table = Rows(inputs, Y, weights)
        below = np.empty((rows, size, planes))  # what was below is among the inputs: memory is for one layer
        _fit_layer(kind, network, shape, layer, table, X, judges, looked_at, residuals[judges], random, below)
        means = np.empty((rows, outputs))
        pool_neurons(kind, below, np.empty((rows, planes)), means)
        residuals = Y - (1.0 / (1.0 + np.exp(-means)) if planes == 1 else means)
        progress(1)
    return network


def _fit_layer(
    kind: Any,
    network: Network,
    shape: Shape,
    layer: int,
    table: Rows,
    X: FloatArray,
    judges: NDArray[np.int64],
    looked_at: FloatArray,
    residuals: FloatArray,
    random: np.random.Generator,
    outputs: FloatArray,  # [n, K, Q] # OUT
) -> None:
    """Solve the neurons of one layer, and write what they predict of each row left out."""
    rows, planes, inputs = table.inputs.shape
    centre, pull = initial_weights(kind, network, layer)
    network.pulls[layer, : pull.size] = shape.pull * pull
    rules = Rules("parents" not in shape.without, "left-out" not in shape.without, shape.mixing)
    work = make_work(rows, planes, pull.size)
    root, left, widths = solve_root(kind, table, centre, pull, work)
    odds = feature_odds(looked_at, residuals)
    counts = table.weights[judges]
    columns, told = np.ascontiguousarray(looked_at.T), np.ascontiguousarray((counts[:, None] * residuals).T)
    count = network.tables.shape[1]
    contexts, starts = np.empty(rows, np.int64), np.empty(count + 1, np.int64)
    order, left_out, wide = np.empty(rows, np.int64), np.empty((rows, planes)), np.empty(rows)
    leaves = np.empty((count, inputs))
    # one place for all neurons: to be given so much memory takes as long as to fill it
    regions = network.told.shape[1]
    parts = 1 if rules.mixing or rows < constants.PART_ROWS else min(constants.PARTS, count)
    sorted_inputs = np.empty((0, planes, inputs))
    centres, reaches = np.empty((rows, network.span.shape[1])), np.empty(rows)
    find_centres(kind, network, layer, table.inputs, centres, reaches)
    growing = shape.gating == "residual" and shape.growing and "gates of their own" not in shape.without
    for place in range(int(network.sizes[layer])):
        neuron, grown = int(network.first[layer]) + place, growing and place % 2 == 1
        nodes = count - 1 if grown else shape.context_dim
        candidates = draw_candidates(odds, nodes, shape.gating, random)
        choose = grow_gates if grown else share_gates
        choose(columns, told, counts, candidates, network.gates, neuron)
        contexts_of(network.gates, neuron, X, contexts)
        order_by_context(contexts, starts, order)
        above, spreads = left[order], widths[order]
        for part in range(parts):
            first, last = part * count // parts, (part + 1) * count // parts
            some = slice(starts[first], starts[last])
            size = some.stop - some.start
            if size > len(sorted_inputs):
                del sorted_inputs  # before there is another one
                sorted_inputs = np.empty((size, planes, inputs))
            np.take(table.inputs, order[some], axis=0, out=sorted_inputs[:size], mode="clip")
            own = Rows(sorted_inputs[:size], table.targets[order[some]], table.weights[order[some]])
            region = part * regions // parts
            solve_tree(
                kind, own, starts[first : last + 1] - some.start, root, shape.pull * pull,
                constants.ITERATIONS, constants.SETTLED, rules, work, above[some], spreads[some],
                left_out, wide, leaves[first:last],
                network.curvatures[neuron, region : region + max(regions // parts, 1)],
                network.spread[neuron, first:last],
            )  # fmt: skip
        network.tables[neuron, :, :inputs] = leaves
        if "widths" in shape.without:
            spreads[:] = network.spread[neuron] = 0.0
        network.counts[neuron] = np.bincount(contexts, table.weights, count)
        network.told[neuron] = network.counts[neuron].reshape(regions, -1).sum(axis=1)
        settle_rows(kind, above, spreads, order, centres, reaches, network.limits, outputs, place)
