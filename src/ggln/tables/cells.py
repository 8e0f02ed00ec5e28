"""What the text in a cell means: a number, a boolean, a date, or nothing at all."""

import datetime as dt

MISSING = frozenset(["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"])
"""Texts that stand for a missing value, in any case, blanks around them ignored."""

BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0, "y": 1.0, "n": 0.0}
"""Texts for true and false, in any case. 0 and 1 are numbers, which comes to the same."""

SECONDS_PER_DAY = 86400.0
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


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
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return (moment - EPOCH).total_seconds() / SECONDS_PER_DAY
