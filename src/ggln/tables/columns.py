"""How a column becomes features. A column knows all it needs to read further rows, and goes to JSON and back.

Features are a function of the rows so far, never of how they were cut into pieces.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import MAX_MAGNITUDE
from ggln.tables import cells, styles

FloatArray = NDArray[np.float64]
Reasons = dict[int, str]
"""Why cells cannot be read, by their place in the piece."""

DAYS_OF = {"week": 7.0, "year": 365.2425}
MISSING_LEVEL = "(missing)"
MOST_SHOWN = 3
"""Levels of a category that a remark names."""
FAR = 0.1
"""Every so often a new value is a little above all old ones: that is nothing to speak of."""


@dataclass
class Number:
    """Numbers as they are. A missing one becomes `fill`, and if `indicator`, a second feature says so.

    fill: None leaves the gap, for networks that take NaN. carry: `fill` follows the column: a missing value
    becomes the last one that was there. range: the least
    and the greatest value of the rows that were fitted, if they are known. style: how values are written,
    by its name in `styles`; numbers find it out by themselves at the first one that tells, and if that one's
    point may stand between thousands, it is in `doubt`. guessed: that it
    is a column of numbers was not seen, for want of a value in the first row of a stream.
    """

    name: str
    fill: float | None = 0.0
    indicator: bool = False
    carry: bool = False
    range: tuple[float, float] | None = None
    style: str = ""
    guessed: bool = False
    doubt: str = ""

    kind: ClassVar[str] = "number"
    ways: ClassVar[dict[str, styles.Parse]] = styles.NUMBERS
    tells: ClassVar[bool] = True  # whether a cell may tell how the others are written

    def mistake(self, text: str) -> str:
        """Return why a cell cannot be read."""
        bare = styles.bare_percentage(text)
        told = styles.sign(text if bare is None else bare)
        if told is None and self.guessed:
            return (
                f"{self.name!r} is {text!r}, but the first rows had no value there, so it was taken for a "
                f"column of numbers: begin again with --category {self.name}, or with a row that has one"
            )
        if told is None:
            return f"{self.name!r} is {text!r}, which is not a number"
        percent = self.style.endswith(styles.PERCENT)
        if percent != (bare is not None):
            are = "percentages" if percent else "no percentages"
            return f"{self.name!r} is {text!r}, but the column's numbers before it are {are}"
        if told == "either":
            return f"{self.name!r} is {text!r}, which {styles.either(text if bare is None else bare)}"
        known = "commas" if self.style.startswith(styles.COMMA) else "points"
        return (
            f"{self.name!r} is {text!r}, but the column's numbers before it have decimal {known}: write all "
            "of them in one way"
        )

    def copy(self) -> Self:
        """Return a column that may go on on its own."""
        return copy(self)

    def features(self) -> list[str]:
        """Return the names of the features."""
        return [self.name, *([f"{self.name} is missing"] if self.indicator else [])]

    def encode(self, column: Sequence[str]) -> tuple[FloatArray, Reasons]:
        """Return the features [n, width] of some cells, and which of them cannot be read."""
        values, missing, bad = self.values(column)
        return self.expand(values, missing), bad

    def expand(self, values: FloatArray, missing: FloatArray) -> FloatArray:
        """Return the features [n, width] of numbers [n], of which some stand for missing ones."""
        return np.column_stack([values, missing] if self.indicator else [values])

    def beyond(self, features: FloatArray) -> NDArray[np.bool_]:
        """Return which rows [n, width] lie far outside the range: further than `FAR` of its length."""
        values = features[:, 0]
        if self.range is None:
            return np.zeros(values.shape, bool)
        low, high = self.range
        reach = FAR * (high - low)
        return (values < low - reach) | (values > high + reach)

    def shown_range(self) -> str:
        """Return the range as text."""
        return " to ".join(map(self.shown, self.range or ()))

    @staticmethod
    def shown(value: float) -> str:
        """Return a value as it would stand in a cell."""
        return f"{value:g}"

    def values(self, column: Sequence[str]) -> tuple[FloatArray, FloatArray, Reasons]:
        """Return the cells' numbers [n], which of them were missing [n], and which cannot be read."""
        if self.tells and not self.style.removesuffix(styles.PERCENT):
            # row by row, not piece by piece: cells before the first that tells are read without it
            told = (styles.telling(text, self.style) for text in column)
            place = next((i for i, style in enumerate(told) if style != self.style), None)
            if place is not None:
                before = self._values(column[:place])
                self.style = styles.telling(column[place], self.style)
                if self.style.startswith(styles.POINT):
                    self.doubt = styles.doubtful([column[place]]) or ""
                after = self._values(column[place:])
                bad = before[2] | {place + i: reason for i, reason in after[2].items()}
                values, missing = (np.concatenate(parts) for parts in zip(before[:2], after[:2], strict=True))
                return values, missing, bad
        return self._values(column)

    def _values(self, column: Sequence[str]) -> tuple[FloatArray, FloatArray, Reasons]:
        """As `values`, all cells in the style that is known."""
        try:
            values = np.fromiter(map(self.ways[self.style], column), np.float64, len(column))
        except (ValueError, OverflowError):
            pass
        else:
            if np.abs(values, out=np.empty_like(values)).max(initial=0.0) <= MAX_MAGNITUDE:  # not with NaN
                self._carry_on(values)
                return values, np.zeros(len(column)), {}
        return self._careful(column)

    def _carry_on(self, values: FloatArray) -> None:
        if self.carry and values.size:
            self.fill = float(values[-1])

    def _careful(self, column: Sequence[str]) -> tuple[FloatArray, FloatArray, Reasons]:
        """As `values`, cell by cell."""
        values, missing, bad = np.zeros(len(column)), np.zeros(len(column)), {}
        for i, text in enumerate(column):
            if cells.is_missing(text):
                values[i], missing[i] = np.nan if self.fill is None else self.fill, 1.0
                continue
            try:
                value = self.ways[self.style](text)
            except (ValueError, OverflowError):
                bad[i] = self.mistake(text)
                continue
            if not abs(value) <= MAX_MAGNITUDE:
                bad[i] = f"{self.name!r} is {text!r}, which is too large"
                continue
            values[i] = value
            self._carry_on(values[i : i + 1])
        return values, missing, bad


@dataclass
class Boolean(Number):
    """True is 1, false 0."""

    kind: ClassVar[str] = "boolean"
    ways: ClassVar[dict[str, styles.Parse]] = {"": cells.boolean}
    tells: ClassVar[bool] = False

    def mistake(self, text: str) -> str:
        """Return why a cell cannot be read."""
        return f"{self.name!r} is {text!r}, which is not true or false"


@dataclass
class Date(Number):
    """Days since 1970, and where in the year, in the week and, if there is a `clock`, in the day it is."""

    clock: bool = False

    kind: ClassVar[str] = "date"
    ways: ClassVar[dict[str, styles.Parse]] = styles.DATES
    tells: ClassVar[bool] = False

    def mistake(self, text: str) -> str:
        """Return why a cell cannot be read."""
        return f"{self.name!r} is {text!r}, which is not a date such as {styles.example(self.style)}"

    @staticmethod
    def shown(value: float) -> str:
        """Return a value as it would stand in a cell."""
        return (cells.EPOCH + dt.timedelta(days=value)).date().isoformat()

    def cycles(self) -> dict[str, float]:
        """Return the cycles and their lengths in days."""
        return DAYS_OF | ({"day": 1.0} if self.clock else {})

    def features(self) -> list[str]:
        """Return the names of the features."""
        turns = [
            f"{self.name}, {wave} of the {cycle}" for cycle in self.cycles() for wave in ("sine", "cosine")
        ]
        return [*super().features(), *turns]

    def expand(self, values: FloatArray, missing: FloatArray) -> FloatArray:
        """Return the features [n, width] of days [n], of which some stand for missing ones."""
        turns = [2.0 * np.pi * (values / length % 1.0) for length in self.cycles().values()]
        waves = [wave(turn) for turn in turns for wave in (np.sin, np.cos)]
        return np.column_stack([super().expand(values, missing), *waves])


@dataclass
class Category:
    """One feature for each of the `levels`, 1 where the cell holds it. For any other value all of them are 0.

    room: how many levels there can be; while there are less, a new value becomes one.
    """

    name: str
    levels: list[str] = field(default_factory=list)
    room: int = 0

    kind: ClassVar[str] = "category"

    def copy(self) -> Category:
        """Return a column that may go on on its own."""
        return replace(self, levels=list(self.levels))

    def features(self) -> list[str]:
        """Return the names of the features; those of levels still to come have a number."""
        known = [f"{self.name} = {level}" for level in self.levels]
        return known + [f"{self.name} = (value {i + 1})" for i in range(len(known), self.room)]

    def encode(self, column: Sequence[str]) -> tuple[FloatArray, Reasons]:
        """Return the features [n, width] of some cells. All of them can be read."""
        places = {level: i for i, level in enumerate(self.levels)}
        features = np.zeros((len(column), max(self.room, len(self.levels))))
        for i, text in enumerate(column):
            level = MISSING_LEVEL if cells.is_missing(text) else text.strip()
            if level not in places and len(places) < self.room:
                places[level] = len(self.levels)
                self.levels.append(level)
            place = places.get(level)
            if place is not None:
                features[i, place] = 1.0
        return features, {}

    def beyond(self, features: FloatArray) -> NDArray[np.bool_]:
        """Return which rows [n, width] hold a value that is none of the levels."""
        outside: NDArray[np.bool_] = np.equal(features.sum(axis=1), 0.0)
        return outside

    def shown_range(self) -> str:
        """Return some levels as text."""
        more = ", ..." if len(self.levels) > MOST_SHOWN else ""
        return ", ".join(self.levels[:MOST_SHOWN]) + more


Column = Number | Category
KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Number, Boolean, Date, Category)}


def to_json(column: Column) -> dict[str, Any]:
    """Return a column as what JSON knows."""
    return {"kind": column.kind, **asdict(column)}


def from_json(values: dict[str, Any]) -> Column:
    """Return the column that `to_json` described."""
    values = dict(values)
    if values.get("range") is not None:
        values["range"] = tuple(values["range"])
    return KINDS[values.pop("kind")](**values)
