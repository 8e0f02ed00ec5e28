"""The contexts of one neuron form a tree, one level for each gate, which is solved from the root down.

At every second level, a context minimises the loss of its rows plus a pull towards the weights of the one
solved above it, its parent. How far it is then believed against its parent is decided by what both predict of
its rows when each row is left out: `mix_with_parent`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import fast_kernel, inner_fast
from ggln.engine.newton import constants
from ggln.engine.newton.contexts import (
    Rows,
    Work,
    first_level,
    gain_over_parent,
    leave_out,
    share_of,
    solve,
)
from ggln.engine.newton.lanes import LANES, padded

FloatArray = NDArray[np.float64]


class Rules(NamedTuple):
    """How contexts learn from each other. All of them are true, but to see what each is worth."""

    towards_parents: Any  # whether a context is pulled towards its parent, or else the root
    left_out: Any  # whether rows go up as predicted without themselves
    mixing: Any  # whether a context is believed only as far as its parent is worse; deep networks do without


@inner_fast
def mix_with_parent(kind, rows, start, stop, parent, weights, above, wide, left, widths, scratch):
    """Draw weights # OUT towards the parent's, as far as left-out losses ask; return the share of its own.

    above, wide: what the parent predicts of the rows, left out # OUT, mixed with the context's left, widths.
    """
    share = share_of(gain_over_parent(kind, rows, start, stop, above, wide, left, widths, scratch))
    for j in range(weights.size):
        weights[j] = parent[j] + share * (weights[j] - parent[j])
    for t in range(start, stop):
        wide[t] += share * (widths[t] - wide[t])
        for q in range(left.shape[1]):
            above[t, q] += share * (left[t, q] - above[t, q])
    return share


@fast_kernel
def solve_tree(
    kind, rows, starts, root, pull, iterations, settled, rules, work, above, wide, left, widths, leaves,
    curvatures, spreads,
):  # fmt: skip
    """Solve the contexts of one neuron, every `constants.LEVEL_STEP` levels down to the leaves.

    rows, above, wide: in the order of contexts; above # OUT [n, Q] and wide # OUT [n] come as the root's
    predictions and leave as the neuron's, of each row left out. leaves: [contexts, M] # OUT, the weights;
    curvatures: [regions, ..] # OUT, what rows add to the Hessians (`add_region`); spreads: [contexts] #
    OUT, the mean width of each context's rows.
    """
    contexts, size, scratch = leaves.shape[0], pull.size, np.empty((1, left.shape[1]))
    levels = 0
    while 1 << levels < contexts:
        levels += 1
    parents, children = np.empty((contexts, root.size)), np.empty((contexts, root.size))
    copy_line(root, parents[0])
    level_above, level = 0, first_level(levels, starts[contexts], rules.mixing)
    while level <= levels:
        below, generation = levels - level, level - level_above
        for c in range(1 << level):
            start, stop = starts[c << below], starts[(c + 1) << below]
            elder = c >> generation
            rows_above = (
                starts[(elder + 1) << (levels - level_above)] - starts[elder << (levels - level_above)]
            )
            parent, weights = parents[elder] if rules.towards_parents else root, children[c]
            copy_line(parents[elder], weights)
            # else the parent has solved just these rows
            cut_off = start < stop and (stop - start < rows_above or level_above == 0)
            last = start < stop and level == levels
            if cut_off or last:
                centre = parent if cut_off else parents[elder]
                most = iterations if cut_off else 0
                solve(kind, rows, start, stop, centre, pull, most, settled, weights, work)
            # without mixing, nobody looks at what the levels above the last one predict
            if cut_off if rules.mixing else last:
                if rules.left_out:
                    leave_out(kind, rows, start, stop, size, work, left, widths)
                else:
                    copy_rows(work.totals, start, stop, left)
                    for t in range(start, stop):
                        widths[t] = 0.0
                if rules.mixing:
                    mix_with_parent(
                        kind, rows, start, stop, parent, weights, above, wide, left, widths, scratch
                    )
                else:
                    copy_rows(left, start, stop, above)
                    for t in range(start, stop):
                        wide[t] = widths[t]
            if level == levels:
                copy_line(weights, leaves[c])
                if start < stop:
                    add_region(work.hessian, pull, curvatures, c * curvatures.shape[0] // contexts)
                spreads[c] = mean_width(rows.weights, wide, start, stop)
        parents, children = children, parents
        level_above, level = level, level + constants.LEVEL_STEP


def solve_root(
    kind: Any, rows: Rows, centre: FloatArray, pull: FloatArray, work: Work
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve all rows together, from weights far away: a tree of one context.

    Return the weights [M], and what they predict of rows left out: totals [n, Q] and widths [n].
    """
    count, planes = rows.inputs.shape[:2]
    left, widths = np.empty((count, planes)), np.empty(count)
    leaves, triangle = np.empty((1, centre.size)), np.zeros((1, sum(padded(j + 1) for j in range(pull.size))))
    solve_tree(
        kind, rows, np.array([0, count]), centre, pull, constants.ROOT_ITERATIONS, constants.ROOT_SETTLED,
        Rules(True, True, False), work, np.empty_like(left), np.empty(count), left, widths, leaves, triangle,
        np.empty(1),
    )  # fmt: skip
    return leaves[0], left, widths


@inner_fast
def copy_line(line, other):
    """Write a line of numbers into another # OUT; to assign arrays takes a second to compile, each time."""
    for j in range(line.size):
        other[j] = line[j]


@inner_fast
def copy_rows(table, start, stop, other):
    """Write rows start to stop of a table into another # OUT."""
    for t in range(start, stop):
        for q in range(table.shape[1]):
            other[t, q] = table[t, q]


@inner_fast
def add_region(hessian, pull, curvatures, region):
    """Add what a context's rows tell, its Hessian less the pull, to curvatures[region] # OUT.

    The lower triangle, line after line of whole vectors.
    """
    place = 0
    for j in range(pull.size):
        for k in range(j - j % LANES + LANES):
            if k <= j:
                curvatures[region, place + k] += hessian[j, k] - (pull[j] if j == k else 0.0)
        place += j - j % LANES + LANES


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
