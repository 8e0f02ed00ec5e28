"""Test, then train: every row is predicted before it is learnt, and the prediction handed over at once.

As many rows as have come are taken together, since that is faster; the predictions are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.regressor import GGLNRegressor
from ggln.tables import cells
from ggln.tables.infer import infer_stream
from ggln.tables.misled import Misled
from ggln.tables.model import TableRegressor
from ggln.tables.names import Question, about_names
from ggln.tables.online import Moments, Worker
from ggln.tables.predict import quantiles_of, side_by_side
from ggln.tables.read import Bad, Chunk, OpenTable, Row
from ggln.tables.schema import Encoded
from ggln.tables.totals import Totals
from ggln.tables.write import Writer

FloatArray = NDArray[np.float64]
LONGEST = 256
"""Rows that are taken together, at most. More are not faster, and the first of them would wait longer."""
ROWS_OF_A_UNIT = 2
"""Rows whose predictions are left empty: a single target has no spread, so they would be in no unit."""


HELD_UP = 10
"""Rows that are waited for, at most, where cells of the first one are empty: a column without any value may
be of any kind."""


def first_values(rows: Sequence[Row]) -> Row:
    """Return each column's first value among the first rows, up to `HELD_UP`; a gap where there is none.

    >>> first_values([["", "1"], ["Oslo", "2"]])
    ['Oslo', '1']
    """
    found = list(rows[0])
    for row in rows[1:HELD_UP]:
        found = [new if cells.is_missing(known) else known for known, new in zip(found, row, strict=True)]
    return found


def begin(
    table: OpenTable,
    row: Row,
    targets: list[str],
    drop: Sequence[str],
    categories: Sequence[str],
    keep: Sequence[str],
    settings: dict[str, Any],
    seed: int,
) -> tuple[TableRegressor, list[Question]]:
    """Return a model that has learnt nothing yet, for a stream with these first values, and what to ask."""
    regressor = GGLNRegressor(**settings, random_state=seed)
    schema = infer_stream(table, row, targets, drop, categories, regressor._takes_gaps())
    first = dict(zip(table.columns, row, strict=True))
    numbers = [
        column.name for column in schema.columns if column.kind == "number" and column.name not in keep
    ]
    asked = [about for name in numbers if (about := about_names(name, [first[name]]))]
    return TableRegressor.of(regressor, schema), asked


class TableStream:
    """Rows in, predictions out, and a model that learns from them.

    report: told of rows that cannot be read; it raises an exception to stop the stream there. All rows before
    the unreadable one have then been predicted and learnt. say: told what is strange about rows. guessed: the
    categories that nothing but their first value tells to be some.
    """

    def __init__(
        self,
        model: TableRegressor,
        table: OpenTable,
        writer: Writer,
        quantiles: Sequence[float],
        report: Callable[[Bad], None],
        n_jobs: int | None,
        say: Callable[[str], None] = lambda _: None,
        guessed: Sequence[str] = (),
    ) -> None:
        self.model, self.writer, self.quantiles, self.report = model, writer, quantiles, report
        self.encoder = model.schema_.bind(table, targets=True)
        self.totals, self.misled, self.say = Totals(self.encoder), Misled(table, guessed), say
        self.worker = Worker(model.regressor_, n_jobs)
        self.learnt = self.predicted = self.saved = 0

    def take(self, chunk: Chunk) -> None:
        """Predict and learn some rows in their order."""
        encoded = self.encoder(chunk)
        for remark in (*self.totals.find(encoded), *self.misled.find(encoded.rows)):
            self.say(remark)
        known = [not np.isnan(targets).any() for targets in encoded.Y]
        stops = [*encoded.bad, None]
        start = 0
        for bad in stops:
            end = len(encoded.rows) if bad is None else int(np.searchsorted(encoded.numbers, bad.number))
            self._answer(encoded, known, start, end)
            start = end
            if bad is not None:
                self.report(bad)

    def _answer(self, encoded: Encoded, known: list[bool], start: int, end: int) -> None:
        """Answer a run of rows: those without a target are predicted only."""
        for labelled, run in groupby(range(start, end), key=known.__getitem__):
            places = list(run)
            rows = slice(places[0], places[-1] + 1)
            X, Y = encoded.X[rows], encoded.Y[rows]
            numbers = self._learn(X, Y) if labelled else self._predict(X)
            self.writer.write(encoded.rows[rows], numbers)
            self.predicted += len(places)

    def _learn(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        before = self._rows()
        if self.quantiles:
            joint = self.worker.prequential(X, Y)
            mean, std = (values.reshape(len(X), -1) for values in (joint.mean, joint.std))
            numbers = side_by_side(Moments(mean, std), quantiles_of(joint, self.quantiles))
        else:
            numbers = side_by_side(self.worker.prequential_moments(X, Y))
        if before == 0:
            self.model.name_features()
        numbers[: max(0, ROWS_OF_A_UNIT - before)] = np.nan
        self.learnt += len(X)
        return numbers

    def _rows(self) -> int:
        """Return how many rows the model has learnt."""
        return self.model.regressor_.learner_.rows if hasattr(self.model.regressor_, "learner_") else 0

    def _predict(self, X: FloatArray) -> FloatArray:
        if self._rows() < ROWS_OF_A_UNIT:
            return np.full((len(X), (2 + len(self.quantiles)) * len(self.model.targets)), np.nan)
        levels = quantiles_of(self.worker.distribution(X), self.quantiles) if self.quantiles else None
        return side_by_side(self.worker.moments(X), levels)

    def save(self, path: Path) -> None:
        """Write the model if it has learnt, with the names of the values that categories have met by now."""
        if self.learnt > self.saved:
            self.model.name_features()
            self.model.save(path)
            self.saved = self.learnt
