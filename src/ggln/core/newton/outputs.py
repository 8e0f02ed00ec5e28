"""Several outputs apart: networks for each output, and one covariance of their errors.

Each output has the learner that it would have if it were the only one. What they predict of a row, means mu_d
and standard deviations s_d, is joined: the errors z_d = (y_d - mu_d) / s_d are a mixture of Gaussians of
covariance c S, with a factor c for each of `constants.SPREADS`. S [D, D] and the shares of the factors are
the likeliest for rows that were not learnt when they were predicted, by expectation maximisation; in a stream
they go on by the same rule, row by row.
"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core.newton import constants
from ggln.core.newton.error_kernels import follow_errors
from ggln.core.newton.learner import (
    Advice,
    ExactLearner,
    Progress,
    Settings,
    next_stop,
    restore_settings,
)
from ggln.core.newton.mixture import Blend
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
SPREADS = np.asarray(constants.SPREADS)
MOST_ERROR = 10.0
"""Errors count at most so many deviations: a single wild row must not decide how outputs go together."""
ROUNDS = 30
"""Rounds of expectation maximisation over shares and covariance."""


class Column:
    """What regressors of the user predict of one output."""

    def __init__(self, advise: Advice, output: int) -> None:
        self.advise, self.output = advise, output
        self.left = advise.left[:, :, output : output + 1]

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions of new rows, [n, R, 1]."""
        return self.advise.predict(X)[:, :, self.output : self.output + 1]


class ApartLearner:
    """One `ExactLearner` for each output, and how their errors go together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # each output keeps the rows for itself
        kept = settings.most_kept // settings.outputs
        own = replace(settings, outputs=1, covariance="isotropic", most_kept=kept)
        self.learners = [ExactLearner(own) for _ in range(settings.outputs)]
        self.shares = np.full(SPREADS.size, 1.0 / SPREADS.size)
        self.scatter = np.eye(settings.outputs)  # S
        self.judged = 0.0  # weight of the rows that both come from
        self._advise: Advice | None = None

    @property
    def rows(self) -> int:
        """Rows learnt so far."""
        return self.learners[0].rows

    @property
    def young(self) -> bool:
        """Whether this is a stream that is still to be solved afresh."""
        return self.learners[0].young

    @property
    def network_count(self) -> int:
        """How many networks each output has."""
        return self.learners[0].network_count

    @property
    def features(self) -> int:
        """How many features networks know of."""
        return self.learners[0].features

    @property
    def advise(self) -> Advice | None:
        """Regressors that the user handed in."""
        return self._advise

    @advise.setter
    def advise(self, advise: Advice | None) -> None:
        self._advise = advise
        for d, learner in enumerate(self.learners):
            learner.advise = None if advise is None else Column(advise, d)

    # Learning ------------------------------------------------------------------------------------------

    def steps(self, rows: int) -> int:
        """Return how many steps `fit` tells of."""
        return sum(learner.steps(rows) for learner in self.learners)

    def fit(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        """Solve a table. X: [n, d]; Y: [n, D]; weights: [n]."""
        for d, learner in enumerate(self.learners):
            learner.fit(X, Y[:, d : d + 1].copy(), weights, threads, progress)
        self._judge()

    def _judge(self) -> None:
        """Find shares and covariance from errors of rows left out, if the learners have been solved."""
        if any(learner.left is None for learner in self.learners):
            return
        taken: list[Any] = [learner.left for learner in self.learners]
        errors, weights = np.hstack([z for z, _ in taken]), taken[0][1]
        for learner in self.learners:
            learner.left = None
        outputs, known = errors.shape[1], float(weights.sum())
        errors = np.clip(errors, -MOST_ERROR, MOST_ERROR)
        # as if so many rows had told nothing of the covariance, and been explained evenly
        prior = constants.SHARE_ROWS + outputs
        shares, scatter = np.full(SPREADS.size, 1.0 / SPREADS.size), np.eye(outputs)
        for _ in range(ROUNDS):
            quadratic = np.sum(errors * np.linalg.solve(scatter, errors.T).T, axis=1)
            logs = np.log(shares) - 0.5 * (outputs * np.log(SPREADS) + quadratic[:, None] / SPREADS)
            joint = np.exp(logs - logs.max(axis=1, keepdims=True))
            joint /= joint.sum(axis=1, keepdims=True)
            shares = weights @ joint + constants.SHARE_ROWS / SPREADS.size
            shares /= shares.sum()
            wide = weights * (joint @ (1.0 / SPREADS))
            scatter = (prior * np.eye(outputs) + (wide * errors.T) @ errors) / (prior + known)
        self.shares, self.scatter, self.judged = shares, scatter, known + prior

    def partial_fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray,
        threads: Threads | None,
        record: bool,
        progress: Progress = lambda _: None,
    ) -> list[Blend]:
        """Learn rows in their order; return what was predicted before each, if asked to `record`."""
        found, start = [], 0
        while start < X.shape[0]:
            stop = next_stop(self.learners[0].due, self.rows, start, X.shape[0])
            blend = self._learn(X[start:stop], Y[start:stop], weights[start:stop], threads, record)
            if record:
                found.append(blend)
            self._judge()
            progress(stop - start)
            start = stop
        return found

    def _learn(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows that stay within one draw of the networks."""
        young, means, deviations = self.rows == 0, np.empty(Y.shape), np.empty(Y.shape)
        for d, learner in enumerate(self.learners):
            (blend,) = learner.partial_fit(X, Y[:, d : d + 1].copy(), weights, threads, True)
            means[:, d : d + 1], deviations[:, d : d + 1] = moments_of(blend)
        if young:  # the first row of all
            return self._nothing(Y.shape[0]) if record else None
        rows = Y.shape[0] if record else 0
        history, scatters = np.empty((rows, SPREADS.size)), np.empty((rows, *self.scatter.shape))
        errors = np.clip((Y - means) / deviations, -MOST_ERROR, MOST_ERROR)
        known = self.shares, self.scatter, self.judged
        self.judged = follow_errors(errors, weights, SPREADS, *known, history, scatters)
        return self._blend(means, deviations, history, scatters) if record else None

    def learn_one(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        """Learn a single row [1, d] with its target [1, D]."""
        self.partial_fit(x, y, weight, None, False)

    # Predicting ----------------------------------------------------------------------------------------

    def _nothing(self, rows: int) -> Blend:
        """Return what is predicted before anything is known."""
        outputs = self.settings.outputs
        covariances = np.tile(np.eye(outputs), (rows, 1, 1, 1))
        return Blend(np.ones((rows, 1)), np.zeros((rows, 1, outputs)), covariances)

    def _blend(
        self, means: FloatArray, deviations: FloatArray, shares: FloatArray, scatter: FloatArray
    ) -> Blend:
        """Return the joint mixture of means and deviations [n, D], with S [D, D] or [n, D, D]."""
        covariances = scatter * deviations[:, :, None] * deviations[:, None]
        every = np.broadcast_to(means[:, None], (len(means), SPREADS.size, means.shape[1])).copy()
        return Blend(shares, every, SPREADS[:, None, None] * covariances[:, None])

    def _apart(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations [n, D] as each learner has them for its own output."""
        pairs = [learner.moments(X, threads) for learner in self.learners]
        return np.hstack([mean for mean, _ in pairs]), np.hstack([deviation for _, deviation in pairs])

    def predictions(self, X: FloatArray, threads: Threads | None) -> Blend:
        """Return the mixture for new rows."""
        return self._blend(*self._apart(X, threads), self.shares.copy(), self.scatter)

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        means, deviations = self._apart(X, threads)
        return means, deviations * np.sqrt((self.shares @ SPREADS) * np.diag(self.scatter))

    def support(self, X: FloatArray) -> FloatArray:
        """Return how well rows are covered by what was learnt of each output, [n, D]."""
        return np.hstack([learner.support(X) for learner in self.learners])

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        return self.moments(x, None)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        arrays: Arrays = {"shares": self.shares, "scatter": self.scatter}
        outputs = []
        for d, learner in enumerate(self.learners):
            values, own = learner.state()
            outputs.append(values)
            arrays |= {f"output.{d}.{name}": array for name, array in own.items()}
        return {"settings": asdict(self.settings), "judged": self.judged, "outputs": outputs}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "ApartLearner":
        """Return the learner that `state` described."""
        learner = cls(restore_settings(values["settings"]))
        learner.judged = values["judged"]
        learner.shares, learner.scatter = arrays["shares"].copy(), arrays["scatter"].copy()
        for d, own in enumerate(values["outputs"]):
            prefix = f"output.{d}."
            parts = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            learner.learners[d] = ExactLearner.from_state(own, parts)
        return learner


def moments_of(blend: Blend) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [n, 1] of mixtures of one output."""
    weights = np.broadcast_to(blend.weights, blend.means.shape[:2])[..., None]
    mean = np.sum(weights * blend.means, axis=1)
    variance = np.sum(weights * (blend.covariances + (blend.means - mean[:, None]) ** 2), axis=1)
    return mean, np.sqrt(variance)
