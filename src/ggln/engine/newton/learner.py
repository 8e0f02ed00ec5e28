"""The exact learner: rows in the user's units in, predictions out; one model for tables and for streams.

`fit` solves all rows. Each network leaves out one fold of them and predicts it: these predictions decide the
shares of the mixture. `partial_fit` goes on from any state, row by row. A table keeps its rows and is solved
afresh whenever they have grown by a quarter; a stream that begins without `fit` keeps its first rows and is
solved afresh as they grow (`next_half`). What a learner knows depends on the rows alone, not on the calls.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.checks import part
from ggln.engine.constants import INPUT_LIMIT, TARGET_LIMIT
from ggln.engine.jit import Specialized
from ggln.engine.newton import constants
from ggln.engine.newton.base import Base, Regressors
from ggln.engine.newton.bumps import Bumps
from ggln.engine.newton.copula import levels_of
from ggln.engine.newton.kinds import kind_of
from ggln.engine.newton.layouts import check_exact
from ggln.engine.newton.mixtures import before_any_row, make_mixture
from ggln.engine.newton.network import Network
from ggln.engine.newton.online import follow, make_scratch
from ggln.engine.newton.settings import SHELLS, Settings, restore_settings
from ggln.engine.newton.single import Alone, make_reader, pool_kinds
from ggln.engine.newton.solving import solve_networks
from ggln.engine.newton.stored import flat, unflat
from ggln.engine.newton.stream import Progress, Stream, join_rows
from ggln.engine.newton.support import Edges, find_edges, follow_edges, no_edges, widened
from ggln.engine.pinned import Pinned
from ggln.engine.scaling import Scaler
from ggln.engine.stream import next_half
from ggln.engine.threads import Task, Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
NOBODY = np.empty(0)
"""Weights of rows that are not learnt."""


def judges(rows: int) -> slice:
    """Return which of so many rows, spread evenly, the mixture is found from."""
    return slice(None, None, max(-(-rows // constants.JUDGED_ROWS), 1))


class ExactLearner(Stream):
    """Networks that solve their problems, with all that they need between the user's units and theirs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kind = kind_of(settings.outputs, settings.covariance)
        active = bool(settings.standardize)
        self.inputs = Scaler(settings.features, INPUT_LIMIT, active, hold=True)
        self.targets = Scaler(
            settings.outputs, TARGET_LIMIT * settings.bias_range, active and settings.standardize != "inputs"
        )
        self.base = Base(settings, self.kind, self.targets)
        self.networks: list[Network] = []
        self.mixture = make_mixture(settings, self.kind)
        self.edges = no_edges()
        self.seen: FloatArray | None = None  # [2, d]  range of features in rows before those that it knows
        # levels of the targets of rows left out [2, n], and weights [n], until a joint learner takes them
        self.left: tuple[FloatArray, FloatArray] | None = None
        self.rows = 0
        self.due = next_half(0) if settings.online else 0  # rows at which all are solved afresh; 0: never
        self.first_rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._ready()

    @property
    def network_count(self) -> int:
        """How many networks there are."""
        return len(self.networks)

    @property
    def bumps(self) -> Bumps | None:
        """The regression on bumps below networks, if there is one."""
        return self.base.bumps

    @bumps.setter
    def bumps(self, bumps: Bumps | None) -> None:
        self.base.bumps = bumps

    @property
    def errors(self) -> FloatArray:
        """Squares of the errors of base models, and the weight of rows, [R, D + 1]."""
        return self.base.errors

    @errors.setter
    def errors(self, errors: FloatArray) -> None:
        self.base.errors = errors

    def hand_in(self, regressors: Regressors) -> None:
        """Take regressors of the user as base models, before `fit`."""
        self.base.regressors = regressors

    def _ready(self) -> None:
        self._scratch = [Pinned([make_scratch(network, self.kind)]) for network in self.networks]
        self._alone: Alone | None = None  # made when a row comes alone
        self._kernels = Specialized()

    # Solving -------------------------------------------------------------------------------------------

    def fit(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        """Solve a table. X: [n, d]; Y: [n, D]; weights: [n]."""
        self.rows = X.shape[0]
        self._find_units(X, Y, weights)
        self._solve(X, Y, weights, threads, progress)
        self._keep(X, Y, weights)

    def _keep(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> None:
        """Keep a copy of the rows that were solved, if there will be a next time, and say when."""
        settings = self.settings
        if settings.online:
            self.due = next_half(self.rows) if self.young else 0
        else:
            self.due = self.rows + max(self.rows // constants.GROWN, 1)
            if settings.regressors or self.due * settings.features > settings.most_kept:
                self.due = 0  # what others' regressors say of left-out rows is known for those of `fit` only
        self.first_rows = [(X.copy(), Y.copy(), weights.copy())] if self.due else []

    def _find_units(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> None:
        """Standardise by rows that count; a target that is always the same tells a scale by its own size."""
        counted = weights > 0
        if not counted.any():
            return
        self.inputs.settle(X[counted], weights[counted])
        self.targets.settle(Y[counted], weights[counted])
        count, mean, squares = self.targets.state
        self.targets.state[2] = np.where(squares == 0.0, count * mean**2, squares)

    def steps(self, rows: int) -> int:
        """Return how many steps `fit` tells of."""
        layers = len(self.settings.layer_sizes) * self.settings.networks(rows)
        return layers if rows >= constants.FEWEST_ROWS else 0

    def _solve(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        """Solve rows in the units that are in force."""
        settings = self.settings
        side, goals = self.inputs.transform(X), self.targets.transform(Y)
        left, base = self.base.fit(side, goals, weights, threads)
        self.edges = no_edges()
        if "outside" not in settings.without:
            shells = settings.random(0, SHELLS)
            self.edges = find_edges(X, side, goals, weights, self.bumps, shells, self.seen)
        self.networks = []
        if np.count_nonzero(weights) < constants.FEWEST_ROWS:
            kinds = base if settings.base_models else self._constant(goals, weights)
            self._judge(kinds, goals, weights, goals)
            self._ready()
            return
        above_base = goals - left.mean(axis=1) if settings.base_models else goals
        table = side, base, goals, weights
        self.networks, groups, covered = solve_networks(
            self.kind, settings, table, above_base, threads, progress
        )
        kinds = np.concatenate([base, groups], axis=1)
        self._judge(kinds[covered], goals[covered], weights[covered], goals[weights > 0])
        self._ready()

    def _constant(self, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the mean of the targets as what is known of every row, [n, 1, Q]."""
        mean = np.broadcast_to(np.average(goals, axis=0, weights=weights), goals.shape)
        found: FloatArray = self.kind.natural(mean, np.ones(goals.shape))[:, None]
        return found

    def _judge(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, every: FloatArray) -> None:
        """Find the mixture from what each kind said of rows that it did not know, [n, kinds, Q].

        every: [N, D], the targets of all rows. Of very many rows, some are asked (`judges`).
        """
        asked = judges(len(goals))
        kinds, goals, weights, every = kinds[asked], goals[asked], weights[asked], every[judges(len(every))]
        self.mixture.judge(kinds, goals, weights, every)
        if self.settings.outputs == 1:
            self.left = levels_of(self.mixture.blend(kinds), goals[:, 0]), weights
        _, deviation = self.mixture.moments(kinds)
        self.edges.typical[0] = np.average(np.mean(deviation**2, axis=1), weights=weights)

    def conclude(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, every: FloatArray) -> None:
        """Find the mixture (`_judge`) of a table that was solved elsewhere, and whose rows are not kept."""
        self._judge(kinds, goals, weights, every)
        self.release()
        self._ready()

    def release(self) -> None:
        """Keep no rows to be solved afresh with: from now on, go on row by row."""
        if not self.settings.online:
            self.due, self.first_rows = 0, []

    # Going on ------------------------------------------------------------------------------------------

    def take(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows none of which is beyond `due`; return what was predicted before, if to `record`."""
        blend = self._learn(X, Y, weights, threads, record)
        self._seen(X, Y, weights, threads)
        return blend

    def _learn(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows that stay within one draw of the networks."""
        if self.rows == 0:
            return before_any_row(X.shape[0], self.settings.outputs) if record else None
        kinds, goals = self._learn_kinds(X, Y, weights, threads)
        kinds = self._outside(X, kinds, weights)
        found = self.mixture.follow(kinds, goals, weights, record)
        return self._restored(found) if record else None

    def learn_components(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None
    ) -> FloatArray:
        """Learn rows of one output, of which the last may be the one at which all are solved afresh.

        Return weights, means and deviations of what was predicted before each, [3, n, P].
        """
        kinds, goals = self._learn_kinds(X, Y, weights, threads)
        kinds = self._outside(X, kinds, weights)
        found: FloatArray = self.mixture.follow_components(kinds, goals, weights)
        shift, scale = self.targets.shift_and_scale()
        found[1] *= scale
        found[1] += shift
        found[2] *= scale
        self._seen(X, Y, weights, threads)
        return found

    def _learn_kinds(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each kind said [n, kinds, Q] before it learnt a row, and standardised targets."""
        if (threads is None or threads.count == 1) and self._plain():
            return self._for_rows_alone().ask(X, Y, weights)
        side, goals = self.inputs.transform(X), self.targets.transform(Y)
        found, start = [], 0
        while start < len(X):
            room = len(X) if self.bumps is None else self.bumps.room
            own = slice(start, min(start + room, len(X)))
            found.append(self._learn_part(X[own], side[own], goals[own], weights[own], threads))
            start = own.stop
        return np.concatenate(found), goals

    def _learn_part(
        self,
        X: FloatArray,
        side: FloatArray,
        goals: FloatArray,
        weights: FloatArray,
        threads: Threads | None,
    ) -> FloatArray:
        """Return what each kind said of rows that the regression takes in together."""
        base = self.base.learn(X, side, goals, weights)
        beside: list[Task] = [] if self.bumps is None else [(self.bumps.take_in, ())]
        return self._ask(side, base, goals, weights, True, threads, beside)

    def _ask(
        self,
        side: FloatArray,
        base: FloatArray,
        goals: FloatArray,
        weights: FloatArray,
        learning: bool,
        threads: Threads | None,
        beside: Sequence[Task] = (),
    ) -> FloatArray:
        """Return what each kind says, [n, kinds, Q]; networks learn the rows if they are to.

        base: [n, R, Q], what base models say; beside: what can be done at the same time.
        """
        models, tasks = base.shape[1], list(beside)
        if threads is None or not self.networks:
            for function, arguments in beside:
                function(*arguments)
        if not self.networks:
            nobody: FloatArray = self.kind.natural(np.zeros((len(side), self.settings.outputs)), np.ones(1))
            return base if models else nobody[:, None]
        rows = goals, weights, learning
        if threads is None:
            return self._for_rows_alone().ask_networks(side, base, *rows)
        pinned = self._for_rows_alone().networks
        said = np.empty((len(self.networks), len(side), self.kind.planes))
        for e, (network, own) in enumerate(zip(self.networks, self._scratch, strict=True)):
            # others may predict at the same time
            scratch = own if learning else Pinned([make_scratch(network, self.kind)])
            lesson = self.kind, pinned, e, scratch, 1, side, base, *rows, said[e : e + 1]
            tasks.append((self._kernels.call, (follow, lesson)))
        threads.run(tasks)
        kinds = np.empty((len(side), models + self._group_count(), self.kind.planes))
        pool_kinds(base, said, kinds)
        return kinds

    def _group_count(self) -> int:
        """Return how many groups of networks there are."""
        return min(self.settings.kinds, len(self.networks))

    def _plain(self) -> bool:
        """Return whether there are networks for one output, and one regression, on bumps, below them."""
        settings = self.settings
        return bool(self.networks and settings.regressions and settings.base_models == settings.outputs == 1)

    def _for_rows_alone(self) -> Alone:
        """Return the networks, and what is below them, for rows that come alone."""
        if self._alone is None:
            known: Any = self.inputs, self.targets, self.bumps, self.errors, self.settings.min_variance
            reader = make_reader(*known) if self._plain() else None
            self._alone = Alone(self.kind, self.networks, self._group_count(), reader)
        return self._alone

    def _seen(self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None) -> None:
        """Count rows; solve all of them afresh when it is time."""
        self.rows += X.shape[0]
        if not self.due:
            return
        self.first_rows.append((X.copy(), Y.copy(), weights.copy()))
        if self.rows < self.due:
            return
        rows, targets, counts = join_rows(self.first_rows)
        if rows.shape[1] > self.settings.features:
            self.settings = self.base.settings = replace(self.settings, features=rows.shape[1])
            self.inputs = self.inputs.widened(rows.shape[1])
        self._find_units(rows, targets, counts)
        self._solve(rows, targets, counts, threads or Threads(1), lambda _: None)
        self._keep(rows, targets, counts)

    # Predicting ----------------------------------------------------------------------------------------

    def _kinds(self, X: FloatArray, threads: Threads | None) -> FloatArray:
        """Return what each kind says of new rows, [n, kinds, Q]."""
        return self._outside(X, self._new_kinds(X, threads), NOBODY)

    def _new_kinds(self, X: FloatArray, threads: Threads | None) -> FloatArray:
        """Return the same as if all rows were inside."""
        goals, weights = np.empty((0, self.settings.outputs)), NOBODY
        if threads is None and self._plain():
            return self._for_rows_alone().ask(X, goals, weights)[0]
        side = self.inputs.transform(X)
        return self._ask(side, self.base.predict(X, side), goals, weights, False, threads)

    def _extra(self, X: FloatArray, weights: FloatArray) -> FloatArray | None:
        """Return the further variance [n] of rows outside, if there are any; rows of weights are learnt."""
        extra = np.empty(len(X))
        found = self.edges.features.size and self._kernels.call(follow_edges, (self.edges, X, weights, extra))
        return extra if found else None

    def _outside(self, X: FloatArray, kinds: FloatArray, weights: FloatArray) -> FloatArray:
        """Return what kinds say [n, kinds, Q], wider for rows outside; the others keep every bit."""
        extra = self._extra(X, weights)
        if extra is None:
            return kinds
        rows = np.flatnonzero(extra)
        own = kinds[rows]
        if self.settings.outputs == 1:
            variances = 1.0 / own[..., 0]
        else:
            variances = self.kind.variances(self.kind.gaussians(own)[1]).mean(axis=-1)
        kinds[rows] = widened(own, variances, extra[rows, None])
        return kinds

    def support(self, X: FloatArray) -> FloatArray:
        """Return how well rows are covered by what was learnt, [n, D]: 1 inside, towards 0 far away."""
        extra, typical = self._extra(X, NOBODY), self.edges.typical
        found = np.ones(len(X)) if extra is None else typical / (typical + extra)
        return np.repeat(found[:, None], self.settings.outputs, axis=1)

    def _restored(self, blend: Any) -> Any:
        """Return a mixture in the user's units."""
        return blend.moved(*self.targets.shift_and_scale())

    def predictions(self, X: FloatArray, threads: Threads | None) -> Any:
        """Return the mixture for new rows."""
        return self._restored(self.mixture.blend(self._kinds(X, threads)))

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, D] each."""
        shift, scale = self.targets.shift_and_scale()
        mean, deviation = self.mixture.moments(self._kinds(X, threads))
        return shift + scale * mean, scale * deviation

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        return self.moments(x, None)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        values = {
            "settings": asdict(self.settings),
            "rows": self.rows,
            "judged": self.mixture.judged,
            "due": self.due,
        }
        arrays = {
            "scaler.inputs": self.inputs.state,
            "scaler.targets": self.targets.state,
            "errors": self.errors,
        } | self.mixture.state()
        arrays |= {f"edges.{name}": array for name, array in self.edges._asdict().items()}
        if self.bumps is not None:
            arrays |= {f"bumps.{name}": array for name, array in self.bumps.state().items()}
        for e, network in enumerate(self.networks):
            arrays |= {f"network.{e}.{name}": array for name, array in flat(network).items()}
        if self.seen is not None:
            arrays["seen"] = self.seen
        if self.first_rows:
            names = "first.X", "first.Y", "first.weights"
            arrays |= dict(zip(names, join_rows(self.first_rows), strict=True))
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "ExactLearner":
        """Return the learner that `state` described."""
        settings = restore_settings(values["settings"])
        check_exact(values, arrays, settings, kind_of(settings.outputs, settings.covariance), flat)
        learner = cls(settings)
        learner.rows, learner.mixture.judged, learner.due = values["rows"], values["judged"], values["due"]
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.errors = arrays["errors"].copy()
        learner.mixture.restore(arrays)
        if "edges.low" in arrays:  # files of earlier versions have none
            learner.edges = Edges(
                *(np.require(arrays[f"edges.{name}"], requirements="W") for name in Edges._fields)
            )
        learner.seen = arrays.get("seen")
        own = part(arrays, "bumps.")
        learner.bumps = Bumps.from_state(own) if own else None
        count = len({name.split(".")[1] for name in arrays if name.startswith("network.")})
        learner.networks = [unflat(arrays, f"network.{e}.") for e in range(count)]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.Y"], arrays["first.weights"])]
        learner._ready()
        return learner

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions and buffers, which can be made anew."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_scratch", "_alone", "_kernels", "left")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update(state, left=None)
        self.networks = [memory.writeable(network) for network in self.networks]
        self.errors = memory.writeable(self.errors)
        self.edges = memory.writeable(self.edges)
        self._ready()


def make_learner(settings: Settings) -> Any:
    """Return a learner that knows nothing: of joint neurons, or of networks apart for each output."""
    return _learner_class(settings)(settings)


def restore_learner(values: dict[str, Any], arrays: Arrays) -> Any:
    """Return the learner that `state` described."""
    return _learner_class(restore_settings(values["settings"])).from_state(values, arrays)


def _learner_class(settings: Settings) -> Any:
    # these are made of what is here
    from ggln.engine.newton.drift import DriftLearner
    from ggln.engine.newton.fading import FadingLearner
    from ggln.engine.newton.outputs import ApartLearner

    if settings.outputs > 1 and settings.covariance == "apart":
        return ApartLearner
    if isinstance(settings.forgetting, int):
        return FadingLearner
    drifting = settings.forgetting == "auto" and settings.online and settings.outputs == 1
    return DriftLearner if drifting else ExactLearner
