"""Where text stands in what should be numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def naming_text(**tables: Any) -> Iterator[None]:
    """Make an error of converting the tables, given by their names, say where the text is, if it is text."""
    try:
        yield
    except ValueError as error:
        for name, values in tables.items():
            found = find_text(values)
            if found is not None:
                text, where = found
                raise ValueError(
                    f"could not convert string to float: {text!r} in {name}, {where}. Encode text as numbers "
                    "first, for example with OneHotEncoder; the model is unchanged"
                ) from error
        raise


def find_text(values: Any) -> tuple[str, str] | None:
    """Return the first text that is no number, and its row and column; None if there is none."""
    try:
        cells = np.asarray(values, dtype=object)
    except (TypeError, ValueError):
        return None  # rows of different lengths, for example
    names = getattr(values, "columns", None)
    for place, value in np.ndenumerate(cells):
        if isinstance(value, str) and not _is_number(value):
            where = f"row {place[0]}" if place else "a single value"
            if len(place) > 1:
                where += f", column {place[1]}" + ("" if names is None else f" ({names[place[1]]!r})")
            return str(value), where
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
