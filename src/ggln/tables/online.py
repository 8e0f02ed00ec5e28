"""A fitted regressor at work on arrays that were checked before: no overhead, the same threads throughout."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import NDArray

from ggln.components import Distribution, mixture
from ggln.core.learner import Predictions
from ggln.core.threads import Threads
from ggln.distributions import GaussianMixture
from ggln.estimators import GGLNRegressor

FloatArray = NDArray[np.float64]

CACHED_ROWS = 16
"""Rows whose components, a few thousand each, stay in the cache while their moments are computed."""


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
        return mixture([self.regressor.learner_.predictions(X, self.threads)], self.outputs)

    def learn(self, X: FloatArray, Y: FloatArray) -> None:
        """Learn rows in their order, going on or beginning."""
        self._learn(X, Y, record=False)

    def prequential_moments(self, X: FloatArray, Y: FloatArray) -> Moments:
        """Learn rows; return what was predicted for each before it was learnt."""
        recorded = self._learn(X, Y, record=True)
        if self.outputs > 1:
            joint = mixture(recorded, self.outputs)
            return Moments(joint.mean, joint.std)
        least = self.regressor.learner_.settings.min_variance
        parts = [mixture_moments(some, least) for some in recorded]
        return Moments(*(np.concatenate(values)[:, None] for values in zip(*parts, strict=True)))

    def prequential(self, X: FloatArray, Y: FloatArray) -> Distribution:
        """Learn rows; return the distribution of each before it was learnt."""
        return mixture(self._learn(X, Y, record=True), self.outputs)

    def _learn(self, X: FloatArray, Y: FloatArray, record: bool) -> list[Predictions]:
        if not hasattr(self.regressor, "learner_"):
            return self.regressor._stream(X, Y[:, 0] if Y.shape[1] == 1 else Y, record)
        return self.regressor.learner_.partial_fit(X, Y, self.threads, record, lambda _: None)


def mixture_moments(predictions: Predictions, least: float) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [n] of the mixture of all neurons, for networks with one output.

    As `GaussianMixture` has them, but without bringing every component to the user's units first.
    least: no mixture is narrower than its narrowest component can be; what is below is rounding.
    """
    outputs, all_weights, spreads, advice, advice_weights = predictions.components
    mean, variance = np.empty(outputs.shape[0]), np.empty(outputs.shape[0])
    widths = np.repeat(spreads, outputs.shape[2])
    for start in range(0, outputs.shape[0], CACHED_ROWS):
        rows = slice(start, start + CACHED_ROWS)
        block = outputs[rows].reshape(-1, widths.size, 2)
        shares = (
            all_weights[rows].reshape(-1, widths.size)
            if all_weights.ndim == 3
            else all_weights.reshape(1, -1)
        )
        advised = advice_weights[rows] if advice_weights.ndim == 2 else advice_weights[None]
        total = shares.sum(axis=1) + advised.sum(axis=1)
        means = block[..., 0].astype(np.float64)
        squares = widths / block[..., 1]
        squares += means * means
        own = advice[rows, :, 0]
        first = np.einsum("nm,nm->n", shares, means) + (advised * own).sum(axis=1)
        second = np.einsum("nm,nm->n", shares, squares)
        second += (advised * (1.0 / advice[rows, :, 1] + own * own)).sum(axis=1)
        mean[rows] = first / total
        variance[rows] = second / total - mean[rows] ** 2
    scale = predictions.scales[..., 0]
    return predictions.shifts[..., 0] + scale * mean, scale * np.sqrt(np.maximum(variance, least))


def mean_loss(distribution: Distribution, Y: FloatArray) -> float:
    """Return the mean negative log-likelihood of targets [n, D], in nats."""
    flat = isinstance(distribution, GaussianMixture)
    return -float(distribution.log_prob(Y[:, 0] if flat else Y).mean())
