"""A Gaussian process among the regressors: it learns smooth targets from few rows, where trees make steps.

Its covariance is Matern's with nu = 5/2, a length scale for each feature, and noise. They are found on a
sample of the rows by maximum posterior likelihood, with the amplitudes of the outputs, which share them,
put at their best values.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from ggln.core.frozen import add_bumps, add_slopes
from ggln.core.lengths import SEARCH_ROWS, SEARCH_STEPS, search, shapes_of, with_noise

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


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
        search_rows: int = SEARCH_ROWS,
        max_iter: int = SEARCH_STEPS,
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
        lengths, noise = search(X[few], Y[few] - offset, self.max_iter)
        scaled = X[order] / lengths
        factor = cho_factor(with_noise(shapes_of(scaled)[0], noise), lower=True, overwrite_a=True)
        weights = np.ascontiguousarray(cho_solve(factor, Y[order] - offset))
        self.process_ = Process(offset, lengths, np.ascontiguousarray(scaled.T), weights)
        self._flat = np.ndim(y) == 1
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the means, of the shape that targets had."""
        means = self.process_.predict(np.asarray(X, np.float64))
        return means[:, 0] if self._flat else means
