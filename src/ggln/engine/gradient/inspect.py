"""What networks of gradient steps do with some rows: base predictions, contexts, and the weights in use."""

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.bases.base_models import along_axes
from ggln.engine.gating import contexts
from ggln.engine.gradient.ensemble import Ensemble, Slots
from ggln.engine.gradient.network import DENSE, HOT, HOT_STRIDE, LENGTH, STRIDE, find_rows, start_block

FloatArray = NDArray[np.float64]


def base_rows(ensemble: Ensemble, network: int, side: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the base predictions of some rows: means [n, inputs, D] and variances [n, inputs]."""
    work, rows = ensemble.new_work(side.shape[0]), np.arange(side.shape[0])
    start_block(ensemble.base, network, side, rows, work.unknown, False, work)
    means = work.means.astype(np.float64)
    if along_axes(ensemble.base):
        axes = np.eye(ensemble.rules.kind.outputs)
        means = means * np.tile(axes, (ensemble.base_inputs // len(axes), 1))  # input i along output i % D
    return means, 1.0 / work.precisions.astype(np.float64)


def base_row(ensemble: Ensemble, network: int, side: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the base predictions of one row: means [inputs, D] and variances [inputs]."""
    means, variances = base_rows(ensemble, network, side)
    return means[0], variances[0]


def active_contexts(ensemble: Ensemble, side: FloatArray) -> Slots:
    """Return the context [E * N, n] that each row selects in every neuron."""
    found = np.empty((ensemble.networks * ensemble.neurons, side.shape[0]), constants.SLOT)
    contexts(ensemble.gates, side, np.arange(side.shape[0]), 0, found.shape[0], found)
    return found


def row_weights(ensemble: Ensemble, network: int, side: FloatArray) -> list[FloatArray]:
    """Return the weights [n, neurons, inputs] that each row selects, layer by layer.

    Of neurons with weights for each class, those of one class after the other.
    """
    first, slots = network * ensemble.neurons, np.empty((ensemble.neurons, side.shape[0]), constants.SLOT)
    contexts(ensemble.gates, side, np.arange(side.shape[0]), first, first + ensemble.neurons, slots)
    find_rows(ensemble.pool.index, slots, first)
    found = []
    for i, (row, prior, bias_prior) in enumerate(zip(*ensemble.shape, strict=True)):
        used = np.r_[: row[DENSE], row[STRIDE] : row[STRIDE] + row[HOT]]
        copies = np.arange(0, row[LENGTH], row[STRIDE] + row[HOT_STRIDE])
        initial = np.full(used.size, prior, np.float64)
        if row[HOT]:
            initial[-2 * ensemble.rules.kind.outputs :] = bias_prior
        places = ensemble.pool.places(slots, i, (copies[:, None] + used).ravel())
        found.append(np.tile(initial, copies.size) + ensemble.pool.numbers[places].astype(np.float64))
    return found


def active_weights(ensemble: Ensemble, network: int, side: FloatArray) -> list[FloatArray]:
    """Return the weights [neurons, inputs] that one row selects, layer by layer."""
    return [weights[0] for weights in row_weights(ensemble, network, side)]
