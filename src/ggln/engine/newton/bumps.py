"""A Bayesian regression in closed form on smooth bumps: a Gaussian process that goes on row by row.

The inputs of a row x [d] are M bumps k(x) (`matern`) at rows of the table, a constant, and the features,

  phi(x) = [L^-1 k(x), 1, x / sqrt(d)]   [m], m = M + 1 + d,

with K + 1e-8 I = L L' the bumps' own covariance, so that a normal prior on the weights of L^-1 k is the
Gaussian process on these bumps. What is learnt are the sums A = sum c phi phi' and t = sum c phi (y - offset)
over rows of weight c. A missing value counts as the feature's mean, 0; a feature that is missing often
enough has a further one beside it, 1 where it is missing. The weights, and row i's error had it been left
out, are

  beta = (A + lambda I)^-1 t,   (y_i - f_i) / (1 - c_i h_i),   h_i = phi_i' (A + lambda I)^-1 phi_i.

Length scales are those of `lengths`; lambda is where the errors of rows left out are least.

Rows are taken in blocks, counted from the first, and blocks are added in their order: neither threads nor the
way in which a stream is cut into calls change a bit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ggln.engine import lengths
from ggln.engine.constants import OUTLIER
from ggln.engine.jit import Specialized
from ggln.engine.newton.bump_kernels import (
    MOST_LEVERAGE,
    STREAM_ROWS,
    Learnt,
    covariance,
    factorised,
    follow,
    foresee,
    gather,
    leave_out,
    look_at,
    predict_rows,
    solve,
    take_in,
    whitened,
    write_slopes,
)
from ggln.engine.threads import Task, Threads, one_blas_thread

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

JITTER = 1e-8
"""Added to the bumps' variances of 1: equal rows give equal bumps."""
RIDGES = np.geomspace(1e-6, 10.0, 40)
RIDGE_ROWS = 4000
"""Rows, a sample, that choose among the ridges."""
LEAST_VARIANCE = 1e-14
"""Of a target without any noise, in squares of its deviation."""
MOST_FEATURES, CHOSEN_FEATURES = 100, 50
"""Of more features than these, so many are looked at: in many dimensions all rows are far from each other."""
GAP_ROWS = 10
"""Rows that lack a feature, and rows that do not, from which on being missing is a feature of its own."""
FIT_ROWS = 512
"""Rows of a task."""


class Bumps:
    """The regression, which predicts and goes on learning; `fit_bumps` makes it.

    Rows and targets are standardised, [n, features] and [n, D], in double precision.
    """

    def __init__(
        self, learnt: Learnt, chosen: NDArray[np.int64], gaps: NDArray[np.int64], features: int
    ) -> None:
        self.learnt, self.chosen, self.gaps, self.features = learnt, chosen, gaps, features
        self._kernels = Specialized()

    @property
    def variance(self) -> FloatArray:
        """The variance [D] of errors on rows left out by `fit_bumps`, and on those that `learn` met."""
        found: FloatArray = np.maximum(self.learnt.errors[:-1] / self.learnt.errors[-1], LEAST_VARIANCE)
        return found

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means [n, D]; that of a row does not depend on the others, to the last bit."""
        means = np.empty((X.shape[0], self.learnt.offset.size))
        self._kernels.call(predict_rows, (self.learnt, self._looked_at(X), means))
        return means

    def learn(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Learn rows in their order; return the means [n, D] that each had before it was learnt.

        Lengths, centres, offset and ridge stay. How rows are cut into calls does not matter, to the last bit.
        """
        means = np.empty((X.shape[0], self.learnt.offset.size))
        rows = self._looked_at(X), np.ascontiguousarray(Y), np.ascontiguousarray(weights)
        self._kernels.call(follow, (self.learnt, *rows, means))
        return means

    @property
    def room(self) -> int:
        """How many rows `foresee` can take before `take_in`."""
        return int(self.learnt.row_weights.size - self.learnt.counts[0])

    def foresee(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """As `learn`, for as many rows as there is room for; they are learnt by `take_in`."""
        means = np.empty((X.shape[0], self.learnt.offset.size))
        self._kernels.call(foresee, (self.learnt, self._looked_at(X), Y, weights, means))
        return means

    def take_in(self) -> None:
        """Learn what was foreseen, if there is no room left; meanwhile networks may learn the same rows."""
        self._kernels.call(take_in, (self.learnt,))

    def slopes(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [n, D, features] of the means."""
        slopes = np.empty((X.shape[0], self.learnt.offset.size, self.chosen.size + self.gaps.size))
        self._kernels.call(write_slopes, (self.learnt, self._looked_at(X), slopes))
        slopes = slopes[:, :, : self.chosen.size]
        if self.chosen.size == self.features:
            return slopes
        found = np.zeros((*slopes.shape[:2], self.features))
        found[:, :, self.chosen] = slopes
        return found

    def centre_rows(self) -> FloatArray:
        """Return the rows [M, features] that bumps stand at; features not looked at are at their means."""
        centres = self.learnt.centres.T * self.learnt.lengths
        found = np.zeros((len(centres), self.features))
        found[:, self.chosen] = centres[:, : self.chosen.size]
        found[:, self.gaps] = np.where(centres[:, self.chosen.size :] > 0.5, np.nan, found[:, self.gaps])
        return found

    def _looked_at(self, X: FloatArray) -> FloatArray:
        return looked_at(X, self.chosen, self.gaps)

    def state(self) -> Arrays:
        """Return copies of all arrays but the bumps' factor, which their centres give again."""
        arrays: Arrays = {name: np.array(array) for name, array in self.learnt._asdict().items()}
        del arrays["factor"]
        arrays["sums"] = arrays["sums"][_below(*arrays["sums"].shape)]
        whole = np.array([self.features])
        return {**arrays, "chosen": self.chosen, "gaps": self.gaps, "features": whole}

    @classmethod
    def from_state(cls, arrays: Arrays) -> "Bumps":
        """Return the regression that `arrays` describe, which goes on to the last bit as that one would."""
        own = {name: np.array(arrays[name]) for name in Learnt._fields if name != "factor"}
        outputs, size = own["weights"].shape
        whole = np.zeros((size + outputs, size))
        whole[_below(*whole.shape)] = own["sums"]
        own["sums"], (own["factor"], _) = whole, factorised(covariance(own["centres"]), JITTER)
        looked_at = np.array(arrays["chosen"]), np.array(arrays["gaps"])
        return cls(Learnt(**own), *looked_at, int(arrays["features"][0]))

    def __getstate__(self) -> Arrays:
        """Pickle arrays only: compiled functions can be made anew."""
        return self.state()

    def __setstate__(self, arrays: Arrays) -> None:
        """Unpickle; the arrays may lie in memory that cannot be written to."""
        vars(self).update(vars(Bumps.from_state(arrays)))


def _below(rows: int, size: int) -> NDArray[np.bool_]:
    """Return where a matrix [rows, size] is on or below its diagonal."""
    return np.tri(rows, size, dtype=np.bool_)


# Fitting -----------------------------------------------------------------------------------------------
def fit_bumps(
    X: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    most: int,
    random: np.random.Generator,
    threads: Threads,
    folds: NDArray[np.int64] | None = None,
) -> tuple[Bumps, FloatArray]:
    """Return a regression on at most `most` bumps, and its predictions [n, D] for the rows as if left out.

    X: [n, features]; Y: [n, D]; weights: [n], at least one of them positive. A row is left out with its whole
    weight, under the same offset, centres, lengths and ridge; one of weight 0 is predicted as any new row.
    With folds [n], all rows of its fold are left out as well. What a row's prediction lacks without that
    row alone tells its target to whoever knows the predictions of its neighbours: a network above would
    learn to read it.
    """
    with one_blas_thread():
        order = random.permutation(np.flatnonzero(weights > 0.0))
        sample, rest = np.sort(order[:RIDGE_ROWS]), np.sort(order[RIDGE_ROWS:])
        chosen = choose_features(filled(X[sample]), Y[sample])
        gaps = find_gaps(X[order], chosen)
        table = Table(looked_at(X, chosen, gaps), np.ascontiguousarray(Y), weights, threads)
        first = Y[order[0]]  # of a constant target, the mean is that constant exactly
        offset = first + np.average(Y[order] - first, axis=0, weights=weights[order])
        drawn = order[: max(most, lengths.SEARCH_ROWS)]
        learnt = begin(table.X[drawn], Y[drawn], offset, most, order.size)
        parts = np.zeros(len(Y), np.int64) if folds is None else folds
        sums = np.zeros((int(parts.max()) + 1, *learnt.sums.shape))  # of each fold
        add_folds(table, learnt, sample, parts, sums)
        learnt.ridge[0] = best_ridge(table, learnt, sample)
        add_folds(table, learnt, rest, parts, sums)
        factor, learnt.ridge[0] = solve(learnt)
        if folds is None:
            left_out = _leave_out(table, learnt, factor)
        else:
            left_out = _leave_folds(table, learnt, folds, sums)
        learnt.errors[:-1] = weights @ np.where(weights[:, None] > 0.0, Y - left_out, 0.0) ** 2
        learnt.errors[-1] = weights.sum()
    return Bumps(learnt, chosen, gaps, X.shape[1]), left_out


def filled(X: FloatArray) -> FloatArray:
    """Return rows with their means, 0, for missing values; the sum tells fast that there are none."""
    return X if np.isfinite(X.sum()) else np.nan_to_num(X)


def looked_at(X: FloatArray, chosen: NDArray[np.int64], gaps: NDArray[np.int64]) -> FloatArray:
    """Return the chosen features of rows, filled, and 1 where those of `gaps` are missing."""
    found = np.empty((len(X), chosen.size + gaps.size))
    look_at(X, chosen, gaps, found)
    return found


def find_gaps(X: FloatArray, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of the chosen features are missing often enough to say so, and not nearly always."""
    if np.isfinite(X.sum()):
        return chosen[:0]
    missing = np.isnan(X[:, chosen]).sum(axis=0)
    found: NDArray[np.int64] = chosen[(missing >= GAP_ROWS) & (missing <= len(X) - GAP_ROWS)]
    return found


class Table(NamedTuple):
    """Rows, and the threads that work on them, block by block."""

    X: FloatArray  # [n, d]
    Y: FloatArray  # [n, D]
    weights: FloatArray  # [n]
    threads: Threads

    def take(self, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return some of the rows, their targets and weights."""
        return self.X[rows], self.Y[rows], self.weights[rows]


def choose_features(X: FloatArray, Y: FloatArray) -> NDArray[np.int64]:
    """Return which features to look at, in their order: all, or those that go best along with any target.

    That is, by the correlation of the feature, or of its square, with the target.
    """
    if X.shape[1] <= MOST_FEATURES:
        return np.arange(X.shape[1])
    goals, centred = _normalised(Y), X - X.mean(axis=0)
    found = np.maximum(*(np.abs(goals.T @ _normalised(inputs)) for inputs in (centred, centred**2)))  # [D, d]
    return np.sort(np.argsort(-found.max(axis=0), kind="stable")[:CHOSEN_FEATURES])


def _normalised(columns: FloatArray) -> FloatArray:
    """Return columns of mean 0 and length 1, or of zeros."""
    centred = columns - columns.mean(axis=0)
    found: FloatArray = centred / np.maximum(np.sqrt(np.sum(centred**2, axis=0)), 1e-150)
    return found


def begin(X: FloatArray, Y: FloatArray, offset: FloatArray, most: int, rows: int) -> Learnt:
    """Return what is known before any row is learnt: lengths and centres.

    X, Y: rows in the order in which they were drawn, of which the first search lengths, and the first `most`
    are centres; offset: [D]; rows: how many there are in all.
    """
    few = slice(lengths.SEARCH_ROWS)
    # clipped: otherwise length scales would be made for wild rows alone
    near, targets = (np.clip(array, -OUTLIER, OUTLIER) for array in (X[few], Y[few] - offset))
    scales, _ = lengths.search(near, targets)
    centres = np.ascontiguousarray((X[:most] / scales).T)
    factor, _ = factorised(covariance(centres), JITTER)
    (features, bumps), outputs = centres.shape, offset.size
    size = bumps + 1 + features
    return Learnt(
        lengths=scales,
        centres=centres,
        factor=factor,
        offset=offset,
        ridge=np.zeros(1),
        sums=np.zeros((size + outputs, size)),
        weights=np.zeros((outputs, size)),
        errors=np.zeros(outputs + 1),
        rows=np.zeros((STREAM_ROWS, features)),
        targets=np.zeros((STREAM_ROWS, outputs)),
        row_weights=np.zeros(STREAM_ROWS),
        counts=np.array([0, rows, 0]),
    )


def blocks_of(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return rows in blocks that do not depend on threads."""
    return [rows[first : first + FIT_ROWS] for first in range(0, rows.size, FIT_ROWS)]


def add_folds(
    table: Table, learnt: Learnt, rows: NDArray[np.int64], folds: NDArray[np.int64], sums: FloatArray
) -> None:
    """Add rows to the sums of their folds # OUT [folds, m + D, m]; learnt.sums # OUT is that of all folds.

    Each block has its own sum; these are added up in the order of blocks, whatever the threads.
    """
    blocks = [(fold, block) for fold in range(len(sums)) for block in blocks_of(rows[folds[rows] == fold])]
    count = table.threads.count
    partial = np.empty((min(count, len(blocks)), *learnt.sums.shape))

    def add(block: NDArray[np.int64], own: FloatArray) -> None:
        own[:] = 0.0
        gather(learnt, *table.take(block), own)

    for first in range(0, len(blocks), count):
        turn = blocks[first : first + count]
        tasks: list[Task] = [(add, (block, own)) for (_, block), own in zip(turn, partial, strict=False)]
        table.threads.run(tasks)
        for (fold, _), own in zip(turn, partial, strict=False):
            np.add(sums[fold], own, out=sums[fold])
    np.add.reduce(sums, out=learnt.sums)


def best_ridge(table: Table, learnt: Learnt, rows: NDArray[np.int64]) -> float:
    """Return the ridge with the least errors on rows left out, from the rows whose sums are known.

    With A = V diag(a) V', q = V' phi and r = V' t: h = sum_j q_j^2 / (a_j + lambda) and
    f = sum_j q_j r_j / (a_j + lambda). Of equals, it is the largest.
    """
    size = learnt.sums.shape[1]
    values, vectors = eigh(learnt.sums[:size])
    shares = 1.0 / (np.maximum(values, 0.0)[:, None] + RIDGES)  # [m, ridges]
    moments = learnt.sums[size:] @ vectors  # [D, m]
    blocks = blocks_of(rows)
    losses = np.zeros((len(blocks), RIDGES.size))

    def judge(block: NDArray[np.int64], loss: FloatArray) -> None:
        X, Y, weights = table.take(block)
        along = whitened(learnt, X).T @ vectors  # [w, m]
        rest = 1.0 - np.minimum(weights[:, None] * (along**2 @ shares), MOST_LEVERAGE)
        for goal, moment in zip((Y - learnt.offset).T, moments, strict=True):
            loss += weights @ ((goal[:, None] - along @ (moment[:, None] * shares)) / rest) ** 2

    table.threads.run([(judge, pair) for pair in zip(blocks, losses, strict=True)])
    return float(RIDGES[::-1][np.argmin(losses.sum(axis=0)[::-1])])


def without_fold(learnt: Learnt, told: FloatArray) -> Learnt:
    """Return the regression that has not learnt a fold, whose sums are `told` [m + D, m]."""
    own = learnt._replace(
        sums=learnt.sums - told,
        weights=np.zeros_like(learnt.weights),
        ridge=learnt.ridge.copy(),
        counts=learnt.counts.copy(),
    )
    solve(own)
    return own


def _leave_folds(table: Table, learnt: Learnt, folds: NDArray[np.int64], sums: FloatArray) -> FloatArray:
    """Return the predictions [n, D] for all rows, each by a regression that has not learnt its fold."""
    found = np.empty_like(table.Y)
    for fold, told in enumerate(sums):
        rows = np.flatnonzero(folds == fold)
        own = without_fold(learnt, told)
        blocks = blocks_of(rows)
        means = [np.empty((block.size, found.shape[1])) for block in blocks]
        pairs = zip(blocks, means, strict=True)
        table.threads.run([(predict_rows, (own, table.X[block], part)) for block, part in pairs])
        for block, part in zip(blocks, means, strict=True):
            found[block] = part
    return found


def _leave_out(table: Table, learnt: Learnt, factor: FloatArray) -> FloatArray:
    """Return the predictions [n, D] for all rows, each as if it had not been learnt.

    factor: [m + D, m], R with R R' = A + lambda I, below it t' R'^-1.
    """
    bumps, size = learnt.factor.shape[0], factor.shape[1]
    # R^-1 L^-1 k = (L R)^-1 k: one triangle to solve for each row instead of two
    both = np.tril(factor[:size])
    both[:bumps, :bumps] = np.tril(learnt.factor) @ both[:bumps, :bumps]
    found = np.empty_like(table.Y)

    def write(block: NDArray[np.int64]) -> None:
        means = np.empty((block.size, found.shape[1]))
        leave_out(learnt, both, factor[size:], *table.take(block), means)
        found[block] = means

    table.threads.run([(write, (block,)) for block in blocks_of(np.arange(found.shape[0]))])
    return found
