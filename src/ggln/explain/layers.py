"""Networks at work on some rows, written out in double precision: what explanations are made from.

Precisions are diagonals [.., D] or, for full covariances, matrices [.., D, D].
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gradient import inspect
from ggln.engine.gradient.ensemble import Ensemble
from ggln.engine.gradient.network import DENSE, HOT, SIZE
from ggln.engine.neurons.description import biases, has_matrices
from ggln.engine.neurons.protocol import Limits

FloatArray = NDArray[np.float64]
NUMBERS = 1 << 22
"""Numbers that a block of rows may take: some ten megabytes."""


class Neurons(NamedTuple):
    """One layer at work on T rows: the weighted product of its inputs, kept in its range."""

    weights: FloatArray  # [T, K, m]
    weighted_means: FloatArray  # [T, m, D]  of the inputs: precision times mean
    precisions: FloatArray  # [T, m, D] or [T, m, D, D]  of the inputs
    summed: FloatArray  # [T, K, D]  weighted sum of weighted_means
    total: FloatArray  # [T, K, D] or [T, K, D, D]  weighted sum of precisions
    mean: FloatArray  # [T, K, D]  before it is kept in its range
    kept: FloatArray  # [T, K, D]  the factor that keeps it there
    inverse: FloatArray  # of total, away from zero
    narrowed: FloatArray  # the factor that keeps the precision in its range
    precision: FloatArray  # that is passed on


def apply(factor: FloatArray, value: FloatArray) -> FloatArray:
    """Multiply vectors by diagonals [.., D] or by matrices [.., D, D]."""
    if factor.ndim == value.ndim:
        return factor * value
    product: FloatArray = (factor @ value[..., None])[..., 0]
    return product


def mix(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Return the weighted sums [T, K, ..] of values [T, m, ..], weights: [T, K, m]."""
    flat = weights @ values.reshape(*values.shape[:2], -1)
    return flat.reshape(*flat.shape[:2], *values.shape[2:])


def blocks(ensemble: Ensemble, rows: int) -> Iterator[slice]:
    """Cut rows into blocks whose layers fit into memory."""
    kind, table = ensemble.rules.kind, ensemble.shape.table
    inputs = table[:, DENSE] + table[:, HOT]
    # weights, and the derivatives of each output by means and precisions of all inputs and neurons
    each = int(kind.outputs) ** (3 if has_matrices(kind) else 2)
    numbers = int((table[:, SIZE] * inputs + (inputs + table[:, SIZE]) * each).sum())
    step = max(1, NUMBERS // numbers)
    return (slice(start, start + step) for start in range(0, rows, step))


def forward(ensemble: Ensemble, network: int, side: FloatArray) -> list[Neurons]:
    """Run rows through a network's layers, keeping what the way back needs. side: [T, d]."""
    kind, _, limits, _ = ensemble.rules
    full, outputs = has_matrices(kind), int(kind.outputs)
    means, variances = inspect.base_rows(ensemble, network, side)
    bias_means, bias_precisions = biases(kind)
    bias_weighted = apply(bias_precisions, bias_means)
    unit = np.eye(outputs) if full else np.ones(outputs)
    precisions = (1.0 / variances).reshape(*variances.shape, *[1] * unit.ndim) * unit
    weighted = apply(precisions, means)
    layers = []
    for weights in inspect.row_weights(ensemble, network, side):
        precisions, weighted = _with(precisions, bias_precisions), _with(weighted, bias_weighted)
        summed, total = mix(weights, weighted), mix(weights, precisions)
        inverse, narrowed = (_keep_matrices if full else _keep_diagonals)(total, limits)
        mean = apply(inverse, summed)
        bound = float(limits.mean_range)
        kept = np.minimum(1.0, bound / np.maximum(np.abs(mean), bound))
        precision = narrowed @ total if full else narrowed * total
        layer = Neurons(
            weights, weighted, precisions, summed, total, mean, kept, inverse, narrowed, precision
        )
        layers.append(layer)
        precisions, weighted = precision, apply(precision, kept * mean)
    return layers


def _with(inputs: FloatArray, bias: FloatArray) -> FloatArray:
    """Return the inputs [T, m, ..] of each row, followed by the biases [B, ..]."""
    return np.concatenate([inputs, np.broadcast_to(bias, (len(inputs), *bias.shape))], axis=1)


def _keep_diagonals(total: FloatArray, limits: Limits) -> tuple[FloatArray, FloatArray]:
    inverse = 1.0 / np.maximum(total, limits.min_sum)
    return inverse, np.clip(total, limits.min_precision, limits.max_precision) * inverse


def _keep_matrices(total: FloatArray, limits: Limits) -> tuple[FloatArray, FloatArray]:
    values, vectors = np.linalg.eigh(total)
    inverse = 1.0 / np.maximum(values, limits.min_sum)
    clipped = np.clip(values, limits.min_precision, limits.max_precision)
    transposed = np.swapaxes(vectors, -1, -2)
    return (vectors * inverse[..., None, :]) @ transposed, (
        vectors * (clipped / values)[..., None, :]
    ) @ transposed
