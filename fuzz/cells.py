"""Random cells of tables, in the conventions of many countries and programs, and of none."""

import datetime as dt
from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Cell = Callable[[Random, int], str]
"""(random numbers, number of the row) -> text"""
BEGIN = dt.datetime(2019, 1, 1, tzinfo=dt.UTC)
MARKS = str.maketrans(",.", ".,")


def _number(random: Random) -> float:
    return float(random.normal() * 10.0 ** random.integers(-2, 6))


def _moment(random: Random) -> dt.datetime:
    return BEGIN + dt.timedelta(seconds=int(random.integers(2**28)))


def _one_of(*texts: str) -> Cell:
    return lambda random, _: texts[int(random.integers(len(texts)))]


NUMBERS: dict[str, Cell] = {
    "whole": lambda random, _: str(int(random.integers(-1000, 1000))),
    "point": lambda random, _: f"{_number(random):.3f}",
    "comma": lambda random, _: f"{_number(random):.2f}".replace(".", ","),
    "american": lambda random, _: f"{_number(random):,.2f}",
    "european": lambda random, _: f"{_number(random):,.2f}".translate(MARKS),
    "swiss": lambda random, _: f"{_number(random):,.2f}".replace(",", "'"),
    "french": lambda random, _: f"{_number(random):,.1f}".translate({ord(","): "\u202f", ord("."): ","}),
    "three decimals": lambda random, _: f"{abs(_number(random)):.3f}"[-7:],
    "huge": lambda random, _: f"{random.normal():.3f}e{random.integers(-400, 400)}",
    "percent": lambda random, _: f"{100 * random.random():.1f} %",
    "digits": lambda random, _: "9" * int(random.integers(1, 400)),
}
TEXTS: dict[str, Cell] = {
    "strange": _one_of("inf", "-inf", "NaN", "1e999", "0x1F", "1_000", "--1", "+", "-", ".", ",", "1e", "٣"),
    "money": lambda random, _: f"${_number(random):,.2f}",
    "date": lambda random, _: f"{_moment(random):%Y-%m-%d}",
    "day first": lambda random, _: f"{_moment(random):%d.%m.%Y}",
    "month first": lambda random, _: f"{_moment(random):%m/%d/%Y %I:%M %p}",
    "moment": lambda random, _: _moment(random).isoformat(),
    "no date": _one_of("2024-02-30", "99/99/9999", "0000-00-00", "9999-12-31", "1-1-1", "12:61"),
    "flag": _one_of("yes", "no", "TRUE", "f", "N", "Y "),
    "city": _one_of("Oslo", "Rome", " Köln ", "東京", "København", "-", "[red]Bern[/red]"),
    "empty": _one_of("", "NA", "#N/A", "null", " ", "?"),
    "id": lambda _, i: str(1000 + i),
    "zip": lambda random, _: f"{random.integers(100, 99999):05d}",
    "formula": _one_of("=1+1", "@SUM(A1)", "+x", "-x", "=cmd|' /C calc'!A0", "\t=1"),
    "control": _one_of("\x1b[31mred", "\x07", "a\x00b", "\x9b2J", "\u202egnp", "\x7f", "\ud800", "\r"),
    "quote": _one_of('he said "hi"', '"', "'", 'a"b"', '""', "a\nb", 'a\n"b'),
    "long": lambda random, _: "x" * int(10.0 ** random.uniform(0, 5.3)),
    "name": lambda _, i: f"customer {i}",
}
CELLS = NUMBERS | TEXTS
NAMES = ["a", "b", "price", "x y", "größe", "", "\x1b[2J", "a\nb", "[red]", "=cmd", "id", "zip",
         "x" * 5000, "NaN", "y_mean", "0", " ", "'", "\u202e", "\x00", "a,b", "y"]  # fmt: skip
"""Names of columns, the usual and the worst."""


def column(kind: str, random: Random, rows: int) -> list[str]:
    """Return cells of a kind; now and then some of another one."""
    make, other = CELLS[kind], CELLS[str(random.choice(list(CELLS)))]
    share = float(random.choice([0.0] * 6 + [0.02, 0.3]))
    return [(other if random.random() < share else make)(random, i) for i in range(rows)]
