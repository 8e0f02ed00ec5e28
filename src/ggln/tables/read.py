"""Reading tables row by row: CSV, TSV, JSON lines and Parquet, from files and from pipes.

All formats give the same: named columns, and rows of texts. Rows are handed over as they come, so that memory
does not grow with the table and a slow pipe is answered at once.
"""

import csv
import io
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Self

from ggln.extras import require
from ggln.tables.cells import NoSingleValueError, text
from ggln.tables.dialect import UNSAID, Dialect
from ggln.tables.lines import MARKS, Lines, Source, Wait

Format = Literal["csv", "tsv", "jsonl", "parquet"]
EXTENSIONS: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
DELIMITERS = ",;\t|"
SAID_DELIMITER = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""A first line by which spreadsheets tell each other what separates cells."""
MOST_COLUMNS = 20_000
"""A table with more of them is taken for one that lies on its side: networks look at a few columns each."""
ARCHIVE = b"PK\x03\x04"
"""What zip archives begin with, spreadsheets among them."""
STANDARD_INPUT = "-"
NEAR = 0.7
"""Names that are less alike, such as area and garden, are no slip of the pen."""
NEARBY = 20
"""Characters on each side of a mistake that are shown of a line."""

Row = list[str]


class Bad(NamedTuple):
    """A row that cannot be read, and why."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.number}: {self.reason}"


class Chunk(NamedTuple):
    """Some rows, each with its number: the first below the header is 1."""

    numbers: list[int]
    rows: list[Row]
    bad: list[Bad]


class OpenTable:
    """An open table: the names of its columns, and its rows as they come. At its end it closes itself."""

    def __init__(
        self, name: str, columns: Sequence[str], rows: Iterator[Row | Bad], ready: Callable[[], bool]
    ) -> None:
        self.name, self.columns = name, [_printable(column) for column in columns]
        self._rows, self._ready = rows, ready
        self.delimiter = ""  # of separated values
        self.dialect = UNSAID
        self.stream: IO[bytes] | None = None
        self.count = 0
        if not columns:
            raise ValueError(f"{name} is empty: a table needs a line of column names and rows below it")
        if len(columns) > MOST_COLUMNS:
            raise ValueError(
                f"{name} has {len(columns):,} columns, more than the {MOST_COLUMNS:,} that can be read: "
                "does each row stand in a line of its own?"
            )
        twice = [column for column, times in Counter(self.columns).items() if times > 1]
        if twice == [""]:
            raise ValueError(f"{name} has several columns without a name: name them, or remove them")
        if twice:
            raise ValueError(f"{name} has several columns named {twice[0]!r}: rename all but one of them")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.stream is not None and self.stream is not sys.stdin.buffer:
            self.stream.close()

    def chunk(self, longest: int, wait: bool) -> Chunk:
        """Return up to `longest` rows, none at the end.

        wait: for all of them; otherwise only for the first one.
        """
        chunk = Chunk([], [], [])
        for row in self._rows:
            self.count += 1
            if isinstance(row, Bad):
                chunk.bad.append(Bad(self.count, row.reason))
            elif len(row) != len(self.columns):
                chunk.bad.append(Bad(self.count, _too_few_or_many(row, len(self.columns))))
            else:
                chunk.numbers.append(self.count)
                chunk.rows.append(row)
            if len(chunk.rows) + len(chunk.bad) == longest or not (wait or self._ready()):
                return chunk
        self.close()
        return chunk

    def chunks(self, longest: int, wait: bool = True) -> Iterator[Chunk]:
        """Give all rows, up to `longest` at a time."""
        while (chunk := self.chunk(longest, wait)).rows or chunk.bad:
            yield chunk

    @property
    def foreign(self) -> bool:
        """Whether names of columns are not in the encoding that was expected."""
        return not all(map(_is_utf8, self.columns))

    def require(self, name: str, what: str = "column") -> int:
        """Return the position of a column, or say which names are near."""
        if name in self.columns:
            return self.columns.index(name)
        other = f"; {NOT_UTF8}" if self.foreign else ""
        if len(self.columns) == 1 and self.delimiter:  # a title, perhaps
            other += "; if the line of names stands further down, say --skip-lines"
        whole = next((column for column in self.columns if name in map(str.strip, column.split(","))), None)
        if whole is not None:
            other = f"; a name with a comma is put into quotation marks, '\"{whole}\"'"
        raise ValueError(f"{self.name} has no {what} {name!r}{suggestion(name, self.columns)}{other}")


NOT_UTF8 = "its names are not in UTF-8: say --encoding latin-1, or whichever it is"


def _is_utf8(text: str) -> bool:
    """Return whether no byte had to be passed through as it was."""
    return not any("\udc80" <= letter <= "\udcff" for letter in text)


def _printable(name: str) -> str:
    r"""Return a name without what a terminal would obey: line breaks are blanks, other controls go.

    >>> _printable("Price\n(EUR)"), _printable("red\x1b[31m")
    ('Price (EUR)', 'red[31m')
    """
    blank = re.sub(r"\s+", " ", name)
    return "".join(letter for letter in blank if letter.isprintable() or not _is_utf8(letter))


def _too_few_or_many(row: Row, wanted: int) -> str:
    """Return what is wrong with a row of a wrong length."""
    cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
    quoted = "; one of them goes over several lines: is a quotation mark missing?"
    return f"it has {cells}, not {wanted}{quoted if any(chr(10) in cell for cell in row) else ''}"


def suggestion(name: str, names: Sequence[str]) -> str:
    """Return the end of a sentence about a name that is not there: a near one, or all there are."""
    import difflib

    near = difflib.get_close_matches(name.lower(), [known.lower() for known in names], 1, NEAR)
    if near:
        known = next(known for known in names if known.lower() == near[0])
        return f": did you mean {known!r}?"
    shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    return f": there are {shown}"


def open_table(
    path: str, form: Format | None = None, wait: Wait | None = None, dialect: Dialect = UNSAID
) -> OpenTable:
    """Open a table, "-" for standard input. The format follows from the name, or from the first bytes."""
    stream: IO[bytes]
    if path == STANDARD_INPUT:
        if sys.stdin.isatty():
            raise ValueError("there is no table: name a file, or pipe one into the command")
        stream, name = sys.stdin.buffer, "standard input"
    else:
        file = Path(path)
        if file.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file with a table")
        if not file.exists():
            raise FileNotFoundError(f"there is no file {path}")
        stream = file.open("rb")
        name = path
        form = form or EXTENSIONS.get((Path(file.stem) if file.suffix == ".gz" else file).suffix.lower())
    try:
        source = Source(stream, wait)
        table = _begin(name, source, form, dialect)
    except BaseException:
        if path != STANDARD_INPUT:
            stream.close()
        raise
    table.stream, table.dialect = source.stream, dialect
    return table


def _begin(name: str, source: Source, form: Format | None, dialect: Dialect) -> OpenTable:
    """Read the names of the columns."""
    start = source.peek()
    if form is None:
        form = "parquet" if start[:4] == b"PAR1" else "jsonl" if start.lstrip()[:1] == b"{" else "csv"
    if form == "parquet":
        return _parquet(name, source)
    if start[:4] == ARCHIVE:
        raise ValueError(f"{name} is a spreadsheet or a zip archive: save it as CSV, or unpack it")
    if b"\0" in start and dialect.encoding is None and start[:2] not in MARKS:
        raise ValueError(
            f"{name} is no table of text, since it holds zero bytes: save it as CSV or, if it is one in "
            "UTF-16, say --encoding utf-16-le"
        )
    lines = Lines(source, dialect.encoding)
    for _ in range(dialect.skip_lines):
        next(lines, "")
    return _json_lines(name, lines) if form == "jsonl" else separated(name, lines, form)


# Separated values ----------------------------------------------------------------------------------------


def separated(name: str, lines: Lines, form: Format) -> OpenTable:
    """CSV or TSV. The delimiter of a CSV file is the one that its header has most of, or that it names."""
    first = next(lines, "")
    said = SAID_DELIMITER.fullmatch(first)
    if said is None:
        lines.back(first)
    delimiter = said[1] if said else "\t" if form == "tsv" else max(DELIMITERS, key=first.count)
    reader = csv.reader(lines, delimiter=delimiter)

    def rows() -> Iterator[Row | Bad]:
        while True:
            try:
                row = next(reader)
            except csv.Error as error:
                yield Bad(0, _about_csv(error))
            except StopIteration:
                return
            else:
                if row:  # not an empty line
                    yield row

    every = rows()
    columns = next(every, [])
    if isinstance(columns, Bad):
        raise ValueError(f"the line of column names of {name} cannot be read: {columns.reason}")
    table = OpenTable(name, [column.strip() for column in columns], every, lambda: bool(lines.ready))
    table.delimiter = delimiter
    return table


def _about_csv(error: csv.Error) -> str:
    """Return what is wrong with a line that is no row of a table."""
    if "limit" in str(error):
        return f"a cell is longer than {csv.field_size_limit():,} characters: is a quotation mark missing?"
    return "a carriage return stands in the middle of it: remove it, or put the cell into quotation marks"


# JSON lines ----------------------------------------------------------------------------------------------


def _json_lines(name: str, lines: Lines) -> OpenTable:
    """One object in each line. The columns are the keys of the first; a key that is not there is missing."""
    first = next((line for line in lines if line.strip()), "")
    record = _object(first) if first else {}
    if isinstance(record, Bad):
        raise ValueError(
            f"{name} does not begin with a JSON object: {record.reason}. Each line has to hold one, without "
            "brackets around all"
        )
    columns = list(record)

    def rows() -> Iterator[Row | Bad]:
        yield _cells(record, columns)
        for line in lines:
            if line.strip():
                found = _object(line)
                yield found if isinstance(found, Bad) else _cells(found, columns)

    return OpenTable(name, columns, rows(), lambda: bool(lines.ready))


def _object(line: str) -> dict[str, Any] | Bad:
    try:
        # numbers stay the text that they were
        record = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except json.JSONDecodeError as error:
        return Bad(0, _about_json(line.rstrip(), error.pos))
    except RecursionError:
        return Bad(0, "it is JSON, but nested too deeply to be a row")
    return record if isinstance(record, dict) else Bad(0, "it is JSON, but no object with named values")


def _about_json(line: str, place: int) -> str:
    """Return where a line stops being JSON."""
    if place >= len(line):
        return "it is no JSON: it ends in the middle of an object"
    shown = line[max(0, place - NEARBY) : place + NEARBY]
    before, after = "..." * (place > NEARBY), "..." * (place + NEARBY < len(line))
    return f"it is no JSON: something is wrong at character {place + 1}, around {before}{shown}{after}"


def _cells(record: dict[str, Any], columns: Sequence[str]) -> Row | Bad:
    cells = []
    for column in columns:
        try:
            cells.append(text(record.get(column)))
        except NoSingleValueError as error:
            return Bad(0, f"{column!r} {error}")
    return cells


# Parquet -------------------------------------------------------------------------------------------------


def _parquet(name: str, source: Source) -> OpenTable:
    """A Parquet file, read batch by batch; one from a pipe goes to disk first: its index is at its end."""
    pyarrow, parquet = require("pyarrow", "Parquet"), require("pyarrow.parquet", "Parquet")
    stream = source.stream
    if source.unpacker or not (isinstance(stream, io.BufferedReader) and stream.seekable()):
        stream = tempfile.TemporaryFile()  # noqa: SIM115  closed when nobody reads it any more
        while data := source.read():
            stream.write(data)
        source.stream = stream
    stream.seek(0)
    try:
        file = parquet.ParquetFile(stream)
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(name, error) from error

    names = file.schema_arrow.names

    def batches() -> Iterator[Any]:
        try:
            yield from file.iter_batches(batch_size=1024)
        except (pyarrow.ArrowException, OSError) as error:
            raise _damaged(name, error) from error

    def rows() -> Iterator[Row | Bad]:
        for batch in batches():
            try:
                columns = [[text(value) for value in column.to_pylist()] for column in batch.columns]
                yield from map(list, zip(*columns, strict=True))
            except NoSingleValueError:  # which row it is, is found more slowly
                yield from (_cells(record, names) for record in batch.to_pylist())

    return OpenTable(name, names, rows(), lambda: True)


def _damaged(name: str, error: Exception) -> ValueError:
    """Return what to say of a Parquet file that cannot be read."""
    reason = " ".join(str(error).partition(". ")[0].split())
    return ValueError(f"{name} is not a Parquet file, or is damaged: {reason}")
