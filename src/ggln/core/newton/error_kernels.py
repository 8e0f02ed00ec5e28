"""How errors of several outputs are followed row by row."""

from typing import Any

import numpy as np

from ggln.core.jit import exact_kernel, inner_exact


@inner_exact
def distance(scatter: Any, errors: Any, t: int, factor: Any, white: Any) -> float:
    """Return z' S^-1 z of row t, by a Cholesky factor of S # OUT [D, D]; white # OUT [D]."""
    total = 0.0
    for i in range(white.size):
        value = errors[t, i]
        for k in range(i + 1):
            entry = scatter[i, k]
            for j in range(k):
                entry -= factor[i, j] * factor[k, j]
            factor[i, k] = entry / factor[k, k] if k < i else np.sqrt(entry)
            if k < i:
                value -= factor[i, k] * white[k]
        white[i] = value / factor[i, i]
        total += white[i] * white[i]
    return total


@exact_kernel
def follow_errors(
    errors: Any,
    weights: Any,
    spreads: Any,
    shares: Any,
    scatter: Any,
    seen: float,
    history: Any,
    scatters: Any,
) -> float:
    """Let shares # OUT [k] and S # OUT [D, D] follow errors [n, D] row by row; return the weight of all rows.

    history, scatters: what both were before each row # OUT [n, ..], or without rows; seen: the weight before.
    """
    outputs = errors.shape[1]
    factor, white, logs = np.zeros((outputs, outputs)), np.empty(outputs), np.empty(spreads.size)
    for t in range(errors.shape[0]):
        if history.shape[0] > 0:
            history[t] = shares
            scatters[t] = scatter
        if not weights[t] > 0.0:
            continue
        quadratic, top, total, wide = distance(scatter, errors, t, factor, white), -np.inf, 0.0, 0.0
        for k in range(spreads.size):
            logs[k] = np.log(shares[k]) - 0.5 * (outputs * np.log(spreads[k]) + quadratic / spreads[k])
            top = max(top, logs[k])
        for k in range(spreads.size):
            logs[k] = np.exp(logs[k] - top)
            total += logs[k]
        seen += weights[t]
        pace = weights[t] / seen
        for k in range(spreads.size):
            shares[k] += pace * (logs[k] / total - shares[k])
            wide += logs[k] / total / spreads[k]
        for i in range(outputs):
            for k in range(outputs):
                scatter[i, k] += pace * (wide * errors[t, i] * errors[t, k] - scatter[i, k])
    return seen
