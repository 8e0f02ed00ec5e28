"""A whole table in partitions, solved: what `ExactLearner.fit` does with rows in one place."""

from typing import Any

import numpy as np

from ggln.distributed import lessons, rows
from ggln.distributed.networks import solve_networks
from ggln.distributed.partitions import Partitions
from ggln.distributed.rows import FloatArray, IntArray
from ggln.engine import lengths
from ggln.engine.newton import constants
from ggln.engine.newton.bump_kernels import Learnt
from ggln.engine.newton.bump_kernels import solve as solve_regression
from ggln.engine.newton.bumps import (
    GAP_ROWS,
    RIDGE_ROWS,
    Bumps,
    Table,
    add_folds,
    begin,
    best_ridge,
    choose_features,
    filled,
    looked_at,
    without_fold,
)
from ggln.engine.newton.learner import ExactLearner, judges
from ggln.engine.newton.outputs import ApartLearner
from ggln.engine.newton.settings import BUMPS, GATES, SHELLS
from ggln.engine.newton.stream import Progress
from ggln.engine.newton.support import edges_of, features_of
from ggln.engine.threads import Threads, one_blas_thread

NETWORKS_AT_ONCE = 8
"""Networks that go through their layers together: fewer would take more rounds, and less memory of workers,
about 1 KB a row for each."""


def solve_table(partitions: Partitions, learner: Any, progress: Progress) -> None:
    """Solve a table of at least `constants.FEWEST_ROWS` rows, all of which count. learner: new # OUT."""
    partitions.begin("units")
    counts = np.array(partitions.each(rows.count_rows))
    partitions.advance(rows.place, np.cumsum(counts) - counts)
    units, ranges = _find_units(partitions, learner.settings)
    several: list[ExactLearner] = learner.learners if isinstance(learner, ApartLearner) else [learner]
    for output, own in enumerate(several):
        own.rows = int(counts.sum())
        own.inputs.state[:], own.targets.state[:] = units[0], units[1][:, output : output + 1]
        Solving(partitions, own, output, ranges, progress).run()
    if isinstance(learner, ApartLearner):
        learner.conclude()


def sums_of(settings: Any, rows: int) -> int:
    """Return the bytes that a partition adds to one round of a layer, at the last level of its trees."""
    found = 0
    for e in range(min(settings.networks(rows), NETWORKS_AT_ONCE)):
        shape = settings.shape(e, rows)
        neurons = max(shape.layer_sizes)
        inputs = neurons + shape.regressions + min(settings.features, shape.most_features) + 2
        found += (neurons << shape.context_dim) * (4 * inputs * (inputs + 3) + 8)
    return found


def _find_units(partitions: Partitions, settings: Any) -> tuple[list[FloatArray], FloatArray]:
    """Return count, mean and squares of inputs [3, d] and targets [3, D]; and ranges of inputs [2, d]."""
    means = [np.zeros(settings.features), np.zeros(settings.outputs)]
    for _ in range(2):  # the second time, for what rounding left
        sums = partitions.total(rows.add_values, tuple(means))
        for mean, (count, total, _) in zip(means, sums, strict=True):
            mean += total / np.where(count > 0.0, count, 1.0)
    sums = partitions.total(rows.add_values, tuple(means))
    found, ranges = [], []
    for mean, own, ends in zip(
        means, sums, zip(*partitions.each(rows.find_ranges), strict=True), strict=True
    ):
        state = np.stack([own[0], mean, own[2]])
        ranges.append(np.stack([np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)]))
        low, constant = ranges[-1][0], ranges[-1][0] == ranges[-1][1]
        state[1:, constant] = low[constant], np.zeros(np.count_nonzero(constant))
        found.append(state)
    count, mean, squares = found[1]
    found[1][2] = np.where(squares == 0.0, count * mean**2, squares)
    return found, ranges[0]


class Solving:
    """One output, on its way."""

    def __init__(
        self,
        partitions: Partitions,
        learner: ExactLearner,
        output: int,
        ranges: FloatArray,  # [2, d]  of inputs, in the user's units
        progress: Progress,
    ) -> None:
        self.partitions, self.learner, self.output, self.progress = partitions, learner, output, progress
        self.ranges = ranges
        self.settings, self.rows = learner.settings, learner.rows
        self.folds = self.settings.assign_folds(self.rows)

    def run(self) -> None:
        """Solve all rows."""
        partitions, learner, settings = self.partitions, self.learner, self.settings
        scalers = learner.inputs, learner.targets
        partitions.advance(rows.standardise, (*scalers, self.output, self.folds.astype(np.int8)))
        numbers = settings.random(0, BUMPS).permutation(self.rows)[:RIDGE_ROWS]
        shells = np.sort(settings.random(0, SHELLS).permutation(self.rows)[: constants.SHELL_ROWS])
        sample = Sample(partitions, np.union1d(numbers, shells) if settings.regressions else shells)
        first = sample.rows(numbers[:1])[2][0] if settings.regressions else np.zeros(1)
        weight, strayed, missing, gaps, goals = partitions.total(rows.add_goals, first)
        if settings.regressions:
            partitions.begin("regression")
            self._regress(sample, numbers, first + strayed / weight, missing)
        self._find_edges(sample, shells, gaps)
        squares = partitions.total(rows.add_errors)
        if learner.bumps is not None:
            learner.bumps.learnt.errors[:] = squares[0, 0], weight
        variance = np.maximum(squares / weight, settings.min_variance)
        learner.errors = np.hstack([variance, np.ones((len(variance), 1))]) * max(float(weight), 1.0)
        partitions.advance(rows.write_base, variance)
        self._solve_networks(float(goals[0] / weight))
        self._judge()

    def _regress(self, sample: "Sample", numbers: IntArray, offset: FloatArray, missing: IntArray) -> None:
        """Solve the regression on bumps (`bumps.fit_bumps`)."""
        ordered = np.sort(numbers)
        _, side, goals, weights = sample.rows(ordered)
        with one_blas_thread(), Threads(1) as threads:
            chosen = choose_features(filled(side), goals)
            often = (missing[chosen] >= GAP_ROWS) & (missing[chosen] <= self.rows - GAP_ROWS)
            gaps = chosen[often]
            table = Table(looked_at(side, chosen, gaps), goals, weights, threads)
            drawn = np.searchsorted(ordered, numbers[: max(constants.FIT_BUMPS, lengths.SEARCH_ROWS)])
            learnt = begin(table.X[drawn], goals[drawn], offset, constants.FIT_BUMPS, self.rows)
            sums = np.zeros((constants.FOLDS, *learnt.sums.shape))
            everyone, folds = np.arange(len(goals)), self.folds[ordered]
            add_folds(table, learnt, everyone, folds, sums)
            learnt.ridge[0] = best_ridge(table, learnt, everyone)
            self._add_rest(learnt, chosen, gaps, ordered, sums)
            np.add.reduce(sums, out=learnt.sums)
            _, learnt.ridge[0] = solve_regression(learnt)
            others = [_predictor(without_fold(learnt, told)) for told in sums]
        self.partitions.advance(rows.regress, (others, chosen, gaps))
        self.learner.bumps = Bumps(learnt, chosen, gaps, self.settings.features)

    def _add_rest(
        self, learnt: Learnt, chosen: IntArray, gaps: IntArray, sample: IntArray, sums: FloatArray
    ) -> None:
        """Add rows that are not in the sample to the sums of their folds # OUT, fold after fold."""
        if self.rows <= len(sample):
            return
        below, lean = np.tri(*learnt.sums.shape, dtype=np.bool_), learnt._replace(sums=np.empty((0, 0)))
        self.partitions.advance(rows.take_regression, (lean, chosen, gaps, sample))
        for fold in range(constants.FOLDS):
            sums[fold][below] += self.partitions.total(rows.add_gram, fold)

    def _find_edges(self, sample: "Sample", shells: IntArray, gaps: FloatArray) -> None:
        """Find out how errors grow outside (`support.find_edges`)."""
        if self.rows < constants.FEWEST_SHELL_ROWS:
            return
        X, side, goals, _ = sample.rows(shells)
        chosen = features_of(side, goals, self.learner.bumps)
        ends, lacking = self.ranges[:, chosen], gaps[chosen]
        self.learner.edges = edges_of(X, side, goals, self.learner.bumps, chosen, ends, lacking)

    def _solve_networks(self, mean: float) -> None:
        """Solve all networks, some at a time, and let each predict the rows that it left out."""
        settings, count = self.settings, self.settings.networks(self.rows)
        groups = min(settings.kinds, count)
        for start in range(0, count, NETWORKS_AT_ONCE):
            own = range(start, min(start + NETWORKS_AT_ONCE, count))
            shapes = [settings.shape(e, self.rows) for e in own]
            randoms = [settings.random(e, GATES) for e in own]
            folds = [e // settings.kinds % constants.FOLDS for e in own]
            below = [None if shape.regressions else mean for shape in shapes]
            self.partitions.begin(f"beginning of {len(shapes)} networks")
            pairs = list(zip(folds, below, strict=True))
            networks = solve_networks(self.partitions, shapes, randoms, pairs, self.progress)
            self.learner.networks += networks
            self.partitions.begin(f"rows that {len(shapes)} networks left out")
            nothing = np.empty((0, 0, 0))
            told = [network._replace(gradients=nothing, curvatures=nothing) for network in networks]
            places = [e % settings.kinds for e in own]
            message = [(one, place, groups) for one, place in zip(told, places, strict=True)]
            self.partitions.advance(lessons.tell, message)

    def _judge(self) -> None:
        """Find the mixture from what was said of rows left out."""
        self.partitions.begin("mixture")
        counts = np.array(self.partitions.each(rows.count_covered))
        stride, every = judges(int(counts.sum())).step, judges(self.rows).step
        message = np.cumsum(counts) - counts, stride, every
        parts = self.partitions.each(rows.testify, message)
        kinds, goals, weights, others = (np.concatenate(own) for own in zip(*parts, strict=True))
        self.learner.conclude(kinds, goals, weights, others)


class Sample:
    """Rows that are asked for by their numbers."""

    def __init__(self, partitions: Partitions, numbers: IntArray) -> None:
        parts = partitions.each(rows.take_rows, numbers)
        self.numbers = numbers
        self.arrays = [np.concatenate(own) for own in zip(*parts, strict=True)]

    def rows(self, numbers: IntArray) -> list[FloatArray]:
        """Return some of them in this order: in both units, goals and weights."""
        places = np.searchsorted(self.numbers, numbers)
        return [np.ascontiguousarray(array[places]) for array in self.arrays]


def _predictor(learnt: Learnt) -> Learnt:
    """Return a regression that can predict, and nothing else."""
    return learnt._replace(factor=np.empty((0, 0)), sums=np.empty((0, 0)))
