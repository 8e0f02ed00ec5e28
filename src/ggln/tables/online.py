"""A fitted regressor at work on arrays that were checked before: no overhead, the same threads throughout."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import NDArray

from ggln.core.learner import Predictions
from ggln.core.threads import Threads
from ggln.distributions import GaussianMixture
from ggln.estimators import Distribution, GGLNRegressor, _mixture

FloatArray = NDArray[np.float64]


class Moments(NamedTuple):
    """Means and standard deviations, [n, D] each."""

    mean: FloatArray
    std: FloatArray


class Worker:
    """Predicts and learns rows with a regressor, through a pool of threads that is kept.

    Arguments are X [n, d] and Y [n, D], finite and contiguous.
    """

    def __init__(self, regressor: GGLNRegressor, n_jobs: int | None = None) -> None:
        self.regressor = regressor
        self.threads = Threads(joblib.effective_n_jobs(n_jobs))

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

    def distribution(self, X: FloatArray) -> Distribution:
        """Return the predictive distribution of each row."""
        return _mixture([self.regressor.learner_.predictions(X, self.threads)], self.outputs)

    def learn(self, X: FloatArray, Y: FloatArray) -> None:
        """Learn rows in their order, going on or beginning."""
        self._learn(X, Y, record=False)

    def prequential_moments(self, X: FloatArray, Y: FloatArray) -> Moments:
        """Learn rows; return what was predicted for each before it was learnt."""
        recorded = self._learn(X, Y, record=True)
        if self.outputs > 1:
            joint = _mixture(recorded, self.outputs)
            return Moments(joint.mean, joint.std)
        parts = [mixture_moments(some) for some in recorded]
        return Moments(*(np.concatenate(values)[:, None] for values in zip(*parts, strict=True)))

    def prequential(self, X: FloatArray, Y: FloatArray) -> Distribution:
        """Learn rows; return the distribution of each before it was learnt."""
        return _mixture(self._learn(X, Y, record=True), self.outputs)

    def _learn(self, X: FloatArray, Y: FloatArray, record: bool) -> list[Predictions]:
        if not hasattr(self.regressor, "learner_"):
            return self.regressor._stream(X, Y[:, 0] if Y.shape[1] == 1 else Y, record)
        return self.regressor.learner_.partial_fit(X, Y, self.threads, record, lambda _: None)


def mixture_moments(predictions: Predictions) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [n] of the mixture that all neurons of a network with one output form.

    As `GaussianMixture` has them, but without bringing every component to the user's units first.
    """
    outputs, weights, spreads = predictions.components
    means = outputs[..., 0].astype(np.float64)
    squares = spreads[:, None] / outputs[..., 1] + means * means
    flat = (means.shape[0], -1)
    shares = np.broadcast_to(weights, means.shape).reshape(flat)
    total = shares.sum(axis=1)
    mean = np.einsum("nm,nm->n", shares, means.reshape(flat)) / total
    variance = np.einsum("nm,nm->n", shares, squares.reshape(flat)) / total - mean * mean
    # no mixture is narrower than its narrowest component: what is below is rounding
    least = (spreads[:, None] / outputs[..., 1].astype(np.float64)).reshape(flat).min(axis=1)
    scale = predictions.scales[..., 0]
    return predictions.shifts[..., 0] + scale * mean, scale * np.sqrt(np.maximum(variance, least))


def mean_loss(distribution: Distribution, Y: FloatArray) -> float:
    """Return the mean negative log-likelihood of targets [n, D], in nats."""
    flat = isinstance(distribution, GaussianMixture)
    return -float(distribution.log_prob(Y[:, 0] if flat else Y).mean())
