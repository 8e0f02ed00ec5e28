"""The learner: rows in the user's units in, predictions out.

It joins standardisation, gates drawn from data, and the ensemble. A stream starts without knowing its
scale: whenever the number of rows seen reaches a power of two up to `constants.WARMUP_ROWS`, statistics and
gates are drawn afresh from all rows so far and these are learnt again. What the learner knows is
therefore a function of the rows alone, not of the calls that brought them.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core import constants
from ggln.core.build import ORDER, Settings, build, draw_gates
from ggln.core.calibration import SPREADS, calibrate, log_densities
from ggln.core.ensemble import Components, Ensemble, Epoch, blocks
from ggln.core.gating import NO_SPLITS, Gates, Splits
from ggln.core.scaling import Scaler
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]
FindSplits = Callable[[FloatArray, FloatArray, int], Splits]
"""(standardised rows, targets, seed) -> splits, for gates from trees."""


class Advice(NamedTuple):
    """What regressors predict: base inputs beside the features."""

    predictions: FloatArray  # [n, R, D]  for the rows to fit, by regressors that did not see them
    predict: Callable[[FloatArray], FloatArray]  # rows [n, d] -> [n, R, D]


class Course(NamedTuple):
    """How a table is learnt."""

    epochs: int
    shuffle: bool
    anneal: bool  # whether the step shrinks to nothing


class Predictions(NamedTuple):
    """What all neurons predicted for some rows, and how to bring it to the user's units."""

    components: Components
    shifts: FloatArray  # [D], or [n, D] where they changed from row to row
    scales: FloatArray


class Learner:
    """Networks that learn rows in the user's units."""

    def __init__(self, settings: Settings, find_splits: FindSplits | None = None) -> None:
        self._prepare(settings, find_splits)
        self.ensemble = self._draw(np.empty((0, settings.columns)), np.empty((0, settings.outputs)), None)

    def _prepare(self, settings: Settings, find_splits: FindSplits | None) -> None:
        """Set everything but the networks to its state before any row."""
        self.settings, self.find_splits = settings, find_splits
        self.advise: Callable[[FloatArray], FloatArray] | None = None
        self.pace = 1.0
        targets_too = settings.standardize is True
        limit = constants.TARGET_LIMIT * settings.bias_range if targets_too else constants.INPUT_LIMIT
        self.inputs = Scaler(settings.features, constants.INPUT_LIMIT, bool(settings.standardize))
        self.targets = Scaler(settings.outputs, limit, targets_too)
        self.rows = 0
        self.first_rows: list[tuple[FloatArray, FloatArray]] = []
        self.warming = settings.needs_data

    def _draw(self, side: FloatArray, goals: NDArray[Any], folds: NDArray[np.int64] | None) -> Ensemble:
        """Return untrained networks, with gates drawn from standardised rows and targets.

        folds: the part [n] that each row belongs to: what a network leaves out must not choose its gates.
        """
        settings, splits = self.settings, [NO_SPLITS]
        if settings.gating == "tree" and self.find_splits is not None:
            parts = [slice(None)] if folds is None else [folds != k for k in range(settings.folds)]
            features = side[:, : settings.features]
            splits = [self.find_splits(features[part], goals[part], settings.seed) for part in parts]
        return build(settings, draw_gates(settings, side, splits))

    def _join(
        self, scaled: FloatArray, predictions: FloatArray, shifts: FloatArray, scales: FloatArray
    ) -> FloatArray:
        """Return the side information of rows: their standardised features, and what regressors predict.

        scaled: [n, d]; predictions: [n, R, D]; shifts, scales: [D], or [n, D] where they change with the row.
        """
        units = (-1, 1, self.settings.outputs)
        advice = (predictions - shifts.reshape(units)) / scales.reshape(units)
        advice = np.clip(advice, -constants.INPUT_LIMIT, constants.INPUT_LIMIT)
        return np.hstack([scaled, advice.reshape(scaled.shape[0], -1)])

    def _goals(self, targets: FloatArray) -> NDArray[Any]:
        return targets.astype(self.settings.dtype)

    # Learning ------------------------------------------------------------------------------------------

    def fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        course: Course,
        threads: Threads,
        progress: Callable[[int], object],
        advice: Advice | None = None,
    ) -> None:
        """Learn a whole table, several times over. Only for a learner that has seen nothing yet."""
        self.inputs.fit(X)
        self.targets.fit(Y)
        goals = self._goals(self.targets.transform(Y))
        folds = self.settings.assign_folds(X.shape[0]) if self.settings.folds else None
        side = self.inputs.transform(X)
        if advice is not None:
            self.advise = advice.predict
            side = self._join(side, advice.predictions, *self.targets.shift_and_scale())
        if self.settings.needs_data:
            self.ensemble = self._draw(side, goals, folds)
        if advice is not None:
            self._trust(side, goals)
        self.ensemble.learn_epochs(
            side, goals, self._epochs(X.shape[0], folds, course), course.epochs > 1, threads, progress
        )
        self.rows, self.warming = X.shape[0], False
        if course.anneal:
            self._slow_down(1.0 / course.epochs)
        if folds is not None:
            self._calibrate(side, goals, folds, threads)

    def rows_to_learn(self, rows: int, course: Course) -> int:
        """Return how many rows of a table each network learns, over all epochs."""
        left_out = -(-rows // self.settings.folds) if self.settings.folds else 0
        return (rows - left_out) * course.epochs

    def _epochs(self, rows: int, folds: NDArray[np.int64] | None, course: Course) -> Iterator[Epoch]:
        """Yield the passes over a table: each network in its own order, without the fold it leaves out."""
        networks = range(self.settings.n_estimators)
        generators = [self.settings.random(e, ORDER) for e in networks]
        seen = [
            np.arange(rows) if folds is None else np.flatnonzero(folds != self.settings.fold(e))
            for e in networks
        ]
        length = min(some.size for some in seen)
        for epoch in range(course.epochs):
            orders = zip(seen, generators, strict=True)
            order = [random.permutation(some) if course.shuffle else some for some, random in orders]
            pace = 1.0 - epoch / course.epochs if course.anneal else 1.0
            yield Epoch([some[:length] for some in order], pace)

    def _slow_down(self, pace: float) -> None:
        """Let all further learning go on at a fraction of the step.

        A step that shrank to nothing leaves weights, and widths calibrated for them, that full ones undo.
        """
        self.pace = pace
        self.ensemble.rules = self.ensemble.rules._replace(step=self.ensemble.rules.step.times(pace))

    def _trust(self, side: FloatArray, goals: NDArray[Any]) -> None:
        """Give each regressor's Gaussian the precision that its errors on unseen rows have."""
        settings = self.settings
        predictions = side[:, settings.features :].reshape(-1, settings.regressors, settings.outputs)
        variances = ((predictions - goals[:, None]) ** 2).mean(axis=(0, 2))
        precisions = 1.0 / np.clip(variances, settings.min_variance, settings.max_variance)
        self.ensemble.base.precisions[settings.features :] = precisions

    def _calibrate(
        self, side: FloatArray, goals: NDArray[Any], folds: NDArray[np.int64], threads: Threads
    ) -> None:
        """Set the networks' shares and spreads by the rows that each of them left out."""
        settings, ensemble = self.settings, self.ensemble
        kinds = max(len(settings.context_dims), 1)
        chances = np.full((kinds, SPREADS.size, side.shape[0]), -np.inf)
        counts = np.zeros((kinds, side.shape[0]))
        for rows in np.array_split(
            np.argsort(folds, kind="stable"), -(-side.shape[0] // constants.BLOCK_ROWS)
        ):
            outputs = ensemble.components(side[rows], threads).outputs
            for e in range(settings.n_estimators):
                out = np.flatnonzero(folds[rows] == settings.fold(e))
                if out.size:
                    kind, own = settings.kind(e), rows[out]
                    found = log_densities(outputs[out, e], ensemble.weights[e], goals[own].astype(np.float64))
                    chances[kind][:, own] = np.logaddexp(chances[kind][:, own], found)
                    counts[kind, own] += 1
        judged = (counts > 0).all(axis=0)
        if not judged.any():
            return
        scores = chances[:, :, judged] - np.log(counts[:, None, judged])
        shares, spreads = calibrate(scores)
        members = np.array([settings.kind(e) for e in range(settings.n_estimators)])
        sizes = np.bincount(members, minlength=kinds)
        ensemble.shares[:] = (shares / sizes)[members] * settings.n_estimators
        ensemble.spreads[:] = spreads[members]
        ensemble.calibrated = True

    def partial_fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        threads: Threads,
        record: bool,
        progress: Callable[[int], object],
    ) -> list[Predictions]:
        """Learn rows once, in their order; return what was predicted before, if asked to `record`."""
        self.ensemble.require(X.shape[0])
        recorded = []
        start = 0
        while start < X.shape[0]:
            length = min(self.ensemble.block_rows, X.shape[0] - start)
            if self.warming:
                length = min(length, self._next_draw() - self.rows)
            block = slice(start, start + length)
            side = self.inputs.learn(X[block])
            targets, shifts, scales = self.targets.learn_recorded(Y[block])
            if self.advise is not None:
                side = self._join(side, self.advise(X[block]), shifts, scales)
            components = self.ensemble.learn(side, self._goals(targets), threads, record)
            if components is not None:
                recorded.append(Predictions(components, shifts, scales))
            self._seen(X[block], Y[block], threads)
            start += length
            progress(length)
        return recorded

    def learn_one(self, x: FloatArray, y: FloatArray) -> None:
        """Learn a single row. x: [1, d]; y: [1, D]."""
        side = self.inputs.learn(x)
        if self.advise is None:
            targets = self.targets.learn(y)
        else:
            targets, *units = self.targets.learn_recorded(y)
            side = self._join(side, self.advise(x), *units)
        self.ensemble.learn_row(side, self._goals(targets))
        self._seen(x, y, None)

    def _next_draw(self) -> int:
        """Return the number of rows at which the networks are drawn afresh next."""
        return 1 << self.rows.bit_length()

    def _seen(self, X: FloatArray, Y: FloatArray, threads: Threads | None) -> None:
        """Count rows; draw the networks afresh from all of them when their number is a power of two."""
        due = self._next_draw()
        self.rows += X.shape[0]
        if not self.warming:
            return
        self.first_rows.append((X.copy(), Y.copy()))
        if self.rows < due:
            return
        rows = np.concatenate([x for x, _ in self.first_rows])
        targets = np.concatenate([y for _, y in self.first_rows])
        side, goals = self.inputs.transform(rows), self._goals(self.targets.transform(targets))
        self.ensemble = self._draw(side, goals, None)
        for start, stop in blocks(len(side), self.ensemble.block_rows):
            self.ensemble.learn(side[start:stop], goals[start:stop], threads or Threads(1))
        self.first_rows = [(rows, targets)]
        if self.rows >= constants.WARMUP_ROWS:
            self.first_rows, self.warming = [], False

    # Predicting ----------------------------------------------------------------------------------------

    def side(self, X: FloatArray) -> FloatArray:
        """Return the side information of new rows."""
        side = self.inputs.transform(X)
        if self.advise is None:
            return side
        return self._join(side, self.advise(X), *self.targets.shift_and_scale())

    def moments(self, X: FloatArray, threads: Threads) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        mean, variance = self.ensemble.moments(self.side(X), threads)
        shift, scale = self.targets.shift_and_scale()
        return shift + scale * mean, scale * self._deviation(variance)

    def _deviation(self, variance: FloatArray) -> FloatArray:
        """Return the root of a mixture's variance, which rounding must not bring below its components'."""
        return np.sqrt(np.maximum(variance, self._least_variance()))

    def _least_variance(self) -> float:
        return self.settings.min_variance * float(self.ensemble.spreads.min())

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        mean, second = np.zeros((1, self.settings.outputs)), np.zeros((1, self.settings.outputs))
        self.ensemble.infer_row(self.side(x), mean, second)
        self.targets.restore_moments(mean, second, self.ensemble.networks, self._least_variance())
        return mean, second

    def predictions(self, X: FloatArray, threads: Threads) -> Predictions:
        """Return what all neurons predict."""
        shift, scale = self.targets.shift_and_scale()
        return Predictions(self.ensemble.components(self.side(X), threads), shift, scale)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all that is known, as plain values and as arrays."""
        settings = asdict(self.settings)
        settings["dtype"] = np.dtype(self.settings.dtype).name
        values = {
            "settings": settings,
            "rows": self.rows,
            "warming": self.warming,
            "pace": self.pace,
            "calibrated": self.ensemble.calibrated,
            "time": self.ensemble.time,
        }
        arrays = self.ensemble.state()
        arrays["scaler.inputs"], arrays["scaler.targets"] = self.inputs.state, self.targets.state
        if self.first_rows:
            arrays["first.X"] = np.concatenate([x for x, _ in self.first_rows])
            arrays["first.Y"] = np.concatenate([y for _, y in self.first_rows])
        return values, arrays

    @classmethod
    def from_state(
        cls,
        values: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        find_splits: FindSplits | None,
        advise: Callable[[FloatArray], FloatArray] | None,
    ) -> "Learner":
        """Return the learner that `state` described, with the functions that it did not hold."""
        settings = dict(values["settings"])
        for name in ("layer_sizes", "weight_range", "context_dims"):
            settings[name] = tuple(settings[name])
        settings["dtype"] = np.dtype(settings["dtype"]).type
        learner = cls.__new__(cls)
        learner._prepare(Settings(**settings), find_splits)
        learner.advise = advise
        gates = Gates(arrays["gates.codes"], arrays["gates.offsets"], arrays["gates.normals"])
        learner.ensemble = build(learner.settings, gates)
        learner.ensemble.restore(arrays, values["time"])
        learner.ensemble.calibrated = values["calibrated"]
        learner._slow_down(values["pace"])
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.rows, learner.warming = values["rows"], values["warming"]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.Y"])]
        return learner
