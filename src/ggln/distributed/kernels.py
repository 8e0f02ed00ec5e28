"""Compiled work on the rows of a partition, and on sums. Everything about a context is from `contexts`."""

import numpy as np

from ggln.engine.jit import exact_kernel, fast_kernel, inner_fast
from ggln.engine.newton.contexts import (
    add_up,
    differentiate,
    factorise,
    gain_over_parent,
    invert_factor,
    leave_out,
    objective,
    share_of,
    solve_inverted,
)
from ggln.engine.newton.gates import is_inside
from ggln.engine.newton.neurons.protocol import loss

# Rows of contexts --------------------------------------------------------------------------------------


@inner_fast
def count_densities(kind, rows, start, stop, centre, work):
    """Write the weights of rows that are a density at the centre, 0 for others, into work.counted # OUT."""
    add_up(rows.inputs, centre, start, stop, work.totals)
    for t in range(start, stop):
        weight = rows.weights[t]
        there = weight > 0.0 and loss(kind, work.totals, t, rows.targets, t) < np.inf
        work.counted[t] = weight if there else 0.0


@inner_fast
def pack(matrix, line):
    """Write the lower triangle of a matrix [.., ..] into a line # OUT [m (m + 1) / 2]."""
    place, j = 0, 0
    while place < line.size:
        for k in range(j + 1):
            line[place + k] = matrix[j, k]
        place, j = place + j + 1, j + 1


@inner_fast
def unpack(line, matrix):
    """Write what `pack` wrote into the lower triangle of a matrix # OUT."""
    place, j = 0, 0
    while place < line.size:
        for k in range(j + 1):
            matrix[j, k] = line[place + k]
        place, j = place + j + 1, j + 1


@fast_kernel
def add_losses(kind, rows, starts, stops, centres, trials, nothing, work, values, gradients, hessians):
    """Write the losses of contexts # OUT [B], their gradients # OUT [B, m] and Hessians # OUT [B, triangle].

    rows: in the order of contexts, of which b has starts[b] to stops[b]; centres, trials: [B, M], weights
    where rows have to be a density, and where the sums are taken; nothing: [m], zeros, for no pull.
    """
    for b in range(starts.size):
        start, stop = starts[b], stops[b]
        count_densities(kind, rows, start, stop, centres[b], work)
        add_up(rows.inputs, trials[b], start, stop, work.totals)
        values[b] = objective(
            kind, rows, work.counted, work.totals, start, stop, trials[b], centres[b], nothing
        )
        differentiate(kind, rows, start, stop, trials[b], centres[b], nothing, work)
        for j in range(nothing.size):
            gradients[b, j] = work.gradient[j]
        pack(work.hessian, hessians[b])


@fast_kernel
def leave_contexts(kind, rows, starts, stops, centres, weights, inverses, size, work, left, widths):
    """Write what contexts of these weights [B, M] predict of their rows left out # OUT [n, Q], [n].

    inverses: [B, triangle], V with V V' the inverse of a context's Hessian.
    """
    for b in range(starts.size):
        count_densities(kind, rows, starts[b], stops[b], centres[b], work)
        add_up(rows.inputs, weights[b], starts[b], stops[b], work.totals)
        unpack(inverses[b], work.inverse)
        leave_out(kind, rows, starts[b], stops[b], size, work, left, widths)


@fast_kernel
def add_gains(kind, rows, starts, stops, above, wide, left, widths, gains):
    """Write by how much contexts are better than their parents # OUT [B]."""
    scratch = np.empty((1, left.shape[1]))
    for b in range(starts.size):
        gains[b] = gain_over_parent(kind, rows, starts[b], stops[b], above, wide, left, widths, scratch)


# Sums of contexts --------------------------------------------------------------------------------------


@fast_kernel
def find_steps(hessians, gradients, pull, work, inverses, directions, decrements):
    """Write Newton steps # OUT [B, M], what they promise # OUT [B], and inverses # OUT [B, triangle].

    hessians: [B, triangle] and gradients: [B, M], of the losses and of the pull.
    """
    size, right = pull.size, work.moved
    for b in range(decrements.size):
        unpack(hessians[b], work.hessian)
        for j in range(size):
            right[j] = gradients[b, j]
        factorise(work.hessian, size, work.factor, work.shares)
        invert_factor(work.factor, work.shares, size, work.unit, work.inverse)
        decrements[b] = solve_inverted(work.inverse, size, right, work.direction)
        pack(work.inverse, inverses[b])
        for j in range(size):
            directions[b, j] = work.direction[j]


@fast_kernel
def find_shares(gains, shares):
    """Write how far contexts are believed against their parents # OUT [B]."""
    for b in range(gains.size):
        shares[b] = share_of(gains[b])


# Gates -------------------------------------------------------------------------------------------------


@exact_kernel
def pick_values(X, known, order, starts, features, slopes, ranks, first, values):
    """Write the sums of the rows at which half-spaces may end into values # OUT [nodes, C].

    X: [n, d]; known: [k], the network's rows; order, starts: these by nodes; features, slopes: [nodes, C,
    G]; ranks: [nodes, C], of the row among all rows of its node; first: [nodes], how many lie before this
    partition. What lies elsewhere is left as it is.
    """
    for node in range(ranks.shape[0]):
        count = starts[node + 1] - starts[node]
        for c in range(ranks.shape[1]):
            rank = ranks[node, c] - first[node]
            if ranks[node, c] >= 0 and 0 <= rank < count:
                row = known[order[starts[node] + rank]]
                value = 0.0
                for g in range(features.shape[2]):
                    if slopes[node, c, g] != 0.0:
                        value += slopes[node, c, g] * X[row, features[node, c, g]]
                values[node, c] = value


@exact_kernel
def add_sides(X, known, weights, told, order, starts, features, slopes, edges, strides, first, sums):
    """Add weights and residuals of rows outside, inside and without a sum to sums # OUT [nodes, C, 3, 2].

    weights: [k]; told: [k], residuals times these; edges: [nodes, C]; strides: [nodes], of the rows that
    judge, 0 for none; the others as in `pick_values`.
    """
    for node in range(strides.size):
        if strides[node] == 0:
            continue
        begin = (strides[node] - first[node] % strides[node]) % strides[node]
        for i in range(starts[node] + begin, starts[node + 1], strides[node]):
            t = order[i]
            row = known[t]
            for c in range(edges.shape[1]):
                value = 0.0
                for g in range(features.shape[2]):
                    if slopes[node, c, g] != 0.0:
                        value += slopes[node, c, g] * X[row, features[node, c, g]]
                side = 1 if value >= edges[node, c] else 0
                if value != value:
                    side = 2
                sums[node, c, side, 0] += weights[t]
                sums[node, c, side, 1] += told[t]


@exact_kernel
def go_down(X, known, records, neuron, nodes):
    """Replace the nodes of rows # OUT [k] by those below; records: [N, nodes, 8], the gates of this level."""
    for t in range(nodes.size):
        nodes[t] = 2 * nodes[t] + is_inside(records, neuron, nodes[t], X, known[t], True)
