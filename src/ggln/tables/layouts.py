"""What a file has to hold of a table's columns (`engine.checks`)."""

from dataclasses import asdict, fields
from typing import Any

from ggln.engine.checks import (
    COUNT,
    FLAG,
    NOTHING,
    TEXT,
    Arrays,
    Test,
    anything,
    check_arrays,
    check_values,
    either,
    integer,
    number,
    require,
    several,
    user,
)
from ggln.tables import styles
from ggln.tables.columns import from_json

MOST_ROOM = 10_000
"""Features that a category may wait for."""
MOST_COLUMNS = 1_000_000
"""Columns of an array: their names are written down."""
VALUE = number(-1e300, 1e300)
FIELDS: dict[str, Test] = {
    "str": TEXT,
    "bool": FLAG,
    "int": integer(0, MOST_ROOM),
    "float": VALUE,
    "float | None": either(NOTHING, VALUE),
    "tuple[float, float] | None": either(NOTHING, several(VALUE, 2)),
    "list[str]": several(TEXT),
}
"""What may stand in a field of a column, by its declared type."""


def check_table(header: Any, typical: Arrays, features: int, outputs: int) -> None:
    """Raise ValueError unless a header tells of a table, and typical values, if any, are of its features."""
    told = {"categories": several(TEXT), "array": either(NOTHING, integer(1, MOST_COLUMNS))}
    check_values({name: header.get(name) for name in told}, told)
    table = header["table"]
    check_values(
        {"signs": {}, **table}, {"columns": several(anything), "targets": several(TEXT, 1), "signs": anything}
    )
    require(len(table["targets"]) == outputs, "targets are not as many as outputs")
    require(set(table.get("signs", {}).values()) <= {"", *styles.NUMBERS}, "signs are none")
    for values in table["columns"]:
        column = from_json(values)
        check_values(asdict(column), {field.name: FIELDS[str(field.type)] for field in fields(column)})
        ways = {"", *getattr(column, "ways", ())}
        require(getattr(column, "style", "") in ways, f"{column.name} is written in no way that there is")
    if header.get("scores") is not None:
        _check_scores(header["scores"])
    check_arrays(typical, {name: user("values", features, gaps=True) for name in typical})


def _check_scores(scores: Any) -> None:
    """Raise ValueError unless these are scores of rows held out, by targets and names."""
    rows = integer(0, COUNT)
    check_values(scores, {"rows": rows, "learnt": rows, "targets": anything})
    for own in scores["targets"].values():
        check_values(own, dict.fromkeys(own, VALUE))
