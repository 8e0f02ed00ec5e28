"""What a file has to hold of a table's columns (`engine.checks`)."""

import datetime as dt
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
    one_of,
    require,
    several,
    user,
)
from ggln.tables import styles
from ggln.tables.cells import since_1970
from ggln.tables.columns import KINDS, Date, from_json

MOST_ROOM = 10_000
"""Features that a category may wait for."""
MOST_COLUMNS = 1_000_000
"""Columns of an array: their names are written down."""
SCORES = ("rmse", "nll", "crps", "coverage_50", "coverage_90", "coverage_95")
"""What is shown of the scores that were kept."""
VALUE = number(-1e300, 1e300)
DAY = number(
    since_1970(dt.datetime.min.replace(tzinfo=dt.UTC)), since_1970(dt.datetime.max.replace(tzinfo=dt.UTC))
)
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
    check_columns(header["table"])
    require(len(header["table"]["targets"]) == outputs, "targets are not as many as outputs")
    if header.get("scores") is not None:
        _check_scores(header["scores"])
    check_arrays(typical, {name: user("values", features, gaps=True) for name in typical})


def check_columns(table: Any) -> None:
    """Raise ValueError unless these are columns and targets."""
    require(isinstance(table, dict), "it holds no columns")
    check_values(
        {"signs": {}, **table}, {"columns": several(anything), "targets": several(TEXT, 1), "signs": anything}
    )
    signs = table.get("signs", {})
    check_values(signs, dict.fromkeys(signs, one_of("", *styles.NUMBERS)))
    for values in table["columns"]:
        _check_column(values)
    names = [values["name"] for values in table["columns"]]
    require(len(set(names)) == len(names), "several columns have the same name")


def _check_column(values: Any) -> None:
    """Raise ValueError unless this is a column."""
    require(isinstance(values, dict) and values.get("kind") in KINDS, "it holds a column of no kind there is")
    kind = KINDS[values["kind"]]
    layout = {field.name: FIELDS[str(field.type)] for field in fields(kind)}
    if kind is Date:
        layout |= {"fill": either(NOTHING, DAY), "range": either(NOTHING, several(DAY, 2))}
    column = from_json(values)
    check_values(asdict(column), layout)
    ways = {"", *getattr(column, "ways", ())}
    require(getattr(column, "style", "") in ways, f"{column.name} is written in no way that there is")
    ends = getattr(column, "range", None) or (0.0, 0.0)
    require(len(ends) == 2 and ends[0] <= ends[1], f"{column.name} has no range from one number to another")


def _check_scores(scores: Any) -> None:
    """Raise ValueError unless these are scores of rows held out, by targets and names."""
    rows = integer(0, COUNT)
    check_values(scores, {"rows": rows, "learnt": rows, "targets": anything})
    for own in scores["targets"].values():
        check_values(own, {**dict.fromkeys(own, VALUE), **dict.fromkeys(SCORES, VALUE)})
