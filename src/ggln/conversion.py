"""Where something stands in a table that should be a number, and what to do about it."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
"""Dates, times and durations; those of pandas and polars are among them."""


@contextmanager
def naming_text(**tables: Any) -> Iterator[None]:
    """Make errors of converting the tables, given by their names, say where what is no number stands.

    Dates are refused even where NumPy would take them for numbers: since when and in which unit nobody said.
    """
    for name, values in tables.items():
        where = find_dates(values)
        if where is not None:
            raise ValueError(_about_dates(name, where))
    try:
        yield
    except (TypeError, ValueError) as error:
        for name, values in tables.items():
            cell, where = find_strange(values)
            if isinstance(cell, str):
                raise ValueError(
                    f"could not convert string to float: {cell!r} in {name}, {where}. Encode text as numbers "
                    "first, for example with OneHotEncoder, or use ggln.TableRegressor, which does so; the "
                    "model is unchanged"
                ) from error
            if cell is not None:
                raise ValueError(_about_dates(name, f" in {where}")) from error
        raise


def _about_dates(name: str, where: str) -> str:
    table = ", or use ggln.TableRegressor, which makes features of dates" if name == "X" else ""
    return (
        f"{name} holds dates or times{where}, and networks take numbers: turn them into numbers, such as "
        f"days since a date{table}; the model is unchanged"
    )


def find_dates(values: Any) -> str | None:
    """Return which column of a table holds dates, as the end of a sentence; None if there is none.

    Only types are looked at, and of columns of objects the first value, which costs next to nothing.
    """
    if hasattr(values, "columns"):
        for i, name in enumerate(values.columns):
            column = values.iloc[:, i] if hasattr(values, "iloc") else values[name]
            if find_dates(column) is not None:
                return f" in the column {name!r}"
        return None
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "OMm" and (isinstance(values, list | tuple) or hasattr(values, "dtype")):
        first: Any = next(iter(values), None)
        if np.ndim(first) == 1:
            first = next(iter(first), None)
        return "" if isinstance(first, DATES) else None
    return None


def find_strange(values: Any) -> tuple[str | object | None, str]:
    """Return the first cell that is a text and no number, or a date, and its row and column; or None."""
    try:
        cells = np.asarray(values, dtype=object)
    except (TypeError, ValueError):
        return None, ""  # rows of different lengths, for example
    names = getattr(values, "columns", None)
    for place, cell in np.ndenumerate(cells):
        if isinstance(cell, DATES) or (isinstance(cell, str) and not _is_number(cell)):
            where = f"row {place[0]}" if place else "a single value"
            if len(place) > 1:
                where += f", column {place[1]}" + ("" if names is None else f" ({names[place[1]]!r})")
            return cell, where
    return None, ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
