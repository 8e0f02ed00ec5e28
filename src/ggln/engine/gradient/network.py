"""Networks: layers of neurons, their table of weights, and the schedule of a block.

All networks of an ensemble share one shape and live in a few flat arrays. A row of weights exists from
the first visit to its context on: `index` says where in `pool` it lies, and 0 stands for a row of zeros,
the initial weights. So a context that nobody visited costs four bytes.

A block of rows passes the first layer, then the second, and so on. That gives bit for bit what the
sample-by-sample loop gives: a layer needs the outputs of the one below from before their update, and
its own weights from after the row before. The neurons of a layer do not see each other, so they may run on
several threads.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.bases.base_models import along_axes, coordinates, predict_base
from ggln.engine.jit import exact_kernel, fast_kernel, inner_fast
from ggln.engine.memory import ALIGNMENT, aligned_zeros
from ggln.engine.neurons import isotropic_loops  # noqa: F401  the loops register themselves
from ggln.engine.neurons.description import inputs_first, weight_rows
from ggln.engine.neurons.protocol import (
    Layer,
    Limits,
    Messages,
    Step,
    add_moments,
    energies,
    infer,
    learn,
    padded,
    send,
    send_base,
)
from ggln.engine.switching import densities, switch
from ggln.engine.team import meet, share

FIRST, SIZE, DENSE, STRIDE, HOT, HOT_STRIDE, LENGTH = range(7)


class Rules(NamedTuple):
    """How neurons predict and learn: compile-time kinds and their numbers."""

    kind: Any
    projection: Any
    limits: Limits
    step: Step


class Shape(NamedTuple):
    """The layers of one network."""

    table: NDArray[np.int64]  # [L, 7], columns FIRST to LENGTH, the numbers in a row of weights
    priors: NDArray[Any]  # [L], initial weights
    bias_priors: NDArray[Any]  # [L], those of one-hot biases


class Block(NamedTuple):
    """Some rows for one network."""

    slots: Any  # [N, n']  where each neuron's active row of weights lies in the pool
    columns: Any  # [T]  the columns of `slots` that belong to the rows


class Work(NamedTuple):
    """Buffers for a block of T rows of one network."""

    unknown: Any  # [T, D]  stands for the targets where there are none
    means: Any  # [T, inputs, D]  base predictions; [T, inputs, 1] along one axis each, or for all outputs
    precisions: Any  # [T, inputs]
    messages: Messages
    outputs: Any  # [T, at least N, P]
    density: Any  # [T, N]  each neuron's density at the target, times e^energy
    energy: Any  # [T]
    evidence: Any  # [T]  the log-density of the neurons' mixture at the target, up to a common term


def make_shape(
    layer_sizes: Sequence[int], kind: Any, base: Any, base_inputs: int, bias_weight: float, dtype: Any
) -> Shape:
    """Lay out the layers: their inputs are the layer below, or the base model, and the biases.

    Initial weights add up to one; those of one-hot biases are `bias_weight` times the others.
    """
    table = np.zeros((len(layer_sizes), 7), np.int64)
    below, first, (dense_biases, biases) = base_inputs, 0, kind.bias_counts()
    for i, size in enumerate(layer_sizes):
        dense, hot = below + dense_biases, biases
        if i == 0 and along_axes(base) and hot:
            dense, hot = 0, hot + below
        length = weight_rows(kind) * (padded(dense) + padded(hot))
        table[i] = first, size, dense, padded(dense), hot, padded(hot), length
        first, below = first + size, size
    priors = 1.0 / (table[:, DENSE] + table[:, HOT] - biases + bias_weight * biases)
    return Shape(table, priors.astype(dtype), (bias_weight * priors).astype(dtype))


def staggered(neurons: int, output: int, dtype: Any) -> int:
    """Return how many neurons' outputs to make room for, at least `neurons`.

    A neuron writes its output for one row after the other. Where rows lie a multiple of 4 KB apart, as with
    256 neurons to a layer, all of these places compete for a few lines of the cache: an odd number of lines
    keeps them apart.
    """
    line = ALIGNMENT // math.gcd(ALIGNMENT, output * np.dtype(dtype).itemsize)  # neurons in whole lines
    lines = line * output * np.dtype(dtype).itemsize // ALIGNMENT
    count = -(-neurons // line)
    return line * (count + 1 if lines % 2 and count % 2 == 0 else count)


def make_work(shape: Shape, kind: Any, base: Any, base_inputs: int, rows: int) -> Work:
    """Allocate the buffers for blocks of up to `rows` rows."""
    numbers = coordinates(base, kind.outputs)
    dtype = shape.priors.dtype
    natural, output, moments = kind.sizes()
    neurons, widest = int(shape.table[:, SIZE].sum()), int(shape.table[:, STRIDE].max())
    hot = int(shape.table[:, HOT_STRIDE].max())
    messages = Messages(
        dense=aligned_zeros(
            (rows, widest, natural) if inputs_first(kind) else (rows, natural, widest), dtype
        ),
        hot=np.zeros((rows, hot), dtype),
        hot_precision=np.zeros(hot, dtype),
        sums=np.zeros((rows, natural), dtype),
        moments=np.zeros((rows, moments), dtype),
        paces=np.ones(rows, dtype),
    )
    return Work(
        unknown=np.zeros((rows, kind.outputs), dtype),
        means=np.zeros((rows, base_inputs, numbers), dtype),
        precisions=np.zeros((rows, base_inputs), dtype),
        messages=messages,
        outputs=aligned_zeros((rows, staggered(neurons, output, dtype), output), dtype),
        density=np.zeros((rows, neurons), dtype),
        energy=np.zeros(rows),
        evidence=np.zeros(rows),
    )


@exact_kernel
def find_rows(index: Any, found: Any, first: Any) -> None:
    """Turn contexts into slots, 0 where a context has no row yet.

    found: [neurons, T] # OUT, of the neurons from number `first` on.
    """
    for k in range(found.shape[0]):
        for t in range(found.shape[1]):
            found[k, t] = index[first + k, found[k, t]]


@exact_kernel
def claim_rows(index: Any, found: Any, first: Any, shape: Any, used: Any) -> Any:
    """As `find_rows` for whole networks; contexts without a row get one # OUT index.

    Return the slots that are in use then.
    """
    layers = shape.table.shape[0]
    neurons = shape.table[layers - 1, FIRST] + shape.table[layers - 1, SIZE]
    for network in range(0, found.shape[0], neurons):
        for i in range(layers):
            length = shape.table[i, LENGTH] // constants.LANES
            begin = network + shape.table[i, FIRST]
            for k in range(begin, begin + shape.table[i, SIZE]):
                for t in range(found.shape[1]):
                    slot = index[first + k, found[k, t]]
                    if slot == 0:
                        slot = used
                        index[first + k, found[k, t]] = slot
                        used += length
                    found[k, t] = slot
    return used


@inner_fast
def layer_at(shape, i):
    """Return the record of layer i."""
    row = shape.table[i]
    priors = shape.priors[i], shape.bias_priors[i]
    return Layer(row[FIRST], row[SIZE], row[DENSE], row[STRIDE], row[HOT], row[HOT_STRIDE], *priors)


@inner_fast
def send_layer(kind, shape, i, work, start, stop):
    """Fill the messages of rows start to stop to layer i # OUT work: base predictions, or the layer below."""
    if i == 0:
        send_base(kind, layer_at(shape, i), work.means, work.precisions, work.messages, start, stop)
    else:
        send(kind, layer_at(shape, i), layer_at(shape, i - 1), work.outputs, work.messages, start, stop)


@inner_fast
def find_densities(kind, targets, work, start, stop):
    """Write every neuron's density at the targets of rows start to stop # OUT work."""
    energy, scale = np.empty(work.density.shape[1]), np.empty(work.density.shape[1])
    for t in range(start, stop):
        energies(kind, work.outputs[t], targets[t], energy, scale)
        work.energy[t] = densities(energy, scale, work.density[t])


@inner_fast
def switch_block(targets, weights, time, work, history):
    """Move the switching weights # OUT over a block; `history` # OUT gets those from before each row.

    weights: [N]; history: [T, N], or empty where it is not wanted; work.evidence # OUT.
    """
    for t in range(targets.shape[0]):
        if history.shape[0] > 0:
            for k in range(weights.size):
                history[t, k] = weights[k]
        evidence = switch(weights, time + t, work.density[t])
        work.evidence[t] = np.log(evidence) - work.energy[t]


@fast_kernel
def learn_span(rules, shape, pool, block, targets, work, weights, time, history, switching, team):
    """Do a member's share of learning a block, after `start_block`.

    targets: [T, D]; weights: [N], of the switching # OUT, which move if `switching`; history as in
    `switch_block`. All ways of learning call this one kernel: that the same source compiled twice gives the
    same rounding is not guaranteed.
    """
    kind, projection, limits, step = rules
    layers, rows = shape.table.shape[0], block.columns.size
    first_row, last_row = share(rows, 1, team)
    for i in range(layers):
        layer = layer_at(shape, i)
        send_layer(kind, shape, i, work, first_row, last_row)
        meet(team, 2 * i + 1)
        start, stop = share(layer.size, constants.TILE, team)
        learn(
            kind,
            projection,
            limits,
            step,
            layer,
            pool,
            block.slots,
            block.columns,
            work.messages,
            targets,
            work.outputs,
            start,
            stop,
        )
        meet(team, 2 * i + 2)
    if switching:
        find_densities(kind, targets, work, first_row, last_row)
        meet(team, 2 * layers + 1)
        if team.member == 0:
            switch_block(targets, weights, time, work, history)


@fast_kernel
def infer_span(rules, shape, pool, block, work, weights, spread, mean, second):
    """Predict a block with one network, after `start_block` # OUT work.outputs.

    Add its weighted means and second moments to mean and second # OUT, [T, D] each; spread: a factor on all
    variances.
    """
    start, rows = np.int64(0), block.columns.size  # a literal 0 would have `send_layer` compiled once more
    for i in range(shape.priors.size):
        layer = layer_at(shape, i)
        send_layer(rules.kind, shape, i, work, start, rows)
        infer(
            rules.kind,
            rules.limits,
            layer,
            pool,
            block.slots,
            block.columns,
            work.messages,
            work.outputs,
            0,
            layer.size,
        )
    for t in range(rows):
        add_moments(rules.kind, work.outputs[t], weights, spread, mean[t], second[t])


@fast_kernel
def start_block(base, network, side, rows, targets, learn_base, work):
    """Write the base predictions of some rows # OUT work; then let the base model learn, if asked."""
    predict_base(base, network, side, rows, targets, learn_base, work.means, work.precisions)
