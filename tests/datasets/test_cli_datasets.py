import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from ggln import cli, datasets
from ggln.datasets import files

runner = CliRunner(env={"COLUMNS": "200"})


def test_list_says_what_is_here(small: files.File, table: NDArray[np.float64], tmp_path: Path) -> None:
    result = runner.invoke(cli.app, ["datasets", "list"])
    assert result.exit_code == 0, result.output
    for name in datasets.names():
        assert name in result.output
    assert result.output.count("not here") == len(datasets.names())
    (tmp_path / "d" / "toys").mkdir(parents=True)
    np.savez(tmp_path / "d" / small.path, X=table[:, :2], y=table[:, 2])
    result = runner.invoke(cli.app, ["datasets", "list", "--data-dir", str(tmp_path / "d")])
    assert result.output.count("not here") == len(datasets.names()) - 1


def test_get_downloads_and_says_where(small: files.File, rows: list[str], folder: Path, cache: Path) -> None:
    (folder / "small.csv").write_text("\n".join(rows))
    result = runner.invoke(cli.app, ["datasets", "get", "small"])
    assert result.exit_code == 0, result.output
    assert f"small is in {cache / small.path}" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "bostom"], "there is no data set 'bostom'; known are boston"),
        (["get", "boston", "--data-dir", "/nowhere"], "there is no '/nowhere'"),
    ],
)
def test_errors_are_one_sentence_and_exit_code_2(
    arguments: list[str],
    message: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["ggln", "datasets", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.run()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ggln: ")
    assert message in line


@pytest.mark.parametrize("command", ["list", "get"])
def test_help_has_an_example(command: str) -> None:
    assert (
        f"Example: ggln datasets {command}" in runner.invoke(cli.app, ["datasets", command, "--help"]).output
    )
