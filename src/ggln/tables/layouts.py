"""What a file has to hold of a table's columns (`engine.checks`)."""

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
from ggln.tables.columns import KINDS

MOST_ROOM = 10_000
"""Features that a category may wait for."""
MOST_COLUMNS = 1_000_000
"""Columns of an array: their names are written down."""
VALUE = number(-1e300, 1e300)
NUMBER: dict[str, Test] = {
    "kind": TEXT,
    "name": TEXT,
    "fill": either(NOTHING, VALUE),
    "indicator": FLAG,
    "carry": FLAG,
    "range": either(NOTHING, several(VALUE, 2)),
    "style": TEXT,
    "guessed": FLAG,
    "doubt": TEXT,
}
CATEGORY: dict[str, Test] = {
    "kind": TEXT,
    "name": TEXT,
    "levels": several(TEXT),
    "room": integer(0, MOST_ROOM),
}
COLUMNS = {"number": NUMBER, "boolean": NUMBER, "date": {**NUMBER, "clock": FLAG}, "category": CATEGORY}


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
    for column in table["columns"]:
        layout = COLUMNS[column["kind"]]
        check_values({**dict.fromkeys(layout), **_defaults(layout), **column}, layout)
        ways = {"", *getattr(KINDS[column["kind"]], "ways", ())}
        require(column.get("style", "") in ways, f"{column.get('style')!r} is no way to write a column")
    if header.get("scores") is not None:
        _check_scores(header["scores"])
    check_arrays(typical, {name: user("values", features, gaps=True) for name in typical})


def _check_scores(scores: Any) -> None:
    """Raise ValueError unless these are scores of rows held out, by targets and names."""
    rows = integer(0, COUNT)
    check_values(scores, {"rows": rows, "learnt": rows, "targets": anything})
    for own in scores["targets"].values():
        check_values(own, dict.fromkeys(own, VALUE))


def _defaults(layout: dict[str, Test]) -> dict[str, Any]:
    """Return what files of earlier versions do not say of a column."""
    known = {
        "indicator": False,
        "carry": False,
        "range": None,
        "style": "",
        "guessed": False,
        "doubt": "",
        "clock": False,
    }
    return {name: value for name, value in (known | {"fill": 0.0, "room": 0}).items() if name in layout}
