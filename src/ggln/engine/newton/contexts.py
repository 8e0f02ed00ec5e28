"""Exact learning of one context; `reference` is the plain twin of solving and leaving out.

A context minimises the loss of its rows plus a pull towards other weights, by Newton's method, and says what
it predicts of each row when that row is left out. `trees` puts the contexts of a neuron together.

Rows of a context lie next to each other (`order_by_context`): level after level they are parts of one table.

Lines of m inputs are padded with zeros to M, whole vectors (`lanes`). Of a symmetric matrix the lower
triangle is kept, up to the end of the vector that the diagonal is in. Hessians are factorised from their last
line upward: all steps then run along lines.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import exact_kernel, inner_fast
from ggln.engine.newton import constants
from ggln.engine.newton.lanes import LANES, load, multiply_add, padded, repeat, spread, store, times, total
from ggln.engine.newton.neurons.protocol import damp, derive, expand, loss, shift, stride, width
from ggln.engine.newton.products import add_squares, whiten, write_hat

FloatArray = NDArray[np.float64]


class Rows(NamedTuple):
    """What a neuron learns from, in the order of its contexts."""

    inputs: Any  # [n, Q, M]
    targets: Any  # [n, D]
    weights: Any  # [n]  how much each row counts


class Work(NamedTuple):
    """Buffers for solving one context after the other. Padding is zero, and stays so."""

    counted: Any  # [n]  the weights of rows, 0 for those that are no density at the centre
    totals: Any  # [n, Q]  with the weights as they are
    trial: Any  # [n, Q]  with the weights of a step
    gradient: Any  # [M]
    hessian: Any  # [M, M]
    factor: Any  # [M, M]  C of the Hessian
    shares: Any  # [M]
    inverse: Any  # [M, M]  V, with V V' the Hessian's inverse
    unit: Any  # [2 LANES - 1]  1 in the middle
    factors: Any  # [chunk * Q, M]
    products: Any  # [chunk * Q, M]  factors times V
    direction: Any  # [M]
    moved: Any  # [M]  the weights after a step
    root: Any  # [Q, Q]
    residue: Any  # [Q]
    hat: Any  # [Q, Q]  F H^-1 F' of a row


def make_unit() -> NDArray[np.float64]:
    """Return what vectors with a single 1 are parts of (`invert_factor`)."""
    unit = np.zeros(2 * LANES - 1)
    unit[LANES - 1] = 1.0
    return unit


def make_work(rows: int, planes: int, inputs: int) -> Work:
    """Return buffers for a neuron of so many inputs."""
    size, lines = padded(inputs), constants.CHUNK_ROWS * planes
    return Work(
        np.empty(rows),
        np.empty((rows, planes)),
        np.empty((rows, planes)),
        np.zeros(size),
        np.zeros((size, size)),
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros((size, size)),
        make_unit(),
        np.zeros((lines, size)),
        np.zeros((lines, size)),
        np.zeros(size),
        np.zeros(size),
        np.empty((planes, planes)),
        np.empty(planes),
        np.empty((planes, planes)),
    )


# Losses and derivatives --------------------------------------------------------------------------------


@inner_fast
def add_up(inputs, weights, start, stop, totals):
    """Write the totals T = sum_j w_j z_j of rows start to stop # OUT."""
    planes, width = inputs.shape[1], inputs.shape[2]
    for t in range(start, stop):
        for q in range(planes):
            place = (t * planes + q) * width
            value = times(load(inputs, place), load(weights, 0))
            for j in range(LANES, width, LANES):
                value = multiply_add(load(inputs, place + j), load(weights, j), value)
            totals[t, q] = total(value)


@inner_fast
def objective(kind, rows, counted, totals, start, stop, weights, centre, pull):
    """Sum c loss + 1/2 sum pull (w - centre)^2, over rows and inputs; infinite where a row is no density."""
    value = 0.0
    for t in range(start, stop):
        if counted[t] > 0.0:
            value += counted[t] * loss(kind, totals, t, rows.targets, t)
    for j in range(pull.size):
        value += 0.5 * pull[j] * (weights[j] - centre[j]) ** 2
    return value


@inner_fast
def differentiate(kind, rows, start, stop, weights, centre, pull, work):
    """Write gradient and Hessian of the objective into work # OUT, from work.totals."""
    gradient, hessian, factors, counted, totals = (
        work.gradient,
        work.hessian,
        work.factors,
        work.counted,
        work.totals,
    )
    inputs, targets, root, residue = rows.inputs, rows.targets, work.root, work.residue
    planes, size = root.shape[0], pull.size
    for j in range(size):
        gradient[j] = pull[j] * (weights[j] - centre[j])
        for k in range(hessian.shape[1]):
            hessian[j, k] = 0.0
        hessian[j, j] = pull[j]
    chunk, filled = factors.shape[0] // planes, 0
    for t in range(start, stop):
        if counted[t] > 0.0:
            derive(kind, totals, t, targets, t, root, residue)
            scale = np.sqrt(counted[t])
            expand(kind, root, residue, inputs, t, size, scale, filled * planes, factors, gradient)
            filled += 1
        if filled == chunk or (t + 1 == stop and filled > 0):
            add_squares(factors, filled * planes, size, hessian)
            filled = 0


# Symmetric matrices ------------------------------------------------------------------------------------


@inner_fast
def factorise(matrix, size, factor, shares):
    """Write C # OUT, lower triangular with C' diag(shares) C = matrix, and shares # OUT [M] = 1 / diag(C).

    Without roots, each line waits for one division only. What is right of the diagonal means nothing.
    """
    width = matrix.shape[1]
    for j in range(size):
        for k in range(0, j + 1, LANES):
            store(factor, j * width + k, load(matrix, j * width + k))
    for back in range(size):
        k = size - 1 - back
        share = 1.0 / max(factor[k, k], constants.LEAST_CURVATURE * matrix[k, k])
        shares[k] = share
        for j in range(k):
            ratio = spread(-share * factor[k, j])
            for i in range(0, j + 1, LANES):
                place = j * width + i
                store(factor, place, multiply_add(ratio, load(factor, k * width + i), load(factor, place)))


@inner_fast
def invert_factor(factor, shares, size, unit, inverse):
    """Write V # OUT, lower triangular with V V' = H^-1, of the factor of H: V = C^-1 diag(shares)^-1/2.

    unit: [2 LANES - 1], 1 in the middle, else 0. Numbers are written as vectors only, by which they are read
    again: a processor would wait for one that was written into the middle of a vector.
    """
    width = factor.shape[1]
    for k in range(size):
        share, last = shares[k], k - k % LANES
        for left in range(0, k + 1, LANES):
            value = spread(0.0)
            for j in range(left, k):
                value = multiply_add(repeat(factor, k * width + j), load(inverse, j * width + left), value)
            value = times(value, spread(-share))
            if left == last:
                value = multiply_add(load(unit, LANES - 1 - k % LANES), spread(np.sqrt(share)), value)
            store(inverse, k * width + left, value)


@inner_fast
def solve_inverted(inverse, size, right, solution):
    """Write V V' right # OUT, turn right into V' right # OUT, and return its square, right' V V' right.

    right, solution: [>= M], padded with zeros.
    """
    width, squares = inverse.shape[1], spread(0.0)
    for left in range(0, size, LANES):
        value = spread(0.0)
        for k in range(left, size):
            value = multiply_add(repeat(right, k), load(inverse, k * width + left), value)
        squares = multiply_add(value, value, squares)
        store(right, left, value)
    for k in range(size):
        value = spread(0.0)
        for left in range(0, k + 1, LANES):
            value = multiply_add(load(inverse, k * width + left), load(right, left), value)
        solution[k] = total(value)
    return total(squares)


# One context -------------------------------------------------------------------------------------------


@inner_fast
def solve(kind, rows, start, stop, centre, pull, iterations, settled, weights, work):
    """Write the weights # OUT that solve one context; work has the Hessian there, and its inverse.

    centre, weights: [M]; pull: [m]. Rows whose product is no density at the centre are left aside
    (`work.counted`), as rows of weight 0 are.
    """
    size, value = pull.size, 0.0
    for j in range(weights.size):
        weights[j] = centre[j]
    add_up(rows.inputs, weights, start, stop, work.totals)
    for t in range(start, stop):
        count, own = rows.weights[t], loss(kind, work.totals, t, rows.targets, t)
        work.counted[t] = count if count > 0.0 and own < np.inf else 0.0
        if work.counted[t] > 0.0:
            value += count * own
    for _ in range(iterations):
        differentiate(kind, rows, start, stop, weights, centre, pull, work)
        factorise(work.hessian, size, work.factor, work.shares)
        invert_factor(work.factor, work.shares, size, work.unit, work.inverse)
        decrement = solve_inverted(work.inverse, size, work.gradient, work.direction)
        if decrement <= settled * (stop - start):
            return
        length, found = 1.0, False
        for _ in range(constants.HALVINGS):
            for j in range(size):
                work.moved[j] = weights[j] - length * work.direction[j]
            add_up(rows.inputs, work.moved, start, stop, work.trial)
            there = objective(kind, rows, work.counted, work.trial, start, stop, work.moved, centre, pull)
            if there <= value - constants.ARMIJO * length * decrement:
                found = True
                break
            length *= 0.5
        if not found:
            return
        value = there
        for j in range(size):
            weights[j] = work.moved[j]
        for t in range(start, stop):
            for q in range(work.totals.shape[1]):
                work.totals[t, q] = work.trial[t, q]
    differentiate(kind, rows, start, stop, weights, centre, pull, work)
    factorise(work.hessian, size, work.factor, work.shares)
    invert_factor(work.factor, work.shares, size, work.unit, work.inverse)


@inner_fast
def leave_out(kind, rows, start, stop, size, work, left, widths):
    """Write the totals each row would have had without itself, left # OUT [n, Q], and widths # OUT [n].

    In the coordinates of the factors, F (H - c F'F)^-1 c F'r = c (I - c S)^-1 S r with S = F H^-1 F'.
    """
    inputs, targets, totals, counted = rows.inputs, rows.targets, work.totals, work.counted
    factors, root, residue, hat = work.factors, work.root, work.residue, work.hat
    planes = root.shape[0]
    for first in range(start, stop, constants.CHUNK_ROWS):
        last = min(first + constants.CHUNK_ROWS, stop)
        for t in range(first, last):
            # a row that counts is a density: the objective is finite
            if counted[t] > 0.0 or loss(kind, totals, t, targets, t) < np.inf:
                derive(kind, totals, t, targets, t, root, residue)
                place = (t - first) * planes
                expand(kind, root, residue, inputs, t, size, 1.0, place, factors, work.direction)
        whiten(work.inverse, factors, (last - first) * planes, size, work.products)
        for t in range(first, last):
            weight = counted[t]
            for q in range(planes):
                left[t, q] = totals[t, q]
            widths[t] = 1.0
            if not (weight > 0.0 or loss(kind, totals, t, targets, t) < np.inf):
                continue
            derive(kind, totals, t, targets, t, root, residue)
            write_hat(work.products, (t - first) * planes, hat)
            told = 0.0
            for i in range(planes):
                told = max(told, hat[i, i])
            widths[t] = width(kind, hat, root) / max(1.0 - weight * told, constants.LEAST_LEFT)
            if weight > 0.0:
                shift(kind, hat, weight, root, residue)
                step = stride(kind, totals, t, residue)
                for q in range(planes):
                    left[t, q] += step * residue[q]


@inner_fast
def damped_loss(kind, totals, t, variance, targets, scratch):
    """Loss of a prediction whose mean is as uncertain as `variance` says. scratch: [1, Q]."""
    factor = damp(kind, variance)
    for q in range(totals.shape[1]):
        scratch[0, q] = factor * totals[t, q]
    return loss(kind, scratch, 0, targets, t)


@inner_fast
def gain_over_parent(kind, rows, start, stop, above, wide, left, widths, scratch):
    """Return by how much a context's left-out losses are below its parent's, over rows start to stop.

    above, wide: what the parent predicts of the rows, left out; left, widths: what the context does.
    """
    gain = 0.0
    for t in range(start, stop):
        if rows.weights[t] > 0.0:
            own = damped_loss(kind, left, t, widths[t], rows.targets, scratch)
            before = damped_loss(kind, above, t, wide[t], rows.targets, scratch)
            if own < np.inf and before < np.inf:
                gain += rows.weights[t] * (before - own)
    return gain


@inner_fast
def share_of(gain):
    """Return how far a context is believed against its parent."""
    return 1.0 / (1.0 + np.exp(-min(max(0.5 * gain, -constants.MOST_EVIDENCE), constants.MOST_EVIDENCE)))


@exact_kernel
def order_by_context(contexts, starts, order):
    """Write where each context's rows start # OUT [contexts + 1], and the rows in this order # OUT [n]."""
    starts[:] = 0
    for t in range(contexts.size):
        starts[contexts[t] + 1] += 1
    for c in range(starts.size - 1):
        starts[c + 1] += starts[c]
    places = starts.copy()
    for t in range(contexts.size):
        order[places[contexts[t]]] = t
        places[contexts[t]] += 1


@inner_fast
def first_level(levels, rows, mixing):
    """Return the first level at which contexts are solved, in a tree of so many levels for so many rows.

    Where nobody looks at what the upper levels predict, those are skipped whose contexts have ample rows: the
    root is as good a start for them. So work grows with the rows, and not with the levels as well.
    """
    level = min(levels, (levels - 1) % constants.LEVEL_STEP + 1)
    while not mixing and level + constants.LEVEL_STEP <= levels:
        if rows >> (level + constants.LEVEL_STEP) < constants.AMPLE_ROWS:
            break
        level += constants.LEVEL_STEP
    return level
