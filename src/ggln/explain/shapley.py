"""Contributions of features: what a prediction gains when they change from other rows' values to its own.

Beginning with a row of the background, features are set to the values of the row that is explained, one after
the other, and each is credited with what the prediction gains by it. Whatever the order, gains add up to the
whole difference. Up to four features are set in all orders, which gives Shapley values; more in a random
order and its reverse for each row of the background. What two features do together is shared evenly in both
cases.
"""

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Groups = list[list[int]]
EXACT = 4
"""Features of which all orders are taken: 2^4 sets of them cost no more than two orders of nine features."""
BLOCK = 1 << 14
"""Rows that are predicted at once."""


def coalitions(players: int, backgrounds: int) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return sets of players [B, C, p] for each background, and with what factor each enters contributions.

    The first set is empty, the last one holds all. weights: [B, C, p], of the predictions with these sets.
    """
    if players <= EXACT:
        every = (np.arange(1 << players)[:, None] >> np.arange(players) & 1).astype(np.bool_)
        # how often a set of this size comes right before a given player, among all orders
        share = np.array([1.0 / (players * comb(players - 1, size)) for size in range(players)] + [0.0])
        size = every.sum(axis=1, keepdims=True)
        weights = np.where(every, share[size - 1], -share[size])
        shape = backgrounds, *every.shape
        return np.broadcast_to(every, shape), np.broadcast_to(weights, shape)
    random = np.random.default_rng(0)
    places = np.argsort(random.random((backgrounds, players)), axis=1)[:, None]  # of each player in the order
    steps = np.arange(players + 1)[:, None]
    onwards, backwards = places < steps, places >= players - steps  # [B, p + 1, p]
    sets = np.concatenate([onwards[:, :-1], backwards[:, 1:-1], onwards[:, -1:]], axis=1)
    weights = np.zeros(sets.shape)
    for chain, inner in ((onwards, slice(1, players)), (backwards, slice(players, 2 * players - 1))):
        gains = 0.5 * np.diff(chain.astype(np.float64), axis=1)  # the player that each step adds
        weights[:, 0] -= gains[:, 0]
        weights[:, inner] += gains[:, :-1] - gains[:, 1:]
        weights[:, -1] += gains[:, -1]
    return sets, weights


def contributions(
    mean: Callable[[FloatArray], FloatArray], rows: FloatArray, background: FloatArray, groups: Groups
) -> tuple[FloatArray, FloatArray]:
    """Return what each group of features adds [n, groups, D], and where the sum begins [D].

    mean: from rows [n, d] to predicted means [n, D]; background: [B, d]. Features of a group change together.
    """
    sets, weights = coalitions(len(groups), len(background))
    owner = np.empty(rows.shape[1], np.int64)
    for place, group in enumerate(groups):
        owner[group] = place
    own = sets[:, 1:-1, owner]  # [B, C, d]  whose value is the row's own
    start, end = mean(background), mean(rows)
    outputs, inner = start.shape[1], own.shape[1]
    found = np.empty((len(rows), len(groups), outputs))
    step = max(1, BLOCK // max(len(background) * inner, 1))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        said = np.empty((len(block), len(background), inner + 2, outputs))
        said[:, :, 0], said[:, :, -1] = start, end[first : first + step, None]
        if inner:
            moved = np.where(own, block[:, None, None], background[:, None])
            said[:, :, 1:-1] = mean(moved.reshape(-1, rows.shape[1])).reshape(*moved.shape[:3], outputs)
        found[first : first + step] = np.einsum("bcp,nbcd->npd", weights, said, optimize=True)
    return found / len(background), start.mean(axis=0)
