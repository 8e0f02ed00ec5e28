"""The commands of docs/command-line.md, one after the other, in an empty folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ggln import cli

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", PAGE.read_text(), re.DOTALL)
QUICK = [part for setting in ("n_estimators=3", "epochs=2") for part in ("--set", setting)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which a shell finds `ggln`, too."""
    shim = tmp_path / "bin" / "ggln"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from ggln.cli import run; run()" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent), prepend=":")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line, monkeypatch, capsys):
    """Run a line: in a shell if it needs one, and else in this process, which is faster."""
    if "|" in line or not line.startswith("ggln"):
        command = ["bash", "-euo", "pipefail", "-c", line.replace("| head", "2>/dev/null | head")]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        # a reader that has enough ends the writer with an error of its own
        assert result.returncode == 0 or "| head" in line, (line, result.stderr)
        return result.stdout
    arguments, _, given = line.partition(" < ")
    # three networks and two epochs say as much about a page as fifteen and twenty
    arguments = shlex.split(arguments) + (QUICK if arguments.startswith("ggln fit ") and "--target" in line else [])
    monkeypatch.setattr("sys.argv", arguments)
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.run()
    assert not end.value.code, (line, capsys.readouterr())
    return capsys.readouterr().out


def test_every_command_of_the_page(folder, monkeypatch, capsys):
    outputs = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), {})
            continue
        for line in block.strip().splitlines():
            outputs[line] = run(line, monkeypatch, capsys)
    by_start = {start: next(out for line, out in outputs.items() if line.startswith(start)) for start in (
        "ggln fit houses.csv --target price --validate", "ggln predict", "ggln stream", "ggln explain"
    )}
    fitted, predicted, streamed, explained = by_start.values()
    assert all(word in fitted for word in ("RMSE", "NLL", "CRPS", "95 %"))
    assert predicted.startswith("sold,city,area,rooms,garden,price,price_mean,price_std,price_q0.05,price_q0.95\n")
    assert streamed.count("\n") == 3
    assert explained.count("\n") == 5
    made = {path.name for path in folder.iterdir()}
    assert {"houses.ggln", "piped.ggln", "live.ggln", "predicted.parquet", "calibration.png", "area.png"} <= made
    assert "houses.ggln.checkpoint" not in made
