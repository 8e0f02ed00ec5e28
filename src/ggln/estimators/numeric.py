"""Where something stands in a table that should be a number, and what to do about it."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ggln.engine import memory
from ggln.engine.constants import MAX_MAGNITUDE

FloatArray = NDArray[np.float64]
KINDS: dict[str, tuple[type, ...]] = {
    "durations": (dt.timedelta, np.timedelta64),
    "times of the day": (dt.time,),
    "dates": (dt.date, np.datetime64),
}
"""What NumPy would take for numbers in some unit; those of pandas and polars are among them."""
TIMES = tuple(kind for kinds in KINDS.values() for kind in kinds)
OBJECT = np.dtype(object)
PLAIN = {float, int, bool, str, type(None), np.float64, np.float32, np.int64}
"""Types of cells that hold nothing else."""
REMEDIES = {
    "durations": ("seconds or days", "takes them as days"),
    "times of the day": ("hours since midnight", ""),
    "dates": ("days since a date", "makes features of dates"),
}
"""What to turn them into, and what `TableRegressor` does with them."""


DENSE_BYTES = 2**26
"""Of the part of a sparse table that is made dense at once to be predicted."""


def dense(X: Any) -> Any:
    """Return a sparse table as an array, if there is memory for it; whatever else as it is."""
    if not issparse(X):
        return X
    needed, there = 8 * int(np.prod(X.shape, dtype=object)), memory.available()
    if there is not None and needed > there:
        rows, columns = X.shape
        raise MemoryError(
            f"X is sparse, {rows} rows of {columns} features, and learnt as a dense array, which needs "
            f"{memory.readable(needed)} of memory, but {memory.readable(there)} are available: give fewer "
            "rows at a time to partial_fit, or reduce the features, for example with TruncatedSVD"
        )
    return X.toarray()


def in_parts(X: Any) -> list[Any]:
    """Return a sparse table in parts that are small as dense arrays; whatever else as a single part."""
    if not issparse(X) or X.ndim != 2:
        return [X]
    step = max(1, DENSE_BYTES // (8 * max(X.shape[1], 1)))
    rows = X.tocsr()
    return [rows[start : start + step] for start in range(0, max(rows.shape[0], 1), step)]


@contextmanager
def naming_text(**tables: Any) -> Iterator[None]:
    """Make errors of converting the tables, given by their names, say where what is no number stands.

    Dates are refused even where NumPy would take them for numbers: since when and in which unit nobody said.
    """
    for name, values in tables.items():
        refuse_kinds(name, values)
    try:
        yield
    except OverflowError as error:
        raise ValueError(about_size(" or ".join(tables))) from error
    except (TypeError, ValueError) as error:
        for name, values in tables.items():
            refuse_strange(name, values, error, table=True)
        raise


def as_numbers(name: str, values: Any, names: Any = None) -> FloatArray:
    """Return the values of a single row as an array (1, n), a copy, or say which of them is no number.

    names: of the values, if they have some.
    """
    if type(values) is not np.ndarray or values.dtype.kind not in "fiu":
        refuse_kinds(name, values, names)
    try:
        return np.array(values, np.float64, ndmin=2)
    except OverflowError as error:
        raise ValueError(about_size(name)) from error
    except (TypeError, ValueError) as error:
        refuse_strange(name, values, error, table=False, names=names)
        raise


def refuse_kinds(name: str, values: Any, names: Any = None) -> None:
    """Raise ValueError for dates, durations, masks and complex numbers, which NumPy would take for numbers.

    names: of the values, if this is a single row of them.
    """
    refuse_masks(name, values)
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: {name} holds complex numbers; the model is unchanged")
    found = find_times(values)
    if found is not None:
        kind, where = found
        if not where and name in ("x", "X", "y") and getattr(values, "dtype", OBJECT) == OBJECT:
            place = find_strange(values, name != "x", names)[1].lstrip(", ")
            where = f" in {place}" if place else ""
        raise ValueError(_about_times(name, kind, where))


def refuse_masks(name: str, values: Any) -> None:
    """Raise ValueError for a masked array."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, whose masked values would be taken for numbers: fill them, for "
            "example with NaN, by values.filled(numpy.nan); the model is unchanged"
        )


def refuse_strange(name: str, values: Any, error: Exception, table: bool, names: Any = None) -> None:
    """Raise ValueError saying where in a table, or in a single row, the first cell is that is no number."""
    cell, where = find_strange(values, table, names)
    if isinstance(cell, str):
        raise ValueError(
            f"could not convert string to float: {cell!r} in {name}{where}. {_about_text(name)}; the model "
            "is unchanged"
        ) from error
    if cell is not None:
        raise ValueError(_about_times(name, _kind(cell), f" in {where.lstrip(', ')}")) from error


def _about_text(name: str) -> str:
    if name == "y":
        return (
            "Regression predicts numbers: convert the targets, or use ggln.GLNClassifier if they are classes"
        )
    if name == "sample_weight":
        return "Weights are numbers"
    return (
        "Encode text as numbers first, for example with OneHotEncoder; for regression, ggln.TableRegressor "
        "does so"
    )


def about_size(name: str) -> str:
    """Return what to say of an integer that no float can hold."""
    return (
        f"Input {name} contains an integer that is too large. Values must be finite numbers, at most "
        f"{MAX_MAGNITUDE:g} in size: correct it; the model is unchanged"
    )


def _about_times(name: str, kind: str, where: str) -> str:
    number, table = REMEDIES[kind]
    instead = f"; for regression, ggln.TableRegressor {table}" if name in ("x", "X") and table else ""
    return (
        f"{name} holds {kind}{where}, and networks take numbers: turn them into numbers, such as "
        f"{number}{instead}; the model is unchanged"
    )


def _kind(cell: object) -> str:
    return next(name for name, kinds in KINDS.items() if isinstance(cell, kinds))


def find_times(values: Any) -> tuple[str, str] | None:
    """Return what a table holds that is a date, a time or a duration, and in which column; None if nothing.

    Arrays and columns tell their type. Of lists and objects all cells are looked at, which takes about a
    microsecond a row.
    """
    if hasattr(values, "columns"):
        for i, name in enumerate(values.columns):
            column = values.iloc[:, i] if hasattr(values, "iloc") else values[name]
            found = find_times(column)
            if found is not None:
                row = next((row for row, cell in enumerate(column) if isinstance(cell, TIMES)), 0)
                where = f" in row {row}, column {i} ({name!r})" if row else f" in the column {name!r}"
                return found[0], where
        return None
    if isinstance(values, TIMES):
        return _kind(values), ""
    if not _depth(values):
        return None
    dtype = getattr(values, "dtype", None)
    kind = getattr(dtype, "kind", "O")
    if kind not in "OMm":
        return None
    if dtype is not None and dtype != OBJECT:  # all cells are of one type
        return find_times(next(iter(values), None))
    cells = values.ravel() if isinstance(values, np.ndarray) else values
    kinds = set(map(type, cells))
    for own in kinds:
        if issubclass(own, TIMES):
            return next(name for name, types in KINDS.items() if issubclass(own, types)), ""
    if kinds <= PLAIN:
        return None
    return next(filter(None, map(find_times, filter(_depth, cells))), None)


def _depth(values: Any) -> int:
    """Return the dimensions that values tell of themselves: NumPy's function asks them to become an array."""
    return 1 if isinstance(values, list | tuple) else len(getattr(values, "shape", ()))


def find_strange(values: Any, table: bool, names: Any = None) -> tuple[str | object | None, str]:
    """Return the first cell that is a text and no number, or a date, and where it stands; or None.

    table: whether the first axis is one of rows; names: of the columns.
    """
    try:
        cells = np.asarray(values, dtype=object)
    except (TypeError, ValueError):
        return None, ""  # rows of different lengths, for example
    names = getattr(values, "columns", names)
    for place, cell in np.ndenumerate(cells):
        if isinstance(cell, TIMES) or (isinstance(cell, str) and not _is_number(cell)):
            return cell, place_of(place, table, names)
    return None, ""


def place_of(place: tuple[int, ...], table: bool, names: Any) -> str:
    """Return where a cell stands, as the end of a sentence: its row, if there are several, and its column."""
    row, column = (place[:1], place[1:]) if table else ((), place[-1:])
    where = f", row {row[0]}" if row else ""
    if column:
        where += f", column {column[0]}" + ("" if names is None else f" ({names[column[0]]!r})")
    return where


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
