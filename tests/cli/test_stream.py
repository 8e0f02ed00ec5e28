import signal
import time

import numpy as np
import pytest

import ggln as package


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_row_is_answered_before_the_next_one_comes(ggln, start, sales, quick, tmp_path):
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
    assert (
        "Interrupted: predicted 22 rows and learnt 21, left out 1 that cannot be read; the model is in"
        in said
    )
    assert package.load(tmp_path / "live.ggln").regressor_.learner_.rows == 21

    # the same rows at once, in two runs: the same answers, bit for bit, and a run that goes on
    _, output, _ = ggln("stream", "-t", "price", "-m", "other.ggln", *quick, stdin=joined(lines[:15]))
    rest = [lines[0], *lines[15:21], "60,Oslo", lines[21]]
    code, more, said = ggln("stream", "-m", "other.ggln", "--on-error", "stop", stdin=joined(rest))
    assert [f"{line}\n" for line in [*output.splitlines()[1:], *more.splitlines()[1:]]] == answers
    assert code == 2
    assert "standard input, row 7: it has 2 cells, not 4" in said
    assert package.load(tmp_path / "other.ggln").regressor_.learner_.rows == 20  # nothing learnt is lost


def joined(lines):
    return "".join(f"{line}\n" for line in lines)


def test_stream_goes_on_with_a_fitted_model(ggln, sales, quick, tmp_path):
    assert ggln("fit", sales(), "--target", "price", *quick)[0] == 0
    rows = package.load(tmp_path / "model.ggln").regressor_.learner_.rows
    given = (tmp_path / "sales.csv").read_text()
    options = ["--model", "model.ggln", "--quantiles", "0.5", "--output-format", "jsonl"]
    code, output, said = ggln("stream", *options, stdin=given)
    assert code == 0, said
    assert output.count('"price_q0.5"') == 120
    assert package.load(tmp_path / "model.ggln").regressor_.learner_.rows == 2 * rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "prise"], "no target column 'prise'"),
        ([], "name the column to predict with --target"),
        (["--model", "model.ggln", "--target", "age"], "predicts price, not age"),
        (["--model", "model.ggln", "--drop", "age"], "goes on as it is"),
        (["--target", "price", "--quantiles", "0"], "levels between 0 and 1"),
        (["--target", "price", "--format", "parquet"], "--format"),
        (["--target", "price", "--model", "new.csv"], "is the name of a table"),
    ],
)
def test_errors(arguments, message, ggln, sales, quick, tmp_path):
    assert ggln("fit", sales(20), "--target", "price", *quick)[0] == 0
    code, _, said = ggln("stream", *arguments, stdin=(tmp_path / "sales.csv").read_text())
    assert code == 2
    assert message in said


def test_streams_without_rows(ggln):
    assert ggln("stream", "--target", "y") == (
        2,
        "",
        "ggln: standard input is empty: a table needs a line of column names and rows below it\n",
    )
    assert ggln("stream", "--target", "y", stdin="x,y\n") == (2, "", "ggln: standard input has no rows\n")


def test_answers_are_better_than_the_mean(ggln, sales, quick, tmp_path):
    _, output, _ = ggln("stream", "--target", "price", *quick, stdin=(tmp_path / sales(600)).read_text())
    first, second, *others = output.splitlines()[1:]
    assert first.endswith(",,")  # no target was seen yet
    assert second.endswith(",,")  # and one has no spread
    answers = np.array([line.split(",")[2:] for line in others], float)
    late = answers[300:]
    assert np.mean((late[:, 2] - late[:, 1]) ** 2) < 0.3 * late[:, 1].var()


def test_it_stops_when_nobody_reads(start, sales, quick, tmp_path):
    lines = (tmp_path / sales(40)).read_text().splitlines()
    process = start("stream", "--target", "price", "--model", "live.ggln", *quick)
    process.stdin.write(joined(lines[:11]))
    process.stdin.flush()
    for _ in lines[:11]:
        process.stdout.readline()
    process.stdout.close()
    assert process.wait(120) == -signal.SIGPIPE  # without waiting for another row, which nobody would hear of
    assert "Predicted 10 rows and learnt 10" in process.stderr.read()
    assert package.load(tmp_path / "live.ggln").regressor_.learner_.rows == 10


def test_a_stream_of_which_nothing_can_be_read_is_an_error(ggln, tmp_path):
    code, _, said = ggln("stream", "--target", "y", "--model", "m.ggln", stdin="x,y\n1,a\n2,b\n")
    assert code == 2
    assert "none of the rows could be read: is a column a --category, or one to --drop?" in said
    assert not (tmp_path / "m.ggln").exists()


def test_columns_are_what_their_first_values_are(ggln, quick):
    rows = joined(["city,x,y", ",1,2", *(f"Oslo,{i},{i}" for i in range(30))])
    code, output, said = ggln("stream", "--target", "y", *quick, stdin=rows)
    assert (code, output.count("\n")) == (0, 32)
    assert said == "Predicted 31 rows and learnt 31\n"


def test_a_first_value_that_misleads_is_spoken_of(ggln, quick):
    names = ["A1", "12", "B7"]  # codes, of which some are numbers
    rows = [f"{'-' if i == 0 else i / 10},{names[i % 3]},{i}" for i in range(60)]
    said = ggln("stream", "--target", "y", *quick, stdin=joined(["x,code,y", *rows]))[2]
    assert "column 'x' begins with '-' and was taken for names, but 49 of its first 50 values are" in said
    assert "'code'" not in said
    assert (
        "begins"
        not in ggln("stream", "-t", "y", "--category", "x", *quick, stdin=joined(["x,code,y", *rows]))[2]
    )


def test_faults_of_one_kind_do_not_hide_another(ggln, quick):
    bad = ["4,abc", *(f"{i},1,2" for i in range(20)), "a,3"]
    lines = joined(["x,y", "1,2", "2,3", *bad])
    code, _, said = ggln("stream", "--target", "y", "--max-rejected", "100%", *quick, stdin=lines)
    assert code == 0
    assert "row 4: it has 3 cells" in said
    assert "row 24: 'x' is 'a', which is not a number: left out" in said
    assert "left out 22 that cannot be read" in said


def test_first_rows_with_a_gap_are_spoken_of_and_not_for_ever(ggln, quick):
    gaps = [f",{i},{i}" for i in range(10)]
    rows = joined(["city,x,y", *gaps, *(f"Oslo,{i},{i}" for i in range(120))])
    code, output, said = ggln("stream", "--target", "y", "--max-rejected", "1", *quick, stdin=rows)
    assert (code, output.count("\n")) == (0, 11)
    assert "row 11: 'city' is 'Oslo', but the first rows had no value there" in said
    assert "--category city" in said
    assert said.count("left out") == 8  # five one by one, the 10th, the 100th, and all of them
    assert "the 100th row" in said
    assert "Predicted 10 rows and learnt 10, left out 120 that cannot be read" in said
    code, output, said = ggln("stream", "--target", "y", "--category", "city", *quick, stdin=rows)
    assert (code, output.count("\n")) == (0, 131)


def test_a_file_where_standard_input_is_read(ggln, sales, quick):
    code, _, said = ggln("stream", sales(), "--target", "price", *quick)
    assert code == 2
    assert "reads rows as they come from standard input: say < sales.csv instead" in said


def test_an_interruption_before_the_first_row(ggln, monkeypatch):
    def stop(waiting, _):
        waiting.stopped = True
        return False

    monkeypatch.setattr("ggln.cli.stream.Waiting.__call__", stop)
    code, output, said = ggln("stream", "--target", "y", "--model", "live.ggln")
    assert (code, output, said) == (0, "", "Interrupted before the first row\n")
