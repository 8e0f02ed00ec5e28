"""Writing tables piece by piece: the columns that came, and predictions beside them."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from ggln import atomic
from ggln.extras import require
from ggln.tables import cells, styles
from ggln.tables.columns import Number
from ggln.tables.read import EXTENSIONS, Format, OpenTable, Row
from ggln.tables.schema import Schema
from ggln.terminal import plain

FloatArray = NDArray[np.float64]
JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
NO_ROWS: FloatArray = np.empty((0, 0))
JSON_WORDS = {"true": True, "false": False}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would run."""


class OutputOptions(NamedTuple):
    """What is to be written."""

    form: Format | None
    quantiles: list[float]
    escape: bool  # cells that a spreadsheet would run


class Convention(NamedTuple):
    """How CSV is written: as the table that came."""

    delimiter: str = ","
    comma: bool = False  # whether decimals stand behind one
    escape: bool = False
    encoding: str = "utf-8"
    shown: bool = False  # on a terminal, which would obey some cells

    def number(self, value: float) -> str:
        """Return a number as text, with the nine digits that single precision has."""
        text = "" if value != value else f"{value:.9g}"
        return text.replace(".", ",") if self.comma else text

    def cells(self, row: Iterable[str]) -> list[str]:
        """Return the cells of a row as they are written."""
        found = map(self.cell, row) if self.escape else row
        return list(map(plain, found)) if self.shown else list(found)

    def cell(self, text: str) -> str:
        """Return a cell, with an apostrophe before it if a spreadsheet would run it.

        >>> [Convention(escape=True).cell(text) for text in ("=1+1", "-2.5", "-2+3")]
        ["'=1+1", '-2.5', "'-2+3"]
        """
        bare = styles.bare_percentage(text) or text
        return f"'{text}" if text.startswith(FORMULAS) and styles.sign(bare) is None else text


def convention(table: OpenTable, schema: Schema, escape: bool, values: Sequence[str] = ()) -> Convention:
    """Return how to write the rows of a table, with numbers beside them.

    values: the first of a stream, which tell what its model has not seen yet.
    """
    if not table.delimiter:
        return Convention(escape=escape)
    numbers = [column.style for column in schema.columns if isinstance(column, Number)]
    told = [styles.sign(text) or "" for text in values]
    comma = any(style.startswith(styles.COMMA) for style in (*numbers, *schema.signs.values(), *told))
    return Convention(table.delimiter, comma, escape, table.dialect.encoding or "utf-8")


class Writer(Protocol):
    """Takes rows, and for each the numbers that are appended to it."""

    def write(self, rows: Sequence[Row], numbers: FloatArray) -> None:
        """Append rows; numbers: [n, columns added], NaN for an empty cell."""


def prediction_names(targets: Sequence[str], quantiles: Sequence[float], support: bool = False) -> list[str]:
    """Return the names of the columns that predictions go to.

    >>> prediction_names(["price"], [0.05], support=True)
    ['price_mean', 'price_std', 'price_q0.05', 'price_support']
    """
    wanted = ["mean", "std", *(f"q{level:g}" for level in quantiles), *(["support"] if support else [])]
    return [f"{target}_{what}" for target in targets for what in wanted]


class Separated:
    """CSV or TSV. The line of names comes with the first rows: where an error comes first, it comes alone."""

    def __init__(self, file: TextIO, header: Sequence[str], written: Convention) -> None:
        self.writer = csv.writer(file, delimiter=written.delimiter, lineterminator="\n")
        self.file, self.header, self.written = file, list(header), written
        self.begun = False

    def write(self, rows: Sequence[Row], numbers: FloatArray) -> None:
        """Write rows and hand them over at once."""
        if self.written.escape or self.written.shown:
            rows = list(map(self.written.cells, rows))
        if not self.begun:
            self.writer.writerow(self.written.cells(self.header))
            self.begun = True
        added, number = numbers.tolist(), self.written.number
        self.writer.writerows([*row, *map(number, more)] for row, more in zip(rows, added, strict=True))
        self.file.flush()


class JsonLines:
    """An object in each line. What reads as a number in JSON is one."""

    def __init__(self, file: TextIO, header: Sequence[str]) -> None:
        self.file, self.header = file, list(header)

    def write(self, rows: Sequence[Row], numbers: FloatArray) -> None:
        """Write rows and hand them over at once."""
        for row, more in zip(rows, numbers.tolist(), strict=True):
            values = [*map(_json_value, row), *(None if value != value else value for value in more)]
            self.file.write(json.dumps(dict(zip(self.header, values, strict=True))) + "\n")
        self.file.flush()


def _json_value(text: str) -> Any:
    """Return what JSON writes for a cell.

    >>> [_json_value(text) for text in ("", "true", "2.50", "02139", "1e400")]
    [None, True, 2.5, '02139', '1e400']
    """
    if text in JSON_WORDS:
        return JSON_WORDS[text]
    if not JSON_NUMBER.fullmatch(text):
        return text or None
    try:
        number = json.loads(text)
    except ValueError:  # an integer of thousands of digits
        return text
    return number if abs(number) < math.inf else text


class Parquet:
    """Parquet, in groups of rows. Columns of numbers are numbers, all others are texts."""

    def __init__(self, file: IO[bytes], header: Sequence[str], numeric: Mapping[str, styles.Parse]) -> None:
        pyarrow, parquet = require("pyarrow", "Parquet"), require("pyarrow.parquet", "Parquet")
        kinds = [pyarrow.float64() if name in numeric else pyarrow.string() for name in header]
        self.schema = pyarrow.schema(list(zip(header, kinds, strict=True)))
        self.file = parquet.ParquetWriter(file, self.schema)
        self.numeric = [numeric.get(name) for name in header]

    def write(self, rows: Sequence[Row], numbers: FloatArray) -> None:
        """Write rows as a group."""
        pyarrow = require("pyarrow", "Parquet")
        texts = list(zip(*rows, strict=True)) or [()] * (len(self.numeric) - numbers.shape[1])
        columns: list[list[Any]] = [
            [None if cells.is_missing(text) else parse(text) if parse else text for text in column]
            for column, parse in zip(texts, self.numeric, strict=False)
        ]
        columns += [[None if value != value else value for value in column] for column in numbers.T.tolist()]
        arrays = [
            pyarrow.array(column, kind) for column, kind in zip(columns, self.schema.types, strict=True)
        ]
        self.file.write_table(pyarrow.table(arrays, schema=self.schema))


def check_output(path: Path | None, form: Format | None, header: Sequence[str]) -> Format:
    """Return the format of an output, or raise ValueError where it cannot be written.

    form: follows from the file's name if it is None, and is CSV otherwise.
    """
    suffix = path.suffix.lower() if path else ""
    if form is None and suffix and suffix not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        raise ValueError(f"{path} names no format that can be written: end it with one of {known}")
    form = form or EXTENSIONS.get(suffix, "csv")
    if path is None and form == "parquet":
        raise ValueError("Parquet cannot be written to standard output: name a file with -o")
    twice = [name for name, times in Counter(header).items() if times > 1]
    if twice:
        raise ValueError(f"the table has a column {twice[0]!r} already: rename it, predictions go there")
    return form


@contextmanager
def open_writer(
    path: Path | None,
    form: Format | None,
    header: Sequence[str],
    numeric: Mapping[str, styles.Parse],
    written: Convention,
) -> Iterator[Writer]:
    """Give a writer to a file, which appears when it is complete, or without a path to standard output.

    form: as `check_output` has it; numeric: the columns of numbers, and how these are read.
    """
    form = check_output(path, form, header)
    encoding = written.encoding if form == "csv" else "utf-8"
    if path is None:
        sys.stdout.reconfigure(encoding=encoding, errors="surrogateescape")  # type: ignore[union-attr]
        writer = _text_writer(sys.stdout, form, header, written._replace(shown=sys.stdout.isatty()))
        yield writer
        writer.write([], NO_ROWS)
        return
    with atomic.replaced(path) as file:
        if form == "parquet":
            with os.fdopen(file, "wb", closefd=False) as stream:
                table = Parquet(stream, header, numeric)
                try:
                    yield table
                finally:
                    table.file.close()  # before its stream, whatever happens
        else:
            errors = "surrogateescape"
            with os.fdopen(file, "w", encoding=encoding, errors=errors, newline="", closefd=False) as text:
                writer = _text_writer(text, form, header, written)
                yield writer
                writer.write([], NO_ROWS)


def _text_writer(file: TextIO, form: Format, header: Sequence[str], written: Convention) -> Writer:
    if form == "jsonl":
        return JsonLines(file, header)
    return Separated(file, header, written._replace(delimiter="\t") if form == "tsv" else written)
