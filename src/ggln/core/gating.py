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

from ggln.core.constants import GATING_ROWS
from ggln.core.jit import exact_kernel, fused_multiply_add

FloatArray = NDArray[np.float64]


class Gates(NamedTuple):
    """The half-spaces of a number of neurons."""

    codes: NDArray[np.int32]  # [N, s]  a feature, or n_features + the row of `normals`
    offsets: FloatArray  # [N, s]
    normals: FloatArray  # [G, d]


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
    features, gates = rows.shape[1], neurons * context_dim
    normals = rng.standard_normal((gates, features))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    codes = features + np.arange(gates, dtype=np.int32).reshape(neurons, context_dim)
    offsets = sample_offsets(rows @ normals.T, gating_bias, rng)
    return Gates(codes.astype(np.int32), offsets.reshape(neurons, context_dim), normals)


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


SAMPLERS: dict[str, Sampler] = {"sphere": sample_sphere, "axis": sample_axis, "mixed": sample_mixed}


@exact_kernel
def project(normal: Any, transposed: Any, count: Any, projections: Any) -> None:
    """Write z . v of `count` rows into `projections` # OUT, summed in the order of the features.

    normal: [d]; transposed: [d, GATING_ROWS]. Four features at a time save three in four stores. Products
    and sums are fused explicitly: left to the compiler, vector and scalar code might round differently.
    """
    if count == 1:  # a single row, without the vector loops' overhead; each step rounds as theirs do
        total = 0.0
        for f in range(normal.size):
            total = fused_multiply_add(normal[f], transposed[f, 0], total)
        projections[0] = total
        return
    whole = normal.size - normal.size % 4
    for i in range(count):
        projections[i] = 0.0
    for f in range(0, whole, 4):
        a, b, c, d = normal[f], normal[f + 1], normal[f + 2], normal[f + 3]
        for i in range(count):
            total = fused_multiply_add(a, transposed[f, i], projections[i])
            total = fused_multiply_add(b, transposed[f + 1, i], total)
            total = fused_multiply_add(c, transposed[f + 2, i], total)
            projections[i] = fused_multiply_add(d, transposed[f + 3, i], total)
    for f in range(whole, normal.size):
        for i in range(count):
            projections[i] = fused_multiply_add(normal[f], transposed[f, i], projections[i])


@exact_kernel
def contexts(gates: Any, side: Any, columns: Any, first: Any, last: Any, found: Any) -> None:
    """Write the context index of neurons first to last for the rows `columns` of `side` into `found` # OUT.

    side: [n, d] standardised features; columns: [T]; found: [last - first, T].
    """
    features = side.shape[1]
    transposed = np.empty((features, GATING_ROWS))
    projections = np.empty(GATING_ROWS)
    for start in range(0, columns.size, GATING_ROWS):
        count = min(GATING_ROWS, columns.size - start)
        for i in range(count):
            for feature in range(features):
                transposed[feature, i] = side[columns[start + i], feature]
        for k in range(first, last):
            row = found[k - first, start : start + count]
            row[:] = 0
            for gate in range(gates.codes.shape[1]):
                code, offset, bit = gates.codes[k, gate], gates.offsets[k, gate], 1 << gate
                if code < features:
                    for i in range(count):
                        row[i] |= bit if transposed[code, i] >= offset else 0
                    continue
                project(gates.normals[code - features], transposed, count, projections)
                for i in range(count):
                    row[i] |= bit if projections[i] >= offset else 0
