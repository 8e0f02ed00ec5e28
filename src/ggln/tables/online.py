"""A fitted regressor at work on arrays that were checked before: no overhead, the same threads throughout."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import GaussianMixture
from ggln.distributions.assembly import Distribution, mixture
from ggln.engine.gradient.learner import Learner
from ggln.estimators.regressor import GGLNRegressor
from ggln.estimators.workers import threads_for

FloatArray = NDArray[np.float64]


class Moments(NamedTuple):
    """Means and standard deviations, [n, D] each."""

    mean: FloatArray
    std: FloatArray


class Worker:
    """Predicts and learns rows with a regressor, through a pool of threads that is kept.

    Arguments are X [n, d] and Y [n, D], contiguous; NaN in X is a gap, where networks take it.
    """

    def __init__(self, regressor: GGLNRegressor, n_jobs: int | None = None) -> None:
        self.regressor = regressor
        self.threads = threads_for(n_jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.threads.__exit__()

    @property
    def outputs(self) -> int:
        """Targets per row."""
        return int(self.regressor.n_outputs_)

    def moments(self, X: FloatArray) -> Moments:
        """Return the predictive means and standard deviations."""
        return Moments(*self.regressor.learner_.moments(X, self.threads))

    def support(self, X: FloatArray) -> FloatArray:
        """Return how well rows are covered by what was learnt, [n, D]; gradient steps cannot tell: NaN."""
        learner: Any = self.regressor.learner_
        if isinstance(learner, Learner):
            return np.full((X.shape[0], self.outputs), np.nan)
        found: FloatArray = learner.support(X)
        return found

    def distribution(self, X: FloatArray) -> Distribution:
        """Return the predictive distribution of each row."""
        return mixture([self.regressor.learner_.predictions(X, self.threads)], self.outputs)

    def learn(self, X: FloatArray, Y: FloatArray) -> None:
        """Learn rows in their order, going on or beginning."""
        self._learn(X, Y, record=False)

    def prequential_moments(self, X: FloatArray, Y: FloatArray) -> Moments:
        """Learn rows; return what was predicted for each before it was learnt."""
        found = self.prequential(X, Y)
        return Moments(found.mean.reshape(Y.shape), found.std.reshape(Y.shape))

    def prequential(self, X: FloatArray, Y: FloatArray) -> Distribution:
        """Learn rows; return the distribution of each before it was learnt."""
        return self.regressor._recorded(self._learn(X, Y, record=True))

    def _learn(self, X: FloatArray, Y: FloatArray, record: bool) -> list[Any]:
        if not hasattr(self.regressor, "learner_"):
            return self.regressor._stream(X, Y[:, 0] if Y.shape[1] == 1 else Y, record)
        weights = np.ones(X.shape[0])
        return self.regressor.learner_.partial_fit(X, Y, weights, self.threads, record, lambda _: None)


def mean_loss(distribution: Distribution, Y: FloatArray) -> float:
    """Return the mean negative log-likelihood of targets [n, D], in nats."""
    flat = isinstance(distribution, GaussianMixture)
    return -float(distribution.log_prob(Y[:, 0] if flat else Y).mean())
