import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import GGLNRegressor, cli
from ggln.reproduction import missing as experiment


@pytest.fixture
def quick(monkeypatch):
    """Two tables, and small networks."""
    monkeypatch.setattr(experiment, "SETS", {name: experiment.SETS[name] for name in ("linear", "diabetes")})
    small = GGLNRegressor(layer_sizes=(4,), n_estimators=1, random_state=0)
    monkeypatch.setattr(experiment, "_ours", lambda seed: small)
    monkeypatch.setitem(experiment.MODELS, "as they are", lambda seed: small)


@pytest.mark.parametrize("way", experiment.WAYS)
def test_values_go_missing_as_they_should(way):
    random = np.random.default_rng(0)
    X, y = experiment.linear(random, 2000)
    gone = experiment.WAYS[way](random, X, y)
    if way == "high values":
        assert X[gone].min() > 0.0
    if way == "high targets":
        assert gone[y > np.median(y)].mean() > 3 * gone[y < np.median(y)].mean()
    if way == "together":
        assert (gone.any(axis=1) == gone[:, [0, 3]].all(axis=1)).all()
    assert 0.1 < gone.mean() < 0.35


@pytest.mark.nightly
def test_the_command(quick, tmp_path):
    arguments = ["reproduce", "missing", "--rows", "200", "--seeds", "1", "-o", str(tmp_path)]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "missing.json").read_text())
    assert list(found["sets"]) == ["linear", "diabetes"]
    for scores in found["mean"].values():
        assert list(scores) == list(experiment.MODELS)
        assert all(0.1 < value < 1.3 for value in scores.values())
    assert (tmp_path / "missing.png").exists()
    assert "RMSE in deviations" in result.output
