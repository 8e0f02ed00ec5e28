"""Classification that learns exactly: Bernoulli networks for each class, and a mixture by left-out rows.

Two classes have one set of networks, several have one for each class against all others, whose probabilities
are normalised. Below them, one regression on bumps predicts the zeros and ones of all classes; what it says
of a row whose fold is left out enters as a logit. There are three kinds of networks: deep and shallow ones as
in `learner`, and single neurons without gates, which are logistic regressions. Tables and streams are learnt
as there: networks leave out a fold and are judged by it; a stream is solved afresh as its first rows grow. A
kind of prediction takes part in the mixture once for each of `TEMPERATURES`, by which its logits are divided.
"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.checks import numbered, part, require
from ggln.engine.constants import INPUT_LIMIT
from ggln.engine.jit import Specialized
from ggln.engine.newton import constants
from ggln.engine.newton.bumps import Bumps, fit_bumps
from ggln.engine.newton.layouts import check_classes
from ggln.engine.newton.mixture import find_shares, follow_shares
from ggln.engine.newton.network import Network, Shape
from ggln.engine.newton.network_layouts import check_network
from ggln.engine.newton.neurons.bernoulli import Bernoulli
from ggln.engine.newton.online import follow, make_scratch
from ggln.engine.newton.settings import BUMPS, GATES, Settings, restore_settings
from ggln.engine.newton.solving import mean_left_out, solve_network
from ggln.engine.newton.stored import flat, unflat
from ggln.engine.newton.stream import Progress, Stream, join_rows
from ggln.engine.pinned import Pinned
from ggln.engine.scaling import Scaler
from ggln.engine.stream import next_half
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
KIND = Bernoulli(1)
TEMPERATURES = np.array([0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
"""Logits are divided by these. Classes that lie apart need the low ones: every layer damps its logits."""
LEAST_PROBABILITY = 0.01
"""What the regression says is kept this far from 0 and 1: it knows nothing of certainty."""
MOST_LOGIT = 8.0
"""Range of every neuron's logit: odds of 3,000 to 1."""
SUREST_LOGIT = 12.0
"""Range of the logits that take part in the mixture, odds of 160,000 to 1: nothing is impossible."""
LINEAR_FEATURES = 128
"""Features that a logistic regression looks at, at most. It has no gates, so these are few Hessians."""
CONTEXT_ROWS = 100
"""Rows for each context of deep networks: a zero or a one tells less than a number, for which 9 are enough.
With 100 instead of 9, the log-loss on 2,000 rows of adult's incomes is 0.3412 instead of 0.3427, on 1,500 of
statlog 0.0184 instead of 0.0190, on four folds of iris 0.158 instead of 0.194; on breast cancer both have
0.0781, on wine 0.0682 and 0.0678."""
FEW_COLUMNS = 4
"""Up to so many columns have `n_estimators` networks each, more of them share as many as these have: time and
memory are bounded, and a mixture over many classes is less hungry for networks."""


class ClassLearner(Stream):
    """Networks that solve their problems, one set for each column of zeros and ones.

    settings.outputs: columns, 1 for two classes, else one for each class. Targets [n, columns] are zeros and
    ones; one column is of the second class.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.inputs = Scaler(settings.features, INPUT_LIMIT, bool(settings.standardize), hold=True)
        self.bumps: Bumps | None = None
        # mean and deviation of each column, for the regression
        self.units = np.full((2, settings.outputs), 1.0 / max(settings.outputs, 2))
        self.networks: list[Network] = []  # column by column
        self.shares = np.full(TEMPERATURES.size, 1.0 / TEMPERATURES.size)
        self.judged = 0.0  # weight of the rows that shares come from
        self.rows = 0
        self.first_rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        count = networks_of_column(settings.networks(0), settings.outputs)
        kinds = kinds_of(settings) - 1
        # which of a column's networks are of each kind: deep, shallow, linear
        self.groups = [range(group, count, kinds) for group in range(kinds)]
        self.groups.append(range(count, count + len(self.groups[0])))
        self.count = self.groups[-1].stop
        self._pins: Pinned | None = None  # all networks, when they are asked
        self._kernels = Specialized()

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return max(self.settings.outputs, 2)

    def _codes(self, goals: FloatArray) -> Codes:
        """Return the classes [n] of zeros and ones [n, columns]."""
        found: Codes = goals[:, 0].astype(np.int64) if self.settings.outputs == 1 else goals.argmax(axis=1)
        return found

    def _shape(self, network: int, rows: int) -> Shape:
        """Return what a network of a column is made of: a bias is a logit of 1, there are no variances."""
        own = self.settings.shape(network, rows)._replace(along_axes=False, bias_range=1.0, most=MOST_LOGIT)
        deep = network % self.settings.kinds < self.settings.kinds - 1
        if deep and not self.settings.context_dims:
            own = own._replace(context_dim=max(round(math.log2(max(rows, 1) / CONTEXT_ROWS)), 1))
        if network not in self.groups[-1]:
            return own
        return own._replace(
            layer_sizes=(1,),
            context_dim=0,
            regressions=0,
            pull=constants.DEEP_PULL,
            mixing=True,
            most_features=LINEAR_FEATURES,
        )

    # Solving -------------------------------------------------------------------------------------------

    def fit(
        self, X: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        """Solve a table. X: [n, d]; goals: [n, columns]; weights: [n]."""
        self.rows = X.shape[0]
        self._solve(X, goals, weights, threads, progress)

    def steps(self, rows: int) -> int:
        """Return how many steps `fit` tells of."""
        linear = len(self.groups[-1])
        layers = len(self.settings.layer_sizes) * (self.count - linear) + linear
        return self.settings.outputs * layers if rows >= constants.FEWEST_ROWS else 0

    def _solve(
        self, X: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        X, goals, weights = merge_rows(X, goals, weights)
        self.inputs.settle(X[weights > 0], weights[weights > 0])
        settings, side, codes = self.settings, self.inputs.transform(X), self._codes(goals)
        base = self._regress_first(side, goals, weights, threads)  # [n, columns], logits
        self.networks, self._pins = [], None
        if np.count_nonzero(weights) < constants.FEWEST_ROWS:
            self._judge(base[:, None], codes, weights)
            return
        folds, count = settings.assign_folds(len(side)), self.count
        left_out = {e: i % constants.FOLDS for group in self.groups for i, e in enumerate(group)}
        calls = []
        for c in range(settings.outputs):
            given = np.ascontiguousarray(base[:, c, None, None])
            goal = np.ascontiguousarray(goals[:, c : c + 1])
            above_regression = goal - sigmoid(given[:, 0])
            above_mean = goal - np.average(goal, axis=0, weights=weights)
            for e in range(count):
                shape, random = self._shape(e, len(side)), settings.random(c * count + e, GATES)
                residuals = above_regression if shape.regressions else above_mean
                table = side, given, goal, weights, residuals, folds
                calls.append((KIND, shape, random, left_out[e], *table))
        found = threads.gather(solve_network, calls, progress)
        judged = np.full((count, *goals.shape), np.nan)
        for place, (_, told) in enumerate(found):
            c, e = divmod(place, count)
            judged[e, folds == left_out[e], c] = told[:, 0]
        self.networks = [network for network, _ in found]
        kinds, covered = mean_left_out(judged, self.groups)
        if settings.regressions:
            kinds = np.concatenate([base[:, None], kinds], axis=1)
        self._judge(kinds[covered], codes[covered], weights[covered])

    def _regress_first(
        self, side: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads
    ) -> FloatArray:
        """Fit the regression; return its logits [n, columns] of rows left out."""
        counts = float(weights.sum())
        share = (weights @ goals + 1.0) / (counts + 2.0)
        self.units = np.stack([share, np.sqrt(share * (1.0 - share))])
        if not self.settings.regressions:
            return np.broadcast_to(np.log(share / (1.0 - share)), goals.shape).copy()
        most = constants.STREAM_BUMPS if self.settings.online else constants.FIT_BUMPS
        random = self.settings.random(0, BUMPS)
        targets = (goals - self.units[0]) / self.units[1]
        few = np.count_nonzero(weights) < constants.FEWEST_ROWS
        folds = None if few else self.settings.assign_folds(len(side))
        self.bumps, left = fit_bumps(side, targets, weights, most, random, threads, folds)
        return self._logits(left)

    def _logits(self, means: FloatArray) -> FloatArray:
        """Return the logits of what the regression predicts, [n, columns]."""
        p = np.clip(self.units[0] + self.units[1] * means, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        found: FloatArray = np.log(p / (1.0 - p))
        return found

    def _judge(self, kinds: FloatArray, codes: Codes, weights: FloatArray) -> None:
        """Find the shares from the logits [n, kinds, columns] of rows that nobody knew."""
        logs = self._logs(self._components(kinds), codes)
        self.shares, self.judged = find_shares(logs, weights), float(weights.sum()) + constants.SHARE_ROWS

    def _components(self, kinds: FloatArray) -> FloatArray:
        """Return the probabilities [n, components, classes] of logits [n, kinds, columns]."""
        sharp = np.clip(kinds[:, :, None] / TEMPERATURES[:, None], -SUREST_LOGIT, SUREST_LOGIT)
        p = sigmoid(sharp).reshape(len(kinds), -1, kinds.shape[2])
        if self.settings.outputs == 1:
            return np.concatenate([1.0 - p, p], axis=2)
        found: FloatArray = p / p.sum(axis=2, keepdims=True)
        return found

    def _logs(self, components: FloatArray, codes: Codes) -> FloatArray:
        """Return the log probability of the class of each row, [n, components]."""
        found: FloatArray = np.log(components[np.arange(len(codes)), :, codes])
        return found

    # Going on ------------------------------------------------------------------------------------------

    @property
    def due(self) -> int:
        """Rows at which all is solved afresh; 0: never."""
        return next_half(self.rows) if self.young else 0

    def take(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows none of which is beyond `due`; return the probabilities [n, columns] before each."""
        probabilities = self._learn(X, Y, weights, threads)
        self._seen(X, Y, weights, threads)
        return self._own(probabilities) if record else None

    def _learn(
        self, X: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads | None
    ) -> FloatArray:
        """Learn rows that stay within one draw of the networks; return what was predicted of each."""
        if self.rows == 0:
            return np.full((len(X), self.classes), 1.0 / self.classes)
        components = self._components(self._ask(self.inputs.transform(X), goals, weights, threads))
        history = np.empty((len(X), self.shares.size))
        logs = self._logs(components, self._codes(goals))
        self.judged = follow_shares(logs, weights, self.shares, self.judged, history)
        # one sum a row, in a fixed order, however many rows there are
        found: FloatArray = np.sum(history[:, :, None] * components, axis=1)
        return found

    def _ask(
        self, side: FloatArray, goals: FloatArray | None, weights: FloatArray, threads: Threads | None
    ) -> FloatArray:
        """Return the logits of each kind, [n, kinds, columns]; with targets, rows are learnt afterwards."""
        settings, count, learning = self.settings, self.count, goals is not None
        columns = np.empty((0, settings.outputs)) if goals is None else goals
        base = self._regress(side, goals, weights)
        said = np.empty((len(self.networks), len(side), 1))
        tasks: list[Any] = []
        if self._pins is None and self.networks:
            self._pins = Pinned(self.networks)
        networks = self._pins
        for i, network in enumerate(self.networks):
            c = i // count
            given = np.ascontiguousarray(base[:, c, None, None])
            goal = np.ascontiguousarray(columns[:, c : c + 1])
            pins = networks, i, Pinned([make_scratch(network, KIND)]), 1
            lesson = KIND, *pins, side, given, goal, weights, learning, said[i : i + 1]
            tasks.append((self._kernels.call, (follow, lesson)))
        (threads or Threads(1)).run(tasks)
        kinds = [base] if settings.regressions or not self.networks else []
        if self.networks:
            each = said[:, :, 0].reshape(settings.outputs, count, len(side))
            kinds += [each[:, g.start : g.stop : g.step].mean(axis=1).T for g in self.groups]
        return np.stack(kinds, axis=1)

    def _regress(self, side: FloatArray, goals: FloatArray | None, weights: FloatArray) -> FloatArray:
        """Return the regression's logits [n, columns]; with targets it learns them afterwards."""
        if self.bumps is None:
            return self._logits(np.zeros((len(side), self.settings.outputs)))
        if goals is None:
            return self._logits(self.bumps.predict(side))
        return self._logits(self.bumps.learn(side, (goals - self.units[0]) / self.units[1], weights))

    def _seen(self, X: FloatArray, goals: FloatArray, weights: FloatArray, threads: Threads | None) -> None:
        """Count rows; solve a young stream afresh when it is time."""
        due = self.due
        self.rows += X.shape[0]
        if not due:
            return
        self.first_rows.append((X.copy(), goals.copy(), weights.copy()))
        if self.rows < due:
            return
        rows, columns, counts = join_rows(self.first_rows)
        self.first_rows = [] if self.rows >= constants.WARM_ROWS else [(rows, columns, counts)]
        if counts.any():
            self.settings = replace(self.settings, features=rows.shape[1])
            self.inputs = self.inputs.widened(rows.shape[1])
            self._solve(rows, columns, counts, threads or Threads(1), lambda _: None)

    # Predicting and state ------------------------------------------------------------------------------

    def probabilities(self, X: FloatArray, threads: Threads | None) -> FloatArray:
        """Return the probabilities [n, classes] of new rows."""
        if self.rows == 0:
            return np.full((len(X), self.classes), 1.0 / self.classes)
        kinds = self._ask(self.inputs.transform(X), None, np.empty(0), threads)
        found: FloatArray = np.sum(self.shares[:, None] * self._components(kinds), axis=1)
        return found

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the zeros and ones of new rows, [n, columns] each."""
        chances = self._own(self.probabilities(X, threads))
        return chances, np.sqrt(chances * (1.0 - chances))

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d]."""
        return self.moments(x, None)

    def _own(self, probabilities: FloatArray) -> FloatArray:
        """Return the probabilities of the columns from those of all classes."""
        return probabilities[:, self.classes - self.settings.outputs :]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        values = {"settings": asdict(self.settings), "rows": self.rows, "judged": self.judged}
        arrays = {"scaler.inputs": self.inputs.state, "shares": self.shares, "units": self.units}
        if self.bumps is not None:
            arrays |= {f"bumps.{name}": array for name, array in self.bumps.state().items()}
        for i, network in enumerate(self.networks):
            arrays |= {f"network.{i}.{name}": array for name, array in flat(network).items()}
        if self.first_rows:
            names = "first.X", "first.goals", "first.weights"
            arrays |= dict(zip(names, join_rows(self.first_rows), strict=True))
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "ClassLearner":
        """Return the learner that `state` described."""
        settings, networks = restore_settings(values["settings"]), numbered(arrays, "network.")
        require(settings.n_estimators is not None and settings.outputs != 2, "these are no classes")
        check_classes(values, arrays, settings, TEMPERATURES.size, kinds_of(settings) if networks else 0)
        learner = cls(settings)
        require(
            len(networks) in (0, settings.outputs * learner.count),
            "networks are not as many as they should be",
        )
        for i, network in enumerate(networks):
            shape = learner._shape(i % learner.count, 1)
            check_network(network, KIND, shape, settings.features, flat)
        learner.rows, learner.judged = values["rows"], values["judged"]
        learner.inputs.state[:] = arrays["scaler.inputs"]
        learner.shares, learner.units = arrays["shares"].copy(), arrays["units"].copy()
        own = part(arrays, "bumps.")
        learner.bumps = Bumps.from_state(own) if own else None
        learner.networks = [unflat(arrays, f"network.{i}.") for i in range(len(networks))]
        if "first.X" in arrays:
            learner.first_rows = [(arrays["first.X"], arrays["first.goals"], arrays["first.weights"])]
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state; its arrays may come back in memory that cannot be written to."""
        return ClassLearner.from_state, self.state()


def kinds_of(settings: Settings) -> int:
    """Return how many kinds of networks a column has, linear ones among them."""
    return 1 + min(settings.kinds, networks_of_column(settings.networks(0), settings.outputs))


def networks_of_column(n_estimators: int, columns: int) -> int:
    """Return how many networks with gates each column has: fewer where there are many columns."""
    return max(min(n_estimators, 2), n_estimators * FEW_COLUMNS // max(columns, FEW_COLUMNS))


def merge_rows(
    X: FloatArray, goals: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows that are alike, class included, as one row of their weight, in the order of the first ones.

    Copies would fall into several folds, and a row that is left out would know its class by its copies. Where
    only rare classes were copied, all that has no copy, as new rows have, would seem to be of the others.
    """
    lines = np.column_stack([X, goals]) + 0.0  # of both zeros, one
    names = lines.view(np.dtype((np.void, lines.shape[1] * lines.itemsize)))[:, 0]
    _, first, place = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first)
    kept = first[order]
    totals: FloatArray = np.bincount(place, weights)[order].astype(np.float64)
    return X[kept], goals[kept], totals


def sigmoid(logits: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-z))."""
    found: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return found
