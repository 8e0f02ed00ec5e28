import csv
import os
import subprocess
import sys

import numpy as np
import pytest

from ggln import cli

SMALL = ["layer_sizes=(4, 4)", "context_dim=2", "n_estimators=2", "epochs=1", "base_model=feature", "folds=0"]
QUICK = [part for setting in SMALL for part in ("--set", setting)]
"""Networks that learn thousands of rows in no time."""

COMMAND = [sys.executable, "-c", "from ggln.cli import run; run()"]


@pytest.fixture
def quick():
    return list(QUICK)


@pytest.fixture
def ggln(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own; return its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=""):
        (tmp_path / ".stdin").write_bytes(stdin if isinstance(stdin, bytes) else stdin.encode())
        capsys.readouterr()
        with (tmp_path / ".stdin").open() as file:
            monkeypatch.setattr("sys.stdin", file)
            monkeypatch.setattr("sys.argv", ["ggln", *map(str, arguments)])
            with pytest.raises(SystemExit) as end:
                cli.run()
        (tmp_path / ".stdin").unlink()
        return end.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def start(tmp_path):
    """Start a command as a process of its own in the same folder."""
    started = []

    def begin(*arguments, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [*COMMAND, *map(str, arguments)]
        started.append(subprocess.Popen(command, cwd=tmp_path, env=os.environ, text=True, **pipes))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def sales(tmp_path):
    """A table with three columns and a target: its file, given the number of rows."""

    def make(rows=120, name="sales.csv"):
        random = np.random.default_rng(0)
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["area", "city", "age", "price"])
            for _ in range(rows):
                area, age = random.uniform(20, 200), random.integers(0, 100)
                city = random.choice(["Oslo", "Rome"])
                price = 5 * area + 100 * (city == "Rome") + random.normal()
                writer.writerow([f"{area:.3f}", city, age, f"{price:.3f}"])
        return name

    return make
