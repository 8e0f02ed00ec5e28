"""What the columns of a table are, told by its cells; what they do not tell is asked, not guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import MAX_MAGNITUDE
from ggln.tables import cells, styles
from ggln.tables.columns import MISSING_LEVEL, Boolean, Category, Column, Date, Number
from ggln.tables.dialect import Dialect
from ggln.tables.names import Question, about_names
from ggln.tables.read import OpenTable, Row
from ggln.tables.schema import Schema

FloatArray = NDArray[np.float64]
LEVELS = 20
"""Values of a category that get a feature of their own, the most frequent ones."""
STREAM_LEVELS = 8
"""The same in a stream, whose network has room for them before they come."""
SAME = 0.5
"""A column of texts with more different values than this share of its rows names its rows, and says
nothing about others."""


class Notes(NamedTuple):
    """A schema, what there is to say about it, and to ask."""

    schema: Schema
    remarks: list[str]
    questions: list[Question]


def infer(
    table: OpenTable,
    rows: Sequence[Row],
    targets: list[str],
    drop: Sequence[str],
    categories: Sequence[str],
    keep: Sequence[str] = (),
    gaps: bool = False,
) -> Notes:
    """Decide from the first rows of a table what its columns are.

    keep: columns of numbers that are not to be asked about; gaps: whether the networks take NaN.
    """
    names = feature_columns(table, targets, drop, (*categories, *keep))
    columns: list[Column] = []
    remarks, questions = [], []
    every = dict(zip(table.columns, zip(*rows, strict=True), strict=True)) if rows else {}
    check_points(table, {name: every[name] for name in (*names, *targets) if name not in categories})
    for name in names:
        found = _column(name, every[name], name in categories, table.dialect, gaps)
        if isinstance(found, str):
            remarks.append(found)
            continue
        columns.append(found)
        about = about_names(name, every[name]) if found.kind == "number" and name not in keep else None
        if about is not None:
            questions.append(about)
    signs = {name: check_target(table, name, every[name]) for name in targets}
    if not columns:
        raise ValueError(f"{table.name} has no column to predict from: {'; '.join(remarks)}")
    return Notes(Schema(columns, targets, signs), remarks, questions)


def check_target(table: OpenTable, name: str, texts: Sequence[str]) -> str:
    """Return how the numbers of a target are written; refuse one that is no column of numbers."""
    present = [text for text in texts if not cells.is_missing(text)]
    if not present:
        return ""
    try:
        found = styles.number_style(present, table.dialect.numbers)
    except styles.UnclearError as unclear:
        raise ValueError(f"the target {name!r} of {table.name} cannot be read: {unclear}") from unclear
    if found is None:
        said = table.dialect.numbers
        parse = styles.NUMBERS[said]
        strange = next((text for text in present if styles.sign(text) is None), None)
        if strange is None:
            odd = next((text for text in present if not styles.readable(parse, [text]).size), present[0])
            told = f"with a decimal {said}, which was said" if said else "of one convention"
            raise ValueError(
                f"the target {name!r} of {table.name} is no column of numbers {told} (it has {odd!r}): write "
                "all of them in one way, and say --decimal if they do not tell"
            )
        raise ValueError(
            f"the target {name!r} of {table.name} is no column of numbers (it has {strange!r}): name one "
            "with --target, or write numbers instead"
        )
    return found[0]


def check_points(table: OpenTable, columns: dict[str, Sequence[str]]) -> None:
    """Refuse a column whose points may stand between thousands, as those of a neighbour's commas say."""
    if table.dialect.numbers:
        return
    doubts = {name: text for name, texts in columns.items() if (text := styles.doubtful(texts))}
    if not doubts:
        return
    commas: dict[str, str] = {}
    for name, texts in columns.items():
        if name not in doubts:
            told = {styles.sign(text): text for text in texts if "," in text}
            if styles.THOUSANDS in told:  # commas stand between thousands here, so points do not
                return
            comma = told.get(styles.COMMA, told.get("either"))
            if comma is not None:
                commas[name] = comma
    for name, text in doubts.items():
        for other, comma in commas.items():
            asked = styles.in_doubt(text, other, repr(comma))
            raise ValueError(f"the column {name!r} of {table.name} cannot be read: {asked}")


def infer_stream(
    table: OpenTable,
    row: Row,
    targets: list[str],
    drop: Sequence[str],
    categories: Sequence[str],
    gaps: bool = False,
) -> Schema:
    """Decide from each column's first value alone: a stream cannot be held up.

    Categories get room for levels to come. gaps: whether the networks take NaN; otherwise a missing value
    becomes the last one of its column.
    """
    columns: list[Column] = []
    names = feature_columns(table, targets, drop, categories)
    first = dict(zip(table.columns, row, strict=True))
    check_points(table, {name: [first[name]] for name in (*names, *targets) if name not in categories})
    for name in names:
        try:
            columns.append(_stream_column(name, first[name], name in categories, table.dialect, gaps))
        except styles.UnclearError as unclear:
            raise ValueError(
                f"the first row of {table.name} does not tell what the column {name!r} is: {unclear}, or "
                "leave out the column"
            ) from unclear
    said = table.dialect.numbers
    signs = {name: said + styles.PERCENT * _is_percentage(first[name]) for name in targets}
    return Schema(columns, targets, signs)


def _is_percentage(text: str) -> bool:
    return styles.bare_percentage(text) is not None


def _stream_column(name: str, text: str, category: bool, dialect: Dialect, gaps: bool) -> Column:
    """Return what a column is, by its first cell."""
    if category:
        return Category(name, room=STREAM_LEVELS)
    fill = None if gaps else 0.0
    if cells.is_missing(text):
        return Number(name, fill, carry=not gaps, style=dialect.numbers, guessed=True)
    if styles.number_style([text], dialect.numbers):
        style = dialect.numbers + styles.PERCENT * _is_percentage(text)
        return Number(name, fill, carry=not gaps, style=style)
    if styles.readable(cells.boolean, [text]).size:
        return Boolean(name, fill, carry=not gaps)
    date = styles.date_style([text], dialect.day_first)
    if date:
        return Date(name, fill, carry=not gaps, clock=True, style=date[0])
    return Category(name, room=STREAM_LEVELS)


def feature_columns(
    table: OpenTable, targets: Sequence[str], drop: Sequence[str], categories: Sequence[str]
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


def _column(name: str, texts: Sequence[str], category: bool, dialect: Dialect, gaps: bool) -> Column | str:
    """Return what a column is, or why it is left out."""
    present = [text.strip() for text in texts if not cells.is_missing(text)]
    missing = len(present) < len(texts)
    if not present:
        return f"column {name!r} is left out: no row has a value there"
    try:
        found = None if category else _ordered(name, present, missing, dialect)
    except styles.UnclearError as unclear:
        return f"column {name!r} is left out: {unclear}"
    if found is not None:
        if gaps and not missing:  # nobody knows what a gap would mean: the networks have an answer to that
            found.fill = None
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


def _ordered(name: str, present: Sequence[str], missing: bool, dialect: Dialect) -> Number | None:
    """Return a column of numbers, of booleans or of dates; None if it is none of these."""
    found = styles.number_style(present, dialect.numbers)
    if found is not None:
        style, values = found
        values = values[np.abs(values) <= MAX_MAGNITUDE]  # rows beyond, such as inf, cannot be read
        if values.size:
            return Number(name, float(np.median(values)), missing, range=_reach(values), style=style)
    values = styles.readable(cells.boolean, present)
    if values.size:
        return Boolean(name, float(np.mean(values)), missing, range=_reach(values))
    found = styles.date_style(present, dialect.day_first)
    if found is not None:
        style, values = found
        clock = bool((values % 1.0 != 0.0).any())
        fill = float(np.median(values))
        return Date(name, fill, missing, range=_reach(values), style=style, clock=clock)
    return None


def _reach(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())
