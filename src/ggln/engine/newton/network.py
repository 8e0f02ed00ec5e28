"""One network that learns exactly: its layers and their inputs. `solving` and `online` are how it learns.

A layer's inputs are what the layer below predicts, what regressions on all features predict, the features
themselves, as Gaussians as wide as the errors of the layer below, and biases. Every neuron is then a local
linear correction of what is below it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import fast_kernel, inlined
from ggln.engine.newton import constants
from ggln.engine.newton.gates import empty_gates, feature_odds
from ggln.engine.newton.lanes import LANES, padded
from ggln.engine.newton.neurons.protocol import bound, damp, mean_of, put

FloatArray = NDArray[np.float64]


class Shape(NamedTuple):
    """What a network is made of."""

    layer_sizes: tuple[int, ...]
    context_dim: int
    regressions: int  # inputs from regressions, in every layer
    along_axes: bool  # whether features are given for each output apart
    bias_range: float
    bias_precision: float
    feature_precision: float
    least: float  # range of every neuron's precision
    most: float
    pull: float = constants.PULL  # of every context towards its parent
    mixing: bool = True  # whether a context is believed only as far as its parent is worse
    gating: str = "residual"  # or "mixed" or "axis", at random
    growing: bool = True  # whether every second neuron has gates of its own for each node
    without: tuple[str, ...] = ()  # ingredients left out, to see what each is worth
    most_features: int = constants.MOST_FEATURES  # that a layer looks at


class Network(NamedTuple):
    """What a network knows. N neurons of all layers, C contexts each, at most M inputs with their padding."""

    sizes: Any  # [layers]  neurons
    first: Any  # [layers]  the first of them
    inputs: Any  # [layers]
    features: Any  # [layers, f]  the features that a layer looks at
    regressions: Any  # how many inputs come from regressions
    along_axes: Any
    precisions: Any  # [layers, 2]  of features and of biases
    bias_range: Any
    pace: Any  # part of a Newton step that each layer takes when it goes on
    reach: Any  # [layers]  how far means may stray from those of the layer below
    span: Any  # [2, D]  range of all means
    limits: Any  # [2]  range of precisions
    gates: Any  # Gates
    tables: Any  # [N, C, M]  weights, in single precision: a row alone waits for them
    pulls: Any  # [layers, M]  how strongly weights are held
    curvatures: Any  # [N, regions, ..]  what rows add to Hessians (`trees.add_region`)
    told: Any  # [N, regions]  rows learnt there, by weight
    gradients: Any  # [N, C, M]  of rows learnt since the last Newton step
    counts: Any  # [N, C]  rows learnt, by weight
    fresh: Any  # [N, C]  of these, since the last Newton step
    spread: Any  # [N, C]  variance of the mean because weights are uncertain, over its own


def count_biases(kind: Any) -> int:
    """Biases lie on both sides along each output; a logit needs one."""
    return 1 if kind.planes == 1 else 2 * int(kind.outputs)


# Inputs ------------------------------------------------------------------------------------------------


@inlined
def write_inputs(
    kind, X, base, regressions, t, below, neurons, looked_at, layer, axes, precisions, bias_range, inputs,
    place, count, scratch,
):  # fmt: skip
    """Write a layer's inputs of row t into inputs[place] # OUT [Q, M].

    That is the layer below, regressions, features and biases. X: [n, d]; base: [n, R, Q], what regressions
    say, of which so many are heard; below: [.., K, Q], at the same place, of which `neurons` are there;
    looked_at: [layers, f], features; axes: outputs that features are given for apart, or 0; precisions:
    [layers, 2]; count: m; scratch: [Q]. Records are not passed on from row to row: their arrays would be
    counted each time.
    """
    planes, j = inputs.shape[1], 0
    for k in range(neurons):
        for q in range(planes):
            inputs[place, q, j] = below[place, k, q]
        j += 1
    for r in range(regressions):
        for q in range(planes):
            inputs[place, q, j] = base[t, r, q]
        j += 1
    for f in range(looked_at.shape[1]):
        value, precision = X[t, looked_at[layer, f]], precisions[layer, 0]
        if value != value:  # a missing value says nothing
            value, precision = 0.0, 0.0
        for axis in range(max(axes, 1)):
            put(kind, axis if axes > 0 else -1, value, precision, scratch)
            for q in range(planes):
                inputs[place, q, j] = scratch[q]
            j += 1
    first = j
    while j < count:  # on both sides along each output
        sign = 1.0 if (j - first) % 2 == 0 else -1.0
        put(kind, (j - first) // 2, sign * bias_range, precisions[layer, 1], scratch)
        for q in range(planes):
            inputs[place, q, j] = scratch[q]
        j += 1
    while j % LANES != 0:  # of a layer with more inputs before
        for q in range(planes):
            inputs[place, q, j] = 0.0
        j += 1


@inlined
def find_centre(kind, inputs, place, trusted, span, centre, scratch):
    """Write what the trusted inputs say together # OUT [D]; return how far beyond its reach a mean may go.

    The layer below is trusted, at layer 0 the regressions; without any, means may be anywhere in the span.
    """
    for q in range(scratch.size):
        scratch[q] = 0.0
        for j in range(trusted):
            scratch[q] += inputs[place, q, j]
    further = 0.0
    if trusted > 0:
        mean_of(kind, scratch, centre)
        for d in range(centre.size):
            centre[d] = min(max(centre[d], span[0, d]), span[1, d])
    else:
        for d in range(centre.size):
            centre[d] = 0.5 * (span[0, d] + span[1, d])
            further = max(further, 0.5 * (span[1, d] - span[0, d]))
    return further


# Solving a table ---------------------------------------------------------------------------------------


@fast_kernel
def fill_inputs(kind, network, layer, X, base, below, inputs):
    """Write a layer's inputs for all rows # OUT [n, Q, m]. X: [n, d]; base: [n, R, Q]; below: [n, K, Q]."""
    scratch, axes = np.empty(inputs.shape[1]), network.span.shape[1] if network.along_axes else 0
    looked_at, precisions, bias_range = network.features, network.precisions, network.bias_range
    for t in range(X.shape[0]):
        write_inputs(
            kind, X, base, network.regressions, t, below, below.shape[1], looked_at, layer, axes,
            precisions, bias_range, inputs, t, network.inputs[layer], scratch,
        )  # fmt: skip


@fast_kernel
def find_centres(kind, network, layer, inputs, centres, reaches):
    """Write around which mean a layer stays # OUT [n, D], and how close # OUT [n]. inputs: [n, Q, M]."""
    scratch, centre = np.empty(inputs.shape[1]), np.empty(centres.shape[1])
    trusted = network.sizes[layer - 1] if layer > 0 else network.regressions
    span, reach = network.span, network.reach[layer]
    for t in range(inputs.shape[0]):
        reaches[t] = reach + find_centre(kind, inputs, t, trusted, span, centre, scratch)
        for d in range(centre.size):
            centres[t, d] = centre[d]


@fast_kernel
def settle_rows(kind, totals, variances, order, centres, reaches, limits, outputs, neuron):
    """Write what a neuron predicts of rows that it left out into outputs[:, neuron] # OUT [n, K, Q].

    totals: [n, Q], variances: [n], in the order of contexts; order: the rows in this order.
    """
    centre, own = np.empty(centres.shape[1]), np.empty(totals.shape[1])
    for t in range(order.size):
        row = order[t]
        factor = damp(kind, variances[t])
        for q in range(own.size):
            own[q] = factor * totals[t, q]
        for d in range(centre.size):
            centre[d] = centres[row, d]
        bound(kind, own, centre, reaches[row], limits[0], limits[1])
        for q in range(own.size):
            outputs[row, neuron, q] = own[q]


@fast_kernel
def pool_neurons(kind, outputs, pooled, means):
    """Write all neurons' product, of the mean of their precisions # OUT [n, Q], and its mean # OUT [n, D]."""
    neurons = outputs.shape[1]
    for t in range(outputs.shape[0]):
        for q in range(outputs.shape[2]):
            value = 0.0
            for k in range(neurons):
                value += outputs[t, k, q]
            pooled[t, q] = value / neurons
        mean_of(kind, pooled[t], means[t])


def choose_features(
    X: FloatArray, residuals: FloatArray, layers: int, most: int, random: np.random.Generator
) -> NDArray[np.int32]:
    """Return the features that each layer looks at [layers, f]: all, or for wide tables those that tell most.

    Half are the best, half are drawn by what they tell: a layer must not miss what others have used up.
    """
    odds = feature_odds(X, residuals) if X.shape[1] > most else np.empty(X.shape[1])
    return draw_features(odds, layers, most, random)


def draw_features(odds: FloatArray, layers: int, most: int, random: np.random.Generator) -> NDArray[np.int32]:
    """Return the features that each layer looks at, by their odds [d] (`feature_odds`)."""
    features = odds.size
    if features <= most:
        return np.tile(np.arange(features, dtype=np.int32), (layers, 1))
    best = np.argsort(-odds, kind="stable")[: most // 2]
    others = np.setdiff1d(np.arange(features), best)
    chosen = []
    for _ in range(layers):
        drawn = random.choice(others, most - best.size, replace=False, p=odds[others] / odds[others].sum())
        chosen.append(np.sort(np.concatenate([best, drawn])))
    return np.array(chosen, np.int32)


def blank_network(kind: Any, shape: Shape, features: NDArray[np.int32], span: FloatArray) -> Network:
    """Return a network that knows nothing yet."""
    sizes = np.array(shape.layer_sizes, np.int64)
    layers, neurons, contexts = sizes.size, int(sizes.sum()), 1 << shape.context_dim
    given = features.shape[1] * (int(kind.outputs) if shape.along_axes else 1)
    others = shape.regressions + given + count_biases(kind)
    inputs = np.concatenate([[0], sizes[:-1]]) + others
    most = int(inputs.max())
    width = padded(most)
    triangle = sum(padded(j + 1) for j in range(most))
    regions = 1 << min(shape.context_dim, constants.REGION_DIM)
    return Network(
        sizes,
        np.cumsum(sizes) - sizes,
        inputs,
        features,
        shape.regressions,
        shape.along_axes,
        np.ones((layers, 2)),
        float(shape.bias_range),
        1.0 if "shared steps" in shape.without else min(1.0, constants.PACE / layers),
        np.zeros(layers),
        span,
        np.array([shape.least, shape.most]),
        empty_gates(neurons, shape.context_dim),
        np.zeros((neurons, contexts, width), np.float32),
        np.ones((layers, width)),
        np.zeros((neurons, regions, triangle)),
        np.zeros((neurons, regions)),
        np.zeros((neurons, contexts, width)),
        np.zeros((neurons, contexts)),
        np.zeros((neurons, contexts)),
        np.ones((neurons, contexts)),
    )


def initial_weights(kind: Any, network: Network, layer: int) -> tuple[FloatArray, FloatArray]:
    """Return what all rows of a layer begin with, [M], and how strongly each weight is held there, [m].

    Neurons below, and at layer 0 the regressions, are averaged: their weights add up to one.
    """
    inputs, biases = int(network.inputs[layer]), count_biases(kind)
    centre, pull = np.zeros(padded(inputs)), np.ones(inputs)
    trusted = int(network.sizes[layer - 1]) if layer > 0 else int(network.regressions)
    if trusted:
        centre[:trusted] = 1.0 / trusted
        if kind.planes > 1:
            centre[inputs - biases : inputs] = 1e-3
    elif kind.planes > 1:
        centre[: inputs - biases] = 0.1 / max(inputs - biases, 1)
        centre[inputs - biases : inputs] = 0.6 / biases
    if layer > 0:
        pull[:trusted] = trusted
    return centre, pull


def span_of(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the range of all means [2, D] for targets in a range."""
    width = high - low
    return np.stack([low - constants.SPAN * width, high + constants.SPAN * width])


def set_scale(kind: Any, network: Network, shape: Shape, layer: int, error: float) -> None:
    """Write the precisions of a layer's features and biases, and its reach # OUT.

    error: the root-mean-square residual of what is below.
    """
    scale = 1.0 / max(error, 1e-9) if layer or shape.regressions else 1.0
    below_only = layer > 0 and "features above" in shape.without
    if kind.planes == 1:
        scale, error = 1.0, shape.most
    given = 0.0 if below_only else scale * shape.feature_precision
    network.precisions[layer] = given, scale * shape.bias_precision
    network.reach[layer] = np.inf if "reach" in shape.without else constants.REACH * error
