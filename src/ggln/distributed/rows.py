"""The rows of one partition before there are networks: units, the regression below, and samples of rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.bump_kernels import Learnt, gather, predict_rows
from ggln.engine.newton.bumps import looked_at
from ggln.engine.newton.kinds import kind_of
from ggln.engine.newton.support import ranges_of
from ggln.engine.scaling import Scaler

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
KIND = kind_of(1, "")
"""Neurons of one output: several outputs are learnt apart."""
NOTHING = np.empty(0)


class Part(NamedTuple):
    """The state of a partition: its rows, and what is known of each."""

    number: int  # of the partition
    X: FloatArray  # [n, d]  in the user's units
    Y: FloatArray  # [n, D]
    weights: FloatArray  # [n]
    given: int = 0  # rows, those of weight 0 among them
    first: int = 0  # rows before this partition
    side: FloatArray = NOTHING  # [n, d]  standardised
    goals: FloatArray = NOTHING  # [n, 1]  one output, standardised
    folds: NDArray[np.int8] = np.empty(0, np.int8)  # [n]
    regression: tuple[Any, ...] = ()  # while it is solved
    left: FloatArray = NOTHING  # [n, R, 1]  what regressions predict of each row left out
    base: FloatArray = NOTHING  # [n, R, 2]  the same, as natural parameters
    lessons: tuple[Any, ...] = ()  # of networks (`lessons`)
    said: FloatArray = NOTHING  # [groups, n, 2]  what networks that did not know a row said of it, added up
    heard: FloatArray = NOTHING  # [groups, n]  how many they were


def count_given(part: Part, _: None) -> tuple[int, int]:
    """Return how many rows were given, and how many of them count."""
    return part.given, len(part.X)


def show(part: Part, _: None) -> list[FloatArray]:
    """Return all rows: of tables that are too small to be solved."""
    return [part.X, part.Y, part.weights]


def count_rows(part: Part, _: None) -> int:
    """Return how many rows there are."""
    return len(part.X)


def place(part: Part, firsts: IntArray) -> Part:
    """Tell a partition how many rows lie before it. firsts: of all partitions."""
    return part._replace(first=int(firsts[part.number]))


def weighted(weights: FloatArray, values: NDArray[Any]) -> FloatArray:
    """Return the sums of columns [n, k], by weights [n]: without libraries that round as their threads do."""
    found: FloatArray = (weights[:, None] * values).sum(axis=0)
    return found


# Units -------------------------------------------------------------------------------------------------


def add_values(part: Part, means: tuple[FloatArray, FloatArray]) -> list[FloatArray]:
    """Return weight, sum and squares of what columns of inputs and of targets differ from `means`."""
    found = []
    for table, mean in zip((part.X, part.Y), means, strict=True):
        missing = np.isnan(table)
        counted = np.where(missing, 0.0, part.weights[:, None])
        values = np.where(missing, 0.0, table - mean)
        found.append(
            np.stack([counted.sum(axis=0), (counted * values).sum(axis=0), (counted * values**2).sum(axis=0)])
        )
    return found


def find_ranges(part: Part, _: None) -> list[FloatArray]:
    """Return the least and the largest values of inputs and of targets."""
    return [ranges_of(part.X), ranges_of(part.Y)]


def standardise(part: Part, message: tuple[Scaler, Scaler, int, NDArray[np.int8]]) -> Part:
    """Bring rows, and one of the targets, into standardised units; give each row its fold.

    message: scalers of inputs and of that target, which target it is, and the folds of all rows.
    """
    inputs, targets, output, folds = message
    rows = slice(part.first, part.first + len(part.X))
    goals = targets.transform(np.ascontiguousarray(part.Y[:, output : output + 1]))
    empty = np.empty((len(goals), 0, 1)), np.empty((len(goals), 0, KIND.planes))
    return Part(
        *part[:6], inputs.transform(part.X), goals, np.array(folds[rows]), left=empty[0], base=empty[1]
    )


def take_rows(part: Part, numbers: IntArray) -> list[FloatArray]:
    """Return those rows that are asked for by their numbers, ascending: in both units, goals and weights."""
    own = numbers[(numbers >= part.first) & (numbers < part.first + len(part.X))] - part.first
    return [part.X[own], part.side[own], part.goals[own], part.weights[own]]


def add_goals(part: Part, first: FloatArray) -> list[Any]:
    """Return weight, and weighted sum of goals less `first`; missing features, and by weight."""
    return [
        part.weights.sum(),
        weighted(part.weights, part.goals - first),
        np.isnan(part.side).sum(axis=0),
        weighted(part.weights, np.isnan(part.X)),
        weighted(part.weights, part.goals),
    ]


# The regression ----------------------------------------------------------------------------------------


def take_regression(part: Part, message: tuple[Learnt, IntArray, IntArray, IntArray]) -> Part:
    """Keep a regression that knows no rows, its features and gaps, and the numbers of a sample's rows."""
    return part._replace(regression=message)


def add_gram(part: Part, fold: int) -> FloatArray:
    """Return the sums of one fold's rows, but for those of the sample, as a line."""
    learnt, chosen, gaps, sample = part.regression
    own = part.folds == fold
    own[sample[(sample >= part.first) & (sample < part.first + len(own))] - part.first] = False
    size = len(learnt.centres) + learnt.centres.shape[1] + 1
    sums = np.zeros((size + 1, size))
    rows = looked_at(part.side[own], chosen, gaps)
    gather(learnt, rows, np.ascontiguousarray(part.goals[own]), part.weights[own], sums)
    found: FloatArray = sums[np.tri(*sums.shape, dtype=np.bool_)]
    return found


def regress(part: Part, message: tuple[list[Learnt], IntArray, IntArray]) -> Part:
    """Write what regressions predict of rows, each by the one that has not learnt its fold."""
    folds, chosen, gaps = message
    found = np.empty((len(part.goals), 1))
    for fold, learnt in enumerate(folds):
        own = np.flatnonzero(part.folds == fold)
        means = np.empty((own.size, 1))
        predict_rows(learnt, looked_at(part.side[own], chosen, gaps), means)
        found[own] = means
    return part._replace(left=found[:, None], regression=())


def add_errors(part: Part, _: None) -> FloatArray:
    """Return weighted squares of the regression's errors, [R, 1]."""
    return weighted(part.weights, ((part.left - part.goals[:, None]) ** 2)[..., 0])[:, None]


def write_base(part: Part, variance: FloatArray) -> Part:
    """Write what regressions say, as wide as their errors, [R, 1], are."""
    own = [KIND.natural(part.left[:, r], variance[r]) for r in range(len(variance))]
    base = np.stack(own, axis=1) if own else part.base
    return part._replace(base=base)


# What was said of rows that nobody knew ----------------------------------------------------------------


def count_covered(part: Part, _: None) -> int:
    """Return of how many rows every group of networks has said something."""
    return int(np.count_nonzero(_covered(part)))


def _covered(part: Part) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.all(part.heard > 0, axis=0)
    return found


def testify(part: Part, message: tuple[IntArray, int, int]) -> list[FloatArray]:
    """Return what every kind said of some rows, spread evenly, their goals and weights; and goals of others.

    message: covered rows before each partition, the stride among these, and among all rows.
    """
    firsts, stride, every = message
    covered = np.flatnonzero(_covered(part))
    asked = covered[(np.arange(covered.size) + firsts[part.number]) % stride == 0]
    groups = part.said[:, asked] / np.maximum(part.heard[:, asked], 1.0)[..., None]
    kinds = np.concatenate([part.base[asked], np.moveaxis(groups, 0, 1)], axis=1)
    thin = part.goals[(np.arange(len(part.goals)) + part.first) % every == 0]
    return [kinds, part.goals[asked], part.weights[asked], thin]
