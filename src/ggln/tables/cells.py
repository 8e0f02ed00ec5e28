"""What the text in a cell means: a number, a boolean, a date, or nothing at all."""

import datetime as dt
from typing import Any

import numpy as np

MISSING = frozenset(["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"])
"""Texts that stand for a missing value, in any case, blanks around them ignored."""

BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0, "y": 1.0, "n": 0.0}
"""Texts for true and false, in any case. 0 and 1 are numbers, which comes to the same."""

SECONDS_PER_DAY = 86400.0
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class NoSingleValueError(ValueError):
    """What stands in a cell are several values."""


def text(value: Any) -> str:
    """Return a value of another format, or of a data frame, as the text of a cell; durations are days.

    >>> text(None), text(2.5), text(True), text(dt.timedelta(hours=36))
    ('', '2.5', 'true', '1.5')
    """
    if isinstance(value, str):
        return str(value)  # of NumPy, too, whose own texts are shown otherwise
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if hasattr(value, "__len__"):
        raise NoSingleValueError(f"holds a {type(value).__name__}, which is no single value")
    try:
        if value is None or value != value:
            return ""
    except TypeError:  # of what is neither equal nor unequal to anything: the missing value of pandas
        return ""
    if isinstance(value, dt.timedelta | np.timedelta64):
        return str(float(value / np.timedelta64(1, "D")))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def is_missing(text: str) -> bool:
    """Return whether a cell holds no value."""
    return text.strip().lower() in MISSING


def number(text: str) -> float:
    """Return the number that a text stands for, or raise ValueError."""
    if "_" in text:  # which Python reads as a separator of thousands, and nobody else does
        raise ValueError(text)
    return float(text)


def boolean(text: str) -> float:
    """Return 1 or 0 for true or false, or raise ValueError."""
    try:
        return BOOLEANS[text.strip().lower()]
    except KeyError:
        raise ValueError(text) from None


def days(text: str) -> float:
    """Return the days from the start of 1970 to an ISO 8601 date or time, or raise ValueError.

    >>> days("1970-01-03"), days("1970-01-01T12:00:00Z"), days("1970-01-01 12:00+12:00")
    (2.0, 0.5, 0.0)
    """
    moment = dt.datetime.fromisoformat(text.strip())
    return since_1970(moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC))


def since_1970(moment: dt.datetime) -> float:
    """Return the days from the start of 1970 to a moment with a time zone."""
    return (moment - EPOCH).total_seconds() / SECONDS_PER_DAY
