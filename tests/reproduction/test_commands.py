"""The commands of the longer experiments, on small stand-ins for networks and data."""

import importlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ggln import cli, presets
from ggln.reproduction import ablation, bandit_rewards, base_models, costs, uci
from ggln.reproduction.competitors import regressors
from ggln.reproduction.shared import defaults
from ggln.reproduction.tasks import bandit_tasks

SMALL = {"layer_sizes": (4, 4), "context_dim": 2}
RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    """Run a command with small networks; return what it printed and the names of the files it wrote."""
    for name in ("PAPER_UCI", "PAPER_SARCOS"):
        monkeypatch.setattr(presets, name, getattr(presets, name) | SMALL)
    monkeypatch.setattr(presets, "UCI_GRID", {"learning_rate": (1e-3, 1e-2), "context_dim": (1, 2)})
    own = {**SMALL, "epochs": 1, "n_estimators": 1, "standardize": True}
    monkeypatch.setattr(defaults, "default_setting", lambda: own)

    def run(*arguments):
        result = CliRunner().invoke(cli.app, ["reproduce", *arguments, "-o", str(tmp_path / "out")])
        assert result.exit_code == 0, result.output
        return result.output, {path.name for path in (tmp_path / "out").iterdir()}

    return run


def test_uci(reproduce, tiny_sets, tmp_path):
    output, files = reproduce("uci", "--sets", "yacht, boston", "--splits", "1", "--epochs", "1")
    assert files == {".jobs", "uci.json", "uci.png"}
    assert "yacht" in output
    assert "3.76" in output
    _, files = reproduce("uci", "--sets", "yacht", "--splits", "1", "--epochs", "1", "--networks", "paper")
    assert files == {".jobs", "uci.json", "uci.png", "uci-paper.json", "uci-paper.png"}
    found = json.loads((tmp_path / "out" / "uci-paper.json").read_text())
    assert all(uci.DEFAULTS not in choices for choices in found["sets"].values())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("yatch", "--sets knows no 'yatch': did you mean 'yacht'?"),
        ("yacht,,boston", "--sets lacks a name in 'yacht,,boston'"),
        ("", "--sets lacks a name in ''"),
    ],
)
def test_names_of_sets_that_are_none(names, message):
    result = CliRunner().invoke(cli.app, ["reproduce", "uci", "--sets", names])
    assert isinstance(result.exception, ValueError)
    assert message in str(result.exception)


@pytest.mark.parametrize("command", ["uci", "hetero", "gating", "one-pass"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(command, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    module = importlib.import_module(f"ggln.reproduction.{command.replace('-', '_')}")
    monkeypatch.setattr(module, "run", lambda *_, **__: pytest.fail("the work has begun"))
    result = CliRunner().invoke(cli.app, ["reproduce", command, "-o", str(tmp_path / "file")])
    assert isinstance(result.exception, NotADirectoryError)
    assert "is a file: name a folder for the results" in str(result.exception)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sarcos(reproduce, tiny_arm, tmp_path):
    output, files = reproduce(
        "sarcos", "--rows", "100", "--epochs", "1", "--store", str(tmp_path / "elsewhere")
    )
    assert files == {"sarcos.json", "sarcos.png"}
    assert "gradient boosting" in output
    assert "do not compare" in output


def test_base_models(reproduce, tiny_sets):
    output, files = reproduce("base-models", "--seeds", "1", "--rows", "30")
    assert files == {".jobs", "base-models.json", "base-models.png"}
    assert all(name in output for name in base_models.SETS)


def test_no_workers_are_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(uci, "run", lambda *_, **__: pytest.fail("the work has begun"))
    result = CliRunner().invoke(cli.app, ["reproduce", "uci", "--n-jobs", "0", "-o", str(tmp_path)])
    assert "--n-jobs must be at least 1, or -1 for one on each core, got 0" in str(result.exception)


def test_gating(reproduce):
    output, files = reproduce("gating", "--neurons", "2")
    assert files == {"gating.json", "gating.png"}
    assert "neuron 2" in output


@pytest.mark.nightly
def test_peers(reproduce, tiny_sets, monkeypatch):
    monkeypatch.setattr(regressors, "NGBOOST_TREES", 5)
    output, files = reproduce("peers", "--sets", "yacht", "--splits", "1")
    assert files == {".jobs", "peers.json", "peers.png"}
    assert "NGBoost" in output
    assert "of 1" in output


def test_one_pass(reproduce, tiny_sets):
    output, files = reproduce("one-pass", "--sets", "yacht", "--rows", "20", "--seeds", "1")
    assert files == {".jobs", "one-pass.json", "one-pass.png"}
    assert "yacht" in output


def test_forgetting(reproduce, tiny_sets):
    output, files = reproduce("forgetting", "--sets", "regions", "--rows", "80", "--seeds", "1")
    assert files == {".jobs", "forgetting.json", "forgetting.png"}
    assert "forgotten" in output


def test_ablation(reproduce, tiny_sets, monkeypatch):
    monkeypatch.setattr(ablation, "VARIANTS", {"defaults": {}, "gates at random": {"gating": "mixed"}})
    output, files = reproduce("ablation", "--sets", "yacht", "--splits", "1", "--rows", "30")
    assert files == {".jobs", "ablation.json", "ablation.png"}
    assert "gates at random" in output


def test_going_on(reproduce, tiny_sets):
    output, files = reproduce("going-on", "--sets", "yacht, wine", "--splits", "1")
    assert files == {".jobs", "going-on.json"}
    assert "halves" in output
    assert "ratio" in output


@pytest.mark.nightly
def test_costs(reproduce, monkeypatch):
    # figures that were measured: another test measures
    measured = json.loads((RESULTS / "costs.json").read_text())
    monkeypatch.setattr(costs, "run", lambda rows: measured if rows == 40 else None)
    output, files = reproduce("costs", "--rows", "40")
    assert files == {"costs.json"}
    assert "learn_one" in output
    assert ">= 10,000 rows/s" in output


def test_bandits(reproduce):
    output, files = reproduce(
        "bandits", "--tasks", "wheel, wheel-0.9", "--policies", "LinFullPost", "--seeds", "2", "--steps", "30"
    )
    assert files == {".jobs", "bandits.json", "bandits.png"}
    assert "delta 0.9" in output
    assert "LinFullPost" in output


def test_bandit_rewards(reproduce, monkeypatch):
    monkeypatch.setattr(bandit_rewards, "PERCENTILES", (20.0,))
    monkeypatch.setattr(bandit_rewards, "bandits", lambda: {"wheel": bandit_tasks.TASKS["wheel"]})
    output, files = reproduce("bandit-rewards", "--seeds", "1", "--steps", "30")
    assert files == {".jobs", "bandit-rewards.json", "bandit-rewards.png"}
    assert "4491" in output
