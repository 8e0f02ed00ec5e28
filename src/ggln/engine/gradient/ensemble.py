"""An ensemble of networks: its state, and how blocks of rows are scheduled over threads."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants, memory
from ggln.engine.gating import Gates, contexts
from ggln.engine.gradient.network import (
    FIRST,
    Block,
    Rules,
    Shape,
    Work,
    claim_rows,
    find_rows,
    infer_span,
    learn_span,
    make_work,
    start_block,
)
from ggln.engine.gradient.pool import Pool
from ggln.engine.jit import Specialized
from ggln.engine.switching import switch_networks
from ggln.engine.team import ALONE, give_up, team_of
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Columns = NDArray[np.int64]
Slots = NDArray[np.int32]
ROW = np.zeros(1, np.int64)
"""The rows of a block that is a single row."""


SPARE = 8
"""Buffers for predicting that are kept at most: they are bounded, but large."""


class Components(NamedTuple):
    """What every neuron of the ensemble predicts for some rows, and how much it is believed."""

    outputs: NDArray[Any]  # [n, E, N, P]
    weights: FloatArray  # [E, N], or [n, E, N] where they changed from row to row; they add up to E
    spreads: FloatArray  # [E]  factors on the variances


class Epoch(NamedTuple):
    """One pass: each network's rows in their order, as many for all networks, and a factor on the step.

    Kinds whose step depends on the time let it fall within the pass, to the fraction `fade` at its end.
    """

    order: list[Columns]
    pace: float
    fade: float


def blocks(rows: int, longest: int) -> list[tuple[int, int]]:
    """Cut rows into the fewest blocks of at most `longest`, of nearly the same length."""
    edges = np.linspace(0, rows, -(-rows // longest) + 1).astype(int)
    return list(itertools.pairwise(edges.tolist()))


class Ensemble:
    """E networks of one shape, fed with standardised rows.

    Parameters
    ----------
    rules, shape, base
        How neurons work, the layers, and the base model.
    gates
        Of all networks' neurons, one network after the other.
    networks
        How many networks.
    base_inputs
        How many Gaussians the base model provides.
    switching
        Whether the output is the switching mixture; otherwise it is the last layer's first neuron.
    decay
        Rows after which the step of Bernoulli neurons falls as 1 / time; None for never.
    """

    def __init__(
        self,
        rules: Rules,
        shape: Shape,
        base: Any,
        gates: Gates,
        networks: int,
        base_inputs: int,
        switching: bool,
        decay: float | None = None,
    ) -> None:
        self.rules, self.shape, self.base, self.gates = rules, shape, base, gates
        self.networks, self.base_inputs, self.switching = networks, base_inputs, switching
        self.decay = decay
        self.pool = Pool(shape, networks, gates.codes.shape[1])
        self.neurons = self.pool.neurons
        self.block_rows = self._longest_block()
        self.time = 1  # t of Appendix D
        self.shares, self.spreads = np.full(networks, 1.0 / networks), np.ones(networks)
        self.calibrated = False
        self.weights = np.full((networks, self.neurons), 1.0 / self.neurons)
        if not switching:
            self.weights[:] = np.arange(self.neurons) == shape.table[-1, FIRST]
        self._buffers: dict[int, Work] = {}
        self._spare_work: deque[Work] = deque(maxlen=SPARE)
        self._row_buffers: dict[int, tuple[Slots, Work]] = {}
        self._row_kernels = Specialized()
        self.no_history, self._no_shares = np.empty((0, self.neurons)), np.empty((0, networks))
        self._evidence = np.zeros((networks, 1))

    # Memory --------------------------------------------------------------------------------------------

    def require(self, rows: int) -> None:
        """Raise MemoryError if learning `rows` further rows can need more memory than there is."""
        visited = min(rows, self.pool.index.shape[1])
        self.pool.require(self.pool.used + visited * self.pool.slots_per_visit)

    def _longest_block(self) -> int:
        """Return how many rows pass a layer together: as many as fit buffers of a bounded size."""
        one = self.new_work(1)
        arrays = [one.unknown, one.means, one.precisions, *one.messages, one.outputs, one.density]
        size = int(sum(array.nbytes for array in arrays))
        return max(1, min(constants.BLOCK_ROWS, constants.BLOCK_BYTES // size))

    def new_work(self, rows: int) -> Work:
        """Return buffers for blocks of up to `rows` rows."""
        return make_work(self.shape, self.rules.kind, self.base, self.base_inputs, rows)

    def learning_work(self, which: int) -> Work:
        """Return the buffers number `which` for learning blocks, which are kept."""
        if which not in self._buffers:
            self._buffers[which] = self.new_work(self.block_rows)
        return self._buffers[which]

    def _borrow_work(self, rows: int) -> Work:
        """Return buffers for predicting blocks, those of an earlier call if they are free and long enough.

        New ones cost a tenth of predicting the block: the system has to clear their pages.
        """
        try:
            spare = self._spare_work.pop()
        except IndexError:
            return self.new_work(rows)
        return spare if spare.energy.size >= rows else self.new_work(rows)

    def row_work(self) -> tuple[Slots, Work]:
        """Return the calling thread's slots and buffers for single rows: threads may predict side by side."""
        thread = threading.get_ident()
        if thread not in self._row_buffers:
            self._row_buffers[thread] = (
                np.empty((self.pool.index.shape[0], 1), constants.SLOT),
                self.new_work(1),
            )
        return self._row_buffers[thread]

    # Learning ------------------------------------------------------------------------------------------

    def claim(self, side: FloatArray, columns: list[Columns], threads: Threads) -> list[Slots]:
        """Return each network's slots [N, T] for rows of `side`; new contexts get rows of weights."""
        found = [np.empty((self.neurons, some.size), constants.SLOT) for some in columns]
        threads.run(
            [
                (contexts, (self.gates, side, columns[e], e * self.neurons, (e + 1) * self.neurons, found[e]))
                for e in range(self.networks)
            ]
        )
        self.pool.claim([(some, e * self.neurons) for e, some in enumerate(found)])
        return found

    def learn_epochs(
        self,
        side: FloatArray,
        targets: NDArray[Any],
        epochs: Iterator[Epoch],
        repeated: bool,
        threads: Threads,
        progress: Callable[[int], object],
    ) -> None:
        """Learn rows once for each of the `epochs`.

        side: [n, d]; targets: [n, D]. The contexts of repeated epochs are kept where memory allows. The base
        model learns in the first epoch only: it counts rows, and no row counts twice.
        """
        count, rules = side.shape[0], self.rules
        kept = None
        if repeated and 4 * self.networks * self.neurons * count <= constants.CONTEXT_CACHE_BYTES:
            kept = self.claim(side, [np.arange(count)] * self.networks, threads)
        for number, epoch in enumerate(epochs):
            self.rules = rules._replace(step=rules.step.times(epoch.pace))
            length = epoch.order[0].size
            fades = 1.0 - (1.0 - epoch.fade) * np.arange(length) / length
            for start, stop in blocks(length, self.block_rows):
                rows = [each[start:stop] for each in epoch.order]
                slots = kept or self.claim(side, rows, threads)
                columns = rows if kept else [np.arange(some.size) for some in rows]
                paces = self._paces(stop - start) * fades[start:stop]
                self._learn(slots, columns, side, rows, targets, number == 0, paces, threads)
                progress(rows[0].size)
        self.rules = rules

    def learn(
        self, side: FloatArray, targets: NDArray[Any], threads: Threads, record: bool = False
    ) -> Components | None:
        """Learn one block of rows in their order; return what was predicted before, if asked to `record`."""
        rows = [np.arange(side.shape[0])] * self.networks
        slots = self.claim(side, rows, threads)
        paces = self._paces(side.shape[0])
        outputs, weights, evidence = self._learn(
            slots, rows, side, rows, targets, True, paces, threads, record
        )
        history: FloatArray = np.empty((side.shape[0] if record else 0, self.networks))
        if self.moving:
            switch_networks(self.shares, self.time - side.shape[0], evidence, history)
        if not record:
            return None
        if self.moving:
            weights *= self.networks * history[:, :, None]
        else:
            weights = self._joint_weights()
        return Components(outputs, weights, self.spreads.copy())

    def _learn(
        self,
        slots: list[Slots],
        columns: list[Columns],
        side: FloatArray,
        rows: list[Columns],
        targets: NDArray[Any],
        learn_base: bool,
        paces: FloatArray,
        threads: Threads,
        record: bool = False,
    ) -> tuple[NDArray[Any], FloatArray, FloatArray]:
        """Every network learns one block: networks side by side, or the neurons of a single one.

        Return what the neurons predicted before [T, E, N, P], the weights that they had [T, E, N], both empty
        unless asked to `record`, and each network's evidence [E, T].
        """
        size = rows[0].size
        histories = [np.empty((size if record else 0, self.neurons)) for _ in range(self.networks)]
        evidence = np.zeros((self.networks, size))
        side_by_side = threads.count > 1 and self.networks > 1
        works = [self.learning_work(e if side_by_side or record else 0) for e in range(self.networks)]

        def run(e: int, workers: Threads) -> None:
            block, goals = Block(slots[e], columns[e]), targets[rows[e]]
            start_block(self.base, e, side, rows[e], goals, learn_base, works[e])
            works[e].messages.paces[:size] = paces
            networks = (self.rules, self.shape, self.pool.numbers, block, goals, works[e])
            arguments = (*networks, self.weights[e], self.time, histories[e], self.moving)
            team = team_of(self._team_size(size, workers.count))
            workers.run([(learn_span, (*arguments, member)) for member in team], lambda: give_up(team))
            evidence[e] = works[e].evidence[:size]

        if side_by_side:
            threads.run([(run, (e, Threads(1))) for e in range(self.networks)])
        else:
            for e in range(self.networks):
                run(e, threads)
        self.time += size
        recorded = size if record else 0
        outputs = np.stack([work.outputs[:recorded, : self.neurons] for work in works], axis=1)
        return outputs, np.stack(histories, axis=1), evidence

    def _paces(self, rows: int) -> FloatArray:
        """Return the factors on the step of the next rows, by how many were learnt before each."""
        if self.decay is None:
            return np.ones(rows)
        return np.minimum(1.0, self.decay / np.arange(self.time, self.time + rows))

    def _team_size(self, rows: int, threads: int) -> int:
        """Return how many threads learn a block of one network together, so that each has enough to do."""
        weights = rows * constants.LANES * self.pool.slots_per_visit // self.networks
        return max(1, min(threads, weights // constants.PARALLEL_WEIGHTS))

    def learn_row(self, side: FloatArray, target: NDArray[Any]) -> None:
        """Learn a single row with little overhead. side: [1, d]; target: [1, D]."""
        pool, kernels = self.pool, self._row_kernels
        pool.reserve(pool.used + pool.slots_per_visit)
        slots, work = self.row_work()
        kernels.call(contexts, (self.gates, side, ROW, 0, slots.shape[0], slots))
        pool.used = kernels.call(claim_rows, (pool.index, slots, 0, self.shape, pool.used))
        for e in range(self.networks):
            kernels.call(start_block, (self.base, e, side, ROW, target, True, work))
            if self.decay is not None:
                work.messages.paces[:] = self._paces(1)
            block = Block(slots[e * self.neurons : (e + 1) * self.neurons], ROW)
            networks = (self.rules, self.shape, pool.numbers, block, target, work)
            state = self.weights[e], self.time, self.no_history, self.moving
            kernels.call(learn_span, (*networks, *state, ALONE))
            self._evidence[e, 0] = work.evidence[0]
        if self.moving:
            kernels.call(switch_networks, (self.shares, self.time, self._evidence, self._no_shares))
        self.time += 1

    # Predicting ----------------------------------------------------------------------------------------

    def infer_row(self, side: FloatArray, mean: FloatArray, second: FloatArray) -> None:
        """Add one row's mean and second moment, summed over networks, to mean and second # OUT [1, D]."""
        slots, work = self.row_work()
        kernels = self._row_kernels
        kernels.call(contexts, (self.gates, side, ROW, 0, slots.shape[0], slots))
        kernels.call(find_rows, (self.pool.index, slots, 0))
        for e in range(self.networks):
            kernels.call(start_block, (self.base, e, side, ROW, work.unknown, False, work))
            block = Block(slots[e * self.neurons : (e + 1) * self.neurons], ROW)
            networks = (self.rules, self.shape, self.pool.numbers, block, work)
            kernels.call(infer_span, (*networks, self.belief(e), self.spreads[e], mean, second))

    @property
    def moving(self) -> bool:
        """Whether switching goes on. Widths and shares are calibrated for the weights as they then are."""
        return self.switching and not self.calibrated

    def belief(self, network: int) -> FloatArray:
        """Return the weights of a network's neurons in the mixture, times the number of networks."""
        weights: FloatArray = self.networks * self.shares[network] * self.weights[network]
        return weights

    def _joint_weights(self) -> FloatArray:
        """Return `belief` of all networks, [E, N]."""
        weights: FloatArray = self.networks * self.shares[:, None] * self.weights
        return weights

    def moments(
        self, side: FloatArray, threads: Threads, gated_by: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the ensemble's mixture for each row and output, [n, D] each.

        gated_by: [n, d], rows that select the weights instead of those that the base model predicts from.
        """
        totals = np.zeros((2, 1, side.shape[0], self.rules.kind.outputs))
        self._infer(side, range(self.networks), threads, totals, None, gated_by)
        mean, second = totals[:, 0] / self.networks
        return mean, second - mean**2

    def moments_apart(
        self, side: FloatArray, members: Sequence[int], threads: Threads
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the mixture of each of some networks alone, [members, n, D] each."""
        totals = np.zeros((2, len(members), side.shape[0], self.rules.kind.outputs))
        self._infer(side, members, threads, totals, None)
        mean, second = totals / np.array([self.belief(e).sum() for e in members])[:, None, None]
        return mean, second - mean**2

    def components(
        self, side: FloatArray, threads: Threads, members: Sequence[int] | None = None
    ) -> Components:
        """Return what every neuron, of all networks or of some, predicts for each row."""
        members = range(self.networks) if members is None else members
        output = self.row_work()[1].outputs.shape[2]
        outputs = np.empty((side.shape[0], len(members), self.neurons, output), self.pool.numbers.dtype)
        totals = np.zeros((2, 1, side.shape[0], self.rules.kind.outputs))
        self._infer(side, members, threads, totals, outputs)
        chosen = list(members)
        return Components(outputs, self._joint_weights()[chosen], self.spreads[chosen])

    def _infer(
        self,
        side: FloatArray,
        members: Sequence[int],
        threads: Threads,
        totals: FloatArray,
        outputs: NDArray[Any] | None,
        gated_by: FloatArray | None = None,
    ) -> None:
        """Predict all rows with some networks, blocks spread over the threads.

        totals: [2, 1, n, D] # OUT, first and second moments, summed over the networks, or [2, members, n, D];
        outputs: [n, members, N, P] # OUT, or None where they are not wanted; gated_by as in `moments`.
        """
        gated_by = side if gated_by is None else gated_by
        longest = max(1, min(self.block_rows, -(-side.shape[0] // threads.count)))
        cuts = blocks(side.shape[0], longest)

        def share(thread: int) -> None:
            work = self._borrow_work(longest)
            for start, stop in cuts[thread :: threads.count]:
                rows = np.arange(start, stop)
                slots = np.empty((self.neurons, rows.size), constants.SLOT)
                for place, e in enumerate(members):
                    first = e * self.neurons
                    contexts(self.gates, gated_by, rows, first, first + self.neurons, slots)
                    # rows in one context of the first neuron share many others: their weights stay cached
                    columns = np.argsort(slots[0], kind="stable")
                    order = rows[columns]
                    find_rows(self.pool.index, slots, first)
                    start_block(self.base, e, side, order, work.unknown, False, work)
                    networks = (self.rules, self.shape, self.pool.numbers, Block(slots, columns), work)
                    found = np.zeros((2, rows.size, totals.shape[3]))
                    infer_span(*networks, self.belief(e), self.spreads[e], found[0], found[1])
                    totals[:, place % totals.shape[1], order] += found
                    if outputs is not None:
                        outputs[order, place] = work.outputs[: rows.size, : self.neurons]
            self._spare_work.append(work)

        threads.run([(share, (thread,)) for thread in range(min(threads.count, len(cuts)))])

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return gates, weights and the base model's statistics."""
        arrays = self.pool.state() | {f"gates.{name}": a for name, a in self.gates._asdict().items()}
        arrays["switching"] = self.weights
        arrays["shares"], arrays["spreads"] = self.shares, self.spreads
        for name, value in self.base._asdict().items():
            if isinstance(value, np.ndarray):
                arrays[f"base.{name}"] = value
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]], time: int) -> None:
        """Take over a state of networks with the same gates."""
        self.pool.restore(arrays)
        self.weights[:], self.time = arrays["switching"], time
        self.shares[:], self.spreads[:] = arrays["shares"], arrays["spreads"]
        for name, value in self.base._asdict().items():
            if isinstance(value, np.ndarray):
                value[:] = arrays[f"base.{name}"]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made anew: buffers and compiled functions."""
        anew: dict[str, Any] = {
            "_buffers": {},
            "_spare_work": deque(maxlen=SPARE),
            "_row_buffers": {},
            "_row_kernels": Specialized(),
        }
        return {**vars(self), **anew}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to: kernels are compiled for arrays that can."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})
