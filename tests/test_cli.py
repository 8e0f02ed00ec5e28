import functools
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from ggln import __version__, cli
from ggln.cli import demonstration
from ggln.reproduction import hetero

runner = CliRunner()


@pytest.fixture
def quick(monkeypatch):
    """Small networks instead of the experiments' own."""
    small = {"layer_sizes": (8, 8), "context_dim": 2, "epochs": 2, "n_estimators": 1}
    alone = small | {"base_model": "feature", "folds": 0}  # without base regressors, which take the time
    for module, own in ((demonstration, alone), (hetero, small | {"points": 21})):
        run = functools.wraps(module.run)(functools.partial(module.run, **own))
        monkeypatch.setattr(module, "run", run)


def test_demo_prints_a_table_and_says_where_the_plot_is(quick, tmp_path):
    result = runner.invoke(cli.app, ["demo", "--plot", str(tmp_path / "demo.png")])
    assert result.exit_code == 0, result.output
    assert "GGLNRegressor" in result.output
    assert "Bayesian ridge" in result.output
    for kind in ("diabetes, real: ", "bicycles, made by a formula: "):
        assert kind in result.output
    assert "demo.png" in result.output
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def test_reproduce_hetero_writes_results_and_picture(quick, tmp_path):
    result = runner.invoke(cli.app, ["reproduce", "hetero", "--rows", "200", "-o", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"hetero.json", "hetero.png"}
    assert "the truth" in result.output


def test_version():
    assert runner.invoke(cli.app, ["--version"]).output.strip() == __version__


def paths(group, path=()):
    """All commands and groups of commands."""
    yield list(path)
    if hasattr(group, "list_commands"):
        for name in group.list_commands(None):
            yield from paths(group.get_command(None, name), (*path, name))


def test_help_answers_without_loading_the_engine():
    every = list(paths(typer.main.get_command(cli.app)))
    assert ["reproduce", "uci"] in every
    code = f"""
import sys
from ggln.cli import app
for arguments in {every!r}:
    try:
        app([*arguments, "--help"])
    except SystemExit as end:
        assert not end.code, arguments
assert not {{"numba", "sklearn", "pyarrow", "matplotlib", "rich.progress"}} & set(sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("Usage") == len(every)


@pytest.mark.parametrize(
    "arguments",
    [["demmo"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"], ["reproduce", "hetero", "--rows", "1"]],
)
def test_wrong_arguments_exit_with_2(arguments):
    assert runner.invoke(cli.app, arguments).exit_code == 2


def test_an_error_is_one_sentence_and_exit_code_2(quick, monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["ggln", "demo", "--plot", str(tmp_path / "file" / "demo.png")])
    with pytest.raises(SystemExit) as stopped:
        cli.run()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("ggln: ")
