"""Pages with commands of a shell: these and their Python, one after the other, in an empty folder."""

import re
import shlex
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from ggln import cli

DOCS = Path(__file__).parents[2] / "docs"
QUICK = [
    part
    for setting in ("n_estimators=3", "epochs=5", "base_model=feature", "folds=0")
    for part in ("--set", setting)
]


def shell(command, given=""):
    result = subprocess.run(
        ["bash", "-euc", command], input=given, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def run(line, monkeypatch, capsys):
    """Run a line of the page: `ggln` in this process, which is faster, other stages of a pipe in a shell."""
    if "ggln" not in line.replace(".ggln", ""):
        return shell(line)
    given = ""
    for stage in line.split(" | "):
        given = ggln(stage, given, monkeypatch, capsys) if stage.startswith("ggln") else shell(stage, given)
    return given


def ggln(stage, given, monkeypatch, capsys):
    command, _, name = stage.partition(" < ")
    Path("given").write_text(Path(name).read_text() if name else given)
    # a few small networks say as much about a page as the defaults
    small = QUICK if "--target" in command else []
    monkeypatch.setattr("sys.argv", shlex.split(command) + small)
    capsys.readouterr()
    with Path("given").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(SystemExit) as end:
            cli.run()
    assert not end.value.code, (stage, capsys.readouterr())
    return capsys.readouterr().out


def follow(page, monkeypatch, capsys):
    """Run all of a page; return what each command wrote, and the names that its Python leaves behind."""
    outputs, names = {}, {}
    # what needs the files of earlier commands is marked as not to run elsewhere, but runs here
    for language, block in re.findall(
        r"```(sh|python)(?: no-run)?\n(.*?)```", (DOCS / page).read_text(), re.DOTALL
    ):
        if language == "python":
            exec(compile(block, page, "exec"), names)
            continue
        for line in block.strip().splitlines():
            outputs[line] = run(line, monkeypatch, capsys)
    return outputs, names


@pytest.mark.nightly
def test_the_tutorial_on_streams(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        outputs, names = follow("tutorial-stream.md", monkeypatch, capsys)
    finally:
        plt.close("all")
    (streamed,) = outputs.values()
    assert streamed.count("\n") == 3
    assert (tmp_path / "live.ggln").exists()
    # what the page says of its numbers
    assert 0.87 < names["inside"][900:].mean() < 0.93
    squares = (names["y_new"] - names["after"].mean) ** 2
    assert squares[:100].mean() > 1.2 * squares[500:].mean()


def test_every_command_of_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    outputs, _ = follow("command-line.md", monkeypatch, capsys)
    by_start = {
        start: next(out for line, out in outputs.items() if line.startswith(start))
        for start in (
            "ggln fit houses.csv --target price --validate",
            "ggln predict",
            "ggln stream",
            "ggln explain",
        )
    }
    fitted, predicted, streamed, explained = by_start.values()
    assert all(word in fitted for word in ("RMSE", "NLL", "CRPS", "95 %"))
    assert predicted.startswith(
        "sold,city,area,rooms,garden,price,price_mean,price_std,price_q0.05,price_q0.95\n"
    )
    assert streamed.count("\n") == 3
    assert explained.count("\n") == 5
    made = {path.name for path in tmp_path.iterdir()}
    assert {
        "houses.ggln",
        "piped.ggln",
        "live.ggln",
        "predicted.parquet",
        "calibration.png",
        "area.png",
    } <= made
    assert "houses.ggln.checkpoint" not in made
