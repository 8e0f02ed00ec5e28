import csv
import io

import pytest

import ggln as package


@pytest.fixture
def model(ggln, sales, quick):
    assert ggln("fit", sales(), "--target", "price", *quick)[0] == 0
    return "model.ggln"


def table_of(output):
    return list(csv.DictReader(io.StringIO(output)))


def test_effects_of_each_row(ggln, model, tmp_path):
    code, output, _ = ggln("explain", model, "sales.csv", "--rows", "2", "--top", "3")
    assert code == 0
    rows = table_of(output)
    assert [row["row"] for row in rows] == ["1"] * 3 + ["2"] * 3
    assert rows[0]["column"] == "area"  # which matters most
    assert all(
        float(row["effect"])
        == pytest.approx(float(row["through_values"]) + float(row["through_gates"]), abs=1e-2)
        for row in rows
    )


def test_contributions_add_up(ggln, model):
    code, output, _ = ggln("explain", model, "sales.csv", "--rows", "1", "--contributions")
    rows = table_of(output)
    assert code == 0
    assert sum(float(row["contribution"]) for row in rows) == pytest.approx(
        float(rows[0]["prediction"]), rel=1e-3
    )


def test_importance_over_rows_to_a_file(ggln, model, tmp_path):
    code, output, _ = ggln("explain", model, "sales.csv", "--importance", "-o", "why.csv")
    assert (code, output) == (0, "")
    rows = table_of((tmp_path / "why.csv").read_text())
    assert rows[0]["column"] == "area"
    assert {row["column"] for row in rows} == set(package.load(tmp_path / model).schema_.groups())


@pytest.mark.parametrize(
    "kind",
    [
        *("calibration", "quantiles", "pit", "intervals", "band", "neurons", "gating"),
        *("effects", "contributions", "importance", "prequential"),
    ],
)
def test_pictures(kind, ggln, model, tmp_path):
    code, output, said = ggln("plot", model, "sales.csv", "--kind", kind, "--rows", "30", "--feature", "area")
    if kind in ("effects", "contributions"):
        code, output, said = ggln("plot", model, "sales.csv", "--kind", kind)
    assert code == 0, said
    assert f"The plot is in {kind}.png" in output
    assert (tmp_path / f"{kind}.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "--kind", "nothing"], "--kind"),
        (["plot", "-o", "picture"], "is no name of a picture"),
        (["plot", "-o", "no/picture.png"], "there is no folder"),
        (["plot", "--kind", "band", "--feature", "aria"], "did you mean 'area'?"),
        (["plot", "--target", "prise"], "did you mean 'price'?"),
        (["explain", "--importance", "--contributions"], "exclude each other"),
    ],
)
def test_errors(arguments, message, ggln, model):
    command, *options = arguments
    code, _, said = ggln(command, model, "sales.csv", *options)
    assert code == 2
    assert message in said
