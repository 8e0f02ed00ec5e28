"""Networks for the arms of a bandit: one arm learns, all arms are asked in one call.

Every arm has the same networks with the same gates, so a context's gates are looked at once for all arms.
What differs are the weights, and how often each row of weights was visited: visits are kept at the number of
the row's first slot, so that an arm's pseudo-count is read where inference looks up the row anyway.
"""

import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.bases.regression import JointBase
from ggln.engine.bases.triangle import sweep
from ggln.engine.gating import Gates, contexts
from ggln.engine.gradient.build import Settings, build
from ggln.engine.gradient.ensemble import Columns, FloatArray, Slots
from ggln.engine.gradient.network import Block, Work, infer_span, learn_span, start_block
from ggln.engine.jit import Specialized, exact_kernel, fast_kernel
from ggln.engine.team import ALONE
from ggln.engine.threads import Threads

PER_NETWORK = ("counts", "targets", "features", "products", "triangle", "noise")
"""Arrays of base models whose first axis is the network."""


class Findings(NamedTuple):
    """What the networks of each arm say to some contexts."""

    first: FloatArray  # [A, n, D]  means of the targets
    second: FloatArray  # [A, n, D]  means of their squares
    visits: FloatArray  # [A, n]  mean over the neurons of how often the arm was played in their context
    soft_visits: FloatArray  # [A, n]  the soft minimum over the neurons
    leverage: FloatArray  # [A, n]  of the joint regression; NaN without one


@exact_kernel
def visit(visits: Any, slots: Any) -> None:
    """Count a visit # OUT to each of the rows of weights that start at `slots` [N, T]."""
    for k in range(slots.shape[0]):
        for t in range(slots.shape[1]):
            visits[slots[k, t]] += 1


@exact_kernel
def count_visits(visits: Any, slots: Any, column: Any) -> Any:
    """Mean of the visits N_k over neurons, and their soft minimum (mean (1 + N_k)^-1/2)^-2 - 1.

    The latter's bonus is nearly the mean of the neurons' own bonuses 1 / sqrt(N_k): rare contexts weigh most.
    slots: [N, T]; column: which row.
    """
    total = inverse = 0.0
    for k in range(slots.shape[0]):
        count = float(visits[slots[k, column]])
        total += count
        inverse += 1.0 / np.sqrt(1.0 + count)
    neurons = slots.shape[0]
    inverse /= neurons
    return total / neurons, max(1.0 / (inverse * inverse) - 1.0, 0.0)


@fast_kernel
def infer_arms(
    rules, shape, base, index, pool, visits, found, side, slots, work, weights, columns, moments, aggregates
):
    """Predict some contexts with all arms # OUT moments, aggregates.

    found: [N, T], contexts of one arm's neurons; side: [T, d]; slots: [N, T], scratch; weights: [E, neurons
    of a network]; columns: [T], 0, 1, ...; moments: [2, A, T, D], sums of first and second moments over an
    arm's networks; aggregates: [3, A, T], of which the first two get mean and soft visits.
    """
    size = weights.shape[1]
    networks = found.shape[0] // size
    for arm in range(moments.shape[1]):
        first = arm * found.shape[0]
        for k in range(found.shape[0]):
            for t in range(found.shape[1]):
                slots[k, t] = index[first + k, found[k, t]]
        for t in range(found.shape[1]):
            aggregates[0, arm, t], aggregates[1, arm, t] = count_visits(visits, slots, t)
        for m in range(networks):
            e = arm * networks + m
            start_block(base, e, side, columns, work.unknown, False, work)
            block = Block(slots[m * size : (m + 1) * size], columns)
            infer_span(rules, shape, pool, block, work, weights[e], 1.0, moments[0, arm], moments[1, arm])


@exact_kernel
def leverages(triangles: Any, side: Any, found: Any) -> None:
    """Write each arm's leverage of each context into `found` # OUT [A, T]. triangles: [E, d + 1, ...]."""
    size, length = triangles.shape[1:]
    networks = triangles.shape[0] // found.shape[0]
    lines, rests = np.ones((1, length)), np.empty((1, length))
    for t in range(side.shape[0]):
        for j in range(size - 1):
            lines[0, j] = side[t, j]
        for arm in range(found.shape[0]):
            sweep(triangles[arm * networks], lines, rests, found[arm, t : t + 1], 1, False)


class Arms:
    """The networks of some arms, fed with standardised contexts and rewards.

    Parameters
    ----------
    settings
        Of the networks of one arm; `n_estimators` says how many an arm has.
    gates
        Of one arm's networks: all arms share them.
    arms
        How many arms.
    """

    def __init__(self, settings: Settings, gates: Gates, arms: int) -> None:
        self.settings, self.gates, self.arms = settings, gates, arms
        self.table = build(replace(settings, n_estimators=arms * settings.n_estimators), gates)
        self.group = settings.n_estimators * self.table.neurons  # neurons of an arm
        self.plays = np.zeros(arms, np.int64)
        self.visits = np.zeros(self.table.pool.numbers.size // constants.LANES, np.int64)
        self._scratch: dict[int, tuple[Slots, Slots, Columns, Work]] = {}
        self._kernels = Specialized()

    def _room(self, rows: int) -> tuple[Slots, Slots, Columns, Work]:
        """Return contexts, slots, columns and buffers for so many rows.

        Those of single rows are kept, for each thread its own: threads may decide side by side.
        """
        thread = threading.get_ident()
        if rows == 1 and thread in self._scratch:
            return self._scratch[thread]
        shape = self.group, rows
        found, slots = np.empty(shape, constants.SLOT), np.empty(shape, constants.SLOT)
        room = found, slots, np.arange(rows), self.table.new_work(rows)
        if rows == 1:
            self._scratch[thread] = room
        return room

    def require(self, rows: int) -> None:
        """Raise MemoryError if learning `rows` further rows can need more memory than there is."""
        pool = self.table.pool
        visited = min(rows, self.arms * pool.index.shape[1])
        pool.require(pool.used + visited * (pool.slots_per_visit // self.arms))

    # Learning ------------------------------------------------------------------------------------------

    def learn_one(self, arm: int, side: FloatArray, goals: NDArray[Any], pace: float) -> None:
        """Let an arm learn one context [1, d] and its targets [1, D], at a multiple of the step."""
        found, _, columns, work = self._room(1)
        self._kernels.call(contexts, (self.gates, side, columns, 0, self.group, found))
        self._claim(arm, found)
        self._learn(arm, found, side, goals, pace, work)
        self.plays[arm] += 1

    def learn(self, arms: NDArray[np.int64], side: FloatArray, goals: NDArray[Any], threads: Threads) -> None:
        """Learn contexts [n, d] and targets [n, D] of the `arms` [n] in their order, arms side by side."""
        tasks, counts = [], np.bincount(arms, minlength=self.arms)
        for arm in np.flatnonzero(counts).tolist():
            own = np.flatnonzero(arms == arm)
            found = np.empty((self.group, own.size), constants.SLOT)
            contexts(self.gates, side, own, 0, self.group, found)
            self._claim(arm, found)
            tasks.append((arm, found, side[own], goals[own]))

        def run(arm: int, found: Slots, side: FloatArray, goals: NDArray[Any]) -> None:
            self._learn(arm, found, side, goals, 1.0, self.table.new_work(side.shape[0]))

        threads.run([(run, task) for task in tasks])
        self.plays += counts

    def _claim(self, arm: int, found: Slots) -> None:
        """Turn contexts into slots # OUT, and count a visit to each row of weights."""
        self.table.pool.claim([(found, arm * self.group)])
        if self.visits.size * constants.LANES < self.table.pool.numbers.size:
            grown = np.zeros(self.table.pool.numbers.size // constants.LANES, np.int64)
            grown[: self.visits.size] = self.visits
            self.visits = grown
        self._kernels.call(visit, (self.visits, found))

    def _learn(
        self, arm: int, slots: Slots, side: FloatArray, goals: NDArray[Any], pace: float, work: Work
    ) -> None:
        """Let an arm's networks learn rows whose rows of weights are known."""
        table, networks, columns = self.table, self.settings.n_estimators, np.arange(side.shape[0])
        rules = table.rules if pace == 1.0 else table.rules._replace(step=table.rules.step.times(pace))
        for m in range(networks):
            e, own = arm * networks + m, slots[m * table.neurons : (m + 1) * table.neurons]
            self._kernels.call(start_block, (table.base, e, side, columns, goals, True, work))
            network = rules, table.shape, table.pool.numbers, Block(own, columns), goals, work
            state = table.weights[e], int(self.plays[arm]) + 1, table.no_history, table.moving
            self._kernels.call(learn_span, (*network, *state, ALONE))

    # Predicting ----------------------------------------------------------------------------------------

    def ask(self, side: FloatArray) -> Findings:
        """Return what all arms say to contexts [n, d]."""
        rows, table, outputs = side.shape[0], self.table, self.settings.outputs
        found, slots, columns, work = self._room(rows)
        moments, aggregates = np.zeros((2, self.arms, rows, outputs)), np.full((3, self.arms, rows), np.nan)
        self._kernels.call(contexts, (self.gates, side, columns, 0, self.group, found))
        engine = (table.rules, table.shape, table.base, table.pool.index, table.pool.numbers, self.visits)
        self._kernels.call(
            infer_arms, (*engine, found, side, slots, work, table.weights, columns, moments, aggregates)
        )
        if isinstance(table.base, JointBase):
            self._kernels.call(leverages, (table.base.triangle, side, aggregates[2]))
        moments /= self.settings.n_estimators
        return Findings(*moments, *aggregates)

    # Arms and state ------------------------------------------------------------------------------------

    def with_arms(self, kept: list[int], added: int) -> "Arms":
        """Return networks for the arms `kept`, in ascending order, and for some that know nothing yet."""
        other = Arms(self.settings, self.gates, len(kept) + added)
        arrays, new = self.state(), other.state()
        places = np.full(self.arms, -1)
        places[kept] = np.arange(len(kept))
        arms, neurons = np.divmod(arrays["rows.neuron"], self.group)
        stays = places[arms] >= 0
        layers = self.table.pool.layers_of(arrays["rows.neuron"])
        for name in ("rows.neuron", "rows.context", "rows.visits"):
            new[name] = arrays[name][stays]
        new["rows.neuron"] = (places[arms] * self.group + neurons)[stays].astype(np.int32)
        for i in range(self.table.shape.table.shape[0]):
            new[f"weights.{i}"] = arrays[f"weights.{i}"][stays[layers == i]]
        networks = np.arange(self.settings.n_estimators)
        old = (np.array(kept, int)[:, None] * networks.size + networks).ravel()
        for name in ["switching", *(f"base.{name}" for name in PER_NETWORK if f"base.{name}" in arrays)]:
            new[name][: old.size] = arrays[name][old]
        new["plays"][: len(kept)] = self.plays[kept]
        other.restore(new)
        return other

    def state(self) -> dict[str, NDArray[Any]]:
        """Return gates, weights, visits and the base model's statistics, wherever rows lie in the pool."""
        arrays = self.table.state()
        slots = self.table.pool.index[arrays["rows.neuron"], arrays["rows.context"]]
        return {**arrays, "rows.visits": self.visits[slots], "plays": self.plays.copy()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a state of networks with the same gates. Only for networks that have seen nothing."""
        self.table.restore(arrays, 1)
        self.visits = np.zeros(self.table.pool.numbers.size // constants.LANES, np.int64)
        slots = self.table.pool.index[arrays["rows.neuron"], arrays["rows.context"]]
        self.visits[slots] = arrays["rows.visits"]
        self.plays[:] = arrays["plays"]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made anew."""
        return {**vars(self), "_scratch": {}, "_kernels": Specialized()}
