"""What features do to the prediction, through the values that enter the network and through its gates.

A base input's contribution says nothing about gates: where a gate switches from one row of weights to
another, it is the biases whose contribution jumps. So here a feature is moved to other values, all others
held, and predictions are compared. The gates alone can be moved too, or the values alone; the average over
both orders of moving the two splits the change into two parts that add up to it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
BLOCK = 4096
"""Rows that are predicted at once."""

Groups = Sequence[list[int]]
"""Features that belong together, such as the levels of a category, by their numbers."""


class Effects(NamedTuple):
    """How far each feature's value moves the predicted mean from where its other values would put it.

    ``total = values + gates``, in the target's units.
    """

    names: list[str]  #: of the features, or of their groups
    total: FloatArray  #: (n, features), or (n, features, outputs)
    values: FloatArray  #: through the base inputs
    gates: FloatArray  #: through the choice of weights


class Importance(NamedTuple):
    """Means over rows: of the size of effects, and of the size of contributions minus their mean."""

    names: list[str]  #: of the features, or of their groups
    total: FloatArray  #: (features,), or (features, outputs)
    values: FloatArray
    gates: FloatArray
    input_names: list[str]  #: of what `explain` names
    inputs: FloatArray  #: (inputs,), or (inputs, outputs)


class Moved(Protocol):
    """A model whose values and gates can be asked apart."""

    def view(self, rows: FloatArray) -> Any:
        """Return rows [n, d] as networks see them."""

    def mean(self, values: Any, gates: Any, threads: Threads) -> FloatArray:
        """Return predicted means [n, D] for the values of some rows and the gates of others."""


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


def grouped(features: list[str], groups: Mapping[str, Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """Return the names of groups and single features, in the order of the features, and their places."""
    owner = {name: group for group, names in groups.items() for name in names}
    unknown = [name for name in owner if name not in features]
    if unknown:
        raise ValueError(f"groups name {unknown[0]!r}, which is not one of the features {features}")
    places: dict[str, list[int]] = {}
    for place, name in enumerate(features):
        places.setdefault(owner.get(name, name), []).append(place)
    return list(places), list(places.values())


def effects(
    model: Moved, rows: FloatArray, references: FloatArray, groups: Groups, threads: Threads
) -> list[FloatArray]:
    """Return total, values' and gates' effect [n, groups, D] of each row's features.

    references: [Q, features], the other values; an effect is the mean of the differences to all of them.
    The features of a group are moved together.
    """
    step = max(1, BLOCK // len(references))
    parts: list[list[FloatArray]] = [[], [], []]
    for start in range(0, rows.shape[0], step):
        block = rows[start : start + step]
        here = model.view(np.repeat(block, len(references), axis=0))
        both = model.mean(here, here, threads)
        found = []
        for group in groups:
            moved = np.repeat(block, len(references), axis=0)
            moved[:, group] = np.tile(references[:, group], (len(block), 1))
            there = model.view(moved)
            neither = model.mean(there, there, threads)
            only_gates, only_values = model.mean(there, here, threads), model.mean(here, there, threads)
            values = 0.5 * ((both - only_gates) + (only_values - neither))
            gates = 0.5 * ((both - only_values) + (only_gates - neither))
            found.append((both - neither, values, gates))
        for part, own in zip(parts, zip(*found, strict=True), strict=True):
            several = np.stack(own, axis=1)  # [rows * Q, groups, D]
            part.append(several.reshape(len(block), len(references), *several.shape[1:]).mean(axis=1))
    return [np.concatenate(part) for part in parts]
