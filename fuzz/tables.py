"""Random tables as bytes: CSV, TSV, JSON lines, Parquet and archives of them, then spoilt."""

import csv
import gzip
import io
import json
from typing import NamedTuple

import numpy as np

from fuzz.cells import CELLS, NAMES, NUMBERS, Random, column

ENCODINGS = ["utf-8"] * 12 + ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"]
ENDS = ["\n"] * 4 + ["\r\n", "\r"]
KNOWN = {"size": "point", "sold": "date", "city": "city", "open": "flag", "y": "point"}
"""The columns of the models that predict, and what they hold."""
LONGEST = 20_000_000
WAYS = ["flip", "zeros", "cut", "twice", "drop", "line", "noise", "quote", "breaks", "long"]
"""To spoil bytes."""


class Table(NamedTuple):
    """A table in a file."""

    name: str
    content: bytes
    target: str
    about: str


def clean(rows: int) -> str:
    """Return a table that can be learnt: the first that models see."""
    random = np.random.default_rng(0)
    cells = [column_of(kind, random, rows) for kind in KNOWN.values()]
    return "\n".join(",".join(row) for row in [tuple(KNOWN), *zip(*cells, strict=True)]) + "\n"


def column_of(kind: str, random: Random, rows: int) -> list[str]:
    """Return cells of a kind alone."""
    return [CELLS[kind](random, i) for i in range(rows)]


def table(random: Random) -> Table:
    """Return a random table."""
    rows = int(random.choice([0, 1, 2, 10, 40, 40, 120, 120]))
    known = random.random() < 0.85
    names = list(KNOWN) if known else [str(name) for name in random.choice(NAMES, random.integers(1, 8))]
    if not known and random.random() < 0.8:
        names[-1] = "y"
    kinds = [
        KNOWN[name] if known and random.random() < 0.6 else str(random.choice(list(CELLS))) for name in names
    ]
    if random.random() < 0.5:
        kinds[-1] = str(random.choice(list(NUMBERS)))
    cells = [column(kind, random, rows) for kind in kinds]
    form = str(random.choice(["csv"] * 6 + ["tsv", "jsonl", "parquet"]))
    content, how = MAKERS[form](names, cells, random)
    done = [f"{form} of {rows} rows: {dict(zip(names, kinds, strict=True))}"[:300], how]
    if random.random() < 0.25:
        content, what = spoilt(content, random)
        done.append(what)
    packed = random.random() < 0.15
    if packed:
        content = gzip.compress(content, 1)
        if random.random() < 0.25:
            content, what = spoilt(content, random)
            done.append(f"packed, {what}")
    target = names[-1] if random.random() < 0.95 else str(random.choice(["y", "z", "", "\x1b[0m"]))
    return Table(f"table.{form}{'.gz' * packed}", content, target, "; ".join(done))


def _separated(names: list[str], cells: list[list[str]], random: Random) -> tuple[bytes, str]:
    """Write CSV, by the book or by joining texts."""
    delimiter, end = str(random.choice(list(",,,;;\t|"))), str(random.choice(ENDS))
    encoding = str(random.choice(ENCODINGS))
    lines = [names, *map(list, zip(*cells, strict=True))]
    if random.random() < 0.15:  # rows of other lengths
        place = int(random.integers(len(lines)))
        lines[place] = (lines[place] * 3)[: int(random.integers(2 * len(names) + 1))]
    if random.random() < 0.1:
        lines.append(["Total", *[""] * (len(names) - 2), "1e9"])
    if random.random() < 0.7:
        file = io.StringIO()
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, escapechar="\\")
        writer.writerows(lines)
        text = file.getvalue()
    else:
        text = "".join(delimiter.join(line) + end for line in lines)
    if random.random() < 0.08:
        text = f"sep={delimiter}{end}{text}"
    return text.encode(
        encoding, "replace" if encoding != "utf-8" else "surrogatepass"
    ), f"{delimiter!r} {encoding}"


def _tabs(names: list[str], cells: list[list[str]], _: Random) -> tuple[bytes, str]:
    lines = [names, *map(list, zip(*cells, strict=True))]
    return "".join("\t".join(line) + "\n" for line in lines).encode("utf-8", "surrogatepass"), "tabs"


def _json_lines(names: list[str], cells: list[list[str]], random: Random) -> tuple[bytes, str]:
    """Write objects; some values are numbers, or no single ones."""
    lines = []
    for row in zip(*cells, strict=True):
        values: list[object] = list(row)
        if random.random() < 0.1:
            odd = [None, True, 1.5, 10**400, [1], {"a": 1}, float("nan"), float("inf"), "x" * 1000]
            values[int(random.integers(len(values)))] = odd[int(random.integers(len(odd)))]
        lines.append(json.dumps(dict(zip(names, values, strict=True))))
    return "\n".join(lines).encode(), "objects"


def _parquet(names: list[str], cells: list[list[str]], random: Random) -> tuple[bytes, str]:
    """Write Parquet, columns of texts, numbers, moments, flags or lists."""
    import pyarrow
    from pyarrow import parquet

    arrays = []
    for texts in cells:
        plain, numbers = [text.encode("utf-8", "replace") for text in texts], random.normal(size=len(texts))
        whole = pyarrow.array((100 * numbers).astype(int))
        arrays.append(
            [
                pyarrow.array([text.decode() for text in plain], pyarrow.string()),
                pyarrow.array(plain, pyarrow.binary()),
                pyarrow.array(numbers),
                pyarrow.array((1e9 * numbers).astype("M8[s]")),
                pyarrow.array((1e18 * numbers).astype("m8[ns]")),
                pyarrow.array(numbers > 0),
                pyarrow.array([[x, x] for x in numbers], pyarrow.list_(pyarrow.float64())),
                whole.cast(pyarrow.decimal128(30, 2)),
            ][int(random.integers(8))]
        )
    file = io.BytesIO()
    unique = [name.encode("utf-8", "replace").decode() for name in names]
    parquet.write_table(pyarrow.Table.from_arrays(arrays, unique), file)
    return file.getvalue(), "columns"


MAKERS = {"csv": _separated, "tsv": _tabs, "jsonl": _json_lines, "parquet": _parquet}


def spoilt(content: bytes, random: Random) -> tuple[bytes, str]:
    """Return bytes with something done to them, and what."""
    data, place = bytearray(content), int(random.integers(len(content) + 1))
    what = str(random.choice(WAYS))
    if what == "flip":
        for _ in range(int(random.integers(1, 6)) if data else 0):
            data[int(random.integers(len(data)))] = int(random.integers(256))
    elif what == "zeros":
        data[place:place] = bytes(int(random.integers(1, 100)))
    elif what == "cut":
        del data[place:]
    elif what == "twice":
        data += data[place:]
    elif what == "drop":
        del data[place : place + int(random.integers(1, 50))]
    elif what == "line":
        data[place:place] = b"x" * int(10.0 ** random.uniform(2, 6.5))
    elif what == "noise":
        data[place:place] = random.bytes(int(random.integers(1, 3000)))
    elif what == "quote":
        data[place:place] = b'"'
    elif what == "breaks":
        data[place:place] = b"\n" * int(random.integers(1, 2000))
    elif random.random() < 0.1:  # without an end, as far as anybody waits
        data += b"y" * LONGEST
    return bytes(data), f"{what} at {place}"
