"""Data frames, and mappings of names to columns, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ggln.tables.cells import NoSingleValueError, text
from ggln.tables.read import Chunk, Row, Table
from ggln.tables.schema import Encoded, Schema


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a regressor with named features take plain arrays: their columns were put in order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def columns_of(table: Any) -> tuple[list[str], list[Row]]:
    """Return the names and the rows of a data frame or of a mapping of columns, the cells as text."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(
            f"a table is a data frame or a mapping of names to columns, got {type(table).__name__}: give "
            "arrays to GGLNRegressor instead"
        )
    names: Sequence[Any] = list(table) if isinstance(table, Mapping) else list(table.columns)
    columns = [_texts(name, table[name]) for name in names]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"the columns of a table are equally long, got lengths {sorted(lengths)}")
    return list(map(str, names)), [list(row) for row in zip(*columns, strict=True)]


def _texts(name: Any, values: Any) -> list[str]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"the column {name!r} of a table is a sequence of values, got {values!r}")
    found: list[str] = []
    try:
        found.extend(map(text, values))
    except NoSingleValueError as error:
        raise ValueError(
            f"the column {name!r} {error}: row {len(found)}, counted from 0. Make columns of its values"
        ) from error
    return found


def one_row(x: Any) -> dict[str, list[Any]]:
    """Return a table of one row, from a mapping of columns to values or from a row of a data frame."""
    if hasattr(x, "to_dict"):
        x = x.to_dict()
    if not isinstance(x, Mapping):
        raise TypeError(f"a row is a mapping of columns to values, got {type(x).__name__}")
    return {name: [value] for name, value in x.items()}


def unread(names: Sequence[str]) -> Table:
    """Return a table of which only the columns matter."""
    return Table("the table", names, iter(()), lambda: True)


def encode(schema: Schema, names: Sequence[str], rows: list[Row], targets: bool) -> Encoded:
    """Return rows as numbers; all of them have to be readable."""
    encoded = schema.bind(unread(names), targets)(Chunk(list(range(len(rows))), rows, []))
    if encoded.bad:
        raise ValueError(f"the table cannot be read: {encoded.bad[0]} (rows are counted from 0)")
    return encoded


def target_names(y: Any, X: Any) -> list[str]:
    """Return what targets are called: by their own names, unless columns of X have them, or y."""
    taken = {str(name): name for name in (X if isinstance(X, Mapping) else X.columns)}
    named = {str(name): y[name] for name in y.columns} if hasattr(y, "columns") else {}
    if not named and isinstance(getattr(y, "name", None), str) and y.name:
        named = {y.name: y}
    for name, values in named.items():
        if name in taken and list(map(text, values)) == list(map(text, X[taken[name]])):
            raise ValueError(f"X has the target {name!r} among its columns: drop it there")
    if named and not taken.keys() & named.keys():
        return list(named)
    outputs = np.shape(y)[1] if np.ndim(y) == 2 else 1
    numbers = [""] if outputs == 1 else [str(i) for i in range(outputs)]
    return [f"{'target' if f'y{number}' in taken else 'y'}{number}" for number in numbers]
