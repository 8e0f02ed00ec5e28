"""Base models of networks that are solved: the regression on bumps, and regressors that the user handed in.

Each predicts a mean. Its variance is that of its errors on rows that it had not learnt when it predicted
them: rows left out by `fit`, and later rows of a stream. Networks hear both as natural parameters of their
own kind of neuron, [n, R, Q].
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from ggln.engine.newton import constants
from ggln.engine.newton.bumps import Bumps, fit_bumps
from ggln.engine.newton.settings import BUMPS, Settings
from ggln.engine.scaling import Scaler
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]


class Regressors(Protocol):
    """Regressors that the user handed in, fitted."""

    left: FloatArray  # [n, R, D]  what they predict of the rows of `fit`, by those that did not see them

    def predict(self, X: FloatArray) -> FloatArray:
        """Return what they predict of new rows [n, d], in the user's units: [n, R, D]."""


def student_factor(rows: int) -> float:
    """Return how much more a variance found by so few rows may be than it seems, for 90 % intervals."""
    if rows < 2:
        return 1.0  # a single row has no error: what it is given is wide
    return float((student.ppf(0.95, rows - 1) / norm.ppf(0.95)) ** 2)


class Base:
    """R base models for all networks; rows `side` [n, d] and targets `goals` [n, D] are standardised."""

    def __init__(self, settings: Settings, kind: Any, targets: Scaler) -> None:
        self.settings, self.kind, self.targets = settings, kind, targets
        self.bumps: Bumps | None = None
        self.regressors: Regressors | None = None
        # squares of errors [R, D], and the weight of rows
        self.errors = np.zeros((settings.base_models, settings.outputs + 1))

    def fit(
        self, side: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads
    ) -> tuple[FloatArray, FloatArray]:
        """Fit them; return what they predict of each row left out: means [n, R, D], and [n, R, Q]."""
        count = int(np.count_nonzero(weights))
        few = count < constants.FEWEST_ROWS
        left = self._fit_means(side, goals, weights, threads, few)
        squares = np.average((left - goals[:, None]) ** 2, axis=0, weights=weights)
        # so few rows cannot tell how well they are predicted
        variance = np.maximum(squares, 1.0 / max(count, 1) if few else self.settings.min_variance)
        if few:
            variance *= student_factor(count)
        self.errors = np.hstack([variance, np.ones((len(variance), 1))]) * max(float(weights.sum()), 1.0)
        return left, self._natural(left, variance[None])

    def _fit_means(
        self, side: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads, few: bool
    ) -> FloatArray:
        """Fit the regression on bumps; return the means [n, R, D] of all for rows left out."""
        settings, found = self.settings, []
        if settings.regressions:
            most = constants.STREAM_BUMPS if settings.online else constants.FIT_BUMPS
            folds = None if few else settings.assign_folds(len(goals))
            random = settings.random(0, BUMPS)
            self.bumps, left = fit_bumps(side, goals, weights, most, random, threads, folds)
            found.append(left[:, None])
        if self.regressors is not None:
            found.append(self._standard(self.regressors.left))
        return self._joined(found, len(goals))

    def means(
        self, X: FloatArray, side: FloatArray, lesson: tuple[FloatArray, FloatArray] | None = None
    ) -> FloatArray:
        """Return the means [n, R, D] of new rows; those with a lesson, targets and weights, are kept."""
        # first, because nothing may have changed yet if they fail
        others = [] if self.regressors is None else [self._standard(self.regressors.predict(X))]
        found = []
        if self.bumps is not None:
            own = self.bumps.predict(side) if lesson is None else self.bumps.foresee(side, *lesson)
            found.append(own[:, None])
        return self._joined(found + others, len(side))

    def predict(self, X: FloatArray, side: FloatArray) -> FloatArray:
        """Return what they say of new rows, [n, R, Q]."""
        return self.say(self.means(X, side))

    def say(self, means: FloatArray) -> FloatArray:
        """Return natural parameters [n, R, Q] of means [n, R, D], with the errors so far."""
        return self._natural(means, self._variances(self.errors)[None])

    def learn(self, X: FloatArray, side: FloatArray, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return what they say of rows that the bumps take in together, each before it is learnt."""
        means, other = self.means(X, side, (goals, weights)), weights[:, None, None]
        news = np.concatenate(
            [other * (means - goals[:, None]) ** 2, np.broadcast_to(other, (*means.shape[:2], 1))], 2
        )
        told = np.cumsum(np.concatenate([self.errors[None], news]), axis=0)  # one row after the other
        self.errors[:] = told[-1]
        return self._natural(means, self._variances(told[:-1]))

    def _joined(self, found: list[FloatArray], rows: int) -> FloatArray:
        return np.concatenate(found, axis=1) if found else np.empty((rows, 0, self.settings.outputs))

    def _standard(self, predictions: FloatArray) -> FloatArray:
        """Return predictions [n, R, D] in standardised units."""
        shift, scale = self.targets.shift_and_scale()
        return np.clip((predictions - shift) / scale, -self.targets.limit, self.targets.limit)

    def _variances(self, errors: FloatArray) -> FloatArray:
        """Return variances [.., D] from errors [.., D + 1]."""
        return np.maximum(errors[..., :-1] / errors[..., -1:], self.settings.min_variance)

    def _natural(self, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return the natural parameters [n, R, Q] of means [n, R, D] and variances."""
        if means.shape[1] == 1:  # what a row alone has by default, at the lowest latency
            alone: FloatArray = self.kind.natural(means[:, 0], variances[:, 0])[:, None]
            return alone
        wide = np.broadcast_to(variances, means.shape)
        parts = [self.kind.natural(means[:, r], wide[:, r]) for r in range(means.shape[1])]
        return np.stack(parts, axis=1) if parts else np.empty((len(means), 0, self.kind.planes))
