import signal
import time

import pytest

import ggln as package


def test_fit_says_what_it_did_and_scores_what_it_held_out(ggln, sales, quick, tmp_path):
    code, output, said = ggln("fit", sales(), "--target", "price", "--validate", "0.2", *quick)
    assert code == 0, said
    assert "price from 3 columns, as 4 features" in said
    assert "Numbers: area, age; Categories: city" in said
    assert "The model is in model.ggln" in said
    for name in ("RMSE", "NLL", "CRPS", "90 %", "held out"):
        assert name in output
    assert package.load(tmp_path / "model.ggln").targets == ["price"]


def test_fit_is_quiet_and_the_same_each_time(ggln, sales, quick, tmp_path):
    for name in ("a", "b"):
        code, output, said = ggln("fit", sales(), "-t", "price", "-o", name, *quick)
        assert (code, output) == (0, "")
        assert "rows/s" not in said  # no bar where there is no terminal
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_several_targets_from_a_pipe(ggln, sales, quick, tmp_path):
    rows = (tmp_path / sales()).read_text()
    code, output, said = ggln("fit", "--target", "price,age", "--validate", "0.3", *quick, stdin=rows)
    assert code == 0, said
    assert package.load(tmp_path / "model.ggln").targets == ["price", "age"]
    assert all(name in output for name in ("price", "age"))


@pytest.mark.nightly
def test_after_a_kill_the_same_command_ends_with_the_same_model(ggln, start, sales, quick, tmp_path):
    command = ["fit", sales(6_000), "--target", "price", "--in-memory", "100", *quick]
    # The process that compiles kernels may round otherwise than those that take them from the cache: all that
    # is compared comes from other processes than this one.
    assert ggln(*command, "-o", "first")[0] == 0
    assert start(*command, "-o", "whole").wait() == 0
    resumable = [*command, "-o", "resumed", "--checkpoint", "0"]
    process = start(*resumable)
    checkpoint = tmp_path / "resumed.checkpoint"
    first, deadline = None, time.monotonic() + 300
    while True:  # until it was written twice: rows beyond the sample are in it
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        if checkpoint.exists():
            written = checkpoint.stat().st_ino
            first = first or written
            if written != first:
                break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "resumed").exists()
    process = start(*resumable)
    said = process.communicate()[1]
    assert process.returncode == 0
    assert "Going on after row" in (said if isinstance(said, str) else said.decode())
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not checkpoint.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv", "-t", "price"], "there is no file nothing.csv"),
        (["sales.csv"], "name the column to predict with --target"),
        (["sales.csv", "-t", "prise"], "no target column 'prise': did you mean 'price'?"),
        (["sales.csv", "-t", "city"], "the target 'city' of sales.csv is no column of numbers"),
        (["sales.csv", "-t", "price", "-t", "price"], "--target names a column twice"),
        (["sales.csv", "-t", "price", "--drop", "agee"], "did you mean 'age'?"),
        (["sales.csv", "-t", "price", "--drop", "price"], "'price' is to be predicted"),
        (["sales.csv", "-t", "price", "-o", "no/model"], "there is no folder"),
        (["sales.csv", "-t", "price", "-o", "."], "is a folder"),
        (["sales.csv", "-t", "price", "--set", "epoch=3"], "did you mean 'epochs'?"),
        (["sales.csv", "-t", "price", "--set", "epochs"], "--set needs NAME=VALUE"),
        (["sales.csv", "-t", "price", "--set", "epochs=-1"], "epochs"),
        (["sales.csv", "-t", "price", "--set", "layer_sizes=5"], "layer_sizes"),
        (["sales.csv", "-t", "price", "--n-jobs", "0"], "--n-jobs must be at least 1"),
        (["sales.csv", "-t", "price", "--seed", "-1"], "--seed"),
        (["sales.csv", "-t", "price", "--validate", "2"], "--validate"),
        (["empty.csv", "-t", "price"], "empty.csv is empty"),
        (["header.csv", "-t", "price"], "header.csv has no rows"),
        (["comma.csv", "-t", "price, net"], "is put into quotation marks, '\"price, net\"'"),
        (["book.xlsx", "-t", "price"], "a spreadsheet or a zip archive: save it as CSV"),
        (["all.json", "-t", "price"], "Each line has to hold one, without brackets"),
        (["sales.csv", "-t", "price", "-o", "/dev/null"], "is no ordinary file, and would be lost"),
    ],
)
def test_errors_are_one_sentence_and_exit_code_2(arguments, message, ggln, sales, tmp_path):
    sales()
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("price,x\n")
    (tmp_path / "comma.csv").write_text('"price, net",x\n1,2\n')
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "all.json").write_text('[{"price": 1, "x": 2}]')
    code, _, said = ggln("fit", *arguments)
    assert code == 2
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "model.ggln").exists()


def test_names_with_commas_are_quoted(ggln, quick, tmp_path):
    lines = [f"{i % 7},{i % 5}" for i in range(30)]
    (tmp_path / "comma.csv").write_text("\n".join(['"price, net",x', *lines, ""]))
    assert ggln("fit", "comma.csv", "-t", '"price, net"', *quick)[0] == 0
    assert package.load(tmp_path / "model.ggln").targets == ["price, net"]


def test_a_model_is_kept_where_no_row_could_be_held_out(ggln, sales, quick, tmp_path):
    code, _, said = ggln("fit", sales(20), "-t", "price", "--validate", "0.001", *quick)
    assert code == 2
    assert "no row was held out to compute scores with" in said
    assert package.load(tmp_path / "model.ggln").regressor_.learner_.rows == 20
