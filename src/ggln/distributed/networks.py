"""A group of networks, solved layer after layer on rows that lie in partitions: the decisions, by sums.

It is `ggln.engine.newton.solving.fit_network` with rows and decisions apart. All networks of a group, and
all neurons of their layers, take part in each round.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.distributed import kernels, lessons
from ggln.distributed.growing import Growing, grow
from ggln.distributed.lessons import ROOT, Contexts
from ggln.distributed.newton import Descent, descend, turns
from ggln.distributed.partitions import Partitions
from ggln.distributed.rows import KIND, FloatArray, IntArray
from ggln.engine.newton import constants
from ggln.engine.newton.contexts import first_level
from ggln.engine.newton.gates import Gates, draw_candidates, odds_of, share_gates
from ggln.engine.newton.lanes import LANES
from ggln.engine.newton.network import (
    Network,
    Shape,
    blank_network,
    draw_features,
    initial_weights,
    set_scale,
    span_of,
)


class Plan:
    """One network on its way."""

    def __init__(
        self, shape: Shape, random: np.random.Generator, span: FloatArray, odds: FloatArray, judges: list[Any]
    ) -> None:
        self.shape, self.random = shape, random
        features = draw_features(odds, len(shape.layer_sizes), shape.most_features, random)
        self.network = blank_network(KIND, shape, features, span)
        self.columns = np.ascontiguousarray(np.concatenate([X for X, _ in judges]).T)  # [d, j]
        self.counts = np.concatenate([weights for _, weights in judges])

    def begin(self, layer: int, error: float) -> None:
        """Begin a layer, above residuals of this root mean square."""
        self.layer, self.size = layer, int(self.network.sizes[layer])
        first = int(self.network.first[layer])
        self.neurons = slice(first, first + self.size)
        set_scale(KIND, self.network, self.shape, layer, error)
        self.centre, self.pull = initial_weights(KIND, self.network, layer)
        self.network.pulls[layer, : self.pull.size] = self.shape.pull * self.pull

    def sketch(self) -> Network:
        """Return the network without all that grows with contexts."""
        small = {"told": (0, 0), "counts": (0, 0), "fresh": (0, 0), "spread": (0, 0)}
        large = {"curvatures": (0, 0, 0), "gradients": (0, 0, 0)}
        return self.network._replace(
            tables=np.empty((0, 0, 0), np.float32),
            gates=Gates(np.empty((0, 0, 8)), np.empty(0, np.int64)),
            **{name: np.empty(shape) for name, shape in (small | large).items()},
        )

    def begin_root(self, rows: int) -> Descent:
        """Return the problem of all rows together."""
        contexts = Contexts(np.array([ROOT]), np.array([0]), np.array([1]))
        most = np.array([constants.ROOT_ITERATIONS])
        centre = self.centre[None]
        return Descent(contexts, centre, self.pull, np.array([rows]), most, constants.ROOT_SETTLED)

    def choose_gates(self, odds: FloatArray, residuals: FloatArray) -> Growing:
        """Choose the gates that levels share; return those that grow. residuals: [j, 1], of judges."""
        shape, told = self.shape, np.ascontiguousarray((self.counts[:, None] * residuals).T)
        growing, levels = [], shape.context_dim
        self.grown = (np.arange(self.size) % 2 == 1) & (shape.gating == "residual" and shape.growing)
        for place in range(self.size):
            nodes = (1 << levels) - 1 if self.grown[place] else levels
            candidates = draw_candidates(odds, nodes, shape.gating, self.random)
            if self.grown[place]:
                growing.append(candidates)
            else:
                rows = self.columns, told, self.counts, candidates
                share_gates(*rows, self.network.gates, self.neurons.start + place)
        return Growing(growing, levels)

    def keep_gates(self, growing: Growing) -> Gates:
        """Keep the gates that have grown; return those of the layer."""
        gates = self.network.gates
        gates.records[self.neurons][self.grown] = growing.records
        gates.grown[self.neurons] = self.grown
        return Gates(gates.records[self.neurons].copy(), gates.grown[self.neurons].copy())

    def begin_levels(self, root: FloatArray, rows: IntArray, weights: FloatArray) -> None:
        """Begin with the contexts below the root. rows, weights: [K, C]."""
        network, levels = self.network, self.shape.context_dim
        network.counts[self.neurons] = weights
        regions = network.told.shape[1]
        network.told[self.neurons] = weights.reshape(self.size, regions, -1).sum(axis=2)
        self.rows, self.levels = rows, levels
        self.parents = np.repeat(root[None, None], self.size, axis=0)  # [K, nodes, M]
        self.first = self._first_levels(rows)  # [K, parts]
        self.level_above, self.level = 0, int(self.first.min())

    def _first_levels(self, rows: IntArray) -> IntArray:
        """Return the level at which each part of each tree begins to be solved (`solving.fit_network`)."""
        count, mixing = rows.shape[1], self.shape.mixing
        whole = mixing or int(rows[0].sum()) < constants.PART_ROWS
        parts = 1 if whole else min(constants.PARTS, count)
        depth = parts.bit_length() - 1
        own = rows.reshape(self.size, parts, -1).sum(axis=2)
        begins = [
            [depth + first_level.py_func(self.levels - depth, int(n), mixing) for n in line] for line in own
        ]
        return np.array(begins)

    def begin_level(self) -> Descent | None:
        """Return the problems of the next level, if there is one (`trees.solve_tree`)."""
        if self.level > self.levels:
            return None
        nodes, older = 1 << self.level, 1 << (self.level - self.level_above)
        own = self.rows.reshape(self.size, nodes, -1).sum(axis=2)  # [K, nodes]
        above = np.repeat(own.reshape(self.size, -1, older).sum(axis=2), older, axis=1)
        self.children = np.repeat(self.parents, older, axis=1)
        first = np.repeat(self.first, nodes // self.first.shape[1], axis=1)
        there = (own > 0) & (self.level >= first)
        self.cut_off = there & ((own < above) | (self.level == first))
        last = there & (self.level == self.levels)
        self.solved = np.argwhere(self.cut_off | last)
        places, at = self.solved.T
        leaves = 1 << (self.levels - self.level)
        contexts = Contexts(places.copy(), at * leaves, (at + 1) * leaves)
        most = np.where(self.cut_off[places, at], constants.ITERATIONS, 0)
        pull = self.shape.pull * self.pull
        return Descent(contexts, self.children[places, at], pull, own[places, at], most, constants.SETTLED)

    def left_out(self, found: Descent) -> Any:
        """Return what is left out at this level, if anything is looked at."""
        places, at = self.solved.T
        self.children[places, at] = found.weights
        if self.level == self.levels:
            self._add_regions(found)
        elif not self.shape.mixing:
            return None
        own = self.cut_off[places, at] if self.shape.mixing else np.ones(len(places), bool)
        self.mixed = found.contexts.taken(own), places[own], at[own]
        given = found.centres[own], found.weights[own], found.inverses[own]
        return self.mixed[0], self.pull.size, *given, not self.shape.mixing

    def _add_regions(self, found: Descent) -> None:
        """Add Hessians of leaves to the curvatures of their regions (`trees.add_region`)."""
        size, network = self.pull.size, self.network
        places, leaves = self.solved.T
        regions, lines = network.told.shape[1], np.arange(size)
        begins = np.cumsum(lines - lines % LANES + LANES) - (lines - lines % LANES + LANES)
        where = np.concatenate([begins[j] + np.arange(j + 1) for j in range(size)])
        neurons, region = self.neurons.start + places, leaves * regions >> self.levels
        for neuron, own, hessian in zip(neurons, region, found.hessians, strict=True):
            network.curvatures[neuron, own, where] += hessian

    def mix(self, gains: FloatArray) -> tuple[Contexts, FloatArray]:
        """Draw contexts towards their parents; return the shares that they keep."""
        contexts, places, at = self.mixed
        shares = np.empty(gains.size)
        kernels.find_shares(gains, shares)
        parents = self.parents[places, at >> (self.level - self.level_above)]
        self.children[places, at] = parents + shares[:, None] * (self.children[places, at] - parents)
        return contexts, shares

    def end_level(self) -> None:
        """Go down to the next level."""
        self.parents = self.children
        self.level_above, self.level = self.level, self.level + constants.LEVEL_STEP

    def end_layer(self, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep weights and widths of contexts; return the latter. widths: [K, C], summed up."""
        network = self.network
        network.tables[self.neurons, :, : self.centre.size] = self.parents
        network.spread[self.neurons] = (1.0 + widths) / (1.0 + network.counts[self.neurons])
        return network.spread[self.neurons].copy(), network.limits


def solve_networks(
    partitions: Partitions,
    shapes: list[Shape],
    randoms: list[np.random.Generator],
    beginnings: list[tuple[int, float | None]],  # fold left out, and what is below (`lessons.begin`)
    progress: Any,
) -> list[Network]:
    """Return networks that are solved together."""
    partitions.advance(lessons.begin, beginnings)
    told = partitions.each(lessons.describe)
    rows = np.array([[one[0] for one in own] for own in told])  # [partitions, E]
    before, whole = np.cumsum(rows, axis=0) - rows, rows.sum(axis=0)
    strides = [max(1, int(count) // constants.GATE_ROWS) for count in whole]
    partitions.advance(lessons.appoint, list(zip(before.T, strides, strict=True)))
    judges = partitions.each(lessons.show_judges)
    moments, plans = partitions.total(lessons.add_moments), []
    for e, shape in enumerate(shapes):
        low, high = (np.array([end([own[e][i] for own in told])]) for i, end in ((1, min), (2, max)))
        odds = _odds(moments[e], int(whole[e]))
        plans.append(Plan(shape, randoms[e], span_of(low, high), odds, [own[e] for own in judges]))
    for layer in range(len(shapes[0].layer_sizes)):
        partitions.begin(f"layer {layer + 1} of {len(plans)} networks")
        if layer > 0:
            moments = partitions.total(lessons.add_moments)
        _solve_layer(partitions, plans, layer, moments, whole)
        progress(len(plans))
    return [plan.network for plan in plans]


def _solve_layer(
    partitions: Partitions, plans: list[Plan], layer: int, moments: list[Any], rows: NDArray[np.int64]
) -> None:
    """Solve one layer of all networks."""
    for plan, own in zip(plans, moments, strict=True):
        plan.begin(layer, float(np.sqrt(own[0][0] / own[1])))
    partitions.advance(lessons.begin_layer, (layer, [plan.sketch() for plan in plans]))
    roots = [plan.begin_root(int(count)) for plan, count in zip(plans, rows, strict=True)]
    descend(partitions, list(roots))
    every = [(own.contexts, own.pull.size, own.centres, own.weights, own.inverses, True) for own in roots]
    partitions.advance(lessons.leave_out, every)
    judged, growing = partitions.each(lessons.show_residuals), []
    for e, plan in enumerate(plans):
        residuals = np.concatenate([own[e] for own in judged])
        growing.append(plan.choose_gates(_odds(moments[e], int(rows[e])), residuals))
    grow(partitions, growing)
    gates = [plan.keep_gates(own) for plan, own in zip(plans, growing, strict=True)]
    partitions.advance(lessons.sort_rows, gates)
    counts = partitions.total(lessons.count_contexts)
    for plan, root, own in zip(plans, roots, counts, strict=True):
        plan.begin_levels(root.weights[0], *own)
    _solve_levels(partitions, plans)
    widths = partitions.total(lessons.add_widths)
    partitions.advance(
        lessons.end_layer, [plan.end_layer(own) for plan, own in zip(plans, widths, strict=True)]
    )


def _solve_levels(partitions: Partitions, plans: list[Plan]) -> None:
    """Solve contexts level by level, and mix them with their parents where networks do so."""
    while True:
        descents = [plan.begin_level() for plan in plans]
        if all(one is None for one in descents):
            return
        descend(partitions, descents)
        pairs = list(zip(plans, descents, strict=True))
        left = [None if found is None else plan.left_out(found) for plan, found in pairs]
        for turn in turns(left):
            partitions.advance(lessons.leave_out, turn)
        mixing = [None if own is None or own[-1] else own[0] for own in left]
        if any(one is not None for one in mixing):
            gains = partitions.total(lessons.add_gains, mixing)
            shares = [
                None if one is None else plan.mix(gain)
                for plan, one, gain in zip(plans, mixing, gains, strict=True)
            ]
            partitions.advance(lessons.mix, shares)
        for plan, found in pairs:
            if found is not None:
                plan.end_level()


class Moments(NamedTuple):
    """Sums (`lessons.add_moments`) of 2 d columns, features and gaps, and of residuals r and |r|."""

    squares: FloatArray  # [1]  of residuals, by weight
    weight: FloatArray
    columns: FloatArray  # [2 d]
    column_squares: FloatArray  # [2 d]
    values: FloatArray  # [2]
    value_squares: FloatArray  # [2]
    products: FloatArray  # [2 d, 2]


def _odds(moments: list[Any], rows: int) -> FloatArray:
    """Return how often candidates look at each feature, as `gates.feature_odds` does."""
    own = Moments(*moments)
    lengths, goals = (
        np.maximum(np.sqrt(np.maximum(squares - sums**2 / rows, 0.0)), 1e-12)
        for squares, sums in ((own.column_squares, own.columns), (own.value_squares, own.values))
    )
    products = own.products - np.outer(own.columns, own.values) / rows
    told = np.abs(products / np.outer(lengths, goals)).sum(axis=1)
    return odds_of(np.maximum(*np.split(told, 2)))
