"""Some rows of a table, to look at closely, a typical one, and rows along one of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.tables.columns import Boolean, Category, Date
from ggln.tables.read import OpenTable
from ggln.tables.schema import Schema

FloatArray = NDArray[np.float64]
WORDS = ["no", "yes"]
OTHER = "(other)"


class Along(NamedTuple):
    """Rows in which one column goes over its values, all others as in one row."""

    name: str
    x: NDArray[Any]  # [m], numbers, days since 1970, or texts
    rows: FloatArray  # [m, features]
    samples: NDArray[Any]  # [n], where the rows of the table lie
    date: bool


def along(schema: Schema, name: str, X: FloatArray, at: FloatArray, points: int = 200) -> Along:
    """Move a column over its values: numbers and dates over their range in rows X [n, d], else all there are.

    at: [d], the row that gives the other columns.
    """
    place = schema.owners().index(name)
    column = next(column for column in schema.columns if column.name == name)
    own = slice(place, place + len(column.features()))
    if isinstance(column, Category):
        levels = column.levels
        samples = np.array([*levels, OTHER])[
            np.where(X[:, own].any(axis=1), X[:, own].argmax(axis=1), len(levels))
        ]
        x, features = np.array(levels), np.eye(len(levels), len(column.features()))
    elif isinstance(column, Boolean):
        samples, x = np.array(WORDS)[(X[:, place] > 0.5).astype(int)], np.array(WORDS)
        features = column.expand(np.array([0.0, 1.0]), np.zeros(2))
    else:
        samples = X[:, place]
        x = np.linspace(np.nanmin(samples), np.nanmax(samples), points)
        features = column.expand(x, np.zeros(points))
    rows = np.tile(at, (len(x), 1))
    rows[:, own] = features
    return Along(name, x, rows, samples, isinstance(column, Date))


def typical_row(X: FloatArray) -> FloatArray:
    """Return the row [d] of X [n, d] nearest to the medians: these would be of no category at all."""
    distances = (X - np.nanmedian(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-300)
    row: FloatArray = X[np.argmin((np.nan_to_num(distances, nan=1.0) ** 2).sum(axis=1))]
    return row


@dataclass(frozen=True)
class TableRows:
    """Rows of a table as they stand there, and their targets."""

    frame: dict[str, list[str]]  # the cells of each column
    Y: FloatArray  # [n, targets]
    numbers: list[int]

    def __len__(self) -> int:
        return len(self.numbers)


def first_rows(schema: Schema, table: OpenTable, count: int, targets: bool) -> TableRows:
    """Return up to `count` of the first rows; with `targets`, only rows that have them."""
    with table:
        encoded = schema.bind(table, targets)(table.chunk(count, wait=True))
    if encoded.bad:
        raise ValueError(f"{table.name}, {encoded.bad[0]}: correct it, or leave it out")
    if not encoded.rows:
        raise ValueError(f"{table.name} has no rows")
    known = np.flatnonzero(~np.isnan(encoded.Y).any(axis=1))
    if not known.size:
        raise ValueError(f"{table.name} has no row with a value of {', '.join(schema.targets)}")
    wanted = {column.name for column in schema.columns} | set(schema.targets)  # others were left out
    columns = [(j, name) for j, name in enumerate(table.columns) if name in wanted]
    frame = {name: [encoded.rows[i][j] for i in known] for j, name in columns}
    return TableRows(frame, encoded.Y[known], [encoded.numbers[i] for i in known])
