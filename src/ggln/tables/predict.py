"""Predictions beside the rows that they are for, piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.distributions.assembly import Distribution
from ggln.tables.columns import Category, Date
from ggln.tables.model import TableRegressor
from ggln.tables.online import Moments, Worker
from ggln.tables.read import Bad, Format, OpenTable
from ggln.tables.schema import Schema
from ggln.tables.styles import NUMBERS, Parse
from ggln.tables.write import Writer, convention, open_writer, prediction_names

FloatArray = NDArray[np.float64]
PIECE = 1024
"""Rows that are predicted at a time, at most: as many as have come."""
THIN = 0.5
"""Below this support, more than half of a row's variance is from being outside what was learnt."""


class Predicted(NamedTuple):
    """What there was to predict."""

    rows: int
    beyond: Counter[str]  # rows far outside what was learnt, by the column that says so
    thin: int  # rows whose support is below `THIN` for some target


def side_by_side(
    moments: Moments, quantiles: FloatArray | None = None, support: FloatArray | None = None
) -> FloatArray:
    """Return the columns of `prediction_names`: means and deviations [n, D], and what else there is.

    quantiles: [k, n, D]; support: [n, D].
    """
    parts = [moments.mean[None], moments.std[None]]
    parts += [] if quantiles is None else [quantiles]
    parts += [] if support is None else [support[None]]
    columns = np.concatenate(parts)  # [2 + k, n, D], or one more
    table: FloatArray = columns.transpose(1, 2, 0).reshape(columns.shape[1], -1)
    return table


def quantiles_of(distribution: Distribution, levels: Sequence[float]) -> FloatArray:
    """Return quantiles [k, n, D]."""
    found = distribution.quantile(list(levels))
    return found[..., None] if found.ndim == 2 else found


def numeric_columns(schema: Schema) -> dict[str, Parse]:
    """Return the columns that hold numbers and nothing else, and how these are read."""
    plain = [column for column in schema.columns if not isinstance(column, Category | Date)]
    return {column.name: NUMBERS[column.style] for column in plain if column.kind == "number"}


def predict_table(
    model: TableRegressor,
    table: OpenTable,
    output: Path | None,
    form: Format | None,
    quantiles: Sequence[float],
    report: Callable[[Sequence[Bad]], None],
    n_jobs: int | None = None,
    support: bool = False,
    escape: bool = False,
) -> Predicted:
    """Write the rows of a table with their predictions, and their support if that is wanted.

    escape: cells that a spreadsheet would run.
    report: told of rows that cannot be read, which are left out unless it raises an exception.
    """
    encoder = model.schema_.bind(table, targets=False)
    added = prediction_names(model.targets, quantiles, support)
    numeric = numeric_columns(model.schema_) | dict.fromkeys(added, float)
    written = convention(table, model.schema_, escape)
    count, thin, beyond = 0, 0, Counter[str]()
    with (
        Worker(model.regressor_, n_jobs) as worker,
        open_writer(output, form, [*table.columns, *added], numeric, written) as writer,
    ):
        for chunk in table.chunks(PIECE, wait=False):
            encoded = encoder(chunk)
            report(encoded.bad)
            if encoded.rows:
                covered = worker.support(encoded.X)
                wanted = covered if support else None
                _predict(worker, writer, encoded.rows, encoded.X, quantiles, wanted)
                count += len(encoded.rows)
                thin += int((covered < THIN).any(axis=1).sum())
                beyond.update(model.schema_.beyond(encoded.X))
        if table.count == 0:
            raise ValueError(f"{table.name} has no rows")
    return Predicted(count, beyond, thin)


def _predict(
    worker: Worker,
    writer: Writer,
    rows: list[list[str]],
    X: FloatArray,
    quantiles: Sequence[float],
    support: FloatArray | None,
) -> None:
    levels = quantiles_of(worker.distribution(X), quantiles) if quantiles else None
    writer.write(rows, side_by_side(worker.moments(X), levels, support))
