import signal
import time

import numpy as np
import pytest

import ggln as package
from ggln.cli.stream import Waiting


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_row_is_answered_before_the_next_one_comes(start, sales, quick, tmp_path):
    lines = (tmp_path / sales(40)).read_text().splitlines()
    process = start("stream", "--target", "price", "--model", "live.ggln", "--save-every", "0.2", *quick)
    process.stdin.write(lines[0] + "\n")
    answers = []
    for line in lines[1:21]:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        if not answers:
            assert process.stdout.readline() == "area,city,age,price,price_mean,price_std\n"
        answers.append(process.stdout.readline())
        assert answers[-1].startswith(line + ",")
    # a row without a target is predicted, and not learnt; one that cannot be read is reported and skipped
    process.stdin.write("50,Rome,3,\nhuge,Rome,4,5\n60,Oslo,5,300\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("50,Rome,3,,")
    assert process.stdout.readline().startswith("60,Oslo,5,300,")
    wait_for((tmp_path / "live.ggln").exists)  # saved while nothing comes
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    assert process.wait() == 0
    assert "row 22: 'area' is 'huge', which is not a number: left out" in said
    assert "Predicted 22 rows and learnt 21; the model is in live.ggln" in said
    assert package.load(tmp_path / "live.ggln").regressor.learner_.rows == 21

    # the same rows at once, in two runs: the same answers, bit for bit, and a run that goes on
    first = start("stream", "-t", "price", "-m", "other.ggln", *quick)
    output, _ = first.communicate("\n".join(lines[:15]) + "\n")
    second = start("stream", "-m", "other.ggln", "--on-error", "stop")
    rest, said = second.communicate("\n".join([lines[0], *lines[15:21], "60,Oslo", lines[21]]) + "\n")
    assert [f"{line}\n" for line in [*output.splitlines()[1:], *rest.splitlines()[1:]]] == answers
    assert second.returncode == 2
    assert "standard input, row 7: it has 2 cells, not 4" in said
    assert package.load(tmp_path / "other.ggln").regressor.learner_.rows == 20  # nothing learnt is lost


def test_stream_goes_on_with_a_fitted_model(ggln, start, sales, quick, tmp_path):
    assert ggln("fit", sales(), "--target", "price", *quick)[0] == 0
    model = package.load(tmp_path / "model.ggln")
    process = start("stream", "--model", "model.ggln", "--quantiles", "0.5", "--output-format", "jsonl")
    output, said = process.communicate((tmp_path / "sales.csv").read_text())
    assert process.returncode == 0, said
    assert output.count('"price_q0.5"') == 120
    rows = model.regressor.learner_.rows
    assert package.load(tmp_path / "model.ggln").regressor.learner_.rows == 2 * rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "prise"], "no target column 'prise'"),
        ([], "name the column to predict with --target"),
        (["--model", "model.ggln", "--target", "age"], "predicts price, not age"),
        (["--model", "model.ggln", "--drop", "age"], "gone on with as it is"),
        (["--target", "price", "--quantiles", "0"], "levels between 0 and 1"),
        (["--target", "price", "--format", "parquet"], "--format"),
    ],
)
def test_errors(arguments, message, ggln, sales, quick, tmp_path, monkeypatch):
    assert ggln("fit", sales(20), "--target", "price", *quick)[0] == 0
    monkeypatch.setattr(Waiting, "__call__", lambda *_: True)
    with (tmp_path / "sales.csv").open() as file:
        monkeypatch.setattr("os.read", lambda *_: file.read().encode())
        monkeypatch.setattr("ggln.tables.read.Source.__init__", source_without_descriptor)
        code, _, said = ggln("stream", *arguments)
    assert code == 2
    assert message in said


def source_without_descriptor(self, stream, wait=None):
    """Read standard input as the test gives it, which no system call could."""
    import os

    self.stream, self.wait, self.ahead = type("Pipe", (), {"read1": lambda _, n: os.read(0, n)})(), None, b""


def test_answers_are_better_than_the_mean(start, sales, quick, tmp_path):
    process = start("stream", "--target", "price", *quick)
    output, _ = process.communicate((tmp_path / sales(600)).read_text())
    answers = np.array([line.split(",")[2:] for line in output.splitlines()[1:]], float)
    late = answers[300:]
    assert np.mean((late[:, 2] - late[:, 1]) ** 2) < 0.3 * late[:, 1].var()
