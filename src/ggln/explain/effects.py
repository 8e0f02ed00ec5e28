"""What features do to the prediction, through the values that enter the network and through its gates.

A base input's contribution says nothing about gates: where a gate switches from one row of weights to
another, it is the biases whose contribution jumps. So here a feature is moved to other values, all others
held, and predictions are compared. The gates alone can be moved too, or the values alone; the average over
both orders of moving the two splits the change into two parts that add up to it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core.learner import Learner
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]
BLOCK = 4096
"""Rows that are predicted at once."""

Groups = Sequence[list[int]]
"""Features that belong together, such as the levels of a category, by their numbers."""


class Effects(NamedTuple):
    """How far each feature's value moves the predicted mean from where its other values would have it.

    ``total = values + gates``, in the target's units.
    """

    names: list[str]  #: of the features, or of their groups
    total: FloatArray  #: (n, features), or (n, features, outputs)
    values: FloatArray  #: through the base inputs, regressors among them
    gates: FloatArray  #: through the choice of weights


class Importance(NamedTuple):
    """Means over rows: of the size of effects, and of the size of contributions less their mean."""

    names: list[str]  #: of the features, or of their groups
    total: FloatArray  #: (features,), or (features, outputs)
    values: FloatArray
    gates: FloatArray
    input_names: list[str]  #: of the base inputs and biases
    inputs: FloatArray  #: (inputs,), or (inputs, outputs)


def singly(features: int) -> Groups:
    """Return groups of one feature each."""
    return [[feature] for feature in range(features)]


def reference_values(background: FloatArray, count: int, groups: Groups | None = None) -> FloatArray:
    """Return `count` values of each feature [count, d], evenly spaced among the sorted ones; all if fewer.

    The features of a group are sorted by the first of them, then by the next, and keep together: the levels
    of a category come as often as they occur, and never two at a time.
    """
    places = np.arange(len(background))
    if len(background) > count:
        places = ((np.arange(count) + 0.5) / count * len(background)).astype(int)
    chosen = np.empty((places.size, background.shape[1]))
    for group in groups or singly(background.shape[1]):
        together = background[:, group]
        chosen[:, group] = together[np.lexsort(together.T[::-1])[places]]
    return chosen


def effects(
    learner: Learner, rows: FloatArray, references: FloatArray, groups: Groups, threads: Threads
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return total, values' and gates' effect [n, groups, D] of each row's features.

    references: [Q, features], the other values; an effect is the mean of the differences to all of them.
    The features of a group are moved together.
    """
    outputs = learner.settings.outputs
    scale = learner.targets.shift_and_scale()[1]
    total, values, gates = np.zeros((3, rows.shape[0], len(groups), outputs))
    step = max(1, BLOCK // len(references))

    def mean(at: FloatArray, gated_by: FloatArray) -> FloatArray:
        found = learner.ensemble.moments(at, threads, gated_by)[0]
        return found.reshape(-1, len(references), outputs)

    for start in range(0, rows.shape[0], step):
        block = rows[start : start + step]
        side = learner.side(block)
        here = np.repeat(side, len(references), axis=0)
        both = learner.ensemble.moments(side, threads)[0][:, None]
        for place, group in enumerate(groups):
            moved = np.repeat(block, len(references), axis=0)
            moved[:, group] = np.tile(references[:, group], (len(block), 1))
            there = learner.side(moved)
            neither = mean(there, there)
            only_gates, only_values = mean(there, here), mean(here, there)  # what is still as it was
            own = slice(start, start + step), place
            total[own] = (both - neither).mean(axis=1)
            values[own] = 0.5 * ((both - only_gates) + (only_values - neither)).mean(axis=1)
            gates[own] = 0.5 * ((both - only_values) + (only_gates - neither)).mean(axis=1)
    return scale * total, scale * values, scale * gates
