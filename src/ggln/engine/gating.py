"""Half-space gating: where gates come from, and which context a row selects (sections 3 and 4).

A gate of a neuron is the half-space z . v >= b. An axis-aligned gate looks at one feature only, and is
stored as the feature's number; a general one as a number past the features, pointing at its normal.
The s bits of a neuron's gates, the first the lowest, are the index of its context.

Projections are summed feature by feature in double precision, with the rounding of each step fixed, so that a
bit cannot depend on how rows are blocked.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import GATING_ROWS, SPLIT_POWER, SPLIT_SHARE
from ggln.engine.jit import exact_kernel, fused_multiply_add, inner_exact

FloatArray = NDArray[np.float64]


class Gates(NamedTuple):
    """The half-spaces of a number of neurons."""

    codes: NDArray[np.int32]  # [N, s]  a feature, or n_features + the row of `normals`
    offsets: FloatArray  # [N, s]
    normals: FloatArray  # [G, d]


class Splits(NamedTuple):
    """Half-spaces along the axes that a model of trees found useful."""

    features: NDArray[np.int32]
    thresholds: FloatArray  # in the units of the side information
    gains: FloatArray


NO_SPLITS = Splits(np.empty(0, np.int32), np.empty(0), np.empty(0))

Sampler = Callable[[int, int, FloatArray, float | str, np.random.Generator], Gates]
"""(neurons, context_dim, rows [n, d] of side information, gating_bias, rng) -> Gates."""


def sample_offsets(projections: FloatArray, gating_bias: float | str, rng: np.random.Generator) -> FloatArray:
    """Return an offset for each gate: N(0, gating_bias^2), or its projection of a random row for "data".

    projections: [n, gates], the rows seen so far along each gate's normal. Without rows, offsets are 0.
    A row's own value is moved half-way to the next lower one, so that the threshold separates two
    values, as a decision tree's does, instead of lying on one of them.
    """
    rows, gates = projections.shape
    if gating_bias != "data":
        offsets: FloatArray = float(gating_bias) * rng.standard_normal((gates,))
        return offsets
    chosen = rng.random((gates,))
    if rows == 0:
        return np.zeros(gates)
    picked = projections[(chosen * rows).astype(np.intp), np.arange(gates)]
    lower = np.where(projections < picked, projections, -np.inf).max(axis=0)
    middle: FloatArray = np.where(np.isfinite(lower), 0.5 * (picked + lower), picked)
    return middle


def sample_sphere(
    neurons: int, context_dim: int, rows: FloatArray, gating_bias: float | str, rng: np.random.Generator
) -> Gates:
    """Draw normals uniformly on the unit sphere, as the paper does."""
    normals = rng.standard_normal((neurons * context_dim, rows.shape[1]))
    return with_normals(normals, (neurons, context_dim), rows, gating_bias, rng)


def with_normals(
    normals: FloatArray,
    shape: tuple[int, int],
    rows: FloatArray,
    gating_bias: float | str,
    rng: np.random.Generator,
) -> Gates:
    """Return gates [N, s] of a shape with given normals [N s, d], made unit vectors # OUT; draw offsets."""
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    codes = rows.shape[1] + np.arange(normals.shape[0], dtype=np.int32).reshape(shape)
    offsets = sample_offsets(rows @ normals.T, gating_bias, rng)
    return Gates(codes.astype(np.int32), offsets.reshape(shape), normals)


def sample_pairs(
    neurons: int, context_dim: int, rows: FloatArray, gating_bias: float | str, rng: np.random.Generator
) -> Gates:
    """Draw normals from one random row to another: directions in which rows differ.

    With hundreds of features that hang together, a direction on the sphere sees mostly noise. A pair of equal
    rows keeps its direction on the sphere, and so do all gates while there are no rows.
    """
    sphere = sample_sphere(neurons, context_dim, rows, 0.0, rng)
    normals, gates = sphere.normals, neurons * context_dim
    if rows.shape[0] > 1:
        ends = (rng.random((2, gates)) * rows.shape[0]).astype(np.intp)
        apart = rows[ends[0]] - rows[ends[1]]
        largest = np.abs(apart).max(axis=1, initial=0.0, keepdims=True)
        differ = largest > 0
        apart /= np.where(differ, largest, 1.0)  # first, so that no square over- or underflows
        lengths = np.linalg.norm(apart, axis=1, keepdims=True)
        normals = np.where(differ, apart / np.where(differ, lengths, 1.0), normals)
    offsets = sample_offsets(rows @ normals.T, gating_bias, rng)
    return Gates(sphere.codes, offsets.reshape(neurons, context_dim), normals)


def sample_axis(
    neurons: int, context_dim: int, rows: FloatArray, gating_bias: float | str, rng: np.random.Generator
) -> Gates:
    """Draw one feature for each gate, uniformly."""
    codes = rng.integers(rows.shape[1], size=neurons * context_dim).astype(np.int32)
    offsets = sample_offsets(rows[:, codes], gating_bias, rng)
    shape = (neurons, context_dim)
    return Gates(codes.reshape(shape), offsets.reshape(shape), np.empty((0, rows.shape[1])))


def sample_mixed(
    neurons: int, context_dim: int, rows: FloatArray, gating_bias: float | str, rng: np.random.Generator
) -> Gates:
    """Draw half of the gates on the sphere and half along the axes, each gate's kind at random."""
    sphere = sample_sphere(neurons, context_dim, rows, gating_bias, rng)
    axis = sample_axis(neurons, context_dim, rows, gating_bias, rng)
    general = rng.random((neurons, context_dim)) < 0.5
    codes = np.where(general, sphere.codes, axis.codes).astype(np.int32)
    codes[general] = rows.shape[1] + np.arange(np.count_nonzero(general))
    return Gates(codes, np.where(general, sphere.offsets, axis.offsets), sphere.normals[general.ravel()])


def shift(gates: Gates, columns: int) -> Gates:
    """Return gates of side information that has so many more columns, in front, which they do not look at."""
    before = np.zeros((gates.normals.shape[0], columns))
    return Gates(gates.codes + np.int32(columns), gates.offsets, np.hstack([before, gates.normals]))


def take_splits(gates: Gates, splits: Splits, rng: np.random.Generator) -> Gates:
    """Replace most of the gates by splits of trees, drawn in proportion to a power of their gain.

    Random gates waste themselves on features that do not matter; trees say which ones do. The random rest
    keeps the network from being blind to what the trees missed. Without splits, all gates stay random.
    """
    gains = np.maximum(splits.gains, 0.0) ** SPLIT_POWER
    if not gains.sum() > 0.0:
        return gates
    chosen = rng.choice(gains.size, size=gates.codes.shape, p=gains / gains.sum())
    from_trees = rng.random(gates.codes.shape) < SPLIT_SHARE
    return Gates(
        np.where(from_trees, splits.features[chosen], gates.codes).astype(np.int32),
        np.where(from_trees, splits.thresholds[chosen], gates.offsets),
        gates.normals,
    )


SAMPLERS: dict[str, Sampler] = {
    "sphere": sample_sphere,
    "pairs": sample_pairs,
    "axis": sample_axis,
    "mixed": sample_mixed,
    "tree": sample_axis,  # and then `take_splits`
    "residual": sample_axis,  # before there are rows; then `newton.picked`
}


@inner_exact
def project_row(normal: Any, transposed: Any) -> Any:
    """Return z . v of a single row; each step rounds as those of the loops over many rows do."""
    total = 0.0
    for f in range(normal.size):
        total = fused_multiply_add(normal[f], transposed[f, 0], total)
    return total


@inner_exact
def project(u: Any, v: Any, transposed: Any, count: Any, projections: Any) -> None:
    """Write z . u and z . v of `count` rows into `projections` # OUT, summed in the order of the features.

    u, v: [d]; transposed: [d, GATING_ROWS]; projections: [2, GATING_ROWS]. Two gates share the loads of the
    features, and four features at a time save three in four stores. Products and sums are fused
    explicitly: left to the compiler, vector and scalar code might round differently.
    """
    first, second = projections[0], projections[1]
    whole = u.size - u.size % 4
    for i in range(count):
        first[i] = second[i] = 0.0
    for f in range(0, whole, 4):
        a, b, c, d = transposed[f], transposed[f + 1], transposed[f + 2], transposed[f + 3]
        for i in range(count):
            x = fused_multiply_add(u[f], a[i], first[i])
            y = fused_multiply_add(v[f], a[i], second[i])
            x = fused_multiply_add(u[f + 1], b[i], x)
            y = fused_multiply_add(v[f + 1], b[i], y)
            x = fused_multiply_add(u[f + 2], c[i], x)
            y = fused_multiply_add(v[f + 2], c[i], y)
            first[i] = fused_multiply_add(u[f + 3], d[i], x)
            second[i] = fused_multiply_add(v[f + 3], d[i], y)
    for f in range(whole, u.size):
        for i in range(count):
            first[i] = fused_multiply_add(u[f], transposed[f, i], first[i])
            second[i] = fused_multiply_add(v[f], transposed[f, i], second[i])


@inner_exact
def add_bit(values: Any, offset: Any, bit: Any, indices: Any) -> None:
    """Set a gate's bit in the indices # OUT of the rows that lie in its half-space."""
    for i in range(indices.size):
        indices[i] |= bit if values[i] >= offset else 0


@inner_exact
def neuron_contexts(
    codes: Any, offsets: Any, normals: Any, transposed: Any, projections: Any, indices: Any
) -> None:
    """Write the contexts that one neuron's gates give some rows into `indices` # OUT.

    codes, offsets: [s]; transposed: [d, GATING_ROWS]; projections: [2, GATING_ROWS], scratch; indices: [T].
    """
    features = transposed.shape[0]
    indices[:] = 0
    waiting = -1  # a gate that waits for another one to share its pass over the features
    for gate in range(codes.size):
        if codes[gate] < features:
            add_bit(transposed[codes[gate]], offsets[gate], 1 << gate, indices)
        elif waiting < 0:
            waiting = gate
        else:
            u, v = normals[codes[waiting] - features], normals[codes[gate] - features]
            project(u, v, transposed, indices.size, projections)
            add_bit(projections[0], offsets[waiting], 1 << waiting, indices)
            add_bit(projections[1], offsets[gate], 1 << gate, indices)
            waiting = -1
    if waiting >= 0:
        normal = normals[codes[waiting] - features]
        project(normal, normal, transposed, indices.size, projections)
        add_bit(projections[0], offsets[waiting], 1 << waiting, indices)


@inner_exact
def row_context(codes: Any, offsets: Any, normals: Any, transposed: Any) -> Any:
    """Return the context that one neuron's gates give a single row, without the vector loops' overhead."""
    features, index = transposed.shape[0], 0
    for gate in range(codes.size):
        code = codes[gate]
        value = transposed[code, 0] if code < features else project_row(normals[code - features], transposed)
        index |= (1 << gate) if value >= offsets[gate] else 0
    return index


@exact_kernel
def contexts(gates: Any, side: Any, columns: Any, first: Any, last: Any, found: Any) -> None:
    """Write the context index of neurons first to last for the rows `columns` of `side` into `found` # OUT.

    side: [n, d' >= d] standardised features first; columns: [T]; found: [last - first, T].
    """
    features = gates.normals.shape[1]
    transposed = np.empty((features, GATING_ROWS if columns.size > 1 else 1))
    projections, indices = np.empty((2, GATING_ROWS)), np.empty(GATING_ROWS, np.int32)
    for start in range(0, columns.size, GATING_ROWS):
        count = min(GATING_ROWS, columns.size - start)
        for i in range(count):
            for feature in range(features):
                transposed[feature, i] = side[columns[start + i], feature]
        for k in range(first, last):
            codes, offsets = gates.codes[k], gates.offsets[k]
            if columns.size == 1:
                found[k - first, 0] = row_context(codes, offsets, gates.normals, transposed)
                continue
            neuron_contexts(codes, offsets, gates.normals, transposed, projections, indices[:count])
            for i in range(count):
                found[k - first, start + i] = indices[i]
