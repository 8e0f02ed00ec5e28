"""Tables of scores, as they are printed."""

from typing import Any, NamedTuple


class ScoreTable(NamedTuple):
    """A table of an experiment's results: a line for each of `rows`, and sentences below it."""

    title: str
    columns: dict[str, str]  # from headings to the formats of their values
    rows: dict[str, dict[str, Any]]  # from the heading of a line to its values, by column
    notes: tuple[str, ...] = ()


def table_of_methods(
    title: str, sets: dict[str, dict[str, Any]], columns: dict[str, str], forms: dict[str, str]
) -> ScoreTable:
    """Return a line for each set and method. columns: headings of figures; forms: their formats."""
    rows = {
        f"{name}: {method}": {heading: format(own[key], forms[key]) for key, heading in columns.items()}
        for name, methods in sets.items()
        for method, own in methods.items()
    }
    return ScoreTable(title, dict.fromkeys(columns.values(), ""), rows)
