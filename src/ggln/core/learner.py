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
from ggln.core.ensemble import Components, Ensemble
from ggln.core.gating import Gates
from ggln.core.scaling import Scaler
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]


class Predictions(NamedTuple):
    """What all neurons predicted for some rows, and how to bring it to the user's units."""

    components: Components
    shifts: FloatArray  # [D], or [n, D] where they changed from row to row
    scales: FloatArray


class Learner:
    """Networks that learn rows in the user's units."""

    def __init__(self, settings: Settings) -> None:
        self._prepare(settings)
        self.ensemble = self._draw(np.empty((0, settings.features)))

    def _prepare(self, settings: Settings) -> None:
        """Set everything but the networks to its state before any row."""
        self.settings = settings
        targets_too = settings.standardize is True
        limit = constants.TARGET_LIMIT * settings.bias_range if targets_too else constants.INPUT_LIMIT
        self.inputs = Scaler(settings.features, constants.INPUT_LIMIT, bool(settings.standardize))
        self.targets = Scaler(settings.outputs, limit, targets_too)
        self.rows = 0
        self.first_rows: list[tuple[FloatArray, FloatArray]] = []
        self.warming = settings.needs_data

    def _draw(self, side: FloatArray) -> Ensemble:
        """Return untrained networks, with gates drawn from standardised rows."""
        return build(self.settings, draw_gates(self.settings, side))

    def _goals(self, targets: FloatArray) -> NDArray[Any]:
        return targets.astype(self.settings.dtype)

    # Learning ------------------------------------------------------------------------------------------

    def fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        epochs: int,
        shuffle: bool,
        threads: Threads,
        progress: Callable[[int], object],
    ) -> None:
        """Learn a whole table, several times over. Only for a learner that has seen nothing yet."""
        self.inputs.fit(X)
        self.targets.fit(Y)
        side = self.inputs.transform(X)
        if self.settings.needs_data:
            self.ensemble = self._draw(side)
        generators = [self.settings.random(e, ORDER) for e in range(self.settings.n_estimators)]

        def orders() -> Iterator[list[NDArray[np.int64]]]:
            for _ in range(epochs):
                yield [
                    random.permutation(X.shape[0]) if shuffle else np.arange(X.shape[0])
                    for random in generators
                ]

        goals = self._goals(self.targets.transform(Y))
        self.ensemble.learn_epochs(side, goals, orders(), epochs > 1, threads, progress)
        self.rows, self.warming = X.shape[0], False

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
            length = min(constants.BLOCK_ROWS, X.shape[0] - start)
            if self.warming:
                length = min(length, self._next_draw() - self.rows)
            block = slice(start, start + length)
            side = self.inputs.learn(X[block])
            targets, shifts, scales = self.targets.learn_recorded(Y[block])
            components = self.ensemble.learn(side, self._goals(targets), threads, record)
            if components is not None:
                recorded.append(Predictions(components, shifts, scales))
            self._seen(X[block], Y[block], threads)
            start += length
            progress(length)
        return recorded

    def learn_one(self, x: FloatArray, y: FloatArray) -> None:
        """Learn a single row. x: [1, d]; y: [1, D]."""
        self.ensemble.learn_row(self.inputs.learn(x), self._goals(self.targets.learn(y)))
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
        self.ensemble = self._draw(side)
        self.ensemble.learn(side, goals, threads or Threads(1))
        self.first_rows = [(rows, targets)]
        if self.rows >= constants.WARMUP_ROWS:
            self.first_rows, self.warming = [], False

    # Predicting ----------------------------------------------------------------------------------------

    def moments(self, X: FloatArray, threads: Threads) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        mean, variance = self.ensemble.moments(self.inputs.transform(X), threads)
        shift, scale = self.targets.shift_and_scale()
        return shift + scale * mean, scale * self._deviation(variance)

    def _deviation(self, variance: FloatArray) -> FloatArray:
        """Return the root of a mixture's variance, which rounding must not bring below its components'."""
        return np.sqrt(np.maximum(variance, self.settings.min_variance))

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        mean, second = np.zeros((1, self.settings.outputs)), np.zeros((1, self.settings.outputs))
        self.ensemble.infer_row(self.inputs.transform(x), mean, second)
        self.targets.restore_moments(mean, second, self.ensemble.networks, self.settings.min_variance)
        return mean, second

    def predictions(self, X: FloatArray, threads: Threads) -> Predictions:
        """Return what all neurons predict."""
        shift, scale = self.targets.shift_and_scale()
        return Predictions(self.ensemble.components(self.inputs.transform(X), threads), shift, scale)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all that is known, as plain values and as arrays."""
        settings = asdict(self.settings)
        settings["dtype"] = np.dtype(self.settings.dtype).name
        values = {
            "settings": settings,
            "rows": self.rows,
            "warming": self.warming,
            "time": self.ensemble.time,
        }
        arrays = self.ensemble.state()
        arrays["scaler.inputs"], arrays["scaler.targets"] = self.inputs.state, self.targets.state
        if self.first_rows:
            arrays["first.X"] = np.concatenate([x for x, _ in self.first_rows])
            arrays["first.Y"] = np.concatenate([y for _, y in self.first_rows])
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Learner":
        """Return the learner that `state` described."""
        settings = dict(values["settings"])
        for name in ("layer_sizes", "weight_range"):
            settings[name] = tuple(settings[name])
        settings["dtype"] = np.dtype(settings["dtype"]).type
        learner = cls.__new__(cls)
        learner._prepare(Settings(**settings))
        gates = Gates(arrays["gates.codes"], arrays["gates.offsets"], arrays["gates.normals"])
        learner.ensemble = build(learner.settings, gates)
        learner.ensemble.restore(arrays, values["time"])
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.rows, learner.warming = values["rows"], values["warming"]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.Y"])]
        return learner
