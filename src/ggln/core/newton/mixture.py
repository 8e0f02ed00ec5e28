"""The mixture that predicts: kinds of predictions, each with several spreads, and shares by evidence.

A kind is what a group of networks, or a regression, says together: one Gaussian for each row. It takes part
once for each of `constants.SPREADS`, a factor on its variance. Shares maximise the likelihood of rows that
a kind had not learnt when it predicted them: expectation maximisation finds the only maximum there is. In a
stream they go on by the same rule, row by row.
"""

import numpy as np
from numpy.typing import NDArray

from ggln.core.jit import exact_kernel
from ggln.core.newton import constants

FloatArray = NDArray[np.float64]
LOG_SPREADS = np.log(constants.SPREADS)


def log_densities(quadratic: FloatArray, log_determinant: FloatArray, outputs: int) -> FloatArray:
    """Return the log density of each component [n, kinds, spreads], without the constant -D/2 log 2 pi.

    quadratic: (y - mu)' P (y - mu) [n, kinds]; log_determinant: log |P| [n, kinds].
    """
    spread = np.asarray(constants.SPREADS)
    found: FloatArray = 0.5 * (
        log_determinant[..., None] - outputs * LOG_SPREADS - quadratic[..., None] / spread
    )
    return found


def equal_shares(kinds: int) -> FloatArray:
    """Return the shares [kinds * spreads] of nobody who is known."""
    count = kinds * len(constants.SPREADS)
    return np.full(count, 1.0 / count)


def find_shares(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the shares [k] that make rows of log densities [n, k] and weights [n] likeliest."""
    shares = np.full(logs.shape[1], 1.0 / logs.shape[1])
    densities = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = constants.SHARE_ROWS / logs.shape[1]
    for _ in range(constants.SHARE_ITERATIONS):
        joint = densities * shares
        shares = weights @ (joint / joint.sum(axis=1, keepdims=True)) + prior
        shares /= shares.sum()
    return shares


def one_spread(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the log densities [n, k] with a single spread for all kinds, the likeliest; others cannot be."""
    spreads = len(constants.SPREADS)
    best = max(range(spreads), key=lambda s: _likelihood(logs[:, s::spreads], weights))
    return np.where(np.arange(logs.shape[1]) % spreads == best, logs, -np.inf)


def _likelihood(logs: FloatArray, weights: FloatArray) -> float:
    """Return the log likelihood of rows with the best shares."""
    shares, top = find_shares(logs, weights), logs.max(axis=1)
    return float(weights @ (top + np.log(np.exp(logs - top[:, None]) @ shares)))


@exact_kernel
def follow_shares(logs, weights, shares, seen, history):
    """Let shares # OUT [k] follow the evidence row by row; history: [n, k] # OUT, what they were before each.

    logs: [n, k]; weights: [n]; seen: the weight of all rows before. Return that of all rows after.
    """
    components = shares.size
    for t in range(logs.shape[0]):
        if history.shape[0] > 0:
            history[t] = shares
        top = -np.inf
        for k in range(components):
            top = max(top, logs[t, k])
        total = 0.0
        for k in range(components):
            total += shares[k] * np.exp(logs[t, k] - top)
        if weights[t] > 0.0 and total > 0.0:
            seen += weights[t]
            pace = weights[t] / seen
            for k in range(components):
                shares[k] += pace * (shares[k] * np.exp(logs[t, k] - top) / total - shares[k])
    return seen
