"""Keeping weights, variances and means in their ranges after a gradient step (Appendix E).

The constraints on a row of weights w are linear: low <= w_j <= high, and for the natural parameters
S = sum_j w_j phi_j a few rows C_k . S <= u_k that bound the precision and the mean.

* `Clip` clips each weight; the precision and the mean are clipped in the prediction only.
* `Exact` is the paper's projection: every violated constraint becomes an equality, solved by
  pseudo-inverse. It is not always the nearest point of the feasible set (docs/deviations.md).
* `LogBarrier` adds -strength * log(slack) of each constraint to the loss. Backstops: each weight is
  clipped, then one linear projection brings the precision back into its range.

All of them work on differences from the initial weight, which is why bounds come shifted by it.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.constants import DEPENDENT
from ggln.engine.jit import Protocol, fast_kernel, inner_fast


class Clip(NamedTuple):
    """Weights are clipped to [low, high]."""

    low: Any
    high: Any


class Exact(NamedTuple):
    """Violated constraints are solved as equalities."""

    low: Any
    high: Any


class LogBarrier(NamedTuple):
    """A barrier of the given strength (xi of the paper), with backstops."""

    low: Any
    high: Any
    strength: Any


def move(projection, value, moved, prior, rate, floor):
    """One weight's place after its gradient step from `value` to `moved`, all as differences from `prior`."""


def repair(projection, row, rows, targets, lengths, prior):
    """Bring a row of weights # OUT back into the feasible set after its step.

    row: [m]; rows: [c, m] and targets: [c] # OUT, the violated constraints rows @ row <= targets;
    lengths: [c], the rows' squared lengths. Precision constraints come first.
    """


def settle(projection, row, prior):
    """As `repair`, for a row # OUT that violates at most bounds of single weights."""


Move = Protocol(move)
Settle = Protocol(settle)
Repair = Protocol(repair)


@inner_fast
def clip(value, low, high):
    """Return the point of [low, high] nearest to value."""
    return min(max(value, low), high)


@Move.register(Clip)
def _move_clip(projection, value, moved, prior, rate, floor):
    return clip(moved, projection.low - prior, projection.high - prior)


@Move.register(Exact)
def _move_exact(projection, value, moved, prior, rate, floor):
    return moved


@Move.register(LogBarrier)
def _move_barrier(projection, value, moved, prior, rate, floor):
    # d/dw of -log(w - low) - log(high - w), written with a single division
    low, high = projection.low - prior, projection.high - prior
    above, below = max(value - low, floor * prior), max(high - value, floor * prior)
    push = rate * projection.strength * (below - above) / (above * below)
    return clip(moved + push, low, high)


@Settle.register(Exact)
def _settle_exact(projection, row, prior):
    for j in range(row.size):
        row[j] = clip(row[j], projection.low - prior, projection.high - prior)


@Settle.register(LogBarrier)
def _settle_barrier(projection, row, prior):
    pass  # `move` has clipped


@Repair.register(Exact)
def _repair_exact(projection, row, rows, targets, lengths, prior):
    project_exact(row, rows, targets, projection.low - prior, projection.high - prior)


@Repair.register(LogBarrier)
def _repair_barrier(projection, row, rows, targets, lengths, prior):
    for k in range(targets.size):
        excess = -targets[k]
        for j in range(row.size):
            excess += rows[k, j] * row[j]
        if excess > row.dtype.type(0):
            for j in range(row.size):
                row[j] -= rows[k, j] * excess / lengths[k]
    for j in range(row.size):
        row[j] = clip(row[j], projection.low - prior, projection.high - prior)


@fast_kernel
def solve_gram(gram, right):
    """Solve gram @ x = right in place # OUT both.

    gram: [c, c] positive semi-definite, right: [c]. A row that depends on earlier ones gets x = 0, which
    leaves the projection that x stands for unchanged.
    """
    size, zero = right.size, right.dtype.type(0)
    lengths = np.empty(size, right.dtype)
    for k in range(size):
        lengths[k] = gram[k, k]
    for k in range(size):
        if gram[k, k] <= lengths[k] * right.dtype.type(DEPENDENT):
            gram[k, :] = zero
            gram[:, k] = zero
            gram[k, k] = right.dtype.type(1)
            right[k] = zero
        for i in range(k + 1, size):
            factor = gram[i, k] / gram[k, k]
            for j in range(k, size):
                gram[i, j] -= factor * gram[k, j]
            right[i] -= factor * right[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            right[k] -= gram[k, j] * right[j]
        right[k] /= gram[k, k]


@fast_kernel
def project_exact(row, rows, targets, low, high):
    """Make every violated constraint an equality: w - A^+ (A w - u) of Appendix E.

    row: [m] # OUT; rows: [c, m], the violated constraints on sums; targets: [c] # OUT, their bounds. The
    other rows of A are one-hot: they fix their weight on its bound, so that only the rest needs a solve.
    The last clip is a backstop: the solve may push a free weight out of its range.
    """
    count = targets.size
    free = np.empty(row.size, np.bool_)
    for j in range(row.size):
        free[j] = low <= row[j] <= high
        row[j] = clip(row[j], low, high)
    gram = np.zeros((count, count), row.dtype)
    for k in range(count):
        for j in range(row.size):
            targets[k] -= rows[k, j] * row[j]
            if free[j]:
                for i in range(count):
                    gram[k, i] += rows[k, j] * rows[i, j]
    solve_gram(gram, targets)
    for k in range(count):
        for j in range(row.size):
            if free[j]:
                row[j] += targets[k] * rows[k, j]
    for j in range(row.size):
        row[j] = clip(row[j], low, high)
