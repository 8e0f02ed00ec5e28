"""The learner of networks that take gradient steps: rows in the user's units in, predictions out.

It joins standardisation, gates drawn from data, and the ensemble. A stream starts without knowing its
scale: whenever the number of rows seen reaches a power of two up to `constants.WARMUP_ROWS`, statistics and
gates are drawn afresh from all rows so far and these are learnt again. What the learner knows is therefore a
function of the rows alone, not of the calls that brought them.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.bases.hinges import HingeRegression
from ggln.engine.gating import NO_SPLITS, Gates, Splits
from ggln.engine.gradient.build import BASIS, GATES, ORDER, Settings, build, draw_gates, settings_from
from ggln.engine.gradient.calibration import SPREADS, calibrate, left_of_variance, log_densities
from ggln.engine.gradient.ensemble import Components, Ensemble, Epoch, blocks
from ggln.engine.gradient.layouts import check_ensemble, check_learner, rest_of_learner
from ggln.engine.newton.picked import pick_gates
from ggln.engine.scaling import Scaler
from ggln.engine.stream import begins_within, next_power, spans
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
FindSplits = Callable[[FloatArray, FloatArray, int], Splits]
"""(standardised rows, targets, seed) -> splits, for gates from trees."""


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
    """Networks that learn rows in the user's units.

    Parameters
    ----------
    settings
        Of the networks.
    find_splits
        Where gates from trees come from.
    """

    def __init__(self, settings: Settings, find_splits: FindSplits | None = None) -> None:
        self._prepare(settings, find_splits)
        self.ensemble = self._draw(np.empty((0, settings.columns)), np.empty((0, settings.outputs)), None)

    @property
    def features(self) -> int:
        """How many features networks know of."""
        return self.settings.features

    columns = features

    @property
    def network_count(self) -> int:
        """How many networks there are."""
        return self.settings.n_estimators

    def _prepare(self, settings: Settings, find_splits: FindSplits | None) -> None:
        """Set everything but the networks to its state before any row."""
        self.settings, self.find_splits = settings, find_splits
        self.hinges = self._new_hinges(np.empty((0, settings.features)))
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
        settings, splits, picked = self.settings, [NO_SPLITS], []
        parts: list[Any] = [slice(None)] if folds is None else [folds != k for k in range(settings.folds)]
        features = side[:, : settings.features]
        if settings.gating == "tree" and self.find_splits is not None:
            splits = [self.find_splits(features[part], goals[part], settings.seed) for part in parts]
        if settings.gating == "residual" and len(side) > 1:
            shape = settings.layer_sizes, settings.context_dim, settings.columns
            for network in range(settings.n_estimators):
                own, random = parts[network % len(parts)], settings.random(network, GATES)
                picked.append(pick_gates(*shape, features[own], goals[own], random))
        return build(settings, draw_gates(settings, side, splits, picked))

    def _new_hinges(self, side: FloatArray) -> HingeRegression | None:
        """Return a regression that has learnt nothing, if there is to be one; side: [n, d], to draw from."""
        settings = self.settings
        if not settings.hinges:
            return None
        random, drawn = settings.random(0, BASIS), side[:: max(1, len(side) // constants.GATE_ROWS)]
        return HingeRegression(settings.hinges, settings.outputs, constants.HINGE_VARIANCE, drawn, random)

    def _begin_side(self, scaled: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the side information of rows that a new regression on hinges learns, if there is one."""
        self.hinges = self._new_hinges(scaled)
        return self._learn_side(scaled, targets)

    def _learn_side(self, scaled: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the side information of rows to learn; a regression on hinges learns them."""
        return scaled if self.hinges is None else self._join(scaled, *self.hinges.learn(scaled, targets))

    def _join(self, scaled: FloatArray, means: FloatArray, precisions: FloatArray) -> FloatArray:
        """Return standardised rows [n, d], and the logits [n, D] of what a regression on hinges predicts.

        means: [n, D], precisions: [n], of Gaussians around targets 0 and 1.
        """
        logits = (means - 0.5) * precisions[:, None]
        return np.hstack([scaled, np.clip(logits, -constants.INPUT_LIMIT, constants.INPUT_LIMIT)])

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
    ) -> None:
        """Learn a whole table, several times over. Only for a learner that has seen nothing yet."""
        self.inputs.fit(X)
        self.targets.fit(Y)
        targets = self.targets.transform(Y)
        goals = self._goals(targets)
        folds = self.settings.assign_folds(X.shape[0]) if self.settings.folds else None
        side = self._begin_side(self.inputs.transform(X), targets)
        if self.settings.needs_data:
            self.ensemble = self._draw(side, goals, folds)
        self.ensemble.learn_epochs(
            side, goals, self._epochs(X.shape[0], folds, course), course.epochs > 1, threads, progress
        )
        self.rows, self.warming = X.shape[0], False
        if course.anneal:
            self._slow_down(1.0 / course.epochs)
        if folds is not None and self._calibrate(side, goals, folds, threads):
            self._narrow(X, threads)

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
            pace, fade = 1.0, 1.0
            if course.anneal:
                pace, left = 1.0 - epoch / course.epochs, course.epochs - epoch
                fade = (left - 1.0) / left
            yield Epoch([some[:length] for some in order], pace, fade)

    def _slow_down(self, pace: float) -> None:
        """Let all further learning go on at a fraction of the step.

        A step that shrank to nothing leaves weights, and widths calibrated for them, that full ones undo.
        """
        self.pace = pace
        self.ensemble.rules = self.ensemble.rules._replace(step=self.ensemble.rules.step.times(pace))

    def _calibrate(
        self, side: FloatArray, goals: NDArray[Any], folds: NDArray[np.int64], threads: Threads
    ) -> bool:
        """Set the networks' shares and spreads by the rows that each of them left out, if there are any."""
        settings, ensemble = self.settings, self.ensemble
        kinds = max(len(settings.context_dims), 1)
        chances = np.full((kinds, SPREADS.size, side.shape[0]), -np.inf)
        counts = np.zeros((kinds, side.shape[0]))
        for fold in range(settings.folds):
            members = settings.members(fold)
            left_out = np.flatnonzero(folds == fold)
            for rows in np.array_split(left_out, -(-left_out.size // constants.BLOCK_ROWS)):
                outputs = ensemble.components(side[rows], threads, members).outputs
                for place, e in enumerate(members):
                    kind, goal = settings.kind(e), goals[rows].astype(np.float64)
                    found = log_densities(outputs[:, place], ensemble.weights[e], goal)
                    chances[kind][:, rows] = np.logaddexp(chances[kind][:, rows], found)
                    counts[kind, rows] += 1
        judged = (counts > 0).all(axis=0)
        if not judged.any():
            return False
        scores = chances[:, :, judged] - np.log(counts[:, None, judged])
        shares, spreads = calibrate(scores)
        of_network = np.array([settings.kind(e) for e in range(settings.n_estimators)])
        each = (shares / np.bincount(of_network, minlength=kinds))[of_network]
        ensemble.shares[:], ensemble.spreads[:] = each / each.sum(), spreads[of_network]
        ensemble.calibrated = True
        return True

    def _narrow(self, X: FloatArray, threads: Threads) -> None:
        """Take back from the spreads what networks err less together than alone.

        Spreads were chosen for the networks that left out a row. A new row gets the mean of all, and
        `calibration.left_of_variance` says with which variance.
        """
        step, networks = -(-X.shape[0] // constants.GATE_ROWS), range(self.settings.n_estimators)
        means, variances = self.ensemble.moments_apart(self.side(X[::step]), networks, threads)
        self.ensemble.spreads *= left_of_variance(means, variances, self.ensemble.shares)

    def partial_fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray,  # noqa: ARG002
        threads: Threads,
        record: bool,
        progress: Callable[[int], object],
    ) -> list[Predictions]:
        """Learn rows once, in their order; return what was predicted before, if asked to `record`.

        Gradient steps count every row once: weights, which exact learning takes, are ignored.
        """
        self.ensemble.require(X.shape[0])
        recorded = []
        for block in spans(self, X.shape[0], self.ensemble.block_rows):
            targets, shifts, scales = self.targets.learn_recorded(Y[block])
            side = self._learn_side(self.inputs.learn(X[block]), targets)
            components = self.ensemble.learn(side, self._goals(targets), threads, record)
            if components is not None:
                recorded.append(Predictions(components, shifts, scales))
            self._seen(X[block], Y[block], threads)
            progress(block.stop - block.start)
        return recorded

    def learn_one(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:  # noqa: ARG002
        """Learn a single row. x: [1, d]; y: [1, D]; the weight is ignored, as in `partial_fit`."""
        targets = self.targets.learn(y)
        self.ensemble.learn_row(self._learn_side(self.inputs.learn(x), targets), self._goals(targets))
        self._seen(x, y, None)

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring it to where networks are drawn afresh."""
        return begins_within(self, rows)

    @property
    def due(self) -> int:
        """Rows at which networks are drawn afresh; 0: never."""
        return next_power(self.rows) if self.warming else 0

    def _seen(self, X: FloatArray, Y: FloatArray, threads: Threads | None) -> None:
        """Count rows; draw the networks of a young stream afresh when it is time."""
        due = self.due
        self.rows += X.shape[0]
        if not due:
            return
        self.first_rows.append((X.copy(), Y.copy()))
        if self.rows < due:
            return
        rows, targets = (np.concatenate(arrays) for arrays in zip(*self.first_rows, strict=True))
        self._begin_again(rows, targets, threads or Threads(1))
        self.warming = self.rows < constants.WARMUP_ROWS
        self.first_rows = [(rows, targets)] if self.warming else []

    def _begin_again(self, rows: FloatArray, targets: FloatArray, threads: Threads) -> None:
        """Draw networks from some rows, in the units that are now in force, and learn these."""
        scaled = self.targets.transform(targets)
        side, goals = self._begin_side(self.inputs.transform(rows), scaled), self._goals(scaled)
        self.ensemble = self._draw(side, goals, None)
        for start, stop in blocks(len(side), self.ensemble.block_rows):
            self.ensemble.learn(side[start:stop], goals[start:stop], threads)

    # Predicting ----------------------------------------------------------------------------------------

    def side(self, X: FloatArray) -> FloatArray:
        """Return the side information of new rows."""
        scaled = self.inputs.transform(X)
        return scaled if self.hinges is None else self._join(scaled, *self.hinges.predict(scaled))

    def moments(self, X: FloatArray, threads: Threads) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        mean, variance = self.ensemble.moments(self.side(X), threads)
        shift, scale = self.targets.shift_and_scale()
        return shift + scale * mean, scale * self._deviation(variance)

    def _deviation(self, variance: FloatArray) -> FloatArray:
        """Return the root of a mixture's variance, which rounding must not bring below its components'."""
        return np.sqrt(np.maximum(variance, self._least_variance()))

    def _least_variance(self) -> float:
        return self.settings.min_variance * min(self.ensemble.spreads.tolist())

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
        if self.hinges is not None:
            arrays |= self.hinges.state()
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
    ) -> "Learner":
        """Return the learner that `state` described, with the function that it did not hold."""
        settings = settings_from(values["settings"])
        check_learner(values, arrays, settings)
        learner = cls.__new__(cls)
        learner._prepare(settings, find_splits)
        gates = Gates(arrays["gates.codes"], arrays["gates.offsets"], arrays["gates.normals"])
        learner.ensemble = build(settings, gates)
        check_ensemble(arrays, learner.ensemble, settings, **rest_of_learner(arrays, settings))
        learner.ensemble.restore(arrays, values["time"])
        learner.ensemble.calibrated = values["calibrated"]
        learner._slow_down(values["pace"])
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        if learner.hinges is not None:
            learner.hinges.restore(arrays)
        learner.rows, learner.warming = values["rows"], values["warming"]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.Y"])]
        return learner
