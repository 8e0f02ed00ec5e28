"""Predictions beside the rows that they are for, piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ggln.components import Distribution
from ggln.tables.columns import Category, Column, Date
from ggln.tables.model import TableRegressor
from ggln.tables.online import Moments, Worker
from ggln.tables.read import Bad, Format, Table
from ggln.tables.schema import Schema
from ggln.tables.write import Writer, open_writer, prediction_names

FloatArray = NDArray[np.float64]
PIECE = 1024
"""Rows that are predicted at a time, at most: as many as have come."""


def side_by_side(moments: Moments, quantiles: FloatArray | None = None) -> FloatArray:
    """Return the columns of `prediction_names`: means and deviations [n, D], quantiles [k, n, D] or none."""
    parts = [moments.mean[None], moments.std[None], *([] if quantiles is None else [quantiles])]
    columns = np.concatenate(parts)  # [2 + k, n, D]
    table: FloatArray = columns.transpose(1, 2, 0).reshape(columns.shape[1], -1)
    return table


def quantiles_of(distribution: Distribution, levels: Sequence[float]) -> FloatArray:
    """Return quantiles [k, n, D]."""
    found = distribution.quantile(list(levels))
    return found[..., None] if found.ndim == 2 else found


def numeric_columns(schema: Schema) -> list[str]:
    """Return the columns that hold numbers and nothing else."""
    plain: list[Column] = [column for column in schema.columns if not isinstance(column, Category | Date)]
    return [column.name for column in plain if column.kind == "number"]


def predict_table(
    model: TableRegressor,
    table: Table,
    output: Path | None,
    form: Format | None,
    quantiles: Sequence[float],
    report: Callable[[Sequence[Bad]], None],
    n_jobs: int | None = None,
) -> tuple[int, Counter[str]]:
    """Write the rows of a table with their predictions; return how many there were.

    Beside it, how many of them lie far outside what was learnt, by the column that says so.

    report: told of rows that cannot be read, which are left out unless it raises an exception.
    """
    encoder = model.schema_.bind(table, targets=False)
    added = prediction_names(model.targets, quantiles)
    numeric = [*numeric_columns(model.schema_), *added]
    count, beyond = 0, Counter[str]()
    with (
        Worker(model.regressor_, n_jobs) as worker,
        open_writer(output, form, [*table.columns, *added], numeric) as writer,
    ):
        for chunk in table.chunks(PIECE, wait=False):
            encoded = encoder(chunk)
            report(encoded.bad)
            if encoded.rows:
                _predict(worker, writer, encoded.rows, encoded.X, quantiles)
                count += len(encoded.rows)
                beyond.update(model.schema_.beyond(encoded.X))
        if table.count == 0:
            raise ValueError(f"{table.name} has no rows")
    return count, beyond


def _predict(
    worker: Worker, writer: Writer, rows: list[list[str]], X: FloatArray, quantiles: Sequence[float]
) -> None:
    levels = quantiles_of(worker.distribution(X), quantiles) if quantiles else None
    writer.write(rows, side_by_side(worker.moments(X), levels))
