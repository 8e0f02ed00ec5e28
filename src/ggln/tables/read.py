"""Reading tables row by row: CSV, TSV, JSON lines and Parquet, from files and from pipes.

All formats give the same: named columns, and rows of texts. Rows are handed over as they come, so that memory
does not grow with the table and a slow pipe is answered at once.
"""

import codecs
import csv
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Self

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
BLOCK = 1 << 16
"""Bytes that are asked for at a time: what a pipe holds."""
STANDARD_INPUT = "-"
NEAR = 0.7
"""Names that are less alike, such as area and garden, are no slip of the pen."""

Row = list[str]
Wait = Callable[[int], bool]


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


class Source:
    """Bytes of a file or of a pipe, handed over as they come.

    wait: called with the file's descriptor before each reading, to wait for bytes in its own way; once it
    says no, the input has ended.
    """

    def __init__(self, stream: IO[bytes], wait: Wait | None = None) -> None:
        self.stream, self.wait = stream, wait
        self.ahead = b""
        self.stopped = False

    def read(self) -> bytes:
        """Return the next bytes, waiting for at least one; none at the end."""
        if self.ahead:
            data, self.ahead = self.ahead, b""
            return data
        if self.wait is None:
            return self.stream.read1(BLOCK)  # type: ignore[attr-defined, no-any-return]
        descriptor = self.stream.fileno()
        self.stopped = not self.wait(descriptor)
        return b"" if self.stopped else os.read(descriptor, BLOCK)

    def peek(self) -> bytes:
        """Return the bytes up to the end of the first line, without taking them."""
        while b"\n" not in self.ahead and len(self.ahead) < 16 * BLOCK:
            ahead, self.ahead = self.ahead, b""
            more = self.read()
            self.ahead = ahead + more
            if not more:
                break
        return self.ahead


class Lines(Iterator[str]):
    """Lines of text, and how many are there without waiting."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # bytes that are not UTF-8 pass through unchanged
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self.ready: list[str] = []  # in reverse, so that the next one is cheap to take
        self.rest = ""
        self.ended = False

    def __next__(self) -> str:
        while not self.ready:
            if self.ended:
                raise StopIteration
            data = self.source.read()
            self.ended = not data
            *lines, self.rest = (self.rest + self.decoder.decode(data, final=self.ended)).split("\n")
            if self.ended and self.rest and not self.source.stopped:  # a line cut by a signal is no row
                lines.append(self.rest)
            self.ready = [line + "\n" for line in reversed(lines)]
        return self.ready.pop()


class Table:
    """An open table: the names of its columns, and its rows as they come. At its end it closes itself."""

    def __init__(
        self, name: str, columns: Sequence[str], rows: Iterator[Row | Bad], ready: Callable[[], bool]
    ) -> None:
        self.name, self.columns = name, list(columns)
        self._rows, self._ready = rows, ready
        self.stream: IO[bytes] | None = None
        self.count = 0
        if not columns:
            raise ValueError(f"{name} is empty: a table needs a line of column names and rows below it")
        twice = [column for column, times in Counter(columns).items() if times > 1]
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
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                chunk.bad.append(Bad(self.count, f"it has {cells}, not {len(self.columns)}"))
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

    def require(self, name: str, what: str = "column") -> int:
        """Return the position of a column, or say which names are near."""
        if name in self.columns:
            return self.columns.index(name)
        raise ValueError(f"{self.name} has no {what} {name!r}{suggestion(name, self.columns)}")


def suggestion(name: str, names: Sequence[str]) -> str:
    """Return the end of a sentence about a name that is not there: a near one, or all there are."""
    import difflib

    near = difflib.get_close_matches(name.lower(), [known.lower() for known in names], 1, NEAR)
    if near:
        known = next(known for known in names if known.lower() == near[0])
        return f": did you mean {known!r}?"
    shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    return f": there are {shown}"


def open_table(path: str, form: Format | None = None, wait: Wait | None = None) -> Table:
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
        packed = file.suffix == ".gz"
        stream = gzip.open(path) if packed else file.open("rb")  # type: ignore[assignment]  # noqa: SIM115
        name = path
        form = form or EXTENSIONS.get((Path(file.stem) if packed else file).suffix.lower())
    source = Source(stream, wait)
    try:
        table = _begin(name, source, form)
    except BaseException:
        if path != STANDARD_INPUT:
            stream.close()
        raise
    table.stream = source.stream
    return table


def _begin(name: str, source: Source, form: Format | None) -> Table:
    """Read the names of the columns."""
    start = source.peek()
    if form is None:
        form = "parquet" if start[:4] == b"PAR1" else "jsonl" if start.lstrip()[:1] == b"{" else "csv"
    if form == "parquet":
        return _parquet(name, source)
    if b"\0" in start:
        raise ValueError(
            f"{name} is no table of text, since it holds zero bytes: if it is one in UTF-16, save it as UTF-8"
        )
    return _json_lines(name, source) if form == "jsonl" else separated(name, source, form)


# Separated values ----------------------------------------------------------------------------------------


def separated(name: str, source: Source, form: Format) -> Table:
    """CSV or TSV. The delimiter of a CSV file is the one that its header has most of."""
    header = source.peek().split(b"\n")[0].decode("utf-8-sig", "replace")
    delimiter = "\t" if form == "tsv" else max(DELIMITERS, key=header.count)
    lines = Lines(source)
    reader = csv.reader(lines, delimiter=delimiter)

    def rows() -> Iterator[Row | Bad]:
        while True:
            try:
                row = next(reader)
            except csv.Error as error:
                yield Bad(0, f"it is no row of a table ({error})")
            except StopIteration:
                return
            else:
                if row:  # not an empty line
                    yield row

    every = rows()
    columns = next(every, [])
    names = [] if isinstance(columns, Bad) else [column.strip() for column in columns]
    return Table(name, names, every, lambda: bool(lines.ready))


# JSON lines ----------------------------------------------------------------------------------------------


def _json_lines(name: str, source: Source) -> Table:
    """One object in each line. The columns are the keys of the first; a key that is not there is missing."""
    lines = Lines(source)
    first = next((line for line in lines if line.strip()), "")
    record = _object(first) if first else {}
    if isinstance(record, Bad):
        raise ValueError(f"{name} does not begin with a JSON object: {record.reason}")
    columns = list(record)

    def rows() -> Iterator[Row | Bad]:
        yield _cells(record, columns)
        for line in lines:
            if line.strip():
                found = _object(line)
                yield found if isinstance(found, Bad) else _cells(found, columns)

    return Table(name, columns, rows(), lambda: bool(lines.ready))


def _object(line: str) -> dict[str, Any] | Bad:
    try:
        # numbers stay the text that they were
        record = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
    except ValueError as error:
        return Bad(0, f"it is no JSON ({error})")
    return record if isinstance(record, dict) else Bad(0, "it is JSON, but no object with named values")


def _cells(record: dict[str, Any], columns: Sequence[str]) -> Row | Bad:
    cells = []
    for column in columns:
        value = record.get(column)
        if isinstance(value, list | dict):
            return Bad(0, f"{column!r} holds a {type(value).__name__}, which is no single value")
        cells.append(text(value))
    return cells


def text(value: Any) -> str:
    """Return a value of another format, or of a data frame, as the text of a cell."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# Parquet -------------------------------------------------------------------------------------------------


def _parquet(name: str, source: Source) -> Table:
    """A Parquet file, read batch by batch; one from a pipe goes to disk first: its index is at its end."""
    import pyarrow
    from pyarrow import parquet

    stream = source.stream
    if not (isinstance(stream, io.BufferedReader) and stream.seekable()):
        stream = tempfile.TemporaryFile()  # noqa: SIM115  closed when nobody reads it any more
        stream.write(source.ahead)
        shutil.copyfileobj(source.stream, stream)
        source.stream = stream
    stream.seek(0)
    try:
        file = parquet.ParquetFile(stream)
    except pyarrow.ArrowInvalid as error:
        reason = str(error).partition(". ")[0]
        raise ValueError(f"{name} is not a Parquet file, or is damaged: {reason}") from error

    def rows() -> Iterator[Row | Bad]:
        for batch in file.iter_batches(batch_size=1024):
            columns = [[text(value) for value in column.to_pylist()] for column in batch.columns]
            yield from map(list, zip(*columns, strict=True))

    return Table(name, file.schema_arrow.names, rows(), lambda: True)
