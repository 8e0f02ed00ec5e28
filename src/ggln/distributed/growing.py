"""Gates that grow, node after node, on the rows of many partitions: every node's best half-space by sums.

All gates of a level are found together, for all networks of a group, in three rounds: how many rows each node
has in each partition; the values of the rows at which half-spaces may end; and weights and residuals on
either side.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.distributed import kernels
from ggln.distributed.lessons import Lesson, changed
from ggln.distributed.partitions import Partitions
from ggln.distributed.rows import FloatArray, IntArray, Part
from ggln.engine.newton import constants
from ggln.engine.newton.contexts import order_by_context
from ggln.engine.newton.gates import FEATURES, LACKING, OFFSET, RECORD, Candidates


class Level(NamedTuple):
    """The nodes of one level of a network's gates that grow, G neurons of N nodes."""

    features: Any  # [G, N, C, 3]
    slopes: Any  # [G, N, C, 3]
    firsts: Any  # [partitions, G, N]  rows before each partition


# On a partition ----------------------------------------------------------------------------------------


def plant(part: Part, counts: list[int]) -> Part:
    """Put all rows at the roots of so many neurons, for each network."""
    pairs = zip(part.lessons, counts, strict=True)
    return changed(part, [own._replace(nodes=np.zeros((g, len(own.targets)), np.int64)) for own, g in pairs])


def count_nodes(part: Part, level: int) -> list[IntArray]:
    """Return how many rows each node of a level has, [G, N], for each network."""
    nodes, lessons = 1 << level, part.lessons
    return [
        np.stack([np.bincount(own, minlength=nodes) for own in lesson.nodes])
        if len(lesson.nodes)
        else np.zeros((0, nodes), np.int64)
        for lesson in lessons
    ]


def pick_values(part: Part, message: list[tuple[Level, IntArray] | None]) -> list[FloatArray | None]:
    """Return the sums of the rows at which half-spaces may end, [G, N, C]; 0 for rows of other partitions."""
    found: list[FloatArray | None] = []
    for own, asked in zip(part.lessons, message, strict=True):
        if asked is None:
            found.append(None)
            continue
        level, ranks = asked
        values = np.zeros(ranks.shape)
        for g, (order, starts) in enumerate(_by_nodes(own, ranks.shape[1])):
            given = part.side, own.known, order, starts, level.features[g], level.slopes[g], ranks[g]
            kernels.pick_values(*given, level.firsts[part.number, g], values[g])
        found.append(values)
    return found


def add_sides(
    part: Part, message: list[tuple[Level, FloatArray, IntArray] | None]
) -> list[FloatArray | None]:
    """Return weights and residuals outside, inside and without a sum, [G, N, C, 3, 2]."""
    found: list[FloatArray | None] = []
    for own, asked in zip(part.lessons, message, strict=True):
        if asked is None:
            found.append(None)
            continue
        level, edges, strides = asked
        sums, told = np.zeros((*edges.shape, 3, 2)), own.weights * own.residuals[:, 0]
        for g, (order, starts) in enumerate(_by_nodes(own, edges.shape[1])):
            rows = part.side, own.known, own.weights, told, order, starts
            given = level.features[g], level.slopes[g], edges[g], strides[g], level.firsts[part.number, g]
            kernels.add_sides(*rows, *given, sums[g])
        found.append(sums)
    return found


def _by_nodes(lesson: Lesson, nodes: int) -> list[tuple[IntArray, IntArray]]:
    """Return the rows in the order of each neuron's nodes, and where these start."""
    found = []
    for own in lesson.nodes:
        order, starts = np.empty(own.size, np.int64), np.empty(nodes + 1, np.int64)
        order_by_context(own, starts, order)
        found.append((order, starts))
    return found


def go_down(part: Part, message: list[FloatArray | None]) -> Part:
    """Send rows through the gates of a level [G, N, 8]."""
    found = []
    for own, records in zip(part.lessons, message, strict=True):
        nodes = own.nodes.copy()
        if records is not None:
            for g in range(len(nodes)):
                kernels.go_down(part.side, own.known, records, g, nodes[g])
        found.append(own._replace(nodes=nodes))
    return changed(part, found)


# On sums -----------------------------------------------------------------------------------------------


class Growing:
    """The gates of one network's neurons that grow, in the layer that it is at."""

    def __init__(self, candidates: list[Candidates], levels: int) -> None:
        self.candidates, self.levels = candidates, levels
        self.records = np.zeros((len(candidates), (1 << levels) - 1, RECORD))
        self.records[..., OFFSET] = np.inf

    def open(self, level: int) -> bool:
        """Return whether there is something to do at a level."""
        return bool(self.candidates) and level < self.levels

    def ask(self, level: int, counts: list[IntArray]) -> tuple[Level, IntArray]:
        """Return a level, and which rows' values are wanted. counts: [G, N], of each partition."""
        own = slice((1 << level) - 1, (2 << level) - 1)
        features, slopes, picks = (
            np.stack([getattr(candidates, name)[own] for candidates in self.candidates])
            for name in ("features", "weights", "picks")
        )
        upto = np.cumsum(counts, axis=0)
        self.rows = upto[-1]  # [G, N]
        self.strides = np.maximum(self.rows // constants.GATE_ROWS, 1)
        self.judges = -(-self.rows // self.strides)
        ranks = (picks * self.judges[..., None]).astype(np.int64) * self.strides[..., None]
        ranks[self.rows < constants.SPLIT_ROWS] = -1
        self.strides[self.rows < constants.SPLIT_ROWS] = 0
        self.level = Level(features.astype(np.int64), slopes, upto - counts)
        return self.level, ranks

    def split(self, values: FloatArray) -> tuple[Level, FloatArray, IntArray]:
        """Return what to add up, for half-spaces that end at these values [G, N, C] (`gates.end_at`)."""
        missing = np.isnan(values)
        self.sides = (values <= 0.0).astype(np.int64)
        self.edges = np.where(missing, -np.inf, values)
        return self.level, self.edges, self.strides

    def choose(self, level: int, sums: FloatArray) -> FloatArray:
        """Keep each node's best candidate; return the level's gates [G, N, 8]. sums: [G, N, C, 3, 2]."""
        sides = np.stack([self.sides, 1 - self.sides], axis=-1)[..., None]  # [G, N, C, 2, 1]
        without = sums[..., None, 2, :]
        outside = sums[..., None, 0, :] + np.where(sides == 0, without, 0.0)  # [G, N, C, 2, 2]
        inside = sums[..., None, 1, :] + np.where(sides == 1, without, 0.0)
        gains = sum(own[..., 1] ** 2 / (own[..., 0] + constants.GATE_PRIOR) for own in (outside, inside))
        least = constants.LEAF_ROWS * self.judges / np.maximum(self.rows, 1)
        few = np.minimum(outside[..., 0], inside[..., 0]) < least[..., None, None]
        gains = np.where(few, -np.inf, gains)
        gains[..., 1] = np.where(sums[..., 2, 0] > 0.0, gains[..., 1], -np.inf)
        flat = gains.reshape(*gains.shape[:2], -1)
        best = np.argmax(flat, axis=-1)
        first = (1 << level) - 1
        for g, node in np.argwhere(np.isfinite(flat.max(axis=-1)) & (self.strides > 0)):
            c, variant = divmod(int(best[g, node]), 2)
            record = self.records[g, first + node]
            record[:OFFSET] = self.level.slopes[g, node, c]
            record[FEATURES:LACKING] = self.level.features[g, node, c]
            record[OFFSET], record[LACKING] = self.edges[g, node, c], sides[g, node, c, variant, 0]
        return np.ascontiguousarray(self.records[:, first : 2 * first + 1])


def grow(partitions: Partitions, growing: list[Growing]) -> None:
    """Grow the gates of all networks of a group, level by level."""
    partitions.advance(plant, [len(own.candidates) for own in growing])
    for level in range(max(own.levels for own in growing)):
        active = [own.open(level) for own in growing]
        if not any(active):
            return
        counts = partitions.each(count_nodes, level)
        asked: list[Any] = [
            own.ask(level, [some[e] for some in counts]) if active[e] else None
            for e, own in enumerate(growing)
        ]
        values = partitions.total(pick_values, asked)
        asked = [own.split(values[e]) if active[e] else None for e, own in enumerate(growing)]
        sums = partitions.total(add_sides, asked)
        gates: list[NDArray[np.float64] | None] = [
            own.choose(level, sums[e]) if active[e] else None for e, own in enumerate(growing)
        ]
        partitions.advance(go_down, gates)
