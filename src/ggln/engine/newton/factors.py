"""Triangular factors and sums of products, by kernels of our own that round alike whatever surrounds them.

A BLAS may cut its loops by the number of its threads, and holds Python's lock where SciPy calls it. These
kernels do neither, and are as fast as OpenBLAS on one core (30 to 50 GFlop/s), since four lines take in four
others at a time. Each number is a chain of fused multiply-adds in one order, so that it does not matter which
lines are taken together.

Matrices hold their lower triangle; what is above the diagonal is never read.
"""

from typing import Any

import numpy as np

from ggln.engine.jit import fused_multiply_add, inner_exact

PANEL = 32
"""Columns that are factorised before they are taken off the others."""


@inner_exact
def add_to_line(line: Any, left: Any, right: Any, first: Any, sign: Any) -> None:
    """Add sign * left [k] @ right[:, first:] [k, w] to a line # OUT [w]."""
    for k in range(left.size):
        factor, other = sign * left[k], right[k, first : first + line.size]
        for j in range(line.size):
            line[j] = fused_multiply_add(factor, other[j], line[j])


@inner_exact
def add_to_lines(
    target: Any, top: Any, lines: Any, start: Any, stop: Any, left: Any, begin: Any, end: Any, right: Any,
    first: Any, sign: Any,
) -> None:  # fmt: skip
    """Add sign * left[i, begin:end] @ right[:, first:] to target[i, start:stop] # OUT for up to four lines i.

    i: top, ..., top + lines - 1; left: [.., >= end]; right: [>= end - begin, >= first + stop - start].
    """
    fma, done = fused_multiply_add, begin
    if lines == 4:
        a, b = target[top, start:stop], target[top + 1, start:stop]
        c, d = target[top + 2, start:stop], target[top + 3, start:stop]
        done = end - (end - begin) % 4
        for k in range(begin, done, 4):
            a0, a1, a2, a3 = left[top, k], left[top, k + 1], left[top, k + 2], left[top, k + 3]
            b0, b1, b2, b3 = (
                left[top + 1, k],
                left[top + 1, k + 1],
                left[top + 1, k + 2],
                left[top + 1, k + 3],
            )
            c0, c1, c2, c3 = (
                left[top + 2, k],
                left[top + 2, k + 1],
                left[top + 2, k + 2],
                left[top + 2, k + 3],
            )
            d0, d1, d2, d3 = (
                left[top + 3, k],
                left[top + 3, k + 1],
                left[top + 3, k + 2],
                left[top + 3, k + 3],
            )
            a0, a1, a2, a3 = sign * a0, sign * a1, sign * a2, sign * a3
            b0, b1, b2, b3 = sign * b0, sign * b1, sign * b2, sign * b3
            c0, c1, c2, c3 = sign * c0, sign * c1, sign * c2, sign * c3
            d0, d1, d2, d3 = sign * d0, sign * d1, sign * d2, sign * d3
            p, q = right[k - begin, first : first + a.size], right[k - begin + 1, first : first + a.size]
            r, s = right[k - begin + 2, first : first + a.size], right[k - begin + 3, first : first + a.size]
            for j in range(a.size):
                p0, p1, p2, p3 = p[j], q[j], r[j], s[j]
                a[j] = fma(a3, p3, fma(a2, p2, fma(a1, p1, fma(a0, p0, a[j]))))
                b[j] = fma(b3, p3, fma(b2, p2, fma(b1, p1, fma(b0, p0, b[j]))))
                c[j] = fma(c3, p3, fma(c2, p2, fma(c1, p1, fma(c0, p0, c[j]))))
                d[j] = fma(d3, p3, fma(d2, p2, fma(d1, p1, fma(d0, p0, d[j]))))
    for i in range(top, top + lines):
        add_to_line(target[i, start:stop], left[i, done:end], right[done - begin :], first, sign)


@inner_exact
def add_gram(target: Any, left: Any, right: Any) -> None:
    """Add left [r, k] @ right [k, m] to target # OUT [r, m], r >= m, up to the diagonal or a bit beyond."""
    rows, size = target.shape
    for i in range(0, rows, 4):
        lines = min(4, rows - i)
        add_to_lines(target, i, lines, 0, min(i + lines, size), left, 0, left.shape[1], right, 0, 1.0)


@inner_exact
def solve_lower(factor: Any, lines: Any) -> None:
    """Replace the first m lines # OUT [>= m, w] by factor^-1 lines, factor [>= m, m]."""
    size = factor.shape[1]
    for i in range(0, size, 4):
        count = min(4, size - i)
        add_to_lines(lines, i, count, 0, lines.shape[1], factor, 0, i, lines, 0, -1.0)
        for k in range(i, i + count):
            add_to_line(lines[k], factor[k, i:k], lines[i:], 0, -1.0)
            line, scale = lines[k], 1.0 / factor[k, k]
            for j in range(line.size):
                line[j] *= scale


@inner_exact
def solve_upper(factor: Any, lines: Any) -> None:
    """Replace the first m numbers of each line # OUT [D, >= m] by factor'^-1 line, factor [>= m, m]."""
    for d in range(lines.shape[0]):
        for i in range(factor.shape[1] - 1, -1, -1):
            known = lines[d, i] / factor[i, i]
            lines[d, i] = known
            before, line = lines[d, :i], factor[i, :i]
            for j in range(before.size):
                before[j] = fused_multiply_add(-known, line[j], before[j])


@inner_exact
def factorise(matrix: Any) -> Any:
    """Replace the lower triangle of matrix # OUT [r, m], r >= m, by its Cholesky factor R; False without one.

    Lines past the m-th, z, become R^-1 z. Each panel of columns is copied as lines, so that all loops are
    along them.
    """
    rows, size = matrix.shape
    panel = np.empty((PANEL, rows))
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        for i in range(first, rows):
            for k in range(first, min(last, i + 1)):
                panel[k - first, i] = matrix[i, k]
        for k in range(first, last):
            column = panel[k - first, k:]
            for before in range(k - first):
                earlier = panel[before, k:]
                factor = -earlier[0]
                for j in range(column.size):
                    column[j] = fused_multiply_add(factor, earlier[j], column[j])
            if not column[0] > 0.0:
                return False
            scale = 1.0 / np.sqrt(column[0])
            for j in range(column.size):
                column[j] *= scale
        for i in range(first, rows):
            for k in range(first, min(last, i + 1)):
                matrix[i, k] = panel[k - first, i]
        for i in range(last, rows, 4):
            lines = min(4, rows - i)
            add_to_lines(matrix, i, lines, last, min(i + lines, size), matrix, first, last, panel, last, -1.0)
    return True
