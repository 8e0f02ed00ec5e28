"""Exact learning of the contexts of one neuron; `reference` is the plain twin of solving and leaving out.

Contexts form a tree, one level for each gate. Down the tree every context minimises the loss of its rows plus
a pull towards its parent's weights, by Newton's method. How far a context is then believed against its parent is
decided by what both predict of its rows when each row is left out: `mix_with_parent`.

Rows of a context lie next to each other (`order_by_context`): level after level they are parts of one table.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.core.jit import exact_kernel, fast_kernel, inner_fast
from ggln.core.newton import constants
from ggln.core.newton.neurons.protocol import damp, derive, expand, loss, stride, width


class Rows(NamedTuple):
    """What a neuron learns from, in the order of its contexts."""

    inputs: Any  # [n, Q, m]
    targets: Any  # [n, D]
    weights: Any  # [n]  how much each row counts


class Work(NamedTuple):
    """Buffers for solving one context after the other."""

    counted: Any  # [n]  the weights of rows, 0 for those that are no density at the centre
    totals: Any  # [n, Q]  with the weights as they are
    trial: Any  # [n, Q]  with the weights of a step
    gradient: Any  # [m]
    matrix: Any  # [m, m]  the Hessian, then its Cholesky factor, in the lower triangle
    inverse: Any  # [m, m]  the factor's inverse
    factors: Any  # [chunk * Q, m]
    direction: Any  # [m]
    moved: Any  # [m]  the weights after a step
    root: Any  # [Q, Q]
    residue: Any  # [Q]
    hat: Any  # [Q, Q]  F H^-1 F' of a row
    products: Any  # [Q, m]
    shift: Any  # [Q]


def make_work(rows: int, planes: int, inputs: int) -> Work:
    """Return buffers for a neuron of so many inputs."""
    square, short = np.empty((inputs, inputs)), np.empty((planes, planes))
    return Work(
        np.empty(rows),
        np.empty((rows, planes)),
        np.empty((rows, planes)),
        np.empty(inputs),
        square,
        square.copy(),
        np.empty((constants.CHUNK_ROWS * planes, inputs)),
        np.empty(inputs),
        np.empty(inputs),
        short,
        np.empty(planes),
        short.copy(),
        np.empty((planes, inputs)),
        np.empty(planes),
    )


@inner_fast
def add_up(rows, weights, start, stop, totals):
    """Write the totals T = sum_j w_j z_j of rows start to stop # OUT."""
    inputs = rows.inputs
    for t in range(start, stop):
        for q in range(inputs.shape[1]):
            total = 0.0
            for j in range(weights.size):
                total += inputs[t, q, j] * weights[j]
            totals[t, q] = total


@inner_fast
def objective(kind, rows, counted, totals, start, stop, weights, centre, pull):
    """sum_i c_i loss_i + 1/2 sum_j pull_j (w_j - centre_j)^2, infinite where a row that counts is no density."""
    value = 0.0
    for t in range(start, stop):
        if counted[t] > 0.0:
            value += counted[t] * loss(kind, totals, t, rows.targets, t)
    for j in range(weights.size):
        value += 0.5 * pull[j] * (weights[j] - centre[j]) ** 2
    return value


@inner_fast
def add_squares(factors, count, matrix):
    """Add the first `count` factors' outer products to the lower triangle of `matrix` # OUT.

    Four at a time, so that each entry is read and written once for four products.
    """
    r, size = 0, matrix.shape[0]
    while r + 4 <= count:
        for j in range(size):
            c0, c1, c2, c3 = factors[r, j], factors[r + 1, j], factors[r + 2, j], factors[r + 3, j]
            for k in range(j + 1):
                matrix[j, k] += (
                    c0 * factors[r, k]
                    + c1 * factors[r + 1, k]
                    + c2 * factors[r + 2, k]
                    + c3 * factors[r + 3, k]
                )
        r += 4
    while r < count:
        for j in range(size):
            c0 = factors[r, j]
            for k in range(j + 1):
                matrix[j, k] += c0 * factors[r, k]
        r += 1


@inner_fast
def differentiate(kind, rows, start, stop, weights, centre, pull, work):
    """Write gradient and Hessian of the objective into work # OUT, from work.totals."""
    gradient, matrix, factors = work.gradient, work.matrix, work.factors
    planes, size = work.root.shape[0], weights.size
    for j in range(size):
        gradient[j] = pull[j] * (weights[j] - centre[j])
        for k in range(j):
            matrix[j, k] = 0.0
        matrix[j, j] = pull[j]
    chunk, filled = factors.shape[0] // planes, 0
    for t in range(start, stop):
        if work.counted[t] > 0.0:
            derive(kind, work.totals, t, rows.targets, t, work.root, work.residue)
            scale = np.sqrt(work.counted[t])
            expand(
                kind, work.root, work.residue, rows.inputs, t, size, scale, filled * planes, factors, gradient
            )
            filled += 1
        if filled == chunk or (t + 1 == stop and filled > 0):
            add_squares(factors, filled * planes, matrix)
            filled = 0


@inner_fast
def factorise(matrix):
    """Turn the lower triangle of a positive definite matrix # OUT into its Cholesky factor."""
    size = matrix.shape[0]
    for j in range(size):
        for k in range(j):
            value = matrix[j, k]
            for l in range(k):
                value -= matrix[j, l] * matrix[k, l]
            matrix[j, k] = value / matrix[k, k]
        value = matrix[j, j]
        for l in range(j):
            value -= matrix[j, l] * matrix[j, l]
        matrix[j, j] = np.sqrt(max(value, constants.LEAST_CURVATURE))


@inner_fast
def solve_factorised(factor, right, solution):
    """Write H^-1 right # OUT, with the Cholesky factor of H."""
    size = right.size
    for j in range(size):
        value = right[j]
        for k in range(j):
            value -= factor[j, k] * solution[k]
        solution[j] = value / factor[j, j]
    for back in range(size):
        j = size - 1 - back
        value = solution[j] / factor[j, j]
        solution[j] = value
        for k in range(j):
            solution[k] -= factor[j, k] * value


@inner_fast
def invert_factor(factor, inverse):
    """Write the inverse of a lower triangle # OUT."""
    size = factor.shape[0]
    for j in range(size):
        for k in range(j):
            inverse[j, k] = 0.0
        for l in range(j):
            value = factor[j, l]
            for k in range(l + 1):
                inverse[j, k] -= value * inverse[l, k]
        scale = 1.0 / factor[j, j]
        for k in range(j):
            inverse[j, k] *= scale
        inverse[j, j] = scale


@inner_fast
def solve(kind, rows, start, stop, centre, pull, iterations, settled, weights, work):
    """Write the weights # OUT that solve one context; work has the Cholesky factor of the Hessian there.

    Rows whose product is no density at the centre are left aside (`work.counted`), as rows of weight 0 are.
    """
    size = weights.size
    for j in range(size):
        weights[j] = centre[j]
    add_up(rows, weights, start, stop, work.totals)
    for t in range(start, stop):
        dense = rows.weights[t] > 0.0 and loss(kind, work.totals, t, rows.targets, t) < np.inf
        work.counted[t] = rows.weights[t] if dense else 0.0
    value = objective(kind, rows, work.counted, work.totals, start, stop, weights, centre, pull)
    for _ in range(iterations):
        differentiate(kind, rows, start, stop, weights, centre, pull, work)
        factorise(work.matrix)
        solve_factorised(work.matrix, work.gradient, work.direction)
        decrement = 0.0
        for j in range(size):
            decrement += work.gradient[j] * work.direction[j]
        if decrement <= settled * (stop - start):
            return
        length, found = 1.0, False
        for _ in range(constants.HALVINGS):
            for j in range(size):
                work.moved[j] = weights[j] - length * work.direction[j]
            add_up(rows, work.moved, start, stop, work.trial)
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
    factorise(work.matrix)


@inner_fast
def solve_shifted(hat, weight, residue, shift):
    """Write c (I - c S)^-1 S r # OUT, with S = hat, the pivots of I - c S taken as at least LEAST_PIVOT."""
    size = residue.size
    for i in range(size):
        shift[i] = 0.0
        for k in range(size):
            shift[i] += weight * hat[i, k] * residue[k]
    for i in range(size):  # elimination: hat becomes I - c S, in the lower triangle
        for k in range(i + 1):
            hat[i, k] = (1.0 if i == k else 0.0) - weight * hat[i, k]
    for k in range(size):
        pivot = max(hat[k, k], constants.LEAST_PIVOT)
        hat[k, k] = pivot
        for i in range(k + 1, size):
            ratio = hat[i, k] / pivot
            for l in range(k + 1, i + 1):
                hat[i, l] -= ratio * hat[l, k]
            shift[i] -= ratio * shift[k]
    for back in range(size):
        i = size - 1 - back
        value = shift[i]
        for k in range(i + 1, size):
            value -= hat[k, i] * shift[k]
        shift[i] = value / hat[i, i]


@inner_fast
def write_hat(inverse, factors, products, hat):
    """Write S = F H^-1 F' # OUT [Q, Q], as (T F')'(T F') with the inverse T of the Cholesky factor of H.

    factors: F, the first Q lines; products: T F' # OUT [Q, m].
    """
    planes, size = products.shape
    if planes == 2:  # one output, most of all learning: both lines share the loads of T
        first, second, both = 0.0, 0.0, 0.0
        for j in range(size):
            u, v = 0.0, 0.0
            for k in range(j + 1):
                u += inverse[j, k] * factors[0, k]
                v += inverse[j, k] * factors[1, k]
            first += u * u
            second += v * v
            both += u * v
        hat[0, 0], hat[1, 1], hat[0, 1], hat[1, 0] = first, second, both, both
        return
    for i in range(planes):
        for j in range(size):
            value = 0.0
            for k in range(j + 1):
                value += inverse[j, k] * factors[i, k]
            products[i, j] = value
        for k in range(i + 1):
            value = 0.0
            for j in range(size):
                value += products[i, j] * products[k, j]
            hat[i, k] = value
            hat[k, i] = value


@inner_fast
def leave_out(kind, rows, start, stop, work, left, widths):
    """Write the totals each row would have had without itself, left # OUT [n, Q], and widths # OUT [n].

    In the coordinates of the factors, F (H - c F'F)^-1 c F'r = c (I - c S)^-1 S r with S = F H^-1 F'.
    """
    planes, size = work.root.shape[0], work.inverse.shape[0]
    factors, inverse = work.factors, work.inverse
    for t in range(start, stop):
        for q in range(planes):
            left[t, q] = work.totals[t, q]
        widths[t] = 1.0
        if not loss(kind, work.totals, t, rows.targets, t) < np.inf:
            continue
        derive(kind, work.totals, t, rows.targets, t, work.root, work.residue)
        expand(kind, work.root, work.residue, rows.inputs, t, size, 1.0, 0, factors, work.direction)
        write_hat(inverse, factors, work.products, work.hat)
        weight = work.counted[t]
        own = width(kind, work.hat, work.root)
        told = 0.0
        for i in range(planes):
            told = max(told, work.hat[i, i])
        widths[t] = own / max(1.0 - weight * told, constants.LEAST_LEFT)
        if weight > 0.0:
            solve_shifted(work.hat, weight, work.residue, work.shift)
            for i in range(planes):  # back from factors to planes: A^-1 shift
                value = work.shift[i]
                for k in range(i):
                    value -= work.root[i, k] * work.residue[k]
                work.residue[i] = value / work.root[i, i]
            step = stride(kind, work.totals, t, work.residue)
            for q in range(planes):
                left[t, q] += step * work.residue[q]


@inner_fast
def damped_loss(kind, totals, t, variance, targets, scratch):
    """Loss of a prediction whose mean is as uncertain as `variance` says. scratch: [1, Q]."""
    factor = damp(kind, variance)
    for q in range(totals.shape[1]):
        scratch[0, q] = factor * totals[t, q]
    return loss(kind, scratch, 0, targets, t)


@inner_fast
def mix_with_parent(kind, rows, start, stop, parent, weights, above, wide, left, widths, scratch):
    """Draw weights # OUT towards the parent's, as far as left-out losses ask; return the share of its own.

    above, wide: what the parent predicts of the rows, left out # OUT, mixed with the context's left, widths.
    """
    gain = 0.0
    for t in range(start, stop):
        if rows.weights[t] > 0.0:
            own = damped_loss(kind, left, t, widths[t], rows.targets, scratch)
            before = damped_loss(kind, above, t, wide[t], rows.targets, scratch)
            if own < np.inf and before < np.inf:
                gain += rows.weights[t] * (before - own)
    share = 1.0 / (1.0 + np.exp(-min(max(0.5 * gain, -constants.MOST_EVIDENCE), constants.MOST_EVIDENCE)))
    for j in range(weights.size):
        weights[j] = parent[j] + share * (weights[j] - parent[j])
    for t in range(start, stop):
        wide[t] += share * (widths[t] - wide[t])
        for q in range(left.shape[1]):
            above[t, q] += share * (left[t, q] - above[t, q])
    return share


@fast_kernel
def solve_root(kind, rows, centre, pull, weights, work, left, widths):
    """Solve all rows together, from weights # OUT far away; also what it predicts of each row left out # OUT."""
    stop = rows.weights.size
    solve(kind, rows, 0, stop, centre, pull, constants.ROOT_ITERATIONS, constants.ROOT_SETTLED, weights, work)
    invert_factor(work.matrix, work.inverse)
    leave_out(kind, rows, 0, stop, work, left, widths)


@exact_kernel
def order_by_context(contexts, starts, order):
    """Write where each context's rows start, starts # OUT [contexts + 1], and the rows in this order # OUT [n]."""
    starts[:] = 0
    for t in range(contexts.size):
        starts[contexts[t] + 1] += 1
    for c in range(starts.size - 1):
        starts[c + 1] += starts[c]
    places = starts.copy()
    for t in range(contexts.size):
        order[places[contexts[t]]] = t
        places[contexts[t]] += 1


@fast_kernel
def solve_tree(kind, rows, starts, root, pull, work, above, wide, left, widths, tables, curvatures, spread):
    """Solve the contexts of one neuron level after level.

    rows, above, wide: in the order of contexts; above # OUT [n, Q] and wide # OUT [n] come as the root's
    predictions and leave as the neuron's, of each row left out. tables: [contexts, m] # OUT, the weights;
    curvatures: [contexts, m(m+1)/2] # OUT, the Hessians' lower triangles; spread: [contexts] # OUT, the mean
    width of each context's rows.
    """
    contexts, size = tables.shape
    levels = 0
    while 1 << levels < contexts:
        levels += 1
    parents, children, scratch = (
        np.empty((contexts, size)),
        np.empty((contexts, size)),
        np.empty((1, left.shape[1])),
    )
    parents[0] = root
    for level in range(levels + 1):
        last = level == levels
        if level == 0 and levels > 0:
            continue
        for c in range(1 << level):
            start, stop = starts[c << (levels - level)], starts[(c + 1) << (levels - level)]
            parent = parents[c >> 1] if level > 0 else root
            weights = children[c]
            if start == stop:
                weights[:] = parent
            else:
                solve(
                    kind,
                    rows,
                    start,
                    stop,
                    parent,
                    pull,
                    constants.ITERATIONS,
                    constants.SETTLED,
                    weights,
                    work,
                )
                invert_factor(work.matrix, work.inverse)
                leave_out(kind, rows, start, stop, work, left, widths)
                mix_with_parent(kind, rows, start, stop, parent, weights, above, wide, left, widths, scratch)
            if last:
                tables[c] = weights
                keep_curvature(work.matrix, pull, start == stop, curvatures[c])
                spread[c] = mean_width(rows.weights, wide, start, stop)
        parents, children = children, parents


@inner_fast
def keep_curvature(factor, pull, empty, packed):
    """Write the lower triangle of H = C C' # OUT; of a context without rows it is the pull alone."""
    place = 0
    for j in range(pull.size):
        for k in range(j + 1):
            value = 0.0
            if empty:
                value = pull[j] if j == k else 0.0
            else:
                for l in range(k + 1):
                    value += factor[j, l] * factor[k, l]
            packed[place] = value
            place += 1


@inner_fast
def mean_width(counts, wide, start, stop):
    """Mean width of the rows start to stop, which is 1 without any, and make it the width of each # OUT."""
    total, count = 1.0, 1.0
    for t in range(start, stop):
        total += counts[t] * wide[t]
        count += counts[t]
    for t in range(start, stop):
        wide[t] = total / count
    return total / count
