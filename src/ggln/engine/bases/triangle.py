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

from ggln.engine.jit import exact_kernel


@exact_kernel
def sweep(triangle: Any, lines: Any, rests: Any, leverages: Any, rows: Any, learning: Any) -> None:
    """Let the first `rows` rows pass the triangle # OUT, each after the one before it is learnt, if any is.

    triangle: [m, m + D]; lines: [T, m + D], inputs f, then targets, overwritten if rows are learnt; rests:
    [T, m + D] # OUT, past the m inputs -u.z, minus the means; leverages: [T] # OUT, u.u. A row that has
    passed one line of the triangle is done with it, so that all rows pass a line, then the next: to the last
    bit the same as row after row, and the triangle is fetched from memory once for all.
    """
    size, length = triangle.shape
    for t in range(rows):
        leverages[t] = 0.0
        for j in range(length):
            rests[t, j] = lines[t, j] if j < size else 0.0
    for i in range(size):
        # views that begin at 0: a loop from i on would not be vectorised, for indices might be negative
        line = triangle[i, i:]
        for t in range(rows):
            rest, corner = rests[t, i:], line[0]
            u = rest[0] / corner
            leverages[t] += u * u
            if learning:
                tail = lines[t, i:]
                below = tail[0]
                radius = np.sqrt(corner * corner + below * below)
                cosine, sine = corner / radius, below / radius
                for j in range(line.size):
                    upper, lower = line[j], tail[j]
                    rest[j] -= u * upper
                    line[j] = cosine * upper + sine * lower
                    tail[j] = cosine * lower - sine * upper
            else:
                for j in range(line.size):
                    rest[j] -= u * line[j]


@exact_kernel
def follow_wave(
    triangle: Any,
    noise: Any,
    lines: Any,
    rests: Any,
    leverages: Any,
    learning: Any,
    least: Any,
    means: Any,
    precisions: Any,
) -> None:
    """Predict rows with the noise that was seen so far, each before it is learnt, if rows are learnt at all.

    noise: [2] # OUT, rows of prior and data, and the sum of their squared errors, per output; least: the
    smallest variance; means: [n, D], precisions: [n] # OUT; all else as in `sweep`, for the first n rows.
    """
    size, rows, outputs = triangle.shape[0], means.shape[0], means.shape[1]
    goals = lines[:rows, size:].copy()
    sweep(triangle, lines, rests, leverages, rows, learning)
    for t in range(rows):
        spread = 1.0 + leverages[t]
        precisions[t] = 1.0 / (max(noise[1] / noise[0], least) * spread)
        for d in range(outputs):
            means[t, d] = -rests[t, size + d]
        if learning:
            for d in range(outputs):
                error = goals[t, d] - means[t, d]
                noise[1] += error * error / (spread * outputs)
            noise[0] += 1.0


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
