"""A signal ends a command with a word, and nothing that was learnt is lost."""

import os
import re
import signal
import time

import pytest

import ggln as package
from ggln import cli

ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def heard():
    """Signals are heard, however these tests were started."""
    for number in ENDS:
        signal.signal(number, signal.SIG_DFL)


def wait_for(condition, seconds=240):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_dropped_connection_does_not_lose_the_model_of_a_stream(start, sales, quick, tmp_path):
    lines = (tmp_path / sales(10)).read_text()
    options = ["--target", "price", "--model", "live.ggln", *quick]
    process = start("stream", *options, preexec_fn=heard)
    process.stdin.write(lines)
    process.stdin.flush()
    for _ in range(11):
        process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    said = process.stderr.read()
    assert process.wait() == 0
    assert "Interrupted: predicted 10 rows and learnt 10; the model is in live.ggln" in said
    assert package.load(tmp_path / "live.ggln").regressor_.learner_.rows == 10


def test_a_stream_under_nohup_outlives_the_terminal(start, sales, quick, tmp_path):
    lines = (tmp_path / sales(10)).read_text()
    process = start(
        "stream",
        "--target",
        "price",
        *quick,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    process.stdin.write(lines)
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    process.stdin.close()
    process.stdin = None
    assert "Predicted 10 rows and learnt 10" in process.communicate()[1]
    assert process.returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize("number", ENDS)
def test_a_fit_that_is_ended_goes_on_after_its_last_row(number, start, sales, quick, tmp_path):
    command = ["fit", sales(20_000), "--target", "price", "--in-memory", "100", *quick]
    resumable = [*command, "--checkpoint", "1000", "-o", "model.ggln"]
    process = start(*resumable, preexec_fn=heard)
    checkpoint = tmp_path / "model.ggln.checkpoint"
    wait_for(lambda: checkpoint.exists() or process.poll() is not None)  # that of the rows fitted together
    time.sleep(0.3)
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == 128 + number
    assert "What was learnt is in model.ggln.checkpoint: the same command goes on from there" in said
    assert said.splitlines()[-1].startswith("ggln: ")
    process = start(*resumable)
    said = process.communicate()[1]
    assert process.returncode == 0
    row = re.search(r"Going on after row ([\d,]+),", said)[1]
    assert (
        int(row.replace(",", "")) > 0
    )  # rows beyond those fitted together, though the next checkpoint was 1000 s away
    assert package.load(tmp_path / "model.ggln").regressor_.learner_.rows == 20_000


def test_a_fit_without_checkpoints_says_that_nothing_was_saved(start, sales, quick):
    process = start("fit", "-", "--target", "price", *quick, preexec_fn=heard)
    process.stdin.write("area,city,age,price\n")
    process.stdin.flush()
    time.sleep(3.0)  # it waits for rows
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert said.splitlines()[-1] == "ggln: ended by a signal (SIGTERM)"


def test_a_signal_that_becomes_another_error_is_still_a_signal(monkeypatch, capsys):
    def swallows(**_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5.0)
        except BaseException as error:  # as libraries do while they are imported
            raise ValueError("a module could not be loaded") from error

    monkeypatch.setattr(cli, "app", swallows)
    with pytest.raises(SystemExit) as end:
        cli.run()
    assert end.value.code == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "ggln: ended by a signal (SIGTERM)\n"
