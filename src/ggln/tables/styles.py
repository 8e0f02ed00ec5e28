"""How a column writes its numbers and dates: told by its cells, or said to be open.

A decimal comma is told from a comma between thousands, and a day from a month, by those cells that allow one
reading only. What no cell tells is not guessed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ggln.tables import cells

FloatArray = NDArray[np.float64]
Parse = Callable[[str], float]

READABLE = 0.95
"""A column with at least this share of numbers is one of numbers (or of booleans, or of dates): the rest
cannot be read. One slip of the pen shall not turn a column of numbers into a category."""


class UnclearError(ValueError):
    """Cells have two readings, and none of them tells which is meant."""


# Numbers -------------------------------------------------------------------------------------------------

POINT, COMMA, THOUSANDS = "point", "comma", "thousands"
PERCENT = "%"
"""Ends the name of the style of a column whose numbers are percentages."""
BLANKS = " '\u00a0\u2009\u202f"
"""Signs between thousands that are nothing else in any country."""
SEPARATORS = re.compile(f"[.{BLANKS}]")
WITH_COMMA = re.compile(rf"[+-]?(\d*|\d{{1,3}}([.{BLANKS}]\d{{3}})+)(,\d+)?(e[+-]?\d+)?", re.IGNORECASE)
WITH_THOUSANDS = re.compile(rf"[+-]?[1-9]\d{{0,2}}([,{BLANKS}]\d{{3}})+(\.\d*)?")
BETWEEN_THOUSANDS = re.compile(f"[,{BLANKS}]")
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
"""What is a number with a decimal point, and thousands with a point between them where commas are decimal."""


def decimal_comma(text: str) -> float:
    """Return the number that a text with a decimal comma stands for, or raise ValueError.

    >>> decimal_comma("3,14"), decimal_comma("1.234.567,5"), decimal_comma("12")
    (3.14, 1234567.5, 12.0)
    """
    stripped = text.strip()
    if not WITH_COMMA.fullmatch(stripped):
        raise ValueError(text)
    return float(SEPARATORS.sub("", stripped).replace(",", "."))


def decimal_point(text: str) -> float:
    """Return the number that a text with a decimal point stands for, or raise ValueError.

    Where points are decimal, a comma can only stand between thousands.

    >>> decimal_point("1,234.5"), decimal_point("12.5"), decimal_point("1'234.50")
    (1234.5, 12.5, 1234.5)
    """
    try:
        return cells.number(text)
    except ValueError:
        stripped = text.strip()
        if not WITH_THOUSANDS.fullmatch(stripped):
            raise
        return float(BETWEEN_THOUSANDS.sub("", stripped))


def undecided(text: str) -> float:
    """Return the number that a text stands for in any style, or raise ValueError.

    >>> undecided("1 234"), undecided("12.5")
    (1234.0, 12.5)
    """
    return cells.number(text) if "," in text or "." in text else decimal_point(text)


def _percentages(parse: Parse) -> Parse:
    """Return how percentages are read: 12.5 % is 12.5."""

    def read(text: str) -> float:
        bare = bare_percentage(text)
        if bare is None:
            raise ValueError(text)
        return parse(bare)

    return read


def bare_percentage(text: str) -> str | None:
    """Return a percentage without its sign; None if it has none.

    >>> bare_percentage("12.5 %"), bare_percentage("12.5")
    ('12.5', None)
    """
    stripped = text.strip()
    return stripped.removesuffix(PERCENT).rstrip() if stripped.endswith(PERCENT) else None


_PLAIN: dict[str, Parse] = {
    "": undecided,
    POINT: decimal_point,
    COMMA: decimal_comma,
    THOUSANDS: decimal_point,
}
NUMBERS = _PLAIN | {style + PERCENT: _percentages(parse) for style, parse in _PLAIN.items()}
"""Ways to write numbers by name; "" is that of a column none of whose cells has told yet."""


def sign(text: str) -> str | None:
    """Return which way to write numbers a text tells: "" if it fits all, "either" if two; None if none.

    >>> [sign(text) for text in ("12", "1.5", "3,14", "1,234,567", "1,234", "big")]
    ['', 'point', 'comma', 'thousands', 'either', None]
    """
    if _fits(cells.number, text):
        return POINT if "." in text else ""
    fitting = [style for style in (COMMA, THOUSANDS) if _fits(NUMBERS[style], text)]
    if len(fitting) == 2:
        return "either" if "," in text else ""
    return fitting[0] if fitting else None


def telling(text: str, known: str) -> str:
    """Return the one way to write numbers that a text tells, `known` if it tells no more than that.

    >>> telling("3,14", ""), telling("1,234", ""), telling("3.1 %", "%"), telling("3.1 %", "")
    ('comma', '', 'point%', '')
    """
    if known.removesuffix(PERCENT) or ("." not in text and "," not in text):
        return known
    bare = bare_percentage(text) if known == PERCENT else text
    told = sign(bare) if bare is not None else None
    return told + known if told in (POINT, COMMA, THOUSANDS) else known


def number_style(texts: Sequence[str], said: str = "") -> tuple[str, FloatArray] | None:
    """Return how texts are written that are numbers, and their values; None if they are no numbers.

    said: how they are written, if somebody said it.
    """
    if sum(PERCENT in text for text in texts) >= READABLE * len(texts):
        inner = number_style([bare_percentage(text) or "" for text in texts], said)
        return inner and (inner[0] + PERCENT, inner[1])
    if said:
        values = readable(NUMBERS[said], texts)
        return (said, values) if values.size else None
    values = readable(cells.number, texts)
    if values.size == len(texts):
        return POINT, values
    told = {sign(text): text for text in texts}
    found = {style: readable(NUMBERS[style], texts) for style in (POINT, COMMA)}
    most = max(values.size for values in found.values())
    if "either" in told and not {POINT, COMMA, THOUSANDS} & told.keys() and most:
        raise UnclearError(f"{told['either']!r} {either(told['either'])}")
    if not most:
        if POINT in told and COMMA in told and readable(_any_number, texts).size:
            raise UnclearError(
                f"its numbers are written in two ways, such as {told[POINT]!r} and {told[COMMA]!r}: choose "
                "one"
            )
        return None
    comma = found[COMMA].size == most and (found[POINT].size < most or COMMA in told)
    style = COMMA if comma else THOUSANDS if THOUSANDS in told else POINT
    return style, found[COMMA if comma else POINT]


def doubtful(texts: Sequence[str]) -> str | None:
    """Return a number whose point may stand between thousands, if no other of its column tells.

    >>> doubtful(["15.526", "542"]), doubtful(["15.526", "1.5"])
    ('15.526', None)
    """
    first = None
    for text in texts:
        if "." in text:
            if not GROUPED.fullmatch(text.strip()):
                return None
            first = first or text
    return first


def in_doubt(text: str, other: str, comma: str) -> str:
    """Return what to say of a column with a point in doubt beside another one with commas."""
    bare = text.strip()
    return (
        f"{bare!r} may be {float(bare):g} or {decimal_comma(bare):g}, since {other!r} has {comma}: say "
        "--decimal comma or --decimal point"
    )


def _any_number(text: str) -> float:
    """Return 0 for a number in any style, or raise ValueError."""
    if sign(text) is None:
        raise ValueError(text)
    return 0.0


def either(text: str) -> str:
    """Return what there is to say of a number that may be one or another."""
    one, other = (f"{NUMBERS[style](text):.12g}" for style in (COMMA, THOUSANDS))
    return f"may be {one} or {other}: say --decimal comma or --decimal point"


# Dates ---------------------------------------------------------------------------------------------------

ISO = ""
DATE = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})"
    r"(?:,?[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?\s*([ap]m)?)?",
    re.IGNORECASE,
)


def _dates(order: str) -> Parse:
    """Return how dates are read whose day, month and year stand in an order such as d.m.y."""
    separator, places = order[1], [order.index(part) // 2 for part in "ymd"]

    def parse(text: str) -> float:
        found = DATE.fullmatch(text.strip())
        if found is None or found[2] != separator:
            raise ValueError(text)
        parts = [found[1], found[3], found[4]]
        if [len(part) > 2 for part in parts] != [letter == "y" for letter in order[::2]]:
            raise ValueError(text)  # of the year, all four figures
        year, month, day = (int(parts[place]) for place in places)
        hour, minute, second = int(found[5] or 0), int(found[6] or 0), float(found[7] or 0.0)
        if found[8]:
            hour = hour % 12 + 12 * (found[8].lower() == "pm")
        moment = dt.datetime(year, month, day, hour, minute, tzinfo=dt.UTC) + dt.timedelta(seconds=second)
        return cells.since_1970(moment)

    return parse


DATES: dict[str, Parse] = {ISO: cells.days} | {
    order: _dates(order) for order in ("d.m.y", "d/m/y", "m/d/y", "d-m-y", "m-d-y", "y/m/d", "y.m.d")
}
"""Ways to write dates by name. With points, the day comes before the month: nobody does otherwise."""
LAST_DAY = {"d": "31", "m": "12", "y": "2024"}


def date_style(texts: Sequence[str], day_first: bool | None = None) -> tuple[str, FloatArray] | None:
    """Return how texts are written that are dates, and their days; None if they are no dates.

    day_first: whether the day comes before the month, if somebody said it; a year may come before both.
    """
    ways = {
        style: parse
        for style, parse in DATES.items()
        if day_first is None or style[:1] not in ("d", "m") or day_first == (style[0] == "d")
    }
    found = {style: readable(parse, texts) for style, parse in ways.items()}
    most = max(values.size for values in found.values())
    best = [style for style, values in found.items() if most and values.size == most]
    if len(best) > 1:
        text = next(text for text in texts if _fits(DATES[best[0]], text))
        raise UnclearError(
            f"nothing tells whether the day or the month of {text!r} comes first: say --day-first or "
            "--month-first"
        )
    return (best[0], found[best[0]]) if best else None


def example(style: str) -> str:
    """Return a date in a style.

    >>> example("d.m.y")
    '31.12.2024'
    """
    return "".join(LAST_DAY.get(letter, letter) for letter in style) or "2024-12-31 or 2024-12-31T12:00:00"


# Both ----------------------------------------------------------------------------------------------------


def readable(parse: Parse, texts: Sequence[str]) -> FloatArray:
    """Return the values of the texts that can be read; none at all if these are too few."""
    values, unreadable = [], 0
    for text in texts:
        try:
            values.append(parse(text))
        except (ValueError, OverflowError):
            unreadable += 1
            if unreadable > (1.0 - READABLE) * len(texts):
                return np.empty(0)
    return np.array(values)


def _fits(parse: Parse, text: str) -> bool:
    return bool(readable(parse, [text]).size)
