"""Length scales of a smooth function by maximum posterior likelihood, as those of a Gaussian process.

The covariance is Matern's with nu = 5/2, a length scale for each feature, and noise. Outputs share them;
their amplitudes are put at their best values.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

FloatArray = NDArray[np.float64]

SEARCH_ROWS = 400
"""Rows, a sample, that length scales are sought on: the time grows with the cube of them."""
PRIOR_SPREAD = 1.5
"""Deviation of the prior of log length scales, without which few rows of many features are overfitted."""
LENGTHS, NOISES = (5e-2, 1e3), (1e-5, 1e2)
"""Ranges of length scales, of standardised features, and of noise, relative to the function's variance."""
FIRST_NOISE = 0.1
LEAST_AMPLITUDE = 1e-12
SEARCH_STEPS = 60


def search(X: FloatArray, Y: FloatArray, steps: int = SEARCH_STEPS) -> tuple[FloatArray, float]:
    """Return the likeliest length scales [d] and noise for rows [n, d] and centred targets [n, D]."""
    features = X.shape[1]
    start = np.append(np.full(features, prior_mean(features)), np.log(FIRST_NOISE))
    found = minimize(
        loss_and_gradient,
        start,
        (X, Y),
        method="L-BFGS-B",
        jac=True,
        bounds=[tuple(np.log(LENGTHS))] * features + [tuple(np.log(NOISES))],
        options={"maxiter": steps},
    )
    best = np.exp(found.x)
    return best[:-1], float(best[-1])


def loss_and_gradient(logs: FloatArray, X: FloatArray, Y: FloatArray) -> tuple[float, FloatArray]:
    """Return the negative log posterior, up to a constant, and its gradient.

    logs: of the length scales and the noise [d + 1]; X: [n, d]; Y: [n, D], centred. The best amplitude of an
    output is y' K^-1 y / n, K being the covariance of unit amplitude.
    """
    (rows, outputs), features = Y.shape, X.shape[1]
    *lengths, noise = np.exp(logs)
    scaled = X / lengths
    shapes, changes = shapes_of(scaled)
    factor, _ = cho_factor(with_noise(shapes, noise), lower=True, overwrite_a=True)
    solved = cho_solve((factor, True), Y)
    amplitudes = np.maximum(np.sum(Y * solved, axis=0) / rows, LEAST_AMPLITUDE)
    loss = 0.5 * rows * np.log(amplitudes).sum() + outputs * np.log(np.diag(factor)).sum()
    lower, _ = lapack.dpotri(factor, lower=True)
    inverse = np.tril(lower) + np.tril(lower, -1).T
    by_covariance = 0.5 * (outputs * inverse - (solved / amplitudes) @ solved.T)
    # the sum over pairs of rows of m_ij (z_i - z_j)^2, for each feature, without all pairs of each
    by_distance = by_covariance * changes
    squares = by_distance.sum(axis=1) @ scaled**2 - np.sum(scaled * (by_distance @ scaled), axis=0)
    gradient = np.append(2.0 * squares, noise * np.trace(by_covariance))
    strayed = (logs[:features] - prior_mean(features)) / PRIOR_SPREAD
    gradient[:features] += strayed / PRIOR_SPREAD
    return float(loss + 0.5 * np.sum(strayed**2)), gradient


def prior_mean(features: int) -> float:
    """Return the centre of the prior: distances of standardised rows grow with the root of the features."""
    return float(np.log(2.0 * np.sqrt(features)))


def shapes_of(scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the covariance [n, n] of rows in units of the lengths; -2 times its derivative by distance^2."""
    norms = np.sum(scaled**2, axis=1)
    squares = np.maximum(norms[:, None] + norms - 2.0 * scaled @ scaled.T, 0.0)
    distances = np.sqrt(5.0 * squares)
    decay = np.exp(-distances)
    return (1.0 + distances + distances**2 / 3.0) * decay, 5.0 / 3.0 * (1.0 + distances) * decay


def with_noise(shapes: FloatArray, noise: float) -> FloatArray:
    """Add noise to the variances, in place."""
    shapes[np.diag_indices_from(shapes)] += noise
    return shapes
