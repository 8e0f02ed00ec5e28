"""Which half-spaces hold a row, and which other rows share them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gradient import inspect
from ggln.engine.gradient.learner import Learner
from ggln.engine.gradient.network import SIZE

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
ROWS = 4096
"""Rows whose contexts are compared at once."""


class ActiveGates(NamedTuple):
    """The half-spaces ``normals @ x >= offsets`` that a row meets in all neurons, and its side of them.

    In the units of the features.
    """

    names: list[str]  #: of the columns of `normals`
    network: IntArray  #: (gates,)
    layer: IntArray
    neuron: IntArray  #: within its layer
    normals: FloatArray  #: (gates, columns)
    offsets: FloatArray  #: (gates,)
    projections: FloatArray  #: (gates,)  normals @ x
    inside: NDArray[np.bool_]  #: (gates,)
    bounds: FloatArray  #: (columns, 2)  between which no gate on a single column changes side
    grown: NDArray[
        np.bool_
    ]  #: (gates,)  whether it is a node of a tree, which cuts one part of all rows only

    def conditions(self) -> list[str]:
        """Return each gate as an inequality that holds for the row; that of a missing value is none."""
        gates = zip(self.normals, self.offsets, self.inside, self.projections, strict=True)
        return [
            f"{_sum(self.names, normal)} is missing"
            if np.isnan(projection)
            else f"{_sum(self.names, normal)} {'>=' if inside else '<'} {offset:.6g}"
            for normal, offset, inside, projection in gates
        ]


class Neighbours(NamedTuple):
    """Rows of a training set that select the same weights as a row does."""

    rows: IntArray  #: (n, k)  their numbers, the most similar first
    shares: FloatArray  #: (n, k)  of all neurons, that are in the same context
    support: FloatArray  #: (n,)  training rows in a neuron's active context, the mean over all neurons


def _sum(names: list[str], normal: FloatArray) -> str:
    """Write a weighted sum of columns; a single one without its weight, which is 1."""
    used = np.flatnonzero(normal)
    if used.size == 1 and normal[used[0]] == 1.0:
        return names[int(used[0])]
    terms = " ".join(f"{normal[j]:+.4g}*{names[j]}" for j in used)
    return terms.removeprefix("+")


def active_gates(learner: Learner, row: FloatArray, names: list[str]) -> ActiveGates:
    """Return the gates of all neurons and the sides on which a row [1, d] lies."""
    ensemble = learner.ensemble
    gates, columns = ensemble.gates, learner.settings.columns
    shift, scale = learner.inputs.shift_and_scale()
    side = learner.side(row)[0]
    neurons, places = np.nonzero(np.isfinite(gates.offsets))  # others are there to fill up only
    codes, offsets = gates.codes[neurons, places], gates.offsets[neurons, places]
    single = codes < columns
    normals = np.zeros((codes.size, columns))
    normals[single, codes[single]] = 1.0
    normals[~single] = gates.normals[codes[~single] - columns] / scale
    inside = inspect.active_contexts(ensemble, side[None])[neurons, 0] >> places & 1
    # in the user's units; a single column keeps the weight 1, so that its offset is a threshold
    own = np.where(single, scale[np.where(single, codes, 0)], 1.0)
    user_offsets = offsets * own + normals @ shift
    sizes = ensemble.shape.table[:, SIZE]
    layer_of = np.repeat(np.arange(sizes.size), sizes)
    place_of = np.concatenate([np.arange(size) for size in sizes])
    within = neurons % ensemble.neurons
    return ActiveGates(
        names,
        neurons // ensemble.neurons,
        layer_of[within],
        place_of[within],
        normals,
        user_offsets,
        normals @ (shift + scale * side),
        inside.astype(bool),
        _bounds(codes, user_offsets, inside.astype(bool), columns),
        np.zeros(neurons.size, np.bool_),
    )


def _bounds(
    codes: NDArray[np.integer[Any]], offsets: FloatArray, inside: NDArray[np.bool_], columns: int
) -> FloatArray:
    """Return for each column the nearest thresholds below and above, infinite where there are none."""
    bounds = np.tile([-np.inf, np.inf], (columns, 1))
    below, above = (codes < columns) & inside, (codes < columns) & ~inside
    np.maximum.at(bounds[:, 0], codes[below], offsets[below])
    np.minimum.at(bounds[:, 1], codes[above], offsets[above])
    return bounds


def neighbours(
    contexts: Callable[[FloatArray], NDArray[np.integer[Any]]],
    training: FloatArray,
    rows: FloatArray,
    count: int,
) -> Neighbours:
    """Return for each of the rows [n, d] the training rows [m, d] with the most contexts in common.

    contexts: from rows [n, d] to contexts [n, networks, neurons].
    """
    own = contexts(rows).reshape(len(rows), -1)
    shared = np.empty((rows.shape[0], training.shape[0]))
    support = np.zeros(rows.shape[0])
    for start in range(0, training.shape[0], ROWS):
        part = training[start : start + ROWS]
        theirs = np.ascontiguousarray(contexts(part).reshape(len(part), -1).T)
        for i in range(rows.shape[0]):
            same = theirs == own[i, :, None]
            shared[i, start : start + ROWS] = same.mean(axis=0)
            support[i] += same.sum() / len(same)
    found = np.argsort(-shared, axis=1, kind="stable")[:, :count]
    return Neighbours(found, np.take_along_axis(shared, found, axis=1), support)
