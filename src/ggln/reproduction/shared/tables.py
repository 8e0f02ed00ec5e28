"""Tables of scores, as they are printed."""

from typing import Any, NamedTuple


class ScoreTable(NamedTuple):
    """A table of an experiment's results: a line for each of `rows`, and sentences below it."""

    title: str
    columns: dict[str, str]  # from headings to the formats of their values
    rows: dict[str, dict[str, Any]]  # from the heading of a line to its values, by column
    notes: tuple[str, ...] = ()
