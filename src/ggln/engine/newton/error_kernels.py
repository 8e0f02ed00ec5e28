"""How levels of targets are found, and how those of several outputs are followed row by row."""

import math
from typing import Any

import numpy as np

from ggln.engine.jit import exact_kernel, inner_exact


@exact_kernel
def find_levels(goals: Any, weights: Any, means: Any, deviations: Any, levels: Any) -> None:
    """Write the mass of mixtures [n, P] below and above targets [n], levels [2, n] # OUT."""
    for t in range(goals.size):
        below, above = 0.0, 0.0
        for j in range(means.shape[1]):
            z = (goals[t] - means[t, j]) / (deviations[t, j] * math.sqrt(2.0))
            below += weights[t, j] * 0.5 * math.erfc(-z)
            above += weights[t, j] * 0.5 * math.erfc(z)
        levels[0, t], levels[1, t] = below, above


@inner_exact
def factorise(scatter: Any, factor: Any) -> float:
    """Write the Cholesky factor # OUT [D, D] of the correlations of S; return its log determinant."""
    determinant = 0.0
    for i in range(scatter.shape[0]):
        for k in range(i + 1):
            entry = scatter[i, k] / math.sqrt(scatter[i, i] * scatter[k, k]) if k < i else 1.0
            for j in range(k):
                entry -= factor[i, j] * factor[k, j]
            factor[i, k] = entry / factor[k, k] if k < i else math.sqrt(entry)
        determinant += math.log(factor[i, i])
    return determinant


@inner_exact
def distance(scores: Any, factor: Any, white: Any) -> float:
    """Return z' R^-1 z, R = L L'; white # OUT [D]."""
    total = 0.0
    for i in range(white.size):
        value = scores[i]
        for k in range(i):
            value -= factor[i, k] * white[k]
        white[i] = value / factor[i, i]
        total += white[i] * white[i]
    return total


@inner_exact
def log_copula(scores: Any, squares: float, determinant: float, freedom: float, constant: float) -> Any:
    """As `ggln.engine.student.log_copula`, for one row."""
    outputs, alone = scores.size, 0.0
    if math.isinf(freedom):
        for i in range(outputs):
            alone += scores[i] * scores[i]
        return 0.5 * (alone - squares) - determinant
    for i in range(outputs):
        alone += math.log1p(scores[i] * scores[i] / freedom)
    half = 0.5 * freedom
    joint = (half + 0.5 * outputs) * math.log1p(squares / freedom)
    return constant - determinant - joint + (half + 0.5) * alone


@exact_kernel
def follow_copulas(
    scores: Any,
    weights: Any,
    freedoms: Any,
    constants: Any,
    scatters: Any,
    evidence: Any,
    seen: float,
    chosen: Any,
    joined: Any,
) -> float:
    """Let scatters # OUT [V, D, D] and evidence # OUT [V] follow rows; return the weight of all rows.

    scores: [V, n, D]; weights: [n]; freedoms, constants: [V]; seen: the weight before. chosen [n] and joined
    [n, D, D] # OUT, or without rows: the likeliest degrees of freedom before each row, and correlations.
    """
    kinds, rows, outputs = scores.shape
    factor, white = np.zeros((outputs, outputs)), np.empty(outputs)
    for t in range(rows):
        if chosen.size > 0:
            best = 0
            for v in range(kinds):
                if evidence[v] > evidence[best]:
                    best = v
            chosen[t] = freedoms[best]
            for i in range(outputs):
                for k in range(outputs):
                    size = math.sqrt(scatters[best, i, i] * scatters[best, k, k])
                    joined[t, i, k] = scatters[best, i, k] / size if i != k else 1.0
        if not weights[t] > 0.0:
            continue
        seen += weights[t]
        pace = weights[t] / seen
        for v in range(kinds):
            determinant = factorise(scatters[v], factor)
            squares = distance(scores[v, t], factor, white)
            height = log_copula(scores[v, t], squares, determinant, freedoms[v], constants[v])
            evidence[v] += weights[t] * height
            part = 1.0
            if not math.isinf(freedoms[v]):
                part = (freedoms[v] + outputs) / (freedoms[v] + squares)
            for i in range(outputs):
                for k in range(outputs):
                    product = part * scores[v, t, i] * scores[v, t, k]
                    scatters[v, i, k] += pace * (product - scatters[v, i, k])
    return seen
