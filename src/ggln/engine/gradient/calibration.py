"""Calibration on rows that were left out: how wide the predictions should be, and whom to believe.

Networks that see rows many times grow too sure of them, and those with many contexts most of all. Each
kind of network (a context dimension) gets a share in the mixture and a factor on its variances, its
spread, that make the rows which its networks did not see as likely as possible.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SPREADS = np.concatenate([np.geomspace(2.0**-8, 0.25, 12, endpoint=False), np.geomspace(0.25, 32.0, 29)])
"""Factors on the variances that are tried: steps of 19 %, finer than a few hundred rows can tell apart. The
small ones, in wider steps, are for targets so exact that all variances lie at their lower limit."""
ROUNDS, STEPS = 6, 30
"""Rounds over the spreads, and steps towards the best shares in each: more do not move the result."""
LEAST_LEFT = 0.25
"""Averaging fifteen networks could leave a fifteenth of the variance, had they no noise and no bias in
common; less than this is not believed."""
NEGLIGIBLE = 1e-9
"""Neurons with less weight than this do not enter the scores."""


def log_densities(outputs: NDArray[Any], weights: FloatArray, targets: FloatArray) -> FloatArray:
    """Return a network's log-density of each row for every spread, [spreads, n].

    outputs: [n, N, P], each neuron's mean and then its precision: a number, a diagonal, or a matrix; weights:
    [N]; targets: [n, D].
    """
    believed = weights > NEGLIGIBLE * weights.max()
    values, log_weights = outputs[:, believed].astype(np.float64), np.log(weights[believed])
    size = targets.shape[1]
    residuals, precisions = targets[:, None] - values[..., :size], values[..., size:]
    if precisions.shape[-1] == size * size and size > 1:
        matrices = precisions.reshape(*precisions.shape[:-1], size, size)
        distances = np.einsum("nki,nkij,nkj->nk", residuals, matrices, residuals)
        log_determinants = np.linalg.slogdet(matrices)[1]
    else:
        distances = (precisions * residuals**2).sum(axis=-1)
        log_determinants = np.log(np.broadcast_to(precisions, residuals.shape)).sum(axis=-1)
    heights = log_weights + 0.5 * log_determinants - 0.5 * size * np.log(2 * np.pi)
    return np.array(
        [log_sum(heights - 0.5 * distances / spread, 1) - 0.5 * size * np.log(spread) for spread in SPREADS]
    )


def left_of_variance(means: FloatArray, variances: FloatArray, shares: FloatArray) -> float:
    """Return the factor on the networks' variances that is right for all of them together.

    means, variances: [E, n, D] of each network alone, as it was calibrated; shares: [E].

    Let f_e be the networks' predictions, f their mean, and A = sum share |f_e - f|^2, their ambiguity. For
    any target, |y - f|^2 = sum share |y - f_e|^2 - A (Krogh and Vedelsby 1995). So the mean errs with the
    networks' own variance V less A; but the mixture would have V plus A. Widths are right if
    V x factor + A = V - A. No target is needed, so that rows which were learnt will do.
    """
    distances = ((means - np.tensordot(shares, means, 1)) ** 2).sum(axis=2)
    ambiguity = shares @ distances
    within = np.tensordot(shares, variances, 1).sum(axis=1)
    left = 1.0 - np.mean(2.0 * ambiguity / within)
    return float(max(left, LEAST_LEFT))


def log_sum(values: FloatArray, axis: int) -> FloatArray:
    """Return the logarithm of the sum of exponentials."""
    most = values.max(axis=axis, keepdims=True)
    total: FloatArray = np.log(np.exp(values - most).sum(axis=axis)) + np.squeeze(most, axis)
    return total


def calibrate(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each kind's share and spread.

    scores: [kinds, spreads, n], log-densities of rows that were left out. Shares and spreads take turns in
    making the mixture of all kinds most likely; each share counts one row more than the data say, so that few
    rows cannot rule a kind out.
    """
    kinds, _, rows = scores.shape
    shares = np.full(kinds, 1.0 / kinds)
    chosen = scores.mean(axis=2).argmax(axis=1)
    for _ in range(ROUNDS):
        current = scores[np.arange(kinds), chosen] + np.log(shares)[:, None]
        for kind in range(kinds):
            others = np.delete(current, kind, axis=0)
            candidates = scores[kind] + np.log(shares[kind])
            if kinds > 1:
                candidates = np.logaddexp(candidates, log_sum(others, 0))
            chosen[kind] = candidates.mean(axis=1).argmax()
            current[kind] = scores[kind, chosen[kind]] + np.log(shares[kind])
        for _ in range(STEPS):
            current = scores[np.arange(kinds), chosen] + np.log(shares)[:, None]
            counts = np.exp(current - log_sum(current, 0)).sum(axis=1)
            shares = (counts + 1.0) / (rows + kinds)
    return shares, SPREADS[chosen]
