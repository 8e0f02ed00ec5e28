import csv
import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from ggln.tables.cells import NoSingleValueError, text
from ggln.tables.lines import Lines, Source
from ggln.tables.read import open_table

COLUMNS, ROWS = ["name", "x", "ok"], [["Ann", "1.5", "true"], ["Bob", "", "false"]]


def as_file(form, path):
    if form == "parquet":
        table = pa.table({"name": ["Ann", "Bob"], "x": [1.5, None], "ok": [True, False]})
        parquet.write_table(table, path)
    elif form == "jsonl":
        lines = ['{"name": "Ann", "x": 1.5, "ok": true}', '{"ok": false, "name": "Bob", "x": null}', ""]
        path.write_text("\n".join(lines))
    else:
        mark = {"tsv": "\t", "csv": ","}[form]
        path.write_text("\n".join(mark.join(row) for row in [COLUMNS, *ROWS]))


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_all_formats_say_the_same(form, tmp_path, read_all):
    path = tmp_path / f"table.{form}"
    as_file(form, path)
    assert read_all(str(path)) == (COLUMNS, ROWS, [])


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_format_of_a_pipe_shows_in_its_first_bytes(form, tmp_path, read_all, monkeypatch):
    path = tmp_path / f"table.{form}"
    as_file(form, path)
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", type("Pipe", (), {"buffer": file, "isatty": lambda _: False})())
        assert read_all("-") == (COLUMNS, ROWS, [])


def test_a_packed_file(tmp_path, read_all):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_all(str(path)) == (["a", "b"], [["1", "2"]], [])


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(mark, tmp_path, read_all):
    path = tmp_path / "table.csv"
    path.write_text(f"a{mark}b{mark}c\n1{mark}2{mark}3,5\n".replace(",5", "" if mark == "," else ",5"))
    assert read_all(str(path))[0] == ["a", "b", "c"]


def test_quotes_line_breaks_a_mark_of_the_encoding_and_foreign_bytes(tmp_path, read_all):
    path = tmp_path / "table.csv"
    path.write_bytes(b'\xef\xbb\xbfa, b\r\n"x, ""y""\nz",1\r\n\r\n5" pipe,\xff\r\n')
    columns, rows, bad = read_all(str(path))
    assert columns == ["a", "b"]
    assert rows == [['x, "y"\nz', "1"], ['5" pipe', "\udcff"]]
    assert not bad


def test_a_row_of_another_length_has_a_number(tmp_path, read_all):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3\n4,5\n6,7,8\n")
    _, rows, bad = read_all(str(path))
    assert rows == [["1", "2"], ["4", "5"]]
    assert [str(row) for row in bad] == ["row 2: it has 1 cell, not 2", "row 4: it has 3 cells, not 2"]


def test_lines_that_are_no_objects_have_a_number(tmp_path, read_all):
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1}\n[1]\n{"a": [1]}\n{"a"\n{"b": 2}\n')
    _, rows, bad = read_all(str(path))
    assert rows == [["1"], [""]]
    assert [str(row) for row in bad] == [
        "row 2: it is JSON, but no object with named values",
        "row 3: 'a' holds a list, which is no single value",
        "row 4: it is no JSON: it ends in the middle of an object",
    ]


def test_a_slip_in_a_long_line_of_json_is_shown(tmp_path, read_all):
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1}\n{"a": "' + 40 * "x" + '" "b": 2, "cccccccccccccccccccccc": 3}\n')
    _, _, bad = read_all(str(path))
    assert str(bad[0]) == (
        "row 2: it is no JSON: something is wrong at character 50, "
        'around ...xxxxxxxxxxxxxxxxxx" "b": 2, "ccccccccccc...'
    )


def test_carriage_returns(tmp_path, read_all):
    path = tmp_path / "table.csv"
    for ends in ("\n", "\r\n", "\r"):
        path.write_bytes(ends.join(["a;b", "1;2", "3;4,5", ""]).encode())
        assert read_all(str(path)) == (["a", "b"], [["1", "2"], ["3", "4,5"]], [])
    path.write_bytes(b"a,b\n1,2\n3\r,4\n5,6\n")
    _, rows, bad = read_all(str(path))
    assert rows == [["1", "2"], ["5", "6"]]
    assert [row.number for row in bad] == [2]
    assert bad[0].reason.startswith("a carriage return stands in the middle of it: remove it")
    path.write_bytes(b"a\rx,b\n1,2\n")
    with pytest.raises(ValueError, match=r"names of .* cannot be read: a carriage return"):
        open_table(str(path))


def test_a_missing_quotation_mark_is_suspected(tmp_path, read_all, request):
    limit = csv.field_size_limit(2**17)  # other libraries change it for everybody
    request.addfinalizer(lambda: csv.field_size_limit(limit))
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"1,2\n3,4\n')
    _, _, bad = read_all(str(path))
    assert bad[0].reason.endswith("one of them goes over several lines: is a quotation mark missing?")
    path.write_text('a,b\n"1,2\n' + 9 * (20_000 * "3" + "\n"))
    _, _, bad = read_all(str(path))
    assert bad[0].reason == "a cell is longer than 131,072 characters: is a quotation mark missing?"


def test_cells_that_hold_several_values(tmp_path, read_all):
    table = pa.table({"a": [1, 2], "b": [None, [1, 2]]})
    parquet.write_table(table, tmp_path / "t.parquet")
    _, rows, bad = read_all(str(tmp_path / "t.parquet"))
    assert rows == [["1", ""]]
    assert [str(row) for row in bad] == ["row 2: 'b' holds a list, which is no single value"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b,a\n1,2,3\n", "several columns named 'a'"),
        ("a,b,,\n1,2,,\n", "several columns without a name"),
    ],
)
def test_headers_that_are_none(content, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        open_table(str(path))


@pytest.mark.parametrize(("name", "content"), [("t.parquet", b"PAR1 no"), ("t.jsonl", b"[1, 2]")])
def test_files_that_are_not_what_their_name_says(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        open_table(str(tmp_path / name))


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.csv"):
        open_table(str(tmp_path / "nothing.csv"))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_table(str(tmp_path))


def test_an_unknown_column_is_told_the_nearest_one(write_csv):
    with open_table(write_csv([["Price", "area"], ["1", "2"]])) as table:
        pass
    with pytest.raises(ValueError, match="no target column 'prise': did you mean 'Price'"):
        table.require("prise", "target column")
    with pytest.raises(ValueError, match="there are 'Price', 'area'"):
        table.require("zzz")


class Drops:
    """A pipe that gives a few bytes at a time."""

    def __init__(self, parts):
        self.parts = list(parts)

    def read1(self, _):
        return self.parts.pop(0) if self.parts else b""


def test_rows_are_handed_over_as_they_come():
    from ggln.tables.read import separated

    table = separated("pipe", Lines(Source(Drops([b"a,b\n1,", b"2\n3,4\n5,", b'6\n"7\n', b'7",8']))), "csv")
    assert [chunk.rows for chunk in table.chunks(100, wait=False)] == [
        [["1", "2"], ["3", "4"]],
        [["5", "6"], ["7\n7", "8"]],
    ]


def test_values_of_frames_as_texts():
    import datetime as dt

    values = [None, float("nan"), True, 3, 2.5, "x", dt.date(2024, 1, 31), b"y", pd.NA, pd.NaT]
    texts = ["", "", "true", "3", "2.5", "x", "2024-01-31", "y", "", ""]
    assert [text(value) for value in values] == texts
    assert text(np.timedelta64(36, "h")) == text(pd.Timedelta("36h")) == "1.5"
    for several in ([1], {"a": 1}, np.ones(2), pl.Series([1])):
        with pytest.raises(NoSingleValueError, match=r"holds a .*, which is no single value"):
            text(several)
    assert json.loads(text(1e-7)) == 1e-7
