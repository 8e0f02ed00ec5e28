"""Kernels of the regression on bumps, whose formulas are in `bumps`. None of them holds Python's lock."""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.constants import OUTLIER
from ggln.engine.jit import exact_kernel, fused_multiply_add, inner_exact
from ggln.engine.newton.factors import add_gram, factorise, solve_lower, solve_upper
from ggln.engine.newton.matern import fold, write_heights, write_steepness

MOST_LEVERAGE = 1.0 - 1e-7
SPAN = 64
"""Rows whose inputs are whitened together: they stay in the second-level cache."""
STREAM_ROWS = 64
"""Rows of a stream that are learnt together: of 32, each takes a sixth longer."""
GROWTH = 8
"""A stream's weights are solved again when there are a GROWTH-th more rows than at the last time."""
MOST_RIDGE = 1e12


class Learnt(NamedTuple):
    """All that is known, for the features looked at."""

    lengths: Any  # [d]
    centres: Any  # [d, M]  in units of the lengths
    factor: Any  # [M, M]  L
    offset: Any  # [D]
    ridge: Any  # [1]  lambda
    sums: Any  # [m + D, m]  A up to its diagonal, below it t'
    weights: Any  # [D, m]  of k(x), 1 and x: beta with L^-1 and 1 / sqrt(d) in it
    errors: Any  # [D + 1]  squares of errors on unseen rows, times weights, summed up; the weights
    rows: Any  # [STREAM_ROWS, d]  not yet in the sums
    targets: Any  # [STREAM_ROWS, D]
    row_weights: Any  # [STREAM_ROWS]
    counts: Any  # [3]  rows not yet in the sums; all rows; as they were when the weights were solved


# Inputs ------------------------------------------------------------------------------------------------
@exact_kernel
def look_at(rows: Any, chosen: Any, gaps: Any, found: Any) -> None:
    """Write the chosen features of rows [n, ..], 0 where they are missing, and 1 where those of `gaps` are.

    found: [n, chosen and gaps] # OUT.
    """
    for t in range(rows.shape[0]):
        for j in range(chosen.size):
            value = rows[t, chosen[j]]
            found[t, j] = value if value == value else 0.0
        for j in range(gaps.size):
            value = rows[t, gaps[j]]
            found[t, chosen.size + j] = 0.0 if value == value else 1.0


@exact_kernel
def covariance(centres: Any) -> Any:
    """Return the heights [M, M] of all bumps at all centres [d, M]."""
    found, centre = np.empty((centres.shape[1], centres.shape[1])), np.empty(centres.shape[0])
    for j in range(found.shape[0]):
        centre[:] = centres[:, j]
        write_heights(centres, centre, found[j])
    return found


@inner_exact
def within(value: Any) -> Any:
    """Return a feature as the plane sees it: a wild one would tilt it alone, and be extrapolated to."""
    return min(max(value, -OUTLIER), OUTLIER)


@inner_exact
def write_inputs(scales: Any, centres: Any, rows: Any, lines: Any) -> None:
    """Write [k(x), 1, x / sqrt(d)] of rows [w, d] as columns into lines # OUT [>= m, w]."""
    (features, size), count = centres.shape, rows.shape[0]
    points, centre = np.empty((features, count)), np.empty(features)
    for t in range(count):
        lines[size, t] = 1.0
        for i in range(features):
            points[i, t] = rows[t, i] / scales[i]
            lines[size + 1 + i, t] = within(rows[t, i]) / np.sqrt(features)
    for j in range(size):
        centre[:] = centres[:, j]
        write_heights(points, centre, lines[j])


@exact_kernel
def whitened(learnt: Any, rows: Any) -> Any:
    """Return phi of rows [w, d] as columns [m, w]."""
    lines = np.empty((learnt.sums.shape[1], rows.shape[0]))
    for first in range(0, rows.shape[0], SPAN):
        last = min(first + SPAN, rows.shape[0])
        part = np.empty((lines.shape[0], last - first))
        write_inputs(learnt.lengths, learnt.centres, rows[first:last], part)
        solve_lower(learnt.factor, part)
        lines[:, first:last] = part
    return lines


# Sums and weights --------------------------------------------------------------------------------------
@exact_kernel
def gather(learnt: Any, rows: Any, targets: Any, row_weights: Any, sums: Any) -> None:
    """Add rows [w, d] with targets [w, D] and weights [w] to sums # OUT [m + D, m]."""
    size, outputs = sums.shape[1], targets.shape[1]
    for first in range(0, rows.shape[0], SPAN):
        last = min(first + SPAN, rows.shape[0])
        lines, weighted = np.empty((size + outputs, last - first)), np.empty((last - first, size))
        write_inputs(learnt.lengths, learnt.centres, rows[first:last], lines)
        solve_lower(learnt.factor, lines)
        for t in range(last - first):
            for d in range(outputs):
                lines[size + d, t] = targets[first + t, d] - learnt.offset[d]
            for j in range(size):
                weighted[t, j] = row_weights[first + t] * lines[j, t]
        add_gram(sums, lines, weighted)


@exact_kernel
def factorised(matrix: Any, ridge: Any) -> Any:
    """Return the factor [r, m] of matrix [r, m] + ridge I, and the ridge: tenfold until there is a factor.

    A ridge of infinity says that there is none at all: the matrix is not finite.
    """
    factor = np.empty_like(matrix)
    while ridge <= MOST_RIDGE:
        factor[:] = matrix
        for i in range(matrix.shape[1]):
            factor[i, i] += ridge
        if factorise(factor):
            return factor, ridge
        ridge *= 10.0
    return factor, np.inf


@inner_exact
def write_weights(learnt: Any, factor: Any) -> None:
    """Write the weights # OUT for the factor [m + D, m] of the sums, whose last lines are R^-1 t."""
    (features, size), weights = learnt.centres.shape, learnt.weights
    weights[:] = factor[factor.shape[1] :]
    solve_upper(factor, weights)
    solve_upper(learnt.factor, weights)
    for d in range(weights.shape[0]):
        for i in range(features):
            weights[d, size + 1 + i] /= np.sqrt(features)


@exact_kernel
def solve(learnt: Any) -> Any:
    """Solve for the weights; return the factor of the sums, and the ridge that it took."""
    factor, ridge = factorised(learnt.sums, learnt.ridge[0])
    if np.isfinite(ridge):
        write_weights(learnt, factor)
    learnt.counts[2] = learnt.counts[1]
    return factor, ridge


@exact_kernel
def leave_out(
    learnt: Any, factor: Any, moments: Any, rows: Any, targets: Any, row_weights: Any, found: Any
) -> None:
    """Write the predictions for rows [w, d], each as if it had not been learnt, into found # OUT [w, D].

    factor: [m, m], of [k(x), 1, x / sqrt(d)] -> u, |u|^2 = h; moments: [D, m], u.moments the mean.
    """
    size = factor.shape[1]
    for first in range(0, rows.shape[0], SPAN):
        last = min(first + SPAN, rows.shape[0])
        lines, leverages = np.empty((size, last - first)), np.zeros(last - first)
        means = np.zeros((targets.shape[1], last - first))
        write_inputs(learnt.lengths, learnt.centres, rows[first:last], lines)
        solve_lower(factor, lines)
        for j in range(size):
            line = lines[j]
            for t in range(line.size):
                leverages[t] = fused_multiply_add(line[t], line[t], leverages[t])
            for d in range(means.shape[0]):
                mean, moment = means[d], moments[d, j]
                for t in range(line.size):
                    mean[t] = fused_multiply_add(moment, line[t], mean[t])
        for t in range(last - first):
            rest = 1.0 - min(row_weights[first + t] * leverages[t], MOST_LEVERAGE)
            for d in range(means.shape[0]):
                mean, target = learnt.offset[d] + means[d, t], targets[first + t, d]
                found[first + t, d] = target - (target - mean) / rest if rest < 1.0 else mean


# Predictions -------------------------------------------------------------------------------------------
@inner_exact
def predict_row(learnt: Any, x: Any, point: Any, heights: Any, products: Any, means: Any) -> None:
    """Write the means of a row x [d] into means # OUT [D]; point [d], heights, products [M] are scratch."""
    size = heights.size
    for i in range(x.size):
        point[i] = x[i] / learnt.lengths[i]
    write_heights(learnt.centres, point, heights)
    for d in range(means.size):
        weights = learnt.weights[d]
        plane = weights[size]
        for i in range(x.size):
            plane = fused_multiply_add(weights[size + 1 + i], within(x[i]), plane)
        for j in range(size):
            products[j] = heights[j] * weights[j]
        means[d] = learnt.offset[d] + (plane + fold(products))


@exact_kernel
def predict_rows(learnt: Any, rows: Any, means: Any) -> None:
    """Write the means of rows [n, d] into means # OUT [n, D]."""
    features, size = learnt.centres.shape
    point, heights, products = np.empty(features), np.empty(size), np.empty(size)
    for t in range(rows.shape[0]):
        predict_row(learnt, rows[t], point, heights, products, means[t])


@exact_kernel
def write_slopes(learnt: Any, rows: Any, slopes: Any) -> None:
    """Write the derivatives of the means of rows [n, d] into slopes # OUT [n, D, d]."""
    features, size = learnt.centres.shape
    point, steepness, products = np.empty(features), np.empty(size), np.empty(size)
    for t in range(rows.shape[0]):
        for i in range(features):
            point[i] = rows[t, i] / learnt.lengths[i]
        write_steepness(learnt.centres, point, steepness)
        for d in range(slopes.shape[1]):
            weights = learnt.weights[d]
            for i in range(features):
                line = learnt.centres[i]
                for j in range(size):
                    products[j] = steepness[j] * weights[j] * (point[i] - line[j])
                of_plane = weights[size + 1 + i] if abs(rows[t, i]) < OUTLIER else 0.0
                slopes[t, d, i] = of_plane + fold(products) / learnt.lengths[i]


@exact_kernel
def foresee(learnt: Any, rows: Any, targets: Any, row_weights: Any, means: Any) -> None:
    """Write the means of rows [n, d], as many as there is room for, into means # OUT [n, D].

    The rows are kept # OUT for `take_in`. Those of weight 0 are counted nowhere.
    """
    (features, size), outputs, counts = learnt.centres.shape, means.shape[1], learnt.counts
    point, heights, products = np.empty(features), np.empty(size), np.empty(size)
    for t in range(rows.shape[0]):
        predict_row(learnt, rows[t], point, heights, products, means[t])
        weight = row_weights[t]
        if not weight > 0.0:
            continue
        for d in range(outputs):
            learnt.errors[d] += weight * (targets[t, d] - means[t, d]) ** 2
        learnt.errors[outputs] += weight
        place = counts[0]
        learnt.rows[place] = rows[t]
        learnt.targets[place] = targets[t]
        learnt.row_weights[place] = weight
        counts[0] += 1
        counts[1] += 1


@exact_kernel
def take_in(learnt: Any) -> None:
    """Learn the rows that were kept # OUT, as soon as there is no room for another."""
    counts = learnt.counts
    if counts[0] == learnt.row_weights.size:
        gather(learnt, learnt.rows, learnt.targets, learnt.row_weights, learnt.sums)
        counts[0] = 0
        if (counts[1] - counts[2]) * GROWTH >= counts[2]:
            solve(learnt)


@exact_kernel
def follow(learnt: Any, rows: Any, targets: Any, row_weights: Any, means: Any) -> None:
    """Write the means of rows [n, d] # OUT [n, D], each before it is learnt, and learn them # OUT."""
    first = 0
    while first < rows.shape[0]:
        last = min(first + learnt.row_weights.size - learnt.counts[0], rows.shape[0])
        foresee(learnt, rows[first:last], targets[first:last], row_weights[first:last], means[first:last])
        take_in(learnt)
        first = last
