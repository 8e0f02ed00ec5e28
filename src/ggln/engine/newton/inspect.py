"""What networks that were solved do with a row, written out: the plain twin of `online.follow`.

Every neuron's natural parameters, layer after layer, with the gates at other rows if need be. Numbers may be
complex: a row whose feature j has the imaginary part h, so small that h^2 is nothing beside 1, comes out with
h times the derivative by feature j as its imaginary part, exact to rounding. Gates and limits look at real
parts.

Arrays are [n, j, B, Q]: rows, inputs or neurons, directions of derivatives (one if there are none), planes.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.gates import FEATURES, LACKING
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.network import Network
from ggln.engine.newton.neurons import plain
from ggln.engine.newton.support import extra_variance, widened
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]
"""Real, or complex where derivatives are carried along."""
TINY = 1e-30
"""The imaginary part that stands for a derivative."""
NUMBERS = 1 << 21
"""Numbers that a layer's inputs for a block of rows may take."""


class View(NamedTuple):
    """Rows as networks see them."""

    side: FloatArray  # [n, d]  standardised
    base: FloatArray  # [n, R, Q]  what base models say


def look(learner: ExactLearner, rows: FloatArray) -> View:
    """Return rows [n, d] in the user's units as networks see them."""
    side = learner.inputs.transform(rows)
    return View(side, learner.base.predict(rows, side))


def _say(learner: ExactLearner, means: Numbers) -> Numbers:
    """Return what base models of these means [.., R, D] say, as natural parameters [.., R, Q]."""
    flat = means.reshape(int(np.prod(means.shape[:-2])), *means.shape[-2:])
    found = learner.base.say(flat)
    return found.reshape(*means.shape[:-1], found.shape[-1])


def kept_rows(learner: ExactLearner) -> FloatArray | None:
    """Return the rows that bumps stand at, a random sample of those that were learnt, in the user's units.

    In the order of what the regression predicts of them; features that it does not look at are at their
    means. None without a regression.
    """
    if learner.bumps is None:
        return None
    side = learner.bumps.centre_rows()
    shift, scale = learner.inputs.shift_and_scale()
    order = np.argsort(learner.bumps.predict(side)[:, 0], kind="stable")
    rows: FloatArray = shift + scale * side[order]
    return rows


# Gates -------------------------------------------------------------------------------------------------


class Paths(NamedTuple):
    """How rows went through the trees of gates."""

    nodes: NDArray[np.int64]  # [n, N, S]  the gates that they met, level by level
    inside: NDArray[np.bool_]  # [n, N, S]  and whether they are inside


def paths(network: Network, side: FloatArray) -> Paths:
    """Return the gates that rows [n, d] meet in each neuron."""
    gates = network.gates
    features, weights, offsets, lacking = gates.features, gates.weights, gates.offsets, gates.lacking
    neurons, nodes = offsets.shape
    levels = (nodes + 1).bit_length() - 1
    every, rows = np.arange(neurons), np.arange(len(side))[:, None]
    met, inside = np.empty((2, len(side), neurons, levels), np.int64)
    node = np.zeros((len(side), neurons), np.int64)
    for level in range(levels):
        total = np.zeros(node.shape)
        for g in range(features.shape[2]):  # in this order, for the sake of the last bit
            total += weights[every, node, g] * side[rows, features[every, node, g]]
        gap = lacking[every, node] == 1
        met[..., level] = node
        inside[..., level] = np.where(np.isnan(total), gap, total >= offsets[every, node])
        node = 2 * node + 1 + inside[..., level] * gates.grown
    return Paths(met, inside.astype(np.bool_))


def contexts(network: Network, side: FloatArray) -> NDArray[np.int64]:
    """Return the contexts [n, N] that rows [n, d] select: the first gate decides the highest bit."""
    inside = paths(network, side).inside
    found: NDArray[np.int64] = inside @ (1 << np.arange(inside.shape[2])[::-1])
    return found


def _looking_further(network: Network, columns: int) -> Network:
    """Return a network whose gates look at features so many columns further on."""
    records = network.gates.records.copy()
    records[..., FEATURES:LACKING] += columns
    return network._replace(gates=network.gates._replace(records=records))


def mean(learner: ExactLearner, view: View, gated_by: FloatArray, threads: Threads) -> FloatArray:
    """Return the predicted means [n, D] in the user's units, with the gates where other rows [n, d] put them.

    The kernels are told that gates look at further columns, which hold these rows.
    """
    features = view.side.shape[1]
    other = copy(learner)
    other.networks = [_looking_further(network, features) for network in learner.networks]
    other._ready()
    wide = np.hstack([view.side, gated_by])
    nothing = np.empty((0, learner.settings.outputs))
    kinds = other._ask(wide, view.base, nothing, np.empty(0), False, threads)
    return _restored(learner, np.swapaxes(kinds, 0, 1)[:, :, None], view.side[:, None])[:, 0]


# Layers ------------------------------------------------------------------------------------------------


def forward(kind: Any, network: Network, side: Numbers, base: Numbers, gated_by: FloatArray) -> list[Numbers]:
    """Return the natural parameters [n, K, B, Q] of all neurons, layer by layer.

    side: [n, B, d]; base: [n, R, B, Q]; gated_by: [n, d], the rows that decide about gates.
    """
    chosen = contexts(network, gated_by)
    below, layers = base[:, :0], []
    for layer, size in enumerate(network.sizes):
        inputs = _inputs(kind, network, layer, side, base, below)
        trusted = below.shape[1] if layer else int(network.regressions)
        centre, reach = _centre(kind, network, layer, inputs[:, :trusted])
        neurons = np.arange(network.first[layer], network.first[layer] + size)
        at = neurons, chosen[:, neurons]
        totals = _mix(network.tables[at][..., : inputs.shape[1]], inputs)
        totals = totals / (1.0 + network.spread[at])[..., None, None]
        below = plain.bounded(kind, totals, centre[:, None], reach, network.limits)
        layers.append(below)
    return layers


def _mix(weights: FloatArray, inputs: Numbers) -> Numbers:
    """Return weighted sums [n, K, B, Q] of inputs [n, m, B, Q]; weights: [n, K, m]."""
    rows, _, *rest = inputs.shape
    flat = np.ascontiguousarray(inputs).reshape(rows, inputs.shape[1], -1)
    found = weights @ flat.view(np.float64)  # complex numbers as pairs: weights are real
    return found.view(inputs.dtype).reshape(rows, weights.shape[1], *rest)


def _inputs(kind: Any, network: Network, layer: int, side: Numbers, base: Numbers, below: Numbers) -> Numbers:
    """Return a layer's inputs [n, m, B, Q]: layer below, regressions, features, biases."""
    along, of_mean = _axes(kind)
    rows, directions = side.shape[:2]
    (precision, bias_precision), seen = network.precisions[layer], side[..., network.features[layer]]
    axes = (along, of_mean) if network.along_axes else (along.max(axis=0)[None], of_mean.max(axis=0)[None])
    missing = np.isnan(seen)[..., None, None]
    values = np.nan_to_num(seen)[..., None, None]
    features = precision * np.where(missing, 0.0, axes[0] + values * axes[1])  # [n, B, f, axes, Q]
    features = np.moveaxis(features.reshape(rows, directions, -1, along.shape[1]), 1, 2)
    signs = np.array([1.0, -1.0])[:, None] * network.bias_range
    biases = bias_precision * (along[:, None] + signs * of_mean[:, None])  # [D, 2, Q]
    biases = np.broadcast_to(
        biases.reshape(1, -1, 1, along.shape[1]), (rows, 2 * len(along), *below.shape[2:])
    )
    return np.concatenate([below, base[:, : network.regressions], features, biases], axis=1)


def _axes(kind: Any) -> tuple[FloatArray, FloatArray]:
    """Return the planes [D, Q] that hold an input's precision along each output, and those of its mean."""
    outputs, planes = int(kind.outputs), int(kind.planes)
    along, of_mean = np.zeros((2, outputs, planes))
    along[np.arange(outputs), plain.precision_planes(kind)] = 1.0
    of_mean[np.arange(outputs), planes - outputs + np.arange(outputs)] = 1.0
    return along, of_mean


def _centre(kind: Any, network: Network, layer: int, trusted: Numbers) -> tuple[Numbers, float]:
    """Return what trusted inputs [n, m, B, Q] say together, [n, B, D], and how far means may be from it."""
    low, high = network.span
    reach = float(network.reach[layer])
    if trusted.shape[1]:
        return plain.clip_real(plain.means(kind, trusted.sum(axis=1)), low, high), reach
    middle = np.broadcast_to(0.5 * (low + high), (len(trusted), trusted.shape[2], low.size))
    return middle, reach + float(0.5 * (high - low).max())


# Answers -----------------------------------------------------------------------------------------------


def neurons(learner: ExactLearner, rows: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return each neuron's mean and variance [n, networks * K, D], layer by layer, in the user's units."""
    view, (shift, scale) = look(learner, rows), learner.targets.shift_and_scale()
    shape = len(rows), len(learner.networks)
    planes_of = [np.empty((*shape, size, learner.kind.planes)) for size in learner.settings.layer_sizes]
    for block in _blocks(learner, len(rows), 1):
        side = view.side[block]
        for e, network in enumerate(learner.networks):
            layers = forward(learner.kind, network, side[:, None], view.base[block][:, :, None], side)
            for planes, own in zip(planes_of, layers, strict=True):
                planes[block, e] = own[:, :, 0]
    found = []
    for planes in planes_of:
        several = planes.shape[0], planes.shape[1] * planes.shape[2], planes.shape[3]
        means, covariances = learner.kind.gaussians(planes.reshape(several))
        variances = learner.kind.variances(learner.kind.rescale(covariances, scale))
        found.append((shift + scale * means, variances))
    return found


def slopes(learner: ExactLearner, rows: FloatArray) -> FloatArray:
    """Return the derivatives [n, d, D] of the predicted means by each feature, in the user's units."""
    if learner.base.regressors is not None:
        raise ValueError("base_model holds regressors whose derivatives are not known: use effects")
    view, scale = look(learner, rows), learner.targets.shift_and_scale()[1]
    free = (np.abs(view.side) < learner.inputs.limit) & ~learner.inputs.constant()
    paces = TINY * free / learner.inputs.shift_and_scale()[1]  # [n, d]
    means = learner.base.means(rows, view.side)[:, :, None].astype(np.complex128)
    if learner.bumps is not None:
        steps = np.swapaxes(learner.bumps.slopes(view.side), 1, 2) * paces[..., None]
        means = means + 1j * steps[:, None]
    else:
        means = np.repeat(means, rows.shape[1], axis=2)
    # [n, R, B, D] -> R comes last but one for `_say`
    base = np.swapaxes(_say(learner, np.swapaxes(means, 1, 2)), 1, 2)
    found = np.empty((*rows.shape, learner.settings.outputs))
    for block in _blocks(learner, len(rows), 2 * rows.shape[1]):
        side = view.side[block]
        moved = side[:, None] + 1j * paces[block][:, None] * np.eye(rows.shape[1])
        kinds = list(np.moveaxis(base[block], 1, 0))
        last = [
            forward(learner.kind, network, moved, base[block], side)[-1].mean(axis=1)
            for network in learner.networks
        ]
        groups = range(min(learner.settings.kinds, len(last)))
        kinds += [np.mean(last[g :: learner.settings.kinds], axis=0) for g in groups]
        found[block] = _mixed(learner, np.array(kinds), moved).imag if kinds else 0.0
    return scale * found / TINY


def _mixed(learner: ExactLearner, kinds: Numbers, side: Numbers) -> Numbers:
    """Return the means [n, B, D] of the mixture of kinds [kinds, n, B, Q], in standardised units.

    side: [n, B, d], rows. Outside what was learnt, a single output is wider, and its skewness with it.
    """
    means = plain.means(learner.kind, kinds)
    if learner.settings.outputs == 1:
        shift, scale = learner.inputs.shift_and_scale()
        kinds = widened(kinds, 1.0 / kinds[..., 0], extra_variance(learner.edges, shift + scale * side))
    found: Numbers = learner.mixture.mean(means, kinds)
    return found


def _restored(learner: ExactLearner, kinds: FloatArray, side: FloatArray) -> FloatArray:
    """Return the same in the user's units."""
    shift, scale = learner.targets.shift_and_scale()
    found: FloatArray = shift + scale * _mixed(learner, kinds, side)
    return found


def _blocks(learner: ExactLearner, rows: int, directions: int) -> Iterator[slice]:
    """Cut rows into blocks whose layers fit into memory."""
    inputs = max((network.tables.shape[2] for network in learner.networks), default=1)
    wide = inputs * max(int(learner.kind.planes) * directions, max(learner.settings.layer_sizes))
    step = max(1, NUMBERS // wide)
    return (slice(start, start + step) for start in range(0, rows, step))
