import csv
import io
from pathlib import Path

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
    features = {"band": ["area"], "neurons": ["area"], "gating": ["area", "city = Oslo"]}.get(kind, [])
    named = [part for name in features for part in ("--feature", name)]
    rows = [] if kind in ("effects", "contributions") else ["--rows", "30"]
    code, output, said = ggln("plot", model, "sales.csv", "--kind", kind, *rows, *named)
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
        (["plot", "--feature", "area"], "calibration is a picture of all columns: --feature is for band, n"),
        (
            ["plot", "-k", "band"],
            "along the axis as --feature, got none: there are area, city",
        ),
        (["plot", "-k", "neurons", "--feature", "city"], "'city' has no order to draw neurons along"),
        (
            ["plot", "-k", "gating", "--feature", "area"],
            "gating needs two columns, one for each axis",
        ),
        (["plot", "-k", "band", "--feature", "area", "--feature", "age"], "as --feature, got 2"),
        (["plot", "-k", "contributions", "--rows", "5"], "is a picture of a single row, the first one"),
        (["plot", "-k", "effects", "--rows", "5"], "is a picture of a single row, the first one"),
        (["plot", "-k", "importance", "--rows", "1"], "importance is taken over several rows, got 1"),
        (["explain", "--importance", "--contributions"], "exclude each other"),
    ],
)
def test_errors(arguments, message, ggln, model):
    command, *options = arguments
    code, _, said = ggln(command, model, "sales.csv", *options)
    assert code == 2
    assert message in said


def test_one_target_of_several(ggln, sales, quick):
    assert ggln("fit", sales(), "-t", "price", "-t", "age", "-o", "two.ggln", *quick)[0] == 0
    code, _, said = ggln("plot", "two.ggln", "sales.csv")
    assert code == 2
    assert "calibration is a picture of one target: name it with --target, one of price, age" in said
    assert ggln("plot", "two.ggln", "sales.csv", "--target", "age")[0] == 0
    code, _, said = ggln("plot", "two.ggln", "sales.csv", "-k", "prequential", "--target", "age")
    assert code == 2
    assert "prequential is a picture of all targets together: leave out --target" in said
    assert ggln("plot", "two.ggln", "sales.csv", "-k", "prequential")[0] == 0


def test_effects_of_a_model_that_learnt_a_stream(ggln, sales, quick):
    rows = sales()
    stream = "stream", "-t", "price", *quick
    keeping = *stream, "--set", "base_model=auto", "-m", "keeps.ggln"
    assert ggln(*keeping, stdin=Path(rows).read_text())[0] == 0
    assert ggln("plot", "keeps.ggln", rows, "-k", "effects")[0] == 0  # against rows of its regression
    assert ggln(*stream, "-m", "live.ggln", stdin=Path(rows).read_text())[0] == 0
    code, _, said = ggln("plot", "live.ggln", rows, "-k", "effects")
    assert code == 2
    assert "keeps no other values to compare with: take several rows at once with --rows" in said
    assert ggln("plot", "live.ggln", rows, "-k", "effects", "--rows", "20")[0] == 0
