"""Data frames, and mappings of names to columns, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from ggln.estimators.numeric import dense, refuse_masks
from ggln.tables.cells import NoSingleValueError, is_missing, text
from ggln.tables.columns import Category
from ggln.tables.read import Chunk, OpenTable, Row
from ggln.tables.schema import Encoded, Schema

FloatArray = NDArray[np.float64]
Remarks = dict[tuple[str, str], str]
"""By what they are about, a column or its values, and the name of the column."""


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a regressor with named features take plain arrays: their columns were put in order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def is_named(table: Any) -> bool:
    """Return whether this is a table whose columns have names, and no array."""
    # some sparse arrays are mappings, from places to values
    return hasattr(table, "columns") or (isinstance(table, Mapping) and not issparse(table))


def named(array: Any, estimator: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the columns of an array of any kind under their names, x0, x1, ... if there are none."""
    refuse_masks("X", array)
    # numbers stay numbers, and texts texts; a gap is no mistake here
    checked = check_array(
        dense(array),
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=0,
        estimator=estimator,
        input_name="X",
    )
    if checked.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    if names is not None and checked.shape[1] != len(names):
        raise ValueError(
            f"X has {checked.shape[1]} features, but {type(estimator).__name__} is expecting {len(names)} "
            "features as input"
        )
    return dict(zip(names or numbered(checked.shape[1]), checked.T, strict=True))


def numbered(count: int) -> list[str]:
    """Return names for the columns of an array."""
    return [f"x{i}" for i in range(count)]


def strangers(schema: Schema, names: Sequence[str], rows: list[Row], X: FloatArray) -> Remarks:
    """Return what there is to say about what was never learnt: columns, and values of categories.

    X: [n, features], the rows as numbers.
    """
    known = {column.name for column in schema.columns} | set(schema.targets)
    found: Remarks = {
        ("column", name): f"the column {name!r} is none of those that were learnt: it is ignored"
        for name in names
        if name not in known
    }
    ends = np.cumsum([len(column.features()) for column in schema.columns])
    for column, part in zip(schema.columns, np.split(X, ends[:-1], axis=1), strict=True):
        if isinstance(column, Category):
            place = names.index(column.name)
            texts = [rows[i][place] for i in np.flatnonzero(column.beyond(part))]
            new = next((text for text in texts if not is_missing(text)), None)
            if new is not None:
                found["value", column.name] = (
                    f"the column {column.name!r} has values that were never learnt, such as {new!r}: they "
                    "count as none of those that were"
                )
    return found


def columns_of(table: Any) -> tuple[list[str], list[Row]]:
    """Return the names and the rows of a data frame or of a mapping of columns, the cells as text."""
    names: Sequence[Any] = list(table) if isinstance(table, Mapping) else list(table.columns)
    columns = [_texts(name, table[name]) for name in names]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"the columns of a table are equally long, got lengths {sorted(lengths)}")
    return list(map(str, names)), [list(row) for row in zip(*columns, strict=True)]


def _texts(name: Any, values: Any) -> list[str]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"the column {name!r} of a table is a sequence of values, got {values!r}")
    refuse_masks(f"the column {name!r}", values)
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


def unread(names: Sequence[str]) -> OpenTable:
    """Return a table of which only the columns matter."""
    return OpenTable("the table", names, iter(()), lambda: True)


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
    shape = np.asarray(y).shape
    outputs = shape[1] if len(shape) == 2 else 1
    numbers = [""] if outputs == 1 else [str(i) for i in range(outputs)]
    return [f"{'target' if f'y{number}' in taken else 'y'}{number}" for number in numbers]
