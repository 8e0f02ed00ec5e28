"""From the columns of a table to the features of a network, decided once and remembered in the model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.tables import styles
from ggln.tables.columns import Column, Number, from_json, to_json
from ggln.tables.read import Bad, Chunk, OpenTable, Row

FloatArray = NDArray[np.float64]


class Encoded(NamedTuple):
    """Rows that could be read, as numbers."""

    X: FloatArray  # [n, features]
    Y: FloatArray  # [n, targets], NaN where one is missing
    numbers: list[int]  # of the rows
    rows: list[Row]
    bad: list[Bad]


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

    def bind(self, table: OpenTable, targets: bool) -> Encoder:
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
    doubts: dict[str, str] = field(default_factory=dict)  # of targets; columns have their own

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
        self._ask()
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
        if target.doubt:
            self.doubts[name] = target.doubt
        return np.where(missing == 1.0, np.nan, values), bad

    def _ask(self) -> None:
        """Refuse to go on where commas turn out to be decimal and points were read as such, too."""
        known = {column.name: column for column in self.schema.columns if isinstance(column, Number)}
        doubts = self.doubts | {name: column.doubt for name, column in known.items() if column.doubt}
        if not doubts:
            return
        signs = self.schema.signs | {name: column.style for name, column in known.items()}
        for other, style in signs.items():
            if style.startswith(styles.COMMA):
                name, text = next(iter(doubts.items()))
                raise ValueError(
                    f"column {name!r} cannot be read: {styles.in_doubt(text, other, 'decimal commas')}"
                )
