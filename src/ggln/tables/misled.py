"""Columns of a stream that began with a text and go on with numbers: their first value misled."""

from __future__ import annotations

from collections.abc import Sequence

from ggln.tables import cells, styles
from ggln.tables.read import OpenTable, Row

LOOKED_AT = 50
"""Rows that are looked at. A column of codes, of which some are numbers alone, has shown others by then."""
MOST = 0.5
"""Share of numbers among them from which on a column is spoken of."""


class Misled:
    """Counts the numbers in columns that were taken for names, until enough rows have come."""

    def __init__(self, table: OpenTable, names: Sequence[str]) -> None:
        self.places = {name: table.columns.index(name) for name in names}
        self.rows: list[Row] = []

    def find(self, rows: Sequence[Row]) -> list[str]:
        """Return what there is to say, once `LOOKED_AT` rows have come."""
        if not self.places:
            return []
        self.rows += rows[: LOOKED_AT - len(self.rows)]
        if len(self.rows) < LOOKED_AT:
            return []
        found = [self._about(name, [row[place] for row in self.rows]) for name, place in self.places.items()]
        self.places, self.rows = {}, []
        return [remark for remark in found if remark]

    def _about(self, name: str, texts: Sequence[str]) -> str | None:
        present = [text for text in texts if not cells.is_missing(text)]
        numbers = [text for text in present if styles.sign(text) is not None]
        if len(numbers) <= MOST * len(present):
            return None
        return (
            f"column {name!r} begins with {present[0]!r} and was taken for names, but {len(numbers)} of its "
            f"first {len(present)} values are numbers, such as {numbers[0]!r}: begin again with a row that "
            f"has one, or say --category {name}"
        )
