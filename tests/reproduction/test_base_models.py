import json

import numpy as np
import pytest

from ggln import presets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import base_models
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "step": "ogd", "gating": "sphere"}


@pytest.fixture
def tiny_grid(monkeypatch):
    monkeypatch.setattr(presets, "UCI_GRID", {"learning_rate": (1e-3, 1e-2), "context_dim": (1, 2)})


def test_the_curve_is_the_running_error_of_predictions_made_before_learning(tiny_sets, monkeypatch):
    monkeypatch.setattr(base_models, "BLOCK", 17)
    found = base_models.follow("yacht", "blr", SMALL, 3, None, 5)
    data = tiny_sets("yacht")
    order = np.random.default_rng(3).permutation(60)
    X, y = data.X[order], data.y[order]
    X, goals = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    model = GGLNRegressor(**SMALL, base_model="blr", standardize=False, random_state=3)
    error = y.std() * (model.prequential(X, goals).mean - goals)
    assert found["rows"][-1] == 60
    for count, rmse in zip(found["rows"], found["rmse"], strict=True):
        assert rmse == pytest.approx(np.sqrt(np.mean(error[:count] ** 2)))


def test_results_can_be_drawn(tiny_sets, tiny_grid, tmp_path):
    names = ["boston", "yacht", "wine", "power"]
    results = base_models.run(names, 2, tmp_path / "store", points=10, layer_sizes=(4, 4))
    record.write(tmp_path / "base-models.json", results)
    again = json.loads((tmp_path / "base-models.json").read_text())
    assert again["sets"]["wine"].keys() == set(base_models.BASE_MODELS)
    curve = again["sets"]["wine"]["blr"]
    assert len(curve["rows"]) == len(curve["rmse"]) == len(curve["error"])
    assert curve["setting"] in again["settings"]
    assert curve["rmse"][-1] == min(curve["ends"].values())
    assert curve["ends"].keys() == again["settings"].keys()
    _, columns, lines, _ = base_models.table(again)
    assert all(line.keys() == columns.keys() for line in lines.values())
    assert lines["wine"]["blr"] == curve["rmse"][-1]
    assert lines["wine"]["blr better\nthan none"].endswith(" of 4")
    figure = base_models.draw(again)
    assert [axes.get_title() for axes in figure.axes] == ["boston", "yacht", "wine", "power"]
    figure.savefig(tmp_path / "base-models.png")
