"""Newton's method for many contexts at once, each by sums over rows that lie elsewhere.

A round brings loss, gradient and Hessian at the weights that a context tries. If the loss has fallen as far
as it should (`contexts.solve`), they are its weights, and the same sums give the next step: mostly a step
takes one round. Where the sums of all contexts would be large, they are asked for in several turns.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributed import kernels
from ggln.distributed.lessons import Contexts, add_losses
from ggln.distributed.partitions import Partitions
from ggln.engine.newton import constants
from ggln.engine.newton.contexts import make_work

FloatArray = NDArray[np.float64]
MOST_SUMS = 1 << 25
"""Bytes of sums, or of inverses, in one turn, of each partition: 32 MB keep the links of a cluster busy."""


class Descent:
    """Contexts of one network, on their way to their solutions."""

    def __init__(
        self,
        contexts: Contexts,
        centres: FloatArray,  # [B, M]  where they begin, and are drawn to
        pull: FloatArray,  # [m]
        rows: NDArray[np.int64],  # [B]
        iterations: NDArray[np.int64],  # [B]  steps at most
        settled: float,
    ) -> None:
        count, size = len(rows), pull.size
        self.contexts, self.centres, self.pull, self.rows = contexts, centres, pull, rows
        self.iterations, self.settled = iterations, settled
        self.weights, self.trial = centres.copy(), centres.copy()
        self.hessians = np.zeros((count, size * (size + 1) // 2))  # of losses, at the weights
        self.inverses = np.zeros_like(self.hessians)
        self.values, self.lengths = np.full(count, np.inf), np.ones(count)
        self.steps, self.tries = np.full(count, -1), np.zeros(count, np.int64)
        self.directions, self.decrements = np.zeros_like(centres), np.zeros(count)
        self.open = np.ones(count, bool)
        self.diagonal = np.cumsum(np.arange(1, size + 1)) - 1
        self.work = make_work(0, 2, size)

    def ask(self) -> tuple[Contexts, int, FloatArray, FloatArray] | None:
        """Return where sums are wanted, if anywhere."""
        own = np.flatnonzero(self.open)
        if not own.size:
            return None
        return self.contexts.taken(own), self.pull.size, self.centres[own], self.trial[own]

    def take(self, values: FloatArray, gradients: FloatArray, hessians: FloatArray) -> None:
        """Go on with the sums that were asked for."""
        own, size = np.flatnonzero(self.open), self.pull.size
        strayed = self.trial[own, :size] - self.centres[own, :size]
        values = values + 0.5 * (strayed**2 * self.pull).sum(axis=1)
        goal = self.values[own] - constants.ARMIJO * self.lengths[own] * self.decrements[own]
        good = (self.steps[own] < 0) | (values <= goal)
        self._accept(own[good], values[good], (gradients + strayed * self.pull)[good], hessians[good])
        bad = own[~good]
        self.tries[bad] += 1
        self.lengths[bad] *= 0.5
        self.open[bad] = self.tries[bad] < constants.HALVINGS
        self.trial = self.weights - self.lengths[:, None] * self.directions

    def _accept(
        self, own: NDArray[np.int64], values: FloatArray, gradients: FloatArray, hessians: FloatArray
    ) -> None:
        self.weights[own], self.values[own], self.hessians[own] = self.trial[own], values, hessians
        inverses, directions = np.zeros_like(hessians), np.zeros((own.size, self.centres.shape[1]))
        decrements, held = np.zeros(own.size), hessians.copy()
        held[:, self.diagonal] += self.pull
        kernels.find_steps(held, gradients, self.pull, self.work, inverses, directions, decrements)
        self.inverses[own], self.directions[own], self.decrements[own] = inverses, directions, decrements
        self.steps[own] += 1
        self.tries[own], self.lengths[own] = 0, 1.0
        ready = (self.steps[own] >= self.iterations[own]) | (decrements <= self.settled * self.rows[own])
        self.open[own] = ~ready


def descend(partitions: Partitions, descents: list[Descent | None]) -> None:
    """Bring the contexts of all networks to their solutions."""
    while True:
        asked = [None if own is None else own.ask() for own in descents]
        if all(one is None for one in asked):
            return
        found: list[list[Any]] = [[] for _ in asked]
        for turn in turns(asked):
            for own, sums in zip(found, partitions.total(add_losses, turn), strict=True):
                own += [] if sums is None else [sums]
        for one, parts in zip(descents, found, strict=True):
            if one is not None and parts:
                one.take(*map(np.concatenate, zip(*parts, strict=True)))


def turns(asked: list[Any]) -> list[list[Any]]:
    """Cut what networks ask of their contexts into turns of at most `MOST_SUMS`.

    asked: for each network None, or contexts, how many inputs they have, arrays with a line for each of them,
    and other values.
    """
    found: list[list[Any]] = []
    room = 0
    for e, one in enumerate(asked):
        first, count = 0, 0 if one is None else len(one[0].places)
        while first < count:
            size = 4 * one[1] * (one[1] + 3) + 8
            if not found or found[-1][e] is not None or room < size:
                found.append([None] * len(asked))
                room = MOST_SUMS
            own = slice(first, min(count, first + max(room // size, 1)))
            lines = [value[own] if isinstance(value, np.ndarray) else value for value in one[1:]]
            found[-1][e] = (one[0].taken(own), *lines)
            room, first = room - (own.stop - first) * size, own.stop
    return found
