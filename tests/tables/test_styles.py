"""Decimal commas and dates of all countries are read where a column tells what they are."""

import datetime as dt

import numpy as np
import pytest

from ggln.tables import styles
from ggln.tables.columns import Category, Date, Number
from ggln.tables.dialect import Dialect
from ggln.tables.infer import infer, infer_stream
from ggln.tables.plan import Input, Plan
from ggln.tables.read import Chunk, OpenTable
from ggln.tables.schema import Schema
from ggln.tables.train import Training


def inferred(texts, name="x"):
    table = OpenTable("t.csv", [name, "n"], iter(()), lambda: True)
    return infer(table, [[text, "1"] for text in texts], [], (), ())


@pytest.mark.parametrize(
    ("texts", "style", "values"),
    [
        (["1", "2.5", "-3e2"], "point", [1, 2.5, -300]),
        (["3,14", "2", "-0,5"], "comma", [3.14, 2, -0.5]),
        (["1.234,5", "1.234", "7"], "comma", [1234.5, 1234, 7]),
        (["1 234,5", "12'345,0", "1\u202f000"], "comma", [1234.5, 12345, 1000]),
        (["1,234", "0,5"], "comma", [1.234, 0.5]),
        (["1,234", "1,234,567"], "thousands", [1234, 1234567]),
        (["1,234", "1,234.5", "7.5"], "thousands", [1234, 1234.5, 7.5]),
    ],
)
def test_numbers(texts, style, values):
    (column, _), remarks = inferred(texts)[0].columns, inferred(texts)[1]
    assert (column.style, remarks) == (style, [])
    assert column.values(texts)[0].tolist() == values
    assert column.range == (min(values), max(values))


@pytest.mark.parametrize(
    ("texts", "style", "day"),
    [
        (["2024-12-31", "2024-01-02"], "", dt.date(2024, 12, 31)),
        (["31.12.2024", "1.2.2024"], "d.m.y", dt.date(2024, 12, 31)),
        (["05.04.2024", "06.04.2024"], "d.m.y", dt.date(2024, 4, 5)),  # with points the day comes first
        (["05/04/2024", "31/12/2024"], "d/m/y", dt.date(2024, 4, 5)),
        (["05/04/2024", "12/31/2024"], "m/d/y", dt.date(2024, 5, 4)),
        (["05-04-2024", "31-12-2024"], "d-m-y", dt.date(2024, 4, 5)),
        (["2024/04/05", "2024/12/01"], "y/m/d", dt.date(2024, 4, 5)),
    ],
)
def test_dates(texts, style, day):
    column = inferred(texts)[0].columns[0]
    assert isinstance(column, Date)
    assert column.style == style
    assert column.values(texts)[0][0] == (day - dt.date(1970, 1, 1)).days


def test_dates_with_times():
    column = inferred(["31.12.2024 06:00", "01.01.2025 12:00:30"])[0].columns[0]
    assert (column.style, column.clock) == ("d.m.y", True)
    assert column.values(["01.01.1970 06:00"])[0] == [0.25]
    column = inferred(["12/31/2024 6:00 PM", "1/2/2025 12:00 am"])[0].columns[0]
    assert column.style == "m/d/y"
    assert column.values(["1/1/1970 6:00 pm", "1/1/1970 12:00 AM"])[0].tolist() == [0.75, 0.0]


def test_what_cannot_be_told_is_said():
    remark = "column 'x' is left out: '1,234' may be 1.234 or 1234: say --decimal comma or --decimal point"
    assert inferred(["1,234"] * 3)[1] == [remark]
    (remark,) = inferred(["1.5", "2,5", "3"])[1]
    assert "its numbers are written in two ways, such as '1.5' and '2,5'" in remark
    (remark,) = inferred(["03/04/2024", "05/06/2024"])[1]
    assert (
        "whether the day or the month of '03/04/2024' comes first: say --day-first or --month-first" in remark
    )
    (remark,) = inferred([f"{i} EUR" for i in range(30)])[1]
    assert "such as '0 EUR' and '1 EUR'. Write numbers as 3.14 and dates as 2024-12-31" in remark
    table = OpenTable("t.csv", ["x", "y"], iter(()), lambda: True)
    with pytest.raises(ValueError, match=r"target 'y' of t\.csv cannot be read: '1,234' may be 1.2"):
        infer(table, [["1", "1,234"]], ["y"], (), ())
    with pytest.raises(ValueError, match=r"does not tell what the column 'x' is: nothing tells"):
        infer_stream(table, ["01/02/2024", "1"], ["y"], (), ())


def test_a_cell_in_another_style_says_so():
    column = Number("x", style=styles.POINT)
    assert (
        "'3,14', but the column's numbers before it have decimal points" in column.values(["1", "3,14"])[2][1]
    )
    column = Number("x", style=styles.COMMA)
    assert "'3.14', but the column's numbers before it have decimal commas" in column.values(["3.14"])[2][0]
    column = Date("d", style="d.m.y")
    assert column.values(["2024-01-02"])[2][0].endswith("which is not a date such as 31.12.2024")


@pytest.mark.parametrize("first", ["3,14", "1.234,5", "7,5", "5"])
@pytest.mark.parametrize("cut", [1, 2, 3, 7])
def test_a_stream_learns_from_the_first_number_that_tells(first, cut):
    texts = ["5", "1,234", "", first, "1,234", "2", "8,25"]
    rows = [[text, text] for text in texts]
    schema = infer_stream(OpenTable("t.csv", ["x", "y"], iter(()), lambda: True), rows[0], ["y"], (), ())
    encode = schema.bind(OpenTable("t.csv", ["x", "y"], iter(()), lambda: True), targets=True)
    pieces = [encode(Chunk(list(range(i, i + cut)), rows[i : i + cut], [])) for i in range(0, len(rows), cut)]
    bad = [row.number for piece in pieces for row in piece.bad]
    X = np.concatenate([piece.X for piece in pieces])[:, 0]
    assert bad[0] == 1  # nothing had told by then
    assert "'1,234', which may be 1.234 or 1234" in pieces[1 // cut].bad[0].reason
    assert X[-1] == 8.25
    assert schema.signs["y"] == schema.columns[0].style == "comma"
    if first != "5":
        assert X[-3] == 1.234
    again = Schema.from_json(schema.to_json())
    assert (again.signs, again.columns) == (schema.signs, schema.columns)


def test_a_first_row_without_a_value_is_remembered():
    table = OpenTable("t.csv", ["x", "y"], iter(()), lambda: True)
    schema = infer_stream(table, ["", "1"], ["y"], (), ())
    reason = schema.columns[0].values(["Oslo"])[2][0]
    assert "the first rows had no value there" in reason
    assert "--category x" in reason
    assert isinstance(infer_stream(table, ["", "1"], ["y"], (), ["x"]).columns[0], Category)


def test_a_table_with_semicolons_is_learnt_as_one_with_commas(tmp_path, small):
    random = np.random.default_rng(0)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in random.integers(0, 700, 80)]
    area = np.round(random.uniform(20, 2000, 80), 2)
    price = np.round(3 * area + random.normal(size=80), 2)
    english = ["sold,area,price"] + [f"{d},{a},{p}" for d, a, p in zip(days, area, price, strict=True)]
    german = ["sold;area;price"]
    for d, a, p in zip(days, area, price, strict=True):
        numbers = f"{a:,.2f};{p}".translate(str.maketrans(".,", ",."))
        german.append(f"{d:%d.%m.%Y};{numbers}")
    (tmp_path / "english.csv").write_text("\n".join(english))
    (tmp_path / "german.csv").write_text("\n".join(german))
    models = [
        Training(Input(str(tmp_path / name)), Plan(["price"], settings=small)).run()
        for name in ("english.csv", "german.csv")
    ]
    X = [model.typical_ for model in models]
    assert np.array_equal(*X)
    assert [column.style for column in models[1].schema_.columns] == ["d.m.y", "comma"]
    assert models[1].schema_.signs == {"price": "comma"}


def test_targets_that_are_not_written_as_was_said(tmp_path, small):
    (tmp_path / "t.csv").write_text("x,y\n1,1.5\n2,2.25\n")
    source = Input(str(tmp_path / "t.csv"), dialect=Dialect(decimal="comma"))
    with pytest.raises(ValueError, match=r"no column of numbers with a decimal comma.* \(it has '1\.5'\)"):
        Training(source, Plan(["y"], settings=small)).run()
