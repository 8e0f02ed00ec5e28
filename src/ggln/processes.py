"""A Gaussian process among the regressors: it learns smooth targets from few rows, where trees make steps.

Its covariance is Matern's with nu = 5/2, a length scale for each feature, and noise. They are found on a
sample of the rows by maximum posterior likelihood, with the amplitudes of the outputs, which share them,
put at their best values.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from ggln.core.frozen import add_bumps, add_slopes

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

PRIOR_SPREAD = 1.5
"""Deviation of the prior of log length scales, without which few rows of many features are overfitted."""
LENGTHS, NOISES = (5e-2, 1e3), (1e-5, 1e2)
"""Ranges of length scales, of standardised features, and of noise, relative to the function's variance."""
FIRST_NOISE = 0.1
LEAST_AMPLITUDE = 1e-12


class Process(NamedTuple):
    """What the mean of a Gaussian process is made of: one bump of the covariance's shape at each row."""

    offset: FloatArray  # [D]
    lengths: FloatArray  # [d]
    centres: FloatArray  # [d, m], rows in units of the lengths
    weights: FloatArray  # [m, D]

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means [n, D]."""
        total = np.tile(self.offset, (X.shape[0], 1))
        add_bumps(self.centres, self.weights, X / self.lengths, total)
        return total

    def slopes(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [n, D, d] of the means."""
        total = np.zeros((X.shape[0], self.offset.size, X.shape[1]))
        add_slopes(self.centres, self.weights, X / self.lengths, total)
        return total / self.lengths

    def arrays(self) -> Arrays:
        """Return all there is."""
        return self._asdict()

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "Process":
        """Return the model that `arrays` described."""
        return cls(**arrays)


class GaussianProcess(RegressorMixin, BaseEstimator):
    """The mean of a Gaussian process, for standardised rows.

    rows: as many are learnt at most; of these, the first `search_rows` find the length scales. Both are
    samples: time grows with the cube of rows.
    """

    def __init__(
        self,
        rows: int = 2000,
        search_rows: int = 400,
        max_iter: int = 60,
        random_state: Any = None,
    ) -> None:
        self.rows = rows
        self.search_rows = search_rows
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Learn rows [n, d] and targets [n] or [n, D]."""
        Y = np.reshape(y, (X.shape[0], -1))
        order = check_random_state(self.random_state).permutation(X.shape[0])[: self.rows]
        offset = Y.mean(axis=0)
        few = order[: self.search_rows]
        lengths, noise = self._search(X[few], Y[few] - offset)
        scaled = X[order] / lengths
        factor = cho_factor(_with_noise(_shapes(scaled)[0], noise), lower=True, overwrite_a=True)
        weights = np.ascontiguousarray(cho_solve(factor, Y[order] - offset))
        self.process_ = Process(offset, lengths, np.ascontiguousarray(scaled.T), weights)
        self._flat = np.ndim(y) == 1
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the means, of the shape that targets had."""
        means = self.process_.predict(np.asarray(X, np.float64))
        return means[:, 0] if self._flat else means

    def _search(self, X: FloatArray, Y: FloatArray) -> tuple[FloatArray, float]:
        """Return the length scales [d] and the noise that rows and centred targets make most likely."""
        features = X.shape[1]
        start = np.append(np.full(features, _prior_mean(features)), np.log(FIRST_NOISE))
        found = minimize(
            loss_and_gradient,
            start,
            (X, Y),
            method="L-BFGS-B",
            jac=True,
            bounds=[tuple(np.log(LENGTHS))] * features + [tuple(np.log(NOISES))],
            options={"maxiter": self.max_iter},
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
    shapes, changes = _shapes(scaled)
    factor, _ = cho_factor(_with_noise(shapes, noise), lower=True, overwrite_a=True)
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
    strayed = (logs[:features] - _prior_mean(features)) / PRIOR_SPREAD
    gradient[:features] += strayed / PRIOR_SPREAD
    return float(loss + 0.5 * np.sum(strayed**2)), gradient


def _prior_mean(features: int) -> float:
    """Return the centre of the prior: distances of standardised rows grow with the root of the features."""
    return float(np.log(2.0 * np.sqrt(features)))


def _shapes(scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the covariance [n, n] of rows in units of the lengths; -2 times its derivative by distance^2."""
    norms = np.sum(scaled**2, axis=1)
    squares = np.maximum(norms[:, None] + norms - 2.0 * scaled @ scaled.T, 0.0)
    distances = np.sqrt(5.0 * squares)
    decay = np.exp(-distances)
    return (1.0 + distances + distances**2 / 3.0) * decay, 5.0 / 3.0 * (1.0 + distances) * decay


def _with_noise(shapes: FloatArray, noise: float) -> FloatArray:
    """Add noise to the variances, in place."""
    shapes[np.diag_indices_from(shapes)] += noise
    return shapes
