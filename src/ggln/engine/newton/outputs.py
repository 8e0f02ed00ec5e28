"""Several outputs apart: networks for each output, and a copula that joins them.

Each output has the learner that it would have if it were the only one, and keeps the distribution that this
learner predicts. How outputs go together is told by the levels of targets in these distributions (`copula`),
of rows that were not learnt when they were predicted; in a stream it goes on by the same rule, row by row.
"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.checks import anything, check_values, numbered, require, several
from ggln.engine.newton.base import Regressors
from ggln.engine.newton.copula import Copula, JointBlend, levels_of
from ggln.engine.newton.layouts import check_copula
from ggln.engine.newton.learner import ExactLearner, make_learner, restore_learner
from ggln.engine.newton.mixture import joined
from ggln.engine.newton.mixtures import before_any_row
from ggln.engine.newton.settings import Settings, restore_settings
from ggln.engine.newton.stream import Progress, Stream
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


class Once:
    """Regressors of the user that are asked once for all outputs: if they fail, no output has learnt yet."""

    def __init__(self, regressors: Regressors) -> None:
        self.regressors, self.left = regressors, regressors.left
        self._last: tuple[FloatArray, FloatArray] | None = None

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions of new rows, [n, R, D]."""
        last = self._last
        if last is None or not np.array_equal(last[0], X, equal_nan=True):
            self._last = last = X.copy(), self.regressors.predict(X)
        return last[1]


class Column:
    """What regressors of the user predict of one output."""

    def __init__(self, regressors: Regressors, output: int) -> None:
        self.regressors, self.output = regressors, output
        self.left = regressors.left[:, :, output : output + 1]

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions of new rows, [n, R, 1]."""
        return self.regressors.predict(X)[:, :, self.output : self.output + 1]


class ApartLearner(Stream):
    """One `ExactLearner` for each output, and how outputs go together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # each output keeps the rows for itself
        kept = settings.most_kept // settings.outputs
        own = replace(settings, outputs=1, covariance="isotropic", most_kept=kept)
        self.learners: list[ExactLearner] = [make_learner(own) for _ in range(settings.outputs)]
        self.copula = Copula(settings.outputs)

    @property
    def rows(self) -> int:
        """Rows learnt so far."""
        return int(self.learners[0].rows)

    @property
    def due(self) -> int:
        """Rows at which all are solved afresh; 0: never."""
        return int(self.learners[0].due)

    @property
    def young(self) -> bool:
        """Whether this is a stream that is still to be solved afresh."""
        return self.learners[0].young

    @property
    def network_count(self) -> int:
        """How many networks each output has."""
        return self.learners[0].network_count

    @property
    def columns(self) -> int:
        """How many columns rows have that are kept."""
        return max(learner.columns for learner in self.learners)

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring it to where all are solved afresh."""
        return any(learner.solves_within(rows) for learner in self.learners)

    @property
    def features(self) -> int:
        """How many features networks know of."""
        return self.learners[0].features

    def hand_in(self, regressors: Regressors) -> None:
        """Take regressors of the user as base models, before `fit`."""
        asked = Once(regressors)
        for d, learner in enumerate(self.learners):
            learner.hand_in(Column(asked, d))

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

    def release(self) -> None:
        """Keep no rows to be solved afresh with, for any output."""
        for learner in self.learners:
            learner.release()

    def conclude(self) -> None:
        """Find the copula of outputs that were solved elsewhere."""
        self._judge()

    def _judge(self) -> None:
        """Find the copula from the levels of rows left out, if the learners have been solved."""
        if any(learner.left is None for learner in self.learners):
            return
        taken: list[Any] = [learner.left for learner in self.learners]
        for learner in self.learners:
            learner.left = None
        self.copula.judge(np.stack([levels for levels, _ in taken], axis=2), taken[0][1])

    def take(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows none of which is beyond `due`; return what was predicted before, if to `record`."""
        blend = self._learn(X, Y, weights, threads, record)
        self._judge()
        return blend

    def _learn(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows that stay within one draw of the networks."""
        young, levels, blends = self.rows == 0, np.empty((2, *Y.shape)), []
        for d, learner in enumerate(self.learners):
            blend = joined(learner.partial_fit(X, Y[:, d : d + 1].copy(), weights, threads, True))
            levels[..., d] = levels_of(blend, Y[:, d])
            blends.append(blend)
        if young:  # the first row of all
            return before_any_row(*Y.shape) if record else None
        told = self.copula.follow(levels, weights, record)
        return JointBlend(tuple(blends), *told) if record else None

    # Predicting ----------------------------------------------------------------------------------------

    def predictions(self, X: FloatArray, threads: Threads | None) -> JointBlend:
        """Return the mixtures for new rows, joined."""
        blends = tuple(learner.predictions(X, threads) for learner in self.learners)
        return JointBlend(blends, *self.copula.now())

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        pairs = [learner.moments(X, threads) for learner in self.learners]
        return np.hstack([mean for mean, _ in pairs]), np.hstack([deviation for _, deviation in pairs])

    def support(self, X: FloatArray) -> FloatArray:
        """Return how well rows are covered by what was learnt of each output, [n, D]."""
        return np.hstack([learner.support(X) for learner in self.learners])

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        return self.moments(x, None)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        arrays: Arrays = self.copula.state()
        outputs = []
        for d, learner in enumerate(self.learners):
            values, own = learner.state()
            outputs.append(values)
            arrays |= {f"output.{d}.{name}": array for name, array in own.items()}
        return {"settings": asdict(self.settings), "outputs": outputs}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "ApartLearner":
        """Return the learner that `state` described."""
        settings, outputs = restore_settings(values["settings"]), values["outputs"]
        check_values(values, {"settings": anything, "outputs": several(anything)})
        parts = numbered(arrays, "output.")
        require(len(outputs) == len(parts) == settings.outputs, "outputs are not as many as there should be")
        check_copula({n: a for n, a in arrays.items() if not n.startswith("output.")}, settings.outputs)
        learner = cls(settings)
        learner.copula.restore(arrays)
        alone = learner.learners[0].settings
        learner.learners = [restore_learner(*pair) for pair in zip(outputs, parts, strict=True)]
        for one in learner.learners:
            same = replace(one.settings, features=alone.features) == alone
            same &= (one.rows, one.features) == (learner.rows, learner.features)
            require(same, "outputs differ in their settings or rows")
        return learner
