"""The exact learner: rows in the user's units in, predictions out; one model for tables and for streams.

`fit` solves all rows. Each network leaves out one fold of them, predicts its rows one after the other, and learns
each as a stream would: these predictions, made before their row was known, decide the shares of the mixture.
`partial_fit` goes on from any state in the same way. A stream that begins without `fit` keeps its first rows and
is solved afresh as they grow (`SCHEDULE`), so that what it knows depends on the rows alone, not on the calls.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core.constants import INPUT_LIMIT, TARGET_LIMIT
from ggln.core.jit import Specialized
from ggln.core.newton import constants
from ggln.core.newton.bumps import Bumps, fit_bumps
from ggln.core.newton.gates import Gates
from ggln.core.newton.kinds import kind_of
from ggln.core.newton.mixture import equal_shares, find_shares, follow_shares, log_densities
from ggln.core.newton.network import Network, Scratch, Shape, fit_network, follow, make_scratch
from ggln.core.scaling import Scaler
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]
Progress = Callable[[int], object]
Arrays = dict[str, NDArray[Any]]
GATES, FOLDS, BUMPS = range(3)
"""Streams of random numbers: for gates, folds, and the centres of bumps."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides what networks are, and how they learn. `GGLNRegressor` documents each."""

    layer_sizes: tuple[int, ...]
    context_dims: tuple[int, ...]  # of the kinds of networks in turn
    n_estimators: int
    regressions: bool  # whether there are regressions below networks
    base_variance: float
    bias_range: float
    bias_variance: float
    min_variance: float
    max_variance: float
    covariance: str
    standardize: bool | str
    features: int
    outputs: int
    seed: int
    online: bool = False  # a stream, not a table

    def random(self, network: int, purpose: int) -> np.random.Generator:
        """Return a network's own stream of random numbers."""
        return np.random.default_rng([self.seed, network, purpose])

    @property
    def kinds(self) -> int:
        """Kinds of networks: on features alone, and with regressions below."""
        return 2 if self.regressions else 1

    def shape(self, network: int) -> Shape:
        """Return what a network is made of."""
        group = network % self.kinds
        few = self.features * self.outputs <= constants.MOST_FEATURES
        return Shape(
            self.layer_sizes,
            self.context_dims[group % len(self.context_dims)],
            group,
            self.outputs > 1 and few,
            self.bias_range,
            1.0 / self.bias_variance,
            1.0 / self.base_variance,
            1.0 / self.max_variance,
            1.0 / self.min_variance,
        )


def schedule(rows: int) -> int:
    """Return the number of rows after `rows` at which a stream is solved afresh: 1, 2, 3, 4, 6, 8, 12, 16, ..."""
    power = 1 << max(rows.bit_length() - 1, 0)
    return 1 if rows == 0 else 2 * power if rows >= power + power // 2 or power < 2 else power + power // 2


class Blend(NamedTuple):
    """What all kinds predict for some rows: Gaussians, in the user's units, and their shares."""

    weights: FloatArray  # [k], or [n, k] where they changed from row to row
    means: FloatArray  # [n, k, D]
    covariances: FloatArray  # [n, k, D] variances, or [n, k, D, D]


class ExactLearner:
    """Networks that solve their problems, with all that they need between the user's units and theirs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kind = kind_of(settings.outputs, settings.covariance)
        active = bool(settings.standardize)
        self.inputs = Scaler(settings.features, INPUT_LIMIT, active)
        self.targets = Scaler(settings.outputs, TARGET_LIMIT * settings.bias_range, active and settings.standardize != "inputs")
        self.bumps: Bumps | None = None
        self.networks: list[Network] = []
        self.errors = np.zeros(settings.outputs + 1)  # of the regression: squares, and the weight of rows
        self.shares = equal_shares(1)
        self.judged = 0.0  # weight of the rows that shares come from
        self.rows = 0
        self.first_rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._ready()

    def _ready(self) -> None:
        self._kernels, self._scratch = Specialized(), [make_scratch(n, self.kind) for n in self.networks]

    # Solving -------------------------------------------------------------------------------------------

    def fit(self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress) -> None:
        """Solve a table. X: [n, d]; Y: [n, D]; weights: [n]."""
        self.rows = X.shape[0]
        counted = weights > 0
        self.inputs.fit(X[counted])
        self.targets.fit(Y[counted])
        self._solve(X, Y, weights, threads, progress)

    def steps(self, rows: int) -> int:
        """Return how many steps `fit` tells of."""
        return len(self.settings.layer_sizes) * self.settings.n_estimators if rows >= constants.FEWEST_ROWS else 0

    def _solve(self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress) -> None:
        """Solve rows in the units that are in force."""
        settings = self.settings
        side, goals = self.inputs.transform(X), self.targets.transform(Y)
        most = constants.STREAM_BUMPS if settings.online else constants.FIT_BUMPS
        self.bumps, left = fit_bumps(
            np.nan_to_num(side), goals, weights, most, settings.random(0, BUMPS), threads
        )
        few = np.count_nonzero(weights) < constants.FEWEST_ROWS
        # so few rows cannot tell how well they are predicted
        floor = 1.0 / max(np.count_nonzero(weights), 1) if few else settings.min_variance
        variance = np.maximum(self.bumps.variance, floor)
        self.errors = np.append(variance, 1.0) * max(float(weights.sum()), 1.0)
        advice = self.kind.natural(left, variance)[:, None]
        self.networks = []
        if few:
            self._judge(advice, goals, weights)
            self._ready()
            return
        folds = settings.random(0, FOLDS).permutation(side.shape[0]) % constants.FOLDS
        networks: list[Any] = [None] * settings.n_estimators
        judged = np.full((settings.n_estimators, *advice.shape[::2]), np.nan)

        def solve_one(e: int) -> None:
            shape, out = settings.shape(e), folds == e // settings.kinds % constants.FOLDS
            given = np.ascontiguousarray(advice[:, : shape.regressions])
            rest = goals - (left if shape.regressions else np.average(goals, axis=0, weights=weights))
            random = settings.random(e, GATES)
            networks[e] = fit_network(
                self.kind, shape, side[~out], given[~out], goals[~out], weights[~out], random, rest[~out], progress
            )
            found = np.empty((int(out.sum()), self.kind.planes))
            scratch = make_scratch(networks[e], self.kind)
            follow(self.kind, networks[e], side[out], given[out], goals[out], weights[out], True, scratch, found)
            judged[e, out] = found

        threads.run([(solve_one, (e,)) for e in reversed(range(settings.n_estimators))])
        self.networks = networks
        kinds, covered = [advice[:, 0]] if settings.regressions else [], np.ones(len(goals), bool)
        for group in range(min(settings.kinds, settings.n_estimators)):
            own = judged[group :: settings.kinds]
            there = ~np.isnan(own[:, :, 0]).T
            covered &= there.any(axis=1)
            kinds.append(np.nansum(own, axis=0) / np.maximum(there.sum(axis=1), 1)[:, None])
        everyone = np.stack(kinds, axis=1)
        self._judge(everyone[covered], goals[covered], weights[covered])
        self._ready()

    def _judge(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray) -> None:
        """Find the shares from what each kind said of rows that it did not know, [n, kinds, Q]."""
        logs = self._logs(kinds, goals)
        self.shares, self.judged = find_shares(logs, weights), float(weights.sum()) + constants.SHARE_ROWS

    def _logs(self, kinds: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the log density of each component at the targets, [n, kinds * spreads]."""
        quadratic, log_determinant = self.kind.score(kinds, goals)
        logs = log_densities(quadratic, log_determinant, goals.shape[1])
        return logs.reshape(len(goals), -1)

    # Going on ------------------------------------------------------------------------------------------

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
            stop = X.shape[0]
            if self.settings.online and self.rows < constants.WARM_ROWS:
                stop = min(stop, start + schedule(self.rows) - self.rows)
            part = X[start:stop], Y[start:stop], weights[start:stop]
            blend = self._learn(*part, threads, record)
            if record:
                found.append(blend)
            self._seen(*part, threads)
            progress(stop - start)
            start = stop
        return found

    def _learn(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows that stay within one draw of the networks."""
        if self.bumps is None:  # the first row of all
            return self._nothing(X.shape[0]) if record else None
        side, goals = self.inputs.transform(X), self.targets.transform(Y)
        means = self.bumps.learn(np.nan_to_num(side), goals, weights)
        told = np.cumsum(
            np.vstack([self.errors, np.hstack([weights[:, None] * (means - goals) ** 2, weights[:, None]])]), axis=0
        )
        self.errors = told[-1].copy()
        advice = self.kind.natural(means, self._variances(told[:-1]))[:, None]
        kinds = self._ask(side, advice, goals, weights, True, threads)
        history = np.empty((X.shape[0] if record else 0, self.shares.size))
        self.judged = follow_shares(self._logs(kinds, goals), weights, self.shares, self.judged, history)
        return self._blend(kinds, history) if record else None

    def _variances(self, errors: FloatArray) -> FloatArray:
        """Return the regression's variance [.., D] from its errors [.., D + 1]."""
        return np.maximum(errors[..., :-1] / errors[..., -1:], self.settings.min_variance)

    def _ask(
        self,
        side: FloatArray,
        advice: FloatArray,
        goals: FloatArray,
        weights: FloatArray,
        learning: bool,
        threads: Threads | None,
    ) -> FloatArray:
        """Return what each kind says, [n, kinds, Q]; networks learn the rows if they are to."""
        said = np.empty((len(self.networks), side.shape[0], self.kind.planes))
        nothing = np.ascontiguousarray(advice[:, :0])
        tasks = []
        for e, network in enumerate(self.networks):
            given = advice if network.regressions else nothing
            scratch = self._scratch[e] if learning or threads is None else make_scratch(network, self.kind)
            tasks.append((follow, (self.kind, network, side, given, goals, weights, learning, scratch, said[e])))
        if threads is None:
            for e, (kernel, arguments) in enumerate(tasks):
                self._kernels.call(kernel, arguments)
        else:
            threads.run(tasks)
        kinds = [advice[:, 0]] if self.settings.regressions or not self.networks else []
        kinds += [said[g :: self.settings.kinds].mean(axis=0) for g in range(min(self.settings.kinds, len(self.networks)))]
        return np.stack(kinds, axis=1)

    def learn_one(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        """Learn a single row [1, d] with its target [1, D]."""
        self.partial_fit(x, y, weight, None, False)

    def _seen(self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None) -> None:
        """Count rows; solve a young stream afresh when it is time."""
        warming = self.settings.online and self.rows < constants.WARM_ROWS
        due = schedule(self.rows)
        self.rows += X.shape[0]
        if not warming:
            return
        self.first_rows.append((X.copy(), Y.copy(), weights.copy()))
        if self.rows < due:
            return
        rows, targets, counts = (np.concatenate(arrays) for arrays in zip(*self.first_rows, strict=True))
        self.inputs.fit(rows)
        self.targets.fit(targets)
        self._solve(rows, targets, counts, threads or Threads(1), lambda _: None)
        self.first_rows = [] if self.rows >= constants.WARM_ROWS else [(rows, targets, counts)]

    # Predicting ----------------------------------------------------------------------------------------

    def _kinds(self, X: FloatArray, threads: Threads | None) -> FloatArray:
        """Return what each kind says of new rows, [n, kinds, Q]."""
        side = self.inputs.transform(X)
        assert self.bumps is not None
        means = self.bumps.predict(np.nan_to_num(side))
        advice = self.kind.natural(means, np.broadcast_to(self._variances(self.errors), means.shape))[:, None]
        return self._ask(side, advice, means, np.empty(0), False, threads)

    def _nothing(self, rows: int) -> Blend:
        """Return what is predicted before anything is known."""
        shape = rows, 1, self.settings.outputs
        return Blend(np.ones((rows, 1)), np.zeros(shape), np.ones(shape))

    def _blend(self, kinds: FloatArray, weights: FloatArray) -> Blend:
        """Return the components of the mixture in the user's units."""
        shift, scale = self.targets.shift_and_scale()
        means, covariances = self.kind.gaussians(kinds)
        means, covariances = shift + scale * means, self.kind.rescale(covariances, scale)
        spreads = np.asarray(constants.SPREADS)
        wide = np.repeat(covariances, spreads.size, axis=1)
        factors = np.tile(spreads, kinds.shape[1]).reshape(-1, *[1] * (wide.ndim - 2))
        return Blend(weights, np.repeat(means, spreads.size, axis=1), wide * factors)

    def predictions(self, X: FloatArray, threads: Threads | None) -> Blend:
        """Return the mixture for new rows."""
        return self._blend(self._kinds(X, threads), self.shares.copy())

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        shift, scale = self.targets.shift_and_scale()
        means, covariances = self.kind.gaussians(self._kinds(X, threads))
        shares = self.shares.reshape(means.shape[1], -1)
        spreads = shares @ np.asarray(constants.SPREADS)
        totals = shares.sum(axis=1)
        mean = np.einsum("k,nkd->nd", totals, means)
        variances = self.kind.variances(covariances)
        variance = np.einsum("k,nkd->nd", spreads, variances)
        variance += np.einsum("k,nkd->nd", totals, (means - mean[:, None]) ** 2)
        return shift + scale * mean, scale * np.sqrt(variance)

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        return self.moments(x, None)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        values = {"settings": asdict(self.settings), "rows": self.rows, "judged": self.judged}
        arrays = {
            "scaler.inputs": self.inputs.state,
            "scaler.targets": self.targets.state,
            "shares": self.shares,
            "errors": self.errors,
        }
        if self.bumps is not None:
            arrays |= {f"bumps.{name}": array for name, array in self.bumps.state().items()}
        for e, network in enumerate(self.networks):
            arrays |= {f"network.{e}.{name}": array for name, array in _flat(network).items()}
        if self.first_rows:
            for name, parts in zip(("X", "Y", "weights"), zip(*self.first_rows, strict=True), strict=True):
                arrays[f"first.{name}"] = np.concatenate(parts)
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "ExactLearner":
        """Return the learner that `state` described."""
        own = values["settings"]
        own |= {name: tuple(own[name]) for name in ("layer_sizes", "context_dims")}
        learner = cls(Settings(**own))
        learner.rows, learner.judged = values["rows"], values["judged"]
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.shares, learner.errors = arrays["shares"], arrays["errors"]
        own = {name.removeprefix("bumps."): a for name, a in arrays.items() if name.startswith("bumps.")}
        learner.bumps = Bumps.from_state(own) if own else None
        count = len({name.split(".")[1] for name in arrays if name.startswith("network.")})
        learner.networks = [_unflat(arrays, f"network.{e}.") for e in range(count)]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.Y"], arrays["first.weights"])]
        learner._ready()
        return learner

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions and buffers, which can be made anew."""
        return {name: value for name, value in vars(self).items() if name not in ("_kernels", "_scratch")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle."""
        vars(self).update(state)
        self._ready()


SCALARS = "regressions", "along_axes", "bias_range"


def _flat(network: Network) -> Arrays:
    """Return a network's arrays by name."""
    fields = network._asdict()
    gates = fields.pop("gates")
    fields |= {f"gates.{name}": array for name, array in gates._asdict().items()}
    return {name: np.atleast_1d(np.asarray(value)) for name, value in fields.items()}


def _unflat(arrays: Arrays, prefix: str) -> Network:
    """Return the network whose arrays `_flat` gave."""
    fields = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    gates = Gates(*(np.require(fields.pop(f"gates.{name}"), requirements="W") for name in Gates._fields))
    fields = {name: np.require(array, requirements="W") for name, array in fields.items()}
    fields |= {name: fields[name][0].item() for name in SCALARS}
    return Network(**fields, gates=gates)
