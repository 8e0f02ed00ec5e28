import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.tables.columns import Category, Date, Number, from_json, to_json
from ggln.tables.infer import LEVELS, infer, infer_stream
from ggln.tables.read import Chunk, OpenTable
from ggln.tables.schema import Schema


def table_of(columns):
    return OpenTable("the table", list(columns), iter(()), lambda: True)


def decide(columns, targets=("y",), drop=(), categories=()):
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return infer(table_of(columns), rows, list(targets), drop, categories)


def column(texts, **options):
    schema, remarks, _ = decide({"a": texts, "x": ["1"] * len(texts), "y": ["1"] * len(texts)}, **options)
    return schema.columns[0] if not remarks else remarks[0]


def test_kinds():
    assert column(["1", "-2.5e3", " 7 "]) == Number("a", 1.0, False, range=(-2500.0, 7.0), style="point")
    assert column(["yes", "No", "TRUE"]).kind == "boolean"
    assert column(["2024-01-31", "2024-02-01"]) == Date(
        "a", 19753.5, False, range=(19753.0, 19754.0), clock=False
    )
    assert column(["2024-01-31T12:00", "2024-02-01 00:00:00Z"]).clock
    assert column(["b", "a", "b"]) == Category("a", ["b", "a"])
    assert column(["1", "2"], categories=["a"]) == Category("a", ["1", "2"])
    assert column(["1_000", "2_000", "1_000"]).kind == "category"


def test_a_missing_number_becomes_the_median_and_is_said_to_be_missing():
    found = column(["1", "NA", "5", "", "9"])
    assert found.features() == ["a", "a is missing"]
    features, bad = found.encode(["7", "?", "nan"])
    assert features.tolist() == [[7, 0], [5, 1], [5, 1]]
    assert not bad


def test_numbers_that_cannot_be_learnt_say_nothing_about_a_column():
    """Their rows are left out; a range without an end would be in no file that loads."""
    found = column([*map(str, range(40)), "1e400", "-inf"])
    assert found == Number("a", 19.5, range=(0.0, 39.0), style="point")
    assert set(found.encode(["3", "1e400", "-inf"])[1]) == {1, 2}
    assert column(["inf"] * 5).kind == "category"


def test_a_number_of_thousands_of_digits_counts_nothing():
    assert column(["9" * 5000, *map(str, range(40))]).kind == "number"


def test_categories_have_an_order_and_a_bound():
    texts = [f"v{i}" for i in range(LEVELS + 5) for _ in range(LEVELS + 6 - i)] + ["", "None"]
    found = column(texts)
    assert found.levels == [*(f"v{i}" for i in range(LEVELS)), "(missing)"]
    features, _ = found.encode(["v0", "v24", "unheard of", ""])
    assert features.sum(axis=1).tolist() == [1, 0, 0, 1]
    assert found.levels == column(texts[::-1]).levels


def test_columns_that_say_nothing_are_left_out():
    assert "no row has a value there" in column(["", "NA", "null"])
    assert "nearly every row" in column([f"id {i}" for i in range(50)])
    assert column(["Oslo"] * 50).kind == "category"


def test_one_slip_does_not_turn_numbers_into_names():
    found = column([*map(str, range(99)), "oops"])
    assert found.kind == "number"
    _, bad = found.encode(["1", "oops", "1e999", "1e101"])
    assert bad[1] == "'a' is 'oops', which is not a number"
    assert sorted(bad) == [1, 2, 3]


def test_dates_turn_with_the_year_the_week_and_the_day():
    found = column(["2024-01-01T06:00", "2024-06-01T00:00"])
    features, bad = found.encode(["2024-01-01T06:00", "2024-01-08T18:00", "31.1.2024"])
    names = found.features()
    week, day = names.index("a, sine of the week"), names.index("a, sine of the day")
    assert features[0, day] == pytest.approx(1.0)
    assert features[1, day] == pytest.approx(-1.0)
    later, _ = found.encode(["2024-01-15T06:00", "2024-01-04T18:00"])
    assert later[0, week] == pytest.approx(features[0, week], abs=1e-6)
    assert later[1, week] == pytest.approx(-features[0, week], abs=1e-6)
    assert "not a date such as 2024-12-31" in bad[2]


def test_all_columns_of_a_table():
    columns = {"y": ["1", "2"], "id": ["1", "2"], "x": ["3", "4"]}
    schema, *_ = decide(columns, drop=["id"])
    assert schema.features() == ["x"]
    encoder = schema.bind(table_of({"z": [], "x": [], "y": []}), targets=True)
    encoded = encoder(Chunk([5, 6, 7], [["", "3", "1"], ["", "4", ""], ["", "?", "no"]], []))
    assert encoded.X.tolist() == [[3], [4]]
    assert encoded.numbers == [5, 6]
    assert encoded.Y[0] == 1
    assert np.isnan(encoded.Y[1])
    assert str(encoded.bad[0]) == "row 7: 'y' is 'no', which is not a number"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": ["z"]}, "no target column 'z'"),
        ({"drop": ["z"]}, "no column 'z'"),
        ({"categories": ["z"]}, "no column 'z'"),
        ({"drop": ["x"]}, "no column to predict y from"),
    ],
)
def test_names_that_are_not_there(options, message):
    with pytest.raises(ValueError, match=message):
        decide({"x": ["1"], "y": ["2"]}, **options)


def test_a_schema_survives_json():
    kinds = [Number("a", 2.0, True), Date("d", 3.0, clock=True), Category("c", ["x", "\udcff"], 5)]
    for kind in kinds:
        assert from_json(json.loads(json.dumps(to_json(kind)))) == kind
    schema = Schema(kinds, ["y"])
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


CELLS = st.sampled_from(["1", "2.5", "", "NA", "x", "1e200", "-3"])


@given(st.lists(st.tuples(CELLS, st.sampled_from("abcdefghijkl"), CELLS), min_size=1, max_size=30), st.data())
def test_features_of_a_stream_do_not_depend_on_how_it_is_cut(rows, data):
    table = table_of("abc")
    rows = [list(row) for row in rows]

    def encode(cuts):
        encoder = infer_stream(table, ["1", "a", "1"], ["c"], [], []).bind(table, targets=True)
        pieces = [
            encoder(Chunk(list(range(a, b)), rows[a:b], []))
            for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)
        ]
        X, Y = np.concatenate([piece.X for piece in pieces]), np.concatenate([piece.Y for piece in pieces])
        return X, Y, [bad for piece in pieces for bad in piece.bad], encoder.schema.columns

    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)))))
    whole, cut = encode([]), encode(cuts)
    assert np.array_equal(whole[0], cut[0])
    assert np.array_equal(whole[1], cut[1], equal_nan=True)
    assert whole[2:] == cut[2:]


def test_a_stream_carries_the_last_value_on_and_gives_new_values_their_places():
    table = table_of(["a", "c", "y"])
    schema = infer_stream(table, ["", "x", "1"], ["y"], [], [])
    rows = [["", "x", "1"], ["5", "z", "1"], ["", "x", "1"], ["6", *["w", "1"]]]
    encoded = schema.bind(table, targets=True)(Chunk([1, 2, 3, 4], rows, []))
    assert encoded.X[:, 0].tolist() == [0, 5, 5, 6]
    assert schema.columns[1].levels == ["x", "z", "w"]
    assert encoded.X.shape[1] == 1 + 8
