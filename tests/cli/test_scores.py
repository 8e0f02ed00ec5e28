"""`ggln info`, `ggln score` and `ggln report`: what a model is, and how good."""

import csv
import io
import os
import threading
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import ggln as package


@pytest.fixture
def model(ggln, sales, quick):
    assert ggln("fit", sales(), "--target", "price", "--validate", "0.2", *quick)[0] == 0
    return "model.ggln"


def test_info(ggln, model, quick):
    code, output, said = ggln("info", model)
    assert (code, said) == (0, "")
    for words in (
        "model.ggln: predicts price from 3 columns",
        "Learnt 96 rows from a table",
        "n_estimators=2",
        "Oslo",
        "24 rows held out, when 96 rows had been learnt",
        "RMSE",
    ):
        assert words in output
    assert ggln("fit", "sales.csv", "--target", "price", *quick)[0] == 0
    assert "No scores were kept" in ggln("info", model)[1]
    for arguments, words in (
        (["nothing.ggln"], "there is no model file"),
        (["sales.csv"], "not a ggln model"),
    ):
        code, output, said = ggln("info", *arguments)
        assert (code, output) == (2, "")
        assert words in said


def test_models_are_scored_side_by_side(ggln, model, sales, quick, tmp_path):
    assert ggln("fit", "sales.csv", "-t", "price", "--drop", "area", "-o", "blind.ggln", *quick)[0] == 0
    sales(50, "test.csv")
    code, output, said = ggln("score", model, "blind.ggln", "test.csv")
    assert code == 0
    assert "blind.ggln: 50 rows of test.csv" in said
    found = list(csv.DictReader(io.StringIO(output)))
    assert [line["model"] for line in found] == [model, "blind.ggln"]
    given = pd.read_csv(tmp_path / "test.csv")
    distribution = package.load(tmp_path / model).predict_dist(given)
    y = given["price"].to_numpy()
    assert float(found[0]["rmse"]) == pytest.approx(np.sqrt(np.mean((distribution.mean - y) ** 2)), rel=1e-3)
    assert float(found[0]["nll"]) == pytest.approx(-distribution.log_prob(y).mean(), abs=1e-4)
    assert float(found[0]["crps"]) == pytest.approx(distribution.crps(y).mean(), rel=1e-3)
    lower, upper = distribution.interval(0.9)
    assert float(found[0]["coverage_90"]) == pytest.approx(np.mean((lower <= y) & (y <= upper)))
    assert float(found[1]["rmse"]) > 2 * float(found[0]["rmse"])
    assert ggln("score", model, "test.csv", "-o", "scores.csv")[1] == ""
    assert (tmp_path / "scores.csv").read_text() == "\n".join(output.splitlines()[:2]) + "\n"
    piped = ggln("score", model, "-", stdin=(tmp_path / "test.csv").read_text())[1]
    assert piped.splitlines()[1].split(",")[2:] == output.splitlines()[1].split(",")[2:]


def test_a_pipe_that_has_a_name_is_read_whole(ggln, model, sales, tmp_path):
    """As a shell hands it over by <(...)."""
    name = sales(40, "test.csv")
    wanted = ggln("score", model, name)[1]
    os.mkfifo(tmp_path / "pipe")
    text = (tmp_path / name).read_text()
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text(text))
    writer.start()
    code, output, said = ggln("score", model, "pipe")
    writer.join()
    assert (code, output) == (0, wanted.replace(name, "pipe")), said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sales.csv", "sales.csv"], "none of sales.csv, sales.csv is a model file"),
        (["model.ggln"], "Missing argument 'TABLE'"),
        (["model.ggln", "model.ggln"], "name a table after the models"),
        (["model.ggln", "nothing.csv"], "there is no file nothing.csv"),
        (["nothing.ggln", "sales.csv"], "there is no file nothing.ggln"),
        (["model.ggln", "other.csv"], "no target column 'price'"),
        (["model.ggln", "empty.csv"], "has no row with a value of price"),
        (["model.ggln", "bad.csv"], "bad.csv, row 1: 'area' is 'big', which is not a number"),
        (["model.ggln", "model.ggln", "-"], "a pipe can be read once only"),
    ],
)
def test_errors_of_score(arguments, message, ggln, model, tmp_path):
    (tmp_path / "other.csv").write_text("area,city,age\n1,Rome,2\n")
    (tmp_path / "empty.csv").write_text("area,city,age,price\n1,Rome,2,\n")
    (tmp_path / "bad.csv").write_text("area,city,age,price\nbig,Rome,2,3\n")
    code, output, said = ggln("score", *arguments)
    assert (code, output) == (2, "")
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("table",), []),
        (("table", "signs"), {"price": [1]}),
        (("table", "columns", 0), None),
        (("table", "columns", 0, "kind"), "evil"),
        (("table", "columns", 0, "more"), 1),
        (("table", "columns", 0, "name"), "city"),
        (("table", "columns", 0, "range"), [2.0, 1.0]),
        (("table", "columns", 0, "range"), [1.0, 2.0, 3.0]),
        (("table", "columns", 3, "range"), [0.0, 1e9]),  # days
        (("scores", "targets", "price"), {}),
    ],
)
def test_a_file_that_was_edited_is_refused_by_every_command(place, value, ggln, sales, quick, tmp_path):
    table = pd.read_csv(sales()).assign(sold="2024-05-01")
    table.to_csv("dated.csv", index=False)
    fit = ["fit", "dated.csv", "--target", "price", "--validate", "0.2", "--category", "city"]
    assert ggln(*fit, *quick)[0] == 0
    header, arrays = package.persistence.read(tmp_path / "model.ggln")
    inner = header
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    package.persistence.write(tmp_path / "model.ggln", header, arrays)
    tables = [["info"], ["predict", "dated.csv"], ["score", "dated.csv"], ["report", "dated.csv"]]
    for command, *rest in [*tables, ["explain", "dated.csv"], ["plot", "dated.csv"]]:
        code, output, said = ggln(command, "model.ggln", *rest)
        assert (code, output) == (2, "")
        assert said.startswith("ggln: 'model.ggln' holds no model that could be: ")


class Page(HTMLParser):
    """Tags that are open are closed, in order; what it loads is remembered."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sources, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.sources += [found[name] for name in ("src", "href") if name in found]
        if tag not in ("meta", "img"):
            self.open.append(tag)
        assert tag != "script"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_report_stands_alone(ggln, sales, quick, tmp_path):
    text = (tmp_path / sales()).read_text().replace("Rome", "<script>alert(1)</script>")
    (tmp_path / "sales.csv").write_text(text)
    assert ggln("fit", "sales.csv", "--target", "price,age", *quick)[0] == 0
    code, output, said = ggln("report", "model.ggln", "sales.csv", "--errors", "5")
    assert (code, output) == (0, "")
    assert "The report is in report.html" in said
    html = (tmp_path / "report.html").read_text()
    page = Page(html)
    assert page.open == []
    assert len(page.sources) == 4
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert "http://" not in html
    assert "https://" not in html
    words = " ".join(page.words)
    for wanted in (
        "Scores",
        "Calibration of price",
        "What moves age",
        "Largest errors of price",
        "inside 90 %",
    ):
        assert wanted in words
    model, given = package.load(tmp_path / "model.ggln"), pd.read_csv(tmp_path / "sales.csv")
    worst = np.abs(given["price"] - model.predict(given)[:, 0]).to_numpy().argmax() + 1
    assert f"<tr><td>{worst}</td>" in html


def test_errors_of_report(ggln, model, tmp_path):
    assert "is no name of a page" in ggln("report", model, "sales.csv", "-o", "page.png")[2]
    assert "is read as well" in ggln("report", model, "sales.csv", "-o", "sales.csv")[2]
    assert not (tmp_path / "report.html").exists()
