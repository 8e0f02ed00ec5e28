import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import GLNClassifier, cli
from ggln.experiments import classification as experiment


@pytest.fixture
def quick(monkeypatch):
    """Only the smallest tables, and small networks."""
    monkeypatch.setattr(experiment, "SETS", {name: experiment.SETS[name] for name in ("iris", "wine")})
    small = {"layer_sizes": (4, 4), "context_dim": 2, "epochs": 3, "n_estimators": 1}
    defaults = GLNClassifier().get_params() | small
    monkeypatch.setattr(GLNClassifier, "get_params", lambda self, deep=True: defaults)


def test_the_command(quick, tmp_path):
    arguments = ["reproduce", "classification", "--folds", "2", "--repeats", "1", "-o", str(tmp_path)]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "classification.json").read_text())
    assert list(found["sets"]) == ["iris", "wine"]
    for models in found["sets"].values():
        assert list(models) == list(experiment.MODELS)
        assert all(np.isfinite(value) for scores in models.values() for value in scores.values())
        assert models["logistic regression"]["accuracy"] > 90
    assert (tmp_path / "classification.png").exists()
    assert "Log-loss" in result.output
