"""Networks: layers of neurons, their table of weights, and the schedule of a block.

All networks of an ensemble share one shape and live in a few flat arrays. A row of weights exists from
the first visit to its context on: `index` says where in `pool` it lies, and 0 stands for a row of zeros,
the initial weights. So a context that nobody visited costs four bytes.

A block of rows passes the first layer, then the second, and so on. That gives bit for bit what the
sample-by-sample loop gives: a layer needs the outputs of the one below from before their update, and
its own weights from after the row before. The neurons of a layer do not see each other, so they may run on
several threads.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core import constants
from ggln.core.base_models import CoordinateBase, NoBase, predict_base
from ggln.core.diagonal import Diagonal
from ggln.core.full import Full
from ggln.core.gating import contexts
from ggln.core.isotropic import Isotropic
from ggln.core.jit import exact_kernel, fast_kernel
from ggln.core.multivariate import sizes
from ggln.core.neuron import (
    Layer,
    Limits,
    Messages,
    Step,
    add_moments,
    energies,
    infer,
    learn,
    send,
    send_base,
)
from ggln.core.switching import switch
from ggln.core.univariate import Univariate

FIRST, SIZE, DENSE, STRIDE, HOT, HOT_STRIDE = range(6)


class Rules(NamedTuple):
    """How neurons predict and learn: compile-time kinds and their numbers."""

    kind: Any
    projection: Any
    limits: Limits
    step: Step


class Shape(NamedTuple):
    """The layers of one network."""

    table: NDArray[np.int64]  # [L, 6], columns FIRST to HOT_STRIDE
    priors: NDArray[Any]  # [L], initial weights


class Work(NamedTuple):
    """Buffers for a block of T rows of one network."""

    unknown: Any  # [T, D]  stands for the targets where there are none
    means: Any  # [T, inputs, D]  base predictions; [T, inputs, 1] along one axis each
    precisions: Any  # [T, inputs]
    messages: Messages
    outputs: Any  # [T, N, P]
    energy: Any  # [N]
    scale: Any  # [N]


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of constants.LANES."""
    return -(-length // constants.LANES) * constants.LANES


def dense_biases(kind: Any) -> int:
    """Return how many dense bias inputs each neuron has; isotropic biases are one-hot."""
    along = {Univariate: 1, Isotropic: 0, Diagonal: kind.outputs, Full: kind.outputs**2}
    return 2 * int(along[type(kind)])


def make_shape(layer_sizes: Sequence[int], kind: Any, base: Any, features: int, dtype: Any) -> Shape:
    """Lay out the layers: their inputs are the layer below, or the base model, and the biases."""
    table = np.zeros((len(layer_sizes), 6), np.int64)
    below = 0 if isinstance(base, NoBase) else features
    first = 0
    for i, size in enumerate(layer_sizes):
        dense, hot = below + dense_biases(kind), 2 * kind.outputs if isinstance(kind, Isotropic) else 0
        if i == 0 and isinstance(base, CoordinateBase) and hot:
            dense, hot = 0, hot + below
        table[i] = first, size, dense, padded(dense), hot, padded(hot)
        first, below = first + size, size
    return Shape(table, (1.0 / (table[:, DENSE] + table[:, HOT])).astype(dtype))


def make_work(shape: Shape, kind: Any, base: Any, base_inputs: int, rows: int) -> Work:
    """Allocate the buffers for blocks of up to `rows` rows."""
    coordinates = 1 if isinstance(base, CoordinateBase) else kind.outputs
    dtype = shape.priors.dtype
    natural, output, moments = (2, 2, 3) if isinstance(kind, Univariate) else sizes(kind)
    neurons, widest = int(shape.table[:, SIZE].sum()), int(shape.table[:, STRIDE].max())
    hot = int(shape.table[:, HOT_STRIDE].max())
    messages = Messages(
        dense=np.zeros((rows, natural, widest), dtype),
        hot=np.zeros((rows, hot), dtype),
        hot_precision=np.zeros(hot, dtype),
        hot_axis=np.zeros(hot, np.int64),
        sums=np.zeros((rows, natural), dtype),
        moments=np.zeros((rows, moments), dtype),
    )
    return Work(
        unknown=np.zeros((rows, kind.outputs), dtype),
        means=np.zeros((rows, base_inputs, coordinates), dtype),
        precisions=np.zeros((rows, base_inputs), dtype),
        messages=messages,
        outputs=np.zeros((rows, neurons, output), dtype),
        energy=np.zeros(neurons),
        scale=np.zeros(neurons),
    )


@exact_kernel
def find_rows(index: Any, found: Any, first: Any) -> None:
    """Turn contexts into slots, 0 where a context has no row yet. found: [neurons, T] # OUT."""
    for k in range(found.shape[0]):
        for t in range(found.shape[1]):
            found[k, t] = index[first + k, found[k, t]]


@exact_kernel
def claim_rows(index: Any, found: Any, first: Any, shape: Any, used: Any) -> Any:
    """As `find_rows` for one network; contexts without a row get one # OUT index. Return the slots in use."""
    for i in range(shape.table.shape[0]):
        length = (shape.table[i, STRIDE] + shape.table[i, HOT_STRIDE]) // constants.LANES
        for k in range(shape.table[i, FIRST], shape.table[i, FIRST] + shape.table[i, SIZE]):
            for t in range(found.shape[1]):
                slot = index[first + k, found[k, t]]
                if slot == 0:
                    slot = used
                    index[first + k, found[k, t]] = slot
                    used += length
                found[k, t] = slot
    return used


@fast_kernel
def layer_at(shape, i):
    """Return the record of layer i."""
    row = shape.table[i]
    return Layer(row[FIRST], row[SIZE], row[DENSE], row[STRIDE], row[HOT], row[HOT_STRIDE], shape.priors[i])


@fast_kernel
def send_layer(kind, shape, i, work, rows):
    """Fill the messages to layer i # OUT work, from the base predictions or the layer below."""
    if i == 0:
        send_base(kind, layer_at(shape, 0), work.means, work.precisions, rows, work.messages)
    else:
        send(kind, layer_at(shape, i), layer_at(shape, i - 1), work.outputs, rows, work.messages)


@fast_kernel
def learn_layer(rules, shape, i, pool, slots, columns, targets, work, start, stop):
    """Neurons start to stop of layer i: predict the block and learn it # OUT pool, work.outputs."""
    kind, projection, limits, step = rules
    layer, messages, outputs = layer_at(shape, i), work.messages, work.outputs
    learn(
        kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
    )


@fast_kernel
def infer_layer(rules, shape, i, pool, slots, columns, work, start, stop):
    """Neurons start to stop of layer i: predict the block # OUT work.outputs."""
    layer, messages, outputs = layer_at(shape, i), work.messages, work.outputs
    infer(rules.kind, rules.limits, layer, pool, slots, columns, messages, outputs, start, stop)


@fast_kernel
def learn_block(rules, shape, base, network, pool, slots, columns, side, rows, targets, learn_base, work):
    """One network, all layers, on one thread.

    slots: [N, n'] and columns: [T] into it; side: [n, d] and rows: [T] into it; targets: [T, D].
    """
    predict_base(base, network, side, rows, targets, learn_base, work.means, work.precisions)
    for i in range(shape.priors.size):
        send_layer(rules.kind, shape, i, work, rows.size)
        learn_layer(rules, shape, i, pool, slots, columns, targets, work, 0, shape.table[i, SIZE])


@fast_kernel
def infer_block(rules, shape, base, network, pool, slots, columns, side, rows, work):
    """As `learn_block`, without learning."""
    predict_base(base, network, side, rows, work.unknown, False, work.means, work.precisions)
    for i in range(shape.priors.size):
        send_layer(rules.kind, shape, i, work, rows.size)
        infer_layer(rules, shape, i, pool, slots, columns, work, 0, shape.table[i, SIZE])


@fast_kernel
def switch_block(kind, targets, weights, time, work, history):
    """Move the switching weights # OUT over a block; `history` # OUT gets those from before each row.

    weights: [N]; history: [T, N], or empty where it is not wanted.
    """
    for t in range(targets.shape[0]):
        if history.shape[0] > 0:
            for k in range(weights.size):
                history[t, k] = weights[k]
        energies(kind, work.outputs[t], targets[t], work.energy, work.scale)
        switch(weights, time + t, work.energy, work.scale)


@fast_kernel
def start_block(base, network, side, rows, targets, learn_base, work):
    """Write the base predictions of a block # OUT work."""
    predict_base(base, network, side, rows, targets, learn_base, work.means, work.precisions)


@fast_kernel
def aggregate(kind, weights, work, rows, mean, second):
    """Add a network's weighted means and second moments to mean and second # OUT, [T, D] each."""
    for t in range(rows):
        add_moments(kind, work.outputs[t], weights, mean[t], second[t])


@fast_kernel
def learn_row(
    rules, shape, base, gates, index, used, pool, side, target, weights, time, slots, work, switching
):
    """All networks learn one row, in one call: what `Ensemble.learn` does, for the lowest latency.

    side: [1, d]; target: [1, D]; weights: [E, N]; slots: [N, 1]. The pool must have room for a new row of
    weights in every neuron. Return the slots in use.
    """
    column = np.zeros(1, np.int64)
    history = np.empty((0, weights.shape[1]))
    for network in range(weights.shape[0]):
        first = network * weights.shape[1]
        contexts(gates, side, column, first, first + weights.shape[1], slots)
        used = claim_rows(index, slots, first, shape, used)
        learn_block(rules, shape, base, network, pool, slots, column, side, column, target, True, work)
        if switching:
            switch_block(rules.kind, target, weights[network], time, work, history)
    return used


@fast_kernel
def infer_row(rules, shape, base, gates, index, pool, side, weights, slots, work, mean, second):
    """All networks predict one row: add its mean and second moment over the ensemble # OUT, [1, D] each."""
    column = np.zeros(1, np.int64)
    for network in range(weights.shape[0]):
        first = network * weights.shape[1]
        contexts(gates, side, column, first, first + weights.shape[1], slots)
        find_rows(index, slots, first)
        infer_block(rules, shape, base, network, pool, slots, column, side, column, work)
        aggregate(rules.kind, weights[network], work, 1, mean, second)
