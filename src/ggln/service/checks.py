"""Checks of what comes with a request: names, numbers, rows. What is wrong is said in one sentence."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import MAX_MAGNITUDE
from ggln.service import constants
from ggln.service.errors import RefusedError, bad_request

FloatArray = NDArray[np.float64]
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{constants.NAME_LENGTH - 1}}}")


def name(value: Any, what: str = "the name of a model") -> str:
    """Return a name of letters, digits, dots, dashes and underscores."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise bad_request(
            f"{what} must be 1 to {constants.NAME_LENGTH} letters, digits, dots, dashes or underscores, "
            f"beginning with a letter or digit, got {shown(value)}"
        )
    return value


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def fields(body: Any, known: Sequence[str], what: str = "the body") -> dict[str, Any]:
    """Return an object of JSON that has no other fields than those that are known."""
    if not isinstance(body, dict):
        raise bad_request(f"{what} must be an object of JSON, got {shown(body)}")
    unknown = [field for field in body if field not in known]
    if unknown:
        raise bad_request(f"{what} has the unknown field {shown(unknown[0])}; known are {', '.join(known)}")
    return body


def number(value: Any, what: str) -> float:
    """Return a finite number that can be squared."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_request(f"{what} must be a number, got {shown(value)}")
    if not abs(value) <= MAX_MAGNITUDE:
        raise bad_request(f"{what} must be a finite number of at most {MAX_MAGNITUDE:g}, got {shown(value)}")
    return float(value)


def labels(values: Any, what: str) -> list[str | int]:
    """Return the names of arms or classes: strings, or integers, that differ from each other."""
    if not isinstance(values, list) or not 1 <= len(values) <= constants.LABELS:
        raise bad_request(f"{what} must be a list of 1 to {constants.LABELS} names, got {shown(values)}")
    for value in values:
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
        if not (whole or _is_text(value)):
            raise bad_request(
                f"{what} must be integers, or strings of 1 to {constants.NAME_LENGTH} characters without "
                f"control characters, got {shown(value)}"
            )
    if len(set(map(type, values))) > 1:
        raise bad_request(f"{what} must be all strings or all integers, got both")
    if len(set(values)) < len(values):
        raise bad_request(f"{what} must differ from each other, got {shown(values)}")
    return values


def _is_text(value: Any) -> bool:
    """Return whether a value is a short text that files, arrays and terminals keep as it is.

    They do not so with control characters (Cc: arrays drop zeros at the end) and halves of pairs (Cs).
    """
    return (
        isinstance(value, str)
        and 0 < len(value) <= constants.NAME_LENGTH
        and not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in value)
    )


def feature_names(values: Any) -> list[str]:
    """Return the names of features."""
    few = isinstance(values, list | tuple) and 1 <= len(values) <= constants.FEATURES
    if not few or not all(map(_is_text, values)):
        raise bad_request(
            f"features must have 1 to {constants.FEATURES} names of 1 to {constants.NAME_LENGTH} characters "
            f"without control characters, got {shown(list(values) if isinstance(values, tuple) else values)}"
        )
    if len(set(values)) < len(values):
        raise bad_request(f"names of features must differ from each other, got {shown(values)}")
    return list(values)


def names_of(row: Any) -> list[str]:
    """Return the names of the first row's features: those of an object, or x0, x1, ... of a list."""
    if isinstance(row, Mapping):
        return feature_names(list(row))
    if isinstance(row, list):
        return feature_names([f"x{i}" for i in range(len(row))])
    raise bad_request(f"features must be an object of names and numbers, or a list, got {shown(row)}")


def feature_row(row: Any, names: Sequence[str], gaps: bool) -> list[float]:
    """Return a row in the order of the features; what is null or not there is NaN, where gaps may be."""
    if isinstance(row, dict):
        if len(row) == len(names):
            try:
                values = [row[known] for known in names]
            except KeyError:
                raise unknown_feature(row, names) from None
        else:
            if not row.keys() <= set(names):
                raise unknown_feature(row, names)
            values = [row.get(known) for known in names]
    elif isinstance(row, list):
        if len(row) != len(names):
            raise bad_request(f"features have {len(row)} numbers, but this model has {len(names)} features")
        values = row
    else:
        raise bad_request(f"features must be an object of names and numbers, or a list, got {shown(row)}")
    return [_value(value, known, gaps) for value, known in zip(values, names, strict=True)]


def unknown_feature(row: Mapping[str, Any], names: Sequence[str]) -> RefusedError:
    """Return the refusal of a row with a feature that the model does not have."""
    unknown = next(feature for feature in row if feature not in set(names))
    return bad_request(f"{shown(unknown)} is no feature of this model; its features are {shown(list(names))}")


def _value(value: Any, known: str, gaps: bool) -> float:
    if type(value) is float:
        if abs(value) <= MAX_MAGNITUDE:
            return value
    elif value is None:
        if gaps:
            return math.nan
        raise bad_request(f"feature {shown(known)} is missing, and this model takes no missing values")
    elif isinstance(value, int) and abs(value) <= MAX_MAGNITUDE:  # true and false are 1 and 0
        return float(value)
    elif not isinstance(value, int | float):
        raise bad_request(f"feature {shown(known)} must be a number or null, got {shown(value)}")
    raise bad_request(
        f"feature {shown(known)} must be a finite number of at most {MAX_MAGNITUDE:g}, got {shown(value)}"
    )


def some_rows(values: Any) -> list[Any]:
    """Return the rows of a request."""
    if not isinstance(values, list) or not 1 <= len(values) <= constants.ROWS:
        count = f"{len(values)} rows" if isinstance(values, list) else shown(values)
        raise bad_request(f"rows must be a list of 1 to {constants.ROWS} rows, got {count}")
    return values
