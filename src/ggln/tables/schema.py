"""From the columns of a table to the features of a network, decided once and remembered in the model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.tables import cells, styles
from ggln.tables.columns import MISSING_LEVEL, Boolean, Category, Column, Date, Number, from_json, to_json
from ggln.tables.read import Bad, Chunk, Row, Table

FloatArray = NDArray[np.float64]
LEVELS = 20
"""Values of a category that get a feature of their own, the most frequent ones."""
STREAM_LEVELS = 8
"""The same in a stream, whose network has room for them before they come."""
SAME = 0.5
"""A column of texts with more different values than this share of its rows names its rows, and says
nothing about others."""


class Encoded(NamedTuple):
    """Rows that could be read, as numbers."""

    X: FloatArray  # [n, features]
    Y: FloatArray  # [n, targets], NaN where one is missing
    numbers: list[int]  # of the rows
    rows: list[Row]
    bad: list[Bad]


class Notes(NamedTuple):
    """A schema, and what there is to say about it."""

    schema: Schema
    remarks: list[str]


@dataclass
class Schema:
    """Columns that are features, and columns that are targets.

    signs: how the numbers of targets are written, by its name in `styles`, where that was seen.
    """

    columns: list[Column]
    targets: list[str]
    signs: dict[str, str] = field(default_factory=dict)

    def features(self) -> list[str]:
        """Return the names of all features."""
        return [name for column in self.columns for name in column.features()]

    def owners(self) -> list[str]:
        """Return for each feature the column that it comes from."""
        return [column.name for column in self.columns for _ in column.features()]

    def predict_numbers(self, targets: list[str]) -> None:
        """Name the targets, which came as numbers: further ones are as Python writes them."""
        self.targets, self.signs = targets, dict.fromkeys(targets, styles.POINT)

    def copy(self) -> Schema:
        """Return columns that may meet values of their own: those of a stream remember what they saw."""
        return Schema([column.copy() for column in self.columns], self.targets, dict(self.signs))

    def beyond(self, X: FloatArray) -> dict[str, int]:
        """Return how many rows [n, features] lie far outside what was learnt, by the column that says so."""
        ends = np.cumsum([len(column.features()) for column in self.columns])
        parts = np.split(X, ends[:-1], axis=1)
        found = {column.name: column.beyond(part) for column, part in zip(self.columns, parts, strict=True)}
        return {name: int(outside.sum()) for name, outside in found.items() if outside.any()}

    def range_of(self, name: str) -> str:
        """Return what was learnt of a column, as text: its range, or some of its levels."""
        return next(column for column in self.columns if column.name == name).shown_range()

    def groups(self) -> dict[str, list[str]]:
        """Return the features of each column by its name."""
        return {column.name: column.features() for column in self.columns}

    def to_json(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        columns = [to_json(column) for column in self.columns]
        return {"columns": columns, "targets": self.targets, "signs": self.signs}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Schema:
        """Return the schema that `to_json` described."""
        columns = [from_json(column) for column in values["columns"]]
        return cls(columns, values["targets"], values.get("signs", {}))

    def bind(self, table: Table, targets: bool) -> Encoder:
        """Find the columns in a table; with `targets`, those too."""
        missing = [column.name for column in self.columns if column.name not in table.columns]
        for name in missing:
            table.require(name, "column")
        places = [table.columns.index(column.name) for column in self.columns]
        found = [table.require(name, "target column") for name in self.targets] if targets else []
        return Encoder(self, places, found)


@dataclass
class Encoder:
    """A schema at work on a table whose columns stand at these places."""

    schema: Schema
    places: list[int]
    target_places: list[int]

    def __call__(self, chunk: Chunk) -> Encoded:
        """Return the rows of a piece as numbers, those that cannot be read apart."""
        table = list(zip(*chunk.rows, strict=True))
        found: list[tuple[FloatArray, dict[int, str]]] = [
            column.encode(table[place]) if table else (np.empty((0, len(column.features()))), {})
            for column, place in zip(self.schema.columns, self.places, strict=True)
        ]
        targets = [
            self._targets(name, table[place]) if table else (np.empty(0), {})
            for name, place in zip(self.schema.targets, self.target_places, strict=False)
        ]
        reasons: dict[int, str] = {}
        for _, some in (*targets[::-1], *found[::-1]):  # the first column's word counts
            reasons |= some
        X = np.hstack([features for features, _ in found]) if found else np.empty((len(chunk.rows), 0))
        Y = np.stack([values for values, _ in targets], 1) if targets else np.empty((len(chunk.rows), 0))
        bad = [Bad(chunk.numbers[i], reason) for i, reason in reasons.items()]
        if not reasons:
            return Encoded(X, Y, chunk.numbers, chunk.rows, chunk.bad)
        good = [i for i in range(len(chunk.rows)) if i not in reasons]
        numbers, rows = [chunk.numbers[i] for i in good], [chunk.rows[i] for i in good]
        return Encoded(X[good], Y[good], numbers, rows, sorted([*chunk.bad, *bad]))

    def _targets(self, name: str, column: Sequence[str]) -> tuple[FloatArray, dict[int, str]]:
        """Return the numbers of a target, NaN where it is missing, and the cells that are none."""
        target = Number(name, style=self.schema.signs.get(name, ""))
        values, missing, bad = target.values(column)
        self.schema.signs[name] = target.style
        return np.where(missing == 1.0, np.nan, values), bad


# Inference -----------------------------------------------------------------------------------------------


def infer(
    table: Table, rows: Sequence[Row], targets: list[str], drop: Sequence[str], categories: Sequence[str]
) -> Notes:
    """Decide from the first rows of a table what its columns are."""
    names = feature_columns(table, targets, drop, categories)
    columns: list[Column] = []
    remarks = []
    for name in names:
        place = table.columns.index(name)
        texts = [row[place] for row in rows]
        found = _column(name, texts, name in categories)
        if isinstance(found, str):
            remarks.append(found)
        else:
            columns.append(found)
    signs = {}
    for name in targets:
        place = table.columns.index(name)
        signs[name] = check_target(table, name, [row[place] for row in rows])
    if not columns:
        raise ValueError(f"{table.name} has no column to predict from: {'; '.join(remarks)}")
    return Notes(Schema(columns, targets, signs), remarks)


def check_target(table: Table, name: str, texts: Sequence[str]) -> str:
    """Return how the numbers of a target are written; refuse one that is no column of numbers."""
    present = [text for text in texts if not cells.is_missing(text)]
    if not present:
        return ""
    try:
        found = styles.number_style(present)
    except styles.UnclearError as unclear:
        raise ValueError(f"the target {name!r} of {table.name} cannot be read: {unclear}") from unclear
    if found is None:
        strange = next(text for text in present if styles.sign(text) is None)
        raise ValueError(
            f"the target {name!r} of {table.name} is no column of numbers (it has {strange!r}): name one "
            "with --target, or write numbers instead"
        )
    return found[0]


def infer_stream(
    table: Table, row: Row, targets: list[str], drop: Sequence[str], categories: Sequence[str]
) -> Schema:
    """Decide from each column's first value alone: a stream cannot be held up.

    Categories get room for levels to come; a missing value becomes the last one of its column.
    """
    columns: list[Column] = []
    for name in feature_columns(table, targets, drop, categories):
        text = row[table.columns.index(name)]
        try:
            columns.append(_stream_column(name, text, name in categories))
        except styles.UnclearError as unclear:
            raise ValueError(
                f"the first row of {table.name} does not tell what the column {name!r} is: {unclear}, or "
                "leave out the column"
            ) from unclear
    return Schema(columns, targets)


def _stream_column(name: str, text: str, category: bool) -> Column:
    """Return what a column is, by its first cell."""
    if category:
        return Category(name, room=STREAM_LEVELS)
    if cells.is_missing(text):
        return Number(name, carry=True, guessed=True)
    if styles.number_style([text]):
        return Number(name, carry=True)
    if styles.readable(cells.boolean, [text]).size:
        return Boolean(name, carry=True)
    date = styles.date_style([text])
    return Date(name, carry=True, clock=True, style=date[0]) if date else Category(name, room=STREAM_LEVELS)


def feature_columns(
    table: Table, targets: Sequence[str], drop: Sequence[str], categories: Sequence[str]
) -> list[str]:
    """Return the columns that are features, having checked all names."""
    for name in targets:
        table.require(name, "target column")
    for name in (*drop, *categories):
        table.require(name)
        if name in targets:
            raise ValueError(f"{name!r} is to be predicted: it cannot be left out, or be a category, as well")
    names = [name for name in table.columns if name not in targets and name not in drop]
    if not names:
        raise ValueError(f"{table.name} has no column to predict {', '.join(targets)} from")
    return names


def _column(name: str, texts: Sequence[str], category: bool) -> Column | str:
    """Return what a column is, or why it is left out."""
    present = [text.strip() for text in texts if not cells.is_missing(text)]
    missing = len(present) < len(texts)
    if not present:
        return f"column {name!r} is left out: no row has a value there"
    try:
        found = None if category else _ordered(name, present, missing)
    except styles.UnclearError as unclear:
        return f"column {name!r} is left out: {unclear}"
    if found is not None:
        return found
    counts = Counter(present)
    if not category and len(counts) > max(LEVELS, SAME * len(present)):
        some = " and ".join(map(repr, list(counts)[:2]))
        return (
            f"column {name!r} is left out: nearly every row has another text there, such as {some}. Write "
            "numbers as 3.14 and dates as 2024-12-31; if these are names, name the column as a category"
        )
    # by how often they occur, then by name: the order of rows does not matter
    frequent = sorted(counts, key=lambda level: (-counts[level], level))[:LEVELS]
    return Category(name, [*frequent, *([MISSING_LEVEL] if missing else [])])


def _ordered(name: str, present: Sequence[str], missing: bool) -> Column | None:
    """Return a column of numbers, of booleans or of dates; None if it is none of these."""
    found = styles.number_style(present)
    if found is not None:
        style, values = found
        return Number(name, float(np.median(values)), missing, range=_reach(values), style=style)
    values = styles.readable(cells.boolean, present)
    if values.size:
        return Boolean(name, float(np.mean(values)), missing, range=_reach(values))
    found = styles.date_style(present)
    if found is not None:
        style, values = found
        clock = bool((values % 1.0 != 0.0).any())
        fill = float(np.median(values))
        return Date(name, fill, missing, range=_reach(values), style=style, clock=clock)
    return None


def _reach(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())
