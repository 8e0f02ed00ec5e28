"""Bayesian linear regression, row after row, as a triangle into which rows are turned.

With f a row's inputs [m], prior N(0, I / tau_0) on the coefficients, and R triangular with
R'R = tau_0 I + sum f f', the triangle [R | z], z = R^-T sum f y, is all that is kept. u = R^-T f gives the
mean u.z, and u.u is the leverage: the variance of the mean in units of the noise, one over the rows that
tell about f. A new row is turned into the triangle by Givens rotations; no matrix can lose its positive
definiteness.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core.jit import exact_kernel


@exact_kernel
def substitute(triangle: Any, line: Any, rest: Any, mean: Any) -> Any:
    """Write u.z into `mean` # OUT [D] and return u.u, for u = R^-T f.

    triangle: [m, m + D]; line: [m + D], the inputs f first; rest: [m + D], scratch. The loop subtracts along
    rows of the triangle, which lie in memory as they are read; past the m inputs it gathers -u.z.
    """
    size, length = triangle.shape
    for j in range(size):
        rest[j] = line[j]
    for j in range(size, length):
        rest[j] = 0.0
    leverage = 0.0
    for i in range(size):
        u = rest[i] / triangle[i, i]
        leverage += u * u
        row, tail = triangle[i, i + 1 :], rest[i + 1 :]
        for j in range(row.size):
            tail[j] -= u * row[j]
    for d in range(mean.size):
        mean[d] = -rest[size + d]
    return leverage


@exact_kernel
def rotate(triangle: Any, line: Any) -> None:
    """Turn a row, inputs and targets [m + D] # OUT, into the triangle # OUT by Givens rotations."""
    for i in range(triangle.shape[0]):
        below = line[i]
        if below == 0.0:
            continue
        # views that begin at 0: a loop from i on would not be vectorised, for indices might be negative
        row, tail = triangle[i, i:], line[i:]
        length = np.sqrt(row[0] * row[0] + below * below)
        cosine, sine = row[0] / length, below / length
        for j in range(row.size):
            upper, lower = row[j], tail[j]
            row[j] = cosine * upper + sine * lower
            tail[j] = cosine * lower - sine * upper


def derivatives(
    triangle: NDArray[Any], inputs: NDArray[Any], precisions: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the derivatives by the inputs f of the mean, [m, D], and of the precision, [n, m].

    triangle: [m, m + D]; inputs: [n, m]; precisions: [n], c / (1 + leverage) of the rows.
    """
    upper, right = np.split(triangle, [triangle.shape[0]], axis=1)
    half = np.linalg.solve(upper, np.linalg.solve(upper.T, inputs.T)).T  # (R'R)^-1 f
    leverages = np.einsum("nm,nm->n", inputs, half)
    return np.linalg.solve(upper, right), -2.0 * (precisions / (1.0 + leverages))[:, None] * half
