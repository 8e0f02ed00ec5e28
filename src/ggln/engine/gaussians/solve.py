"""Solving the local Gaussians: where they lie, how many there are, and how strongly they hold together.

Rows are cut by half-spaces into cells (`cut`), one Gaussian to each, and expectation maximisation does the
rest: gaps are filled by what each Gaussian expects, with its uncertainty. A covariance is drawn towards that
of all Gaussians together. How many Gaussians, and how strong the pull, is decided by rows left out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gaussians import constants, kernels
from ggln.engine.gaussians.mixture import Patterns, describe, find_patterns
from ggln.engine.gaussians.model import Gaussians, join
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]


class Sums(NamedTuple):
    """What expectation maximisation has to know of rows."""

    counts: FloatArray  # [K]
    sums: FloatArray  # [K, D]
    squares: FloatArray  # [K, D, D]

    def plus(self, others: "Sums") -> "Sums":
        """Return the sums over both."""
        return Sums(*(own + other for own, other in zip(self, others, strict=True)))


def cut(rows: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the cell [n] of each of the rows [n, D], of up to `count` cells.

    Again and again the cell whose rows scatter most is cut at its mean, across the direction of its largest
    scatter.
    """
    cells, axes = [np.arange(len(rows))], [_axis(rows)]
    while len(cells) < count:
        widest = int(np.argmax([scatter for scatter, _ in axes]))
        scatter, direction = axes[widest]
        if scatter <= 0.0:
            break
        own = cells[widest]
        along = rows[own] @ direction
        right = along > along.mean()
        for place, part in ((widest, own[~right]), (len(cells), own[right])):
            cells[place : place + 1] = [part]
            axes[place : place + 1] = [_axis(rows[part])]
    cell = np.empty(len(rows), np.intp)
    for number, own in enumerate(cells):
        cell[own] = number
    return cell


def _axis(rows: FloatArray) -> tuple[float, FloatArray]:
    """Return the largest scatter of rows along any direction, and the direction; 0 for too few rows."""
    if len(rows) < constants.GAUSSIAN_ROWS:
        return 0.0, np.zeros(rows.shape[1])
    apart = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(apart.T @ apart)
    direction = vectors[:, -1] * np.sign(vectors[np.argmax(np.abs(vectors[:, -1])), -1])
    spread = np.ptp(rows @ direction)
    return (float(values[-1]), direction) if spread > 0.0 else (0.0, direction)


def collect(rows: FloatArray, gates: FloatArray) -> Sums:
    """Return the sums over complete rows [n, D], with gates [n, K]."""
    count, columns = gates.shape[1], rows.shape[1]
    squares = np.zeros((count, columns, columns))
    step = max(constants.BLOCK_NUMBERS // (count * columns), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        weighted = gates[start : start + step].T[:, :, None] * part  # [K, n, D]
        squares += np.matmul(part.T, weighted)
    return Sums(gates.sum(axis=0), gates.T @ rows, squares)


def maximise(sums: Sums, pull: float, floor: float) -> Gaussians:
    """Return the likeliest Gaussians for sums over rows, each drawn to what all of them have in common.

    pull: in rows; floor: a deviation.
    """
    counts, total = sums.counts, sums.counts.sum()
    many = np.maximum(counts, constants.LEAST_COUNT)
    means = sums.sums / many[:, None]
    scatter = sums.squares - many[:, None, None] * means[:, :, None] * means[:, None, :]
    common = scatter.sum(axis=0)
    common = (common + constants.ROOT_PULL * np.diag(np.diag(common)) / total) / (total + constants.ROOT_PULL)
    covariances = (scatter + pull * common) / (many + pull)[:, None, None]
    covariances += floor**2 * np.eye(means.shape[1])
    return Gaussians((counts + 1.0) / (total + counts.size), means, covariances)


def open_gates(model: Gaussians, rows: FloatArray) -> tuple[FloatArray, float]:
    """Return the gates [n, K] of complete rows [n, D], and their log likelihood."""
    count, columns = model.means.shape
    lower = np.linalg.cholesky(model.covariances)
    white = np.linalg.inv(lower)
    roots = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    gates, likelihood = np.empty((len(rows), count)), 0.0
    step = max(constants.BLOCK_NUMBERS // (count * columns), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        apart = np.matmul(part - model.means[:, None], white.transpose(0, 2, 1))  # [K, n, D]
        logs = np.log(model.shares) - 0.5 * (apart**2).sum(axis=2).T - roots
        top = logs.max(axis=1, keepdims=True)
        own = np.exp(logs - top)
        total = own.sum(axis=1, keepdims=True)
        gates[start : start + step] = own / total
        likelihood += float((np.log(total) + top).sum()) - 0.5 * columns * kernels.LOG_2PI * len(part)
    return gates, likelihood


class Table(NamedTuple):
    """Rows that are learnt: complete ones, and those with gaps."""

    whole: FloatArray  # [n, D]
    gappy: FloatArray  # [m, D], in the order of their patterns
    patterns: Patterns  # of the gappy ones

    @classmethod
    def of(cls, rows: FloatArray) -> "Table":
        """Return rows [n, D] in two parts."""
        gaps = np.isnan(rows).any(axis=1)
        patterns = (
            find_patterns(rows[gaps])
            if gaps.any()
            else Patterns(np.empty(0, np.intp), np.zeros(1, np.intp), np.empty((0, rows.shape[1]), np.bool_))
        )
        return cls(rows[~gaps], rows[gaps][patterns.order], patterns)

    def expect(self, model: Gaussians) -> tuple[Sums, float]:
        """Return the sums over all rows as a model expects them, and the log likelihood."""
        gates, likelihood = open_gates(model, self.whole)
        sums = collect(self.whole, gates)
        if len(self.gappy):
            more, own = expect_gaps(self.gappy, self.patterns, model)
            return sums.plus(more), likelihood + own
        return sums, likelihood


def expect_gaps(rows: FloatArray, patterns: Patterns, model: Gaussians) -> tuple[Sums, float]:
    """Return the sums over rows with gaps, and their log likelihood."""
    more = Sums(*(np.zeros_like(array) for array in model))
    likelihood = kernels.add_rows(
        rows,
        *patterns[1:],
        np.log(model.shares),
        model.means,
        model.covariances,
        *more,
    )
    below = np.tril(more.squares)
    return more._replace(squares=below + np.tril(below, -1).transpose(0, 2, 1)), likelihood


class Choice(NamedTuple):
    """How many Gaussians there are, how strongly they hold together, and how narrow they may be."""

    gaussians: int
    pull: float  # in rows for each column
    floor: float  # a deviation


class Solution(NamedTuple):
    """A mixture, and how it was chosen."""

    model: Gaussians
    choice: Choice


def iterate(rows: FloatArray, choice: Choice) -> Gaussians:
    """Return Gaussians, or fewer, for rows [n, D], by expectation maximisation."""
    table, pull = Table.of(rows), choice.pull * rows.shape[1]
    guess = np.where(np.isnan(rows), 0.0, rows)
    cells = cut(guess, choice.gaussians)
    model = maximise(collect(guess, np.eye(cells.max() + 1)[cells]), pull, choice.floor)
    before = -np.inf
    for _ in range(constants.ROUNDS):
        sums, likelihood = table.expect(model)
        model = maximise(sums, pull, choice.floor)
        if likelihood - before < constants.SETTLED * len(rows):
            break
        before = likelihood
    return model


class Trials:
    """Mixtures that left out a fold, and how likely noise makes the rows of that fold."""

    def __init__(self, rows: FloatArray, seed: int, threads: Threads) -> None:
        random = np.random.default_rng(seed)
        self.rows, self.threads = rows, threads
        self.folds = random.permutation(len(rows)) % constants.FOLDS
        self.noisy = rows + constants.JUDGED_NOISE * random.standard_normal(rows.shape)
        work = rows.shape[1] ** 2 * (len(rows) + rows.shape[1] * int(np.isnan(rows).any(axis=1).sum()))
        self.judges = constants.FOLDS if work <= constants.JUDGED_WORK else 1
        self.models: dict[tuple[Choice, int], Gaussians] = {}
        self.found: dict[Choice, float] = {}

    def without(self, fold: int, choice: Choice) -> Gaussians:
        """Return the mixture for all rows but those of a fold."""
        if (choice, fold) not in self.models:
            self.models[choice, fold] = iterate(self.rows[self.folds != fold], choice)
        return self.models[choice, fold]

    def judge(self, choice: Choice) -> float:
        """Return the mean log density of rows left out, with noise."""
        if choice not in self.found:
            noise = np.full(self.rows.shape[1], constants.JUDGED_NOISE**2)
            total = [
                describe(
                    self.without(fold, choice), self.noisy[self.folds == fold], noise, self.threads, False
                )[0].mean()
                for fold in range(self.judges)
            ]
            self.found[choice] = float(np.mean(total))
        return self.found[choice]

    def count(self, start: Choice) -> Choice:
        """Return the number of Gaussians, 1, 2, 4, ..., that is judged best, as part of a choice."""
        rows, columns = self.rows.shape
        few = max(constants.BLOCK_NUMBERS // columns**2, 1)
        most = min(constants.MOST_GAUSSIANS, few, rows // constants.GAUSSIAN_ROWS)
        best = start._replace(gaussians=1)
        while best.gaussians <= most:
            more = [best._replace(gaussians=best.gaussians << n) for n in range(1, constants.PATIENCE + 1)]
            better = next((c for c in more if c.gaussians <= most and self.judge(c) > self.judge(best)), None)
            if better is None:
                break
            best = better
        return best


def solve(rows: FloatArray, seed: int, threads: Threads) -> Solution:
    """Return the mixture for standardised rows [n, D]: one for each fold that is left out, joined."""
    first = Choice(1, constants.PULLS[0], constants.FLOORS[0])
    if len(rows) < constants.FEWEST_ROWS:
        return Solution(iterate(rows, first), first)
    trials = Trials(rows, seed, threads)
    choice = trials.count(first)
    choice = max((choice._replace(floor=floor) for floor in constants.FLOORS), key=trials.judge)
    if choice.floor != first.floor:  # narrower ones may be fewer
        choice = trials.count(choice)
    if choice.gaussians > 1:
        choice = max((choice._replace(pull=pull) for pull in constants.PULLS), key=trials.judge)
    return Solution(join([trials.without(fold, choice) for fold in range(constants.FOLDS)]), choice)
