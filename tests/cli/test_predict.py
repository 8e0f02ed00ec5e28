import csv
import io
import json
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import ggln as package
from ggln.tables.write import Convention, open_writer


@pytest.fixture
def model(ggln, sales, quick):
    assert ggln("fit", sales(), "--target", "price", *quick)[0] == 0
    return "model.ggln"


def test_predictions_stand_beside_the_columns(ggln, model, sales, tmp_path):
    code, output, _ = ggln("predict", model, "sales.csv", "--quantiles", "0.05,0.95")
    assert code == 0
    frame = pd.read_csv(io.StringIO(output))
    given = pd.read_csv(tmp_path / "sales.csv")
    added = ["price_mean", "price_std", "price_q0.05", "price_q0.95"]
    assert list(frame.columns) == [*given.columns, *added]
    assert frame[given.columns].equals(given)
    distribution = package.load(tmp_path / model).predict_dist(given)
    expected = np.column_stack([distribution.mean, distribution.std, *distribution.quantile([0.05, 0.95])])
    assert np.allclose(frame[added], expected, rtol=1e-5)


def test_a_pipe_gives_what_a_file_gives(ggln, model, tmp_path):
    _, output, _ = ggln("predict", model, "sales.csv")
    code, piped, _ = ggln("predict", model, stdin=(tmp_path / "sales.csv").read_text())
    assert code == 0
    assert piped == output


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_formats_of_the_output(form, ggln, model, tmp_path):
    code, output, said = ggln("predict", model, "sales.csv", "-o", f"out.{form}")
    assert (code, output) == (0, "")
    assert "Wrote 120 predictions to out." in said
    read = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "jsonl": lambda path: pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()]),
        "parquet": pd.read_parquet,
    }[form]
    frame, given = read(tmp_path / f"out.{form}"), pd.read_csv(tmp_path / "sales.csv")
    assert np.allclose(frame["area"], given["area"])
    assert list(frame["city"]) == list(given["city"])
    assert np.allclose(frame["price_mean"], package.load(tmp_path / model).predict(given))
    assert {path.name for path in tmp_path.glob(".*")} == set()  # nothing unfinished is left


def test_memory_does_not_grow_with_the_table(ggln, model, sales):
    peaks = []
    for rows in (3_000, 30_000):
        sales(rows, f"{rows}.csv")
        tracemalloc.start()
        assert ggln("predict", model, f"{rows}.csv", "-o", "out.csv")[0] == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_closed_pipe_is_no_error(model, sales, tmp_path):
    """It ends as `cat` would there: by the signal, and without a word."""
    sales(5000, "many.csv")
    script = (
        f"{sys.executable} -c 'from ggln.cli import run; run()' predict {model} many.csv | head -n 2; "
        "exit ${PIPESTATUS[0]}"
    )
    result = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 128 + signal.SIGPIPE
    assert result.stdout.count("\n") == 2
    assert result.stderr == ""


def test_unreadable_rows(ggln, model, tmp_path):
    (tmp_path / "new.csv").write_text("city,area,age\nRome,50,3\nRome,big,4\nOslo,60,?\nParis,70,2\n")
    code, output, said = ggln("predict", model, "new.csv")
    assert (code, output) == (2, "")  # no line of names above an error
    assert "new.csv, row 2: 'area' is 'big', which is not a number" in said
    code, output, said = ggln("predict", model, "new.csv", "--on-error", "skip")
    assert code == 0
    assert len(list(csv.reader(io.StringIO(output)))) == 4
    assert "row 2: 'area' is 'big', which is not a number: left out" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.ggln", "sales.csv"], "there is no model file"),
        (["sales.csv", "model.ggln"], "the model comes first, then the table"),
        (["broken.ggln", "sales.csv"], "is not a ggln model file"),
        (["model.ggln", "model.ggln"], "is no table of text"),
        (["python.ggln", "sales.csv"], "saved in Python"),
        (["model.ggln", "other.csv"], "no column 'age'"),
        (["model.ggln", "taken.csv"], "has a column 'price_mean' already"),
        (["model.ggln", "sales.csv", "--quantiles", "5"], "levels between 0 and 1"),
        (["model.ggln", "sales.csv", "--quantiles", "a"], "levels between 0 and 1"),
        (["model.ggln", "sales.csv", "--quantiles", "0.5,0.5"], "names a level twice"),
        (["model.ggln", "sales.csv", "--output-format", "parquet"], "name a file with -o"),
        (["model.ggln", "header.csv"], "has no rows"),
    ],
)
def test_errors(arguments, message, ggln, model, quick, tmp_path):
    plain = package.GGLNRegressor(layer_sizes=(4, 4), n_estimators=1, epochs=1, folds=0, random_state=0)
    plain.fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "python.ggln")
    (tmp_path / "other.csv").write_text("area,city\n1,Rome\n")
    (tmp_path / "header.csv").write_text("area,city,age\n")
    (tmp_path / "broken.ggln").write_text("area,city,age\n")
    (tmp_path / "taken.csv").write_text("area,city,age,price_mean\n1,Rome,3,4\n")
    code, output, said = ggln("predict", *arguments)
    assert (code, output) == (2, "")
    assert message in said


def test_rows_beyond_what_was_learnt_are_spoken_of(ggln, model, tmp_path):
    (tmp_path / "far.csv").write_text("area,city,age\n50,Rome,3\n900,Rome,4\n-900,Rome,5\n")
    code, output, said = ggln("predict", model, "far.csv")
    assert (code, output.count("\n")) == (0, 4)
    assert "2 rows far from what was learnt of 'area' (2" in said
    assert "2 rows with a support below 0.5" in said
    assert "age" not in said
    frame = pd.read_csv(io.StringIO(ggln("predict", model, "far.csv", "--support")[1]))
    assert list(frame.columns[3:]) == ["price_mean", "price_std", "price_support"]
    assert frame["price_support"][0] == 1.0
    assert (frame["price_support"][1:] < 0.5).all()
    assert (frame["price_std"][1:] > 2 * frame["price_std"][0]).all()


def test_categories_are_read_without_blanks_and_unknown_ones_are_spoken_of(ggln, model, tmp_path):
    (tmp_path / "plain.csv").write_text("area,city,age\n50,Rome,3\n")
    (tmp_path / "blanks.csv").write_text("area, city, age\n50, Rome, 3\n")
    plain, blanks = (ggln("predict", model, name) for name in ("plain.csv", "blanks.csv"))
    assert plain[1].splitlines()[1].split(",")[3:] == blanks[1].splitlines()[1].split(",")[3:]
    assert plain[2] == blanks[2] == ""
    (tmp_path / "new.csv").write_text("area,city,age\n50,Paris,3\n60,Rome,4\n")
    code, _, said = ggln("predict", model, "new.csv")
    assert code == 0
    assert "1 row far from what was learnt of 'city' (" in said


def test_nothing_that_is_read_is_written_to(ggln, model, tmp_path):
    before = {name: (tmp_path / name).read_bytes() for name in (model, "sales.csv")}
    for arguments in (
        ("fit", "sales.csv", "--target", "price", "-o", "sales.csv"),
        ("predict", model, "sales.csv", "-o", "sales.csv"),
        ("explain", model, "sales.csv", "-o", model),
        ("explain", model, "sales.csv", "-o", "sales.csv"),
    ):
        code, _, said = ggln(*arguments)
        assert code == 2
        assert "is read as well, and would be lost: name another file for the" in said
    code, _, said = ggln("fit", "sales.csv", "--target", "price", "-o", "other.csv")
    assert code == 2
    assert "is the name of a table: name the model otherwise, such as other.ggln" in said
    assert before == {name: (tmp_path / name).read_bytes() for name in before}


@pytest.mark.parametrize(("terminal", "seen"), [(True, "Ro\\x1b[2Jme"), (False, "Ro\x1b[2Jme")])
def test_a_terminal_shows_cells_and_does_not_obey_them(terminal, seen, monkeypatch):
    class Output(io.TextIOWrapper):
        def isatty(self):
            return terminal

    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", Output(written))
    with open_writer(None, "csv", ["city"], {}, Convention()) as writer:
        writer.write([["Ro\x1b[2Jme"]], np.empty((1, 0)))
    assert written.getvalue().decode() == f"city\n{seen}\n"
