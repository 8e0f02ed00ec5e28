import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import GLNClassifier, cli, datasets
from ggln.datasets.bandits import BanditTable
from ggln.reproduction import classification as experiment


@pytest.fixture
def quick(monkeypatch):
    """Only the smallest tables, and small networks."""
    monkeypatch.setattr(experiment, "SETS", {name: experiment.SETS[name] for name in ("iris", "wine")})
    monkeypatch.setattr(experiment, "LARGE", ())
    small = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 2}
    defaults = GLNClassifier().get_params() | small
    monkeypatch.setattr(GLNClassifier, "get_params", lambda self, deep=True: defaults)


def test_large_tables_take_part_where_they_are_found(quick, monkeypatch, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    table = BanditTable("adult", X, (X[:, 0] > 0).astype(np.intp))
    table.y[0] = 2  # may be learnt, or is not judged
    monkeypatch.setattr(experiment, "SETS", {})
    monkeypatch.setattr(experiment, "LARGE", ("adult", "statlog"))
    monkeypatch.setattr(experiment, "ROWS", 100)
    monkeypatch.setattr(datasets, "find", lambda name, data_dir: [tmp_path] if name == "adult" else None)
    monkeypatch.setattr(datasets, "load_bandit", lambda name, data_dir: table)
    found = experiment.run(repeats=1, store=tmp_path)["sets"]
    assert list(found) == ["adult"]
    assert all(scores["accuracy"] > 80 for scores in found["adult"].values())
    learnt, labels, judged, told = experiment.halves("adult", 0, 5, 0, None)
    assert len(learnt) == len(labels) == 100
    assert len(judged) == len(told) in (99, 100)
    assert not set(map(tuple, learnt)) & set(map(tuple, judged))
    assert set(told) <= set(labels)


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
