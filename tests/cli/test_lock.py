"""Two processes never learn into one model file."""

import signal

import pytest

import ggln as package
from ggln.cli.lock import locked


def test_the_second_process_is_refused(ggln, start, sales, quick, tmp_path):
    lines = (tmp_path / sales(10)).read_text()
    first = start("stream", "--target", "price", "--model", "live.ggln", *quick)
    first.stdin.write(lines)
    first.stdin.flush()
    for _ in range(11):
        first.stdout.readline()
    for command in (
        ["stream", "--target", "price", "--model", "live.ggln"],
        ["fit", "sales.csv", "--target", "price", "-o", "live.ggln"],
    ):
        code, output, said = ggln(*command, stdin=lines)
        assert (code, output) == (2, "")
        assert said == (
            f"ggln: live.ggln is in use by another ggln (process {first.pid}): wait for it, or name another "
            "file\n"
        )
    first.send_signal(signal.SIGKILL)  # what it held is free, though its file is still there
    first.wait()
    assert (tmp_path / ".live.ggln.lock").exists()
    assert ggln("stream", "--target", "price", "--model", "live.ggln", *quick, stdin=lines)[0] == 0
    assert package.load(tmp_path / "live.ggln").regressor_.learner_.rows == 10
    assert not (tmp_path / ".live.ggln.lock").exists()


def test_a_lock_ends_with_an_error(tmp_path):
    path = tmp_path / "m.ggln"
    with pytest.raises(KeyError), locked(path):
        raise KeyError
    with locked(path), pytest.raises(ValueError, match="in use by another ggln"), locked(path):
        pass
    with locked(path):
        pass
    assert list(tmp_path.iterdir()) == []
