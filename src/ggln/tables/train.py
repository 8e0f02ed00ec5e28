"""Learning a table of any length in bounded memory.

A uniform sample of the rows is fitted together, as `GGLNRegressor.fit` does, which is most accurate; all
other rows are then learnt once, in their order. A file is read twice for that, a pipe only once: there the
first rows are the sample. A table that is not longer than the sample is simply fitted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.distributions.assembly import mixture
from ggln.engine.gradient.learner import Learner
from ggln.engine.newton.stream import Stream
from ggln.engine.threads import Threads
from ggln.estimators.regressor import GGLNRegressor
from ggln.tables.checkpoint import Checkpoint, Progress, Unstoppable
from ggln.tables.infer import infer
from ggln.tables.model import TableRegressor
from ggln.tables.online import Worker, mean_loss
from ggln.tables.plan import Input, Plan, unreadable
from ggln.tables.read import NOT_UTF8, Bad, Chunk, OpenTable
from ggln.tables.sample import Aside, Lots, Sample, take
from ggln.tables.schema import Encoder
from ggln.tables.totals import Totals
from ggln.tables.watch import Silent, Watch, left_out

FloatArray = NDArray[np.float64]
IN_MEMORY_CELLS = 2_000_000
"""Cells of these rows at most: a wide table has fewer of them."""
INFER_ROWS = 10_000
"""Rows, at least, that decide what the columns are."""
HELD_OUT = 5_000
"""Rows that predictions are judged by, of all that were held out."""
PIECE = 1024
"""Rows that are read and learnt at a time. The result does not depend on it."""
LOSS_ROWS = 256
"""Rows that a running loss is averaged over."""


class Draws(NamedTuple):
    """What decides over rows, asked in the order of the table."""

    lots: Lots
    aside: Aside

    def of(self, numbers: list[int]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the lots of rows, and which of them are held out."""
        return self.lots.of(numbers), self.aside.of(numbers)


class Training:
    """One table on its way into one model."""

    def __init__(
        self,
        source: Input,
        plan: Plan,
        watch: Watch | None = None,
        checkpoint: Checkpoint | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.source, self.plan, self.checkpoint, self.n_jobs = source, plan, checkpoint, n_jobs
        self.watch: Watch = watch or Silent()
        self.held_out = Sample(HELD_OUT)
        self.done = self.unreadable = self.unlabelled = 0
        self.threshold: float | None = None
        self.rows: int | None = None  # of the table, where they have been counted
        self.longer = False  # whether there are more than those that are fitted together
        self.model: TableRegressor
        self.encoder: Encoder
        self.totals: Totals | None = None

    def run(self) -> TableRegressor:
        """Learn the table, from its beginning or from where the checkpoint was; return the model."""
        found = self.checkpoint.read() if self.checkpoint else None
        if found is not None:
            self.model, progress = found
            self.done, self.rows, self.threshold, held_out, self.unreadable, self.unlabelled = progress
            self.held_out = Sample(HELD_OUT, **held_out)
            self.watch.say(f"Going on after row {self.done:,}, where the checkpoint was")
            with self.source.open() as table:
                self._stream(table, [], self._draws())
        else:
            with self.source.open() as table:
                self._begin(table)
        if not hasattr(self.model.regressor_, "learner_"):
            why = (
                f"with a value of {', '.join(self.plan.targets)}"
                if self.unlabelled
                else "that could be learnt"
            )
            raise ValueError(f"{self.source.path} has no row {why}")
        return self.model

    # The sample ----------------------------------------------------------------------------------------

    def _begin(self, table: OpenTable) -> None:
        if table.foreign:
            self.watch.say(f"{table.name}: {NOT_UTF8}")
        draws = self._draws()
        size = min(self.plan.in_memory, max(1, IN_MEMORY_CELLS // len(table.columns)))
        sample = self._draw(table, draws, max(size, INFER_ROWS))
        if not sample.rows:
            raise ValueError(f"{table.name} has no rows" + " that could be learnt" * bool(table.count))
        plan = self.plan
        regressor = GGLNRegressor(**plan.settings, random_state=plan.seed)
        columns = (plan.targets, plan.drop, plan.categories, plan.keep)
        schema, remarks, questions = infer(table, sample.rows, *columns, regressor._takes_gaps())
        for remark in remarks:
            self.watch.say(remark)
        answers = [(self.watch.ask(question), question.column) for question in questions]
        drop, categories = ([name for own, name in answers if own == one] for one in ("drop", "category"))
        if drop or categories:
            columns = (plan.targets, [*plan.drop, *drop], [*plan.categories, *categories], plan.keep)
            schema, _, _ = infer(table, sample.rows, *columns, regressor._takes_gaps())
        self.model = TableRegressor.of(regressor, schema)
        self.encoder = schema.bind(table, targets=True)
        together = self._together(sample, size)
        chunk = take(sample.chunk(), together)
        if chunk.rows:
            self._fit(*self._readable(chunk))
        self.longer |= len(chunk.rows) < len(sample.rows)
        learner: Any = getattr(self.model.regressor_, "learner_", None)
        if self.longer and isinstance(learner, Stream):
            learner.release()  # to solve all rows afresh as they grow would take ten times as long
        if self.source.repeatable:
            if self.longer:
                self._kept()
                with self.source.open() as again:
                    self._stream(again, [], self._draws())
        else:
            self.done = chunk.numbers[-1] if chunk.rows else 0
            self._kept()
            self._stream(table, [take(sample.chunk(), ~together)], draws)

    def _draws(self) -> Draws:
        """Return what decides over rows, at the beginning of the table."""
        return Draws(Lots(self.plan.seed), Aside(self.plan.validate, self.plan.seed))

    def _draw(self, table: OpenTable, draws: Draws, size: int) -> Sample:
        """Read a file to its end, keeping a sample; of a pipe, read no more rows than that."""
        once = not self.source.repeatable
        sample = Sample(size)
        with self.watch.stage("reading", None) as advance:
            for chunk in table.chunks(PIECE):
                self._report(chunk.bad)
                drawn, out = draws.of(chunk.numbers)
                learnt = self._hold_out(chunk, drawn, out)
                numbers, rows, _ = take(chunk, learnt)
                # in a pipe, whoever comes first is in the sample
                sample.add(np.asarray(numbers, float) if once else drawn[learnt], numbers, rows)
                advance(len(chunk.rows), None)
                if once and len(sample.rows) + PIECE > size:
                    self.longer = True
                    break
        sample.prune()
        self.longer |= not sample.complete
        self.rows = None if once else table.count
        return sample

    def _hold_out(self, chunk: Chunk, lots: FloatArray, out: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Put aside the rows that are held out; return which are left."""
        kept = take(chunk, out)
        self.held_out.add(lots[out], kept.numbers, kept.rows)
        return ~out

    def _together(self, sample: Sample, size: int) -> NDArray[np.bool_]:
        """Return which rows of the sample are fitted together, and remember how to tell them in the file."""
        lots = np.asarray(sample.lots)
        if size == 0:
            return np.zeros(lots.size, bool)
        threshold = np.sort(lots)[min(size, lots.size) - 1]
        if self.source.repeatable:
            self.threshold = float(threshold)
        which: NDArray[np.bool_] = lots <= threshold
        return which

    def _fit(self, X: FloatArray, Y: FloatArray) -> None:
        """Fit the rows of the sample together."""
        if not len(X):
            return
        regressor = self.model.regressor_
        regressor.n_jobs = self.n_jobs
        regressor._observer = self._observer(X, Y)
        regressor.fit(X, Y[:, 0] if Y.shape[1] == 1 else Y)
        regressor.n_jobs = regressor._observer = None  # neither belongs to the model
        self.model.remember(X)

    def _observer(self, rows: FloatArray, targets: FloatArray) -> Any:
        """Return what draws the bar of `fit`: its loss is that of a few rows, looked at from time to time."""
        X, Y = rows[:LOSS_ROWS], targets[:LOSS_ROWS]

        @contextmanager
        def stage(what: str, steps: int, learner: Any) -> Iterator[Callable[[int], object]]:
            descends = isinstance(learner, Learner)  # networks that are solved have no loss before the end

            def step(done: int) -> None:
                loss = None
                if descends and self.watch.loss_due():
                    joint = mixture([learner.predictions(X, Threads(1))], Y.shape[1])
                    loss = mean_loss(joint, Y)
                advance(done, loss)

            unit = "models" if learner is None else "rows" if descends else "layers"
            together = f"{what} {len(rows):,} rows together" if unit == "layers" else what
            with self.watch.stage(together, steps, unit) as advance:
                yield step

        return stage

    # The rest ------------------------------------------------------------------------------------------

    def _stream(self, table: OpenTable, ahead: Sequence[Chunk], draws: Draws) -> None:
        """Learn all rows after `done` that were not fitted together, once and in their order.

        ahead: rows that were read already, with none among them that are held out.
        """
        self.encoder = self.model.schema_.bind(table, targets=True)
        pieces = self.checkpoint.pieces if self.checkpoint else Unstoppable()
        try:
            with (
                Worker(self.model.regressor_, self.n_jobs) as worker,
                self.watch.stage("learning", self.rows, done=self.done) as advance,
                closing(pieces(table.chunks(PIECE))) as read,
            ):
                fresh = ((chunk, self._wanted(chunk, draws)) for chunk in read)
                for chunk, wanted in itertools.chain(((chunk, chunk) for chunk in ahead), fresh):
                    loss = self._learn(worker, *self._readable(wanted))
                    if chunk.numbers and chunk.numbers[-1] > self.done:
                        advance(chunk.numbers[-1] - self.done, loss)
                        self.done = chunk.numbers[-1]
                        if self.checkpoint and self.checkpoint.due():
                            self._kept()
        except BaseException:
            if pieces.between:  # all that was read is learnt
                self._kept()
            raise

    def _wanted(self, chunk: Chunk, draws: Draws) -> Chunk:
        """Return the rows of a piece that are to be learnt now."""
        drawn, out = draws.of(chunk.numbers)
        new = np.asarray(chunk.numbers, int) > self.done
        if self.source.repeatable:  # unreadable lines and rows to hold out were met at the first reading
            new &= ~out
            return take(chunk, new & (drawn > self.threshold) if self.threshold is not None else new)
        self._report([bad for bad in chunk.bad if bad.number > self.done])
        later = take(chunk, new)
        return take(later, self._hold_out(later, drawn[new], out[new]))

    def _learn(self, worker: Worker, X: FloatArray, Y: FloatArray) -> float | None:
        """Learn rows; return the loss of some of them before they were learnt, if it is asked for."""
        if not len(X):
            return None
        loss, judged = None, 0
        if hasattr(worker.regressor, "learner_") and self.watch.loss_due():
            judged = min(LOSS_ROWS, len(X))
            loss = mean_loss(worker.prequential(X[:judged], Y[:judged]), Y[:judged])
        if judged < len(X):
            worker.learn(X[judged:], Y[judged:])
        self.model.name_features()
        return loss

    def _readable(self, chunk: Chunk) -> tuple[FloatArray, FloatArray]:
        """Return the rows of a piece that can be learnt, as numbers."""
        encoded = self.encoder(chunk)
        self._report(encoded.bad)
        if self.totals is None:
            self.totals = Totals(self.encoder)
        for remark in self.totals.find(encoded):
            self.watch.say(remark)
        known = ~np.isnan(encoded.Y).any(axis=1)
        self.unlabelled += int((~known).sum())
        return encoded.X[known], encoded.Y[known]

    def _report(self, bad: Sequence[Bad]) -> None:
        """Stop at a row that cannot be read, or say so and go on."""
        for row in bad:
            if self.plan.on_error == "stop":
                raise unreadable(self.source.path, row)
            self.unreadable += 1
            remark = left_out(row, self.unreadable)
            if remark:
                self.watch.say(remark)

    # The end -------------------------------------------------------------------------------------------

    def _kept(self) -> None:
        """Write the checkpoint, if there is to be one."""
        if self.checkpoint and hasattr(self.model.regressor_, "learner_"):
            held_out = {
                name: getattr(self.held_out, name) for name in ("lots", "numbers", "rows", "complete")
            }
            state = (self.done, self.rows, self.threshold, held_out, self.unreadable, self.unlabelled)
            self.checkpoint.write(self.model, Progress(*state))

    def held_out_rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the rows that were held out and can be read, X [n, d] and Y [n, D]."""
        self.held_out.prune()
        encoded = self.encoder(self.held_out.chunk())
        known = ~np.isnan(encoded.Y).any(axis=1)
        return encoded.X[known], encoded.Y[known]
