import json

import numpy as np
import pytest

from ggln.experiments import ablation, one_pass, record
from ggln.plots import ablation as picture

SMALL = {"layer_sizes": (4, 4), "context_dim": (1, 2), "epochs": 2, "n_estimators": 2}


@pytest.fixture
def few_variants(monkeypatch):
    """Without base models that are slow to fit."""
    chosen = {
        "defaults": {"base_model": "feature"},
        "features alone, no folds": {"base_model": "feature", "folds": 0},
        "plain steps": {"base_model": "feature", "step": "ogd"},
    }
    monkeypatch.setattr(ablation, "VARIANTS", chosen)


@pytest.mark.parametrize("variants", [ablation.VARIANTS, ablation.STREAM_VARIANTS])
def test_every_variant_differs_from_the_defaults_in_what_it_names(variants):
    model = ablation.GGLNRegressor()
    for label, own in variants.items():
        changed = {name for name, value in own.items() if getattr(model, name) != value}
        assert changed == own.keys(), label


def test_test_rows_are_never_used(tiny_sets, monkeypatch):
    used = []
    fit, predict = ablation.GGLNRegressor.fit, ablation.GGLNRegressor.predict_dist

    class Watched(ablation.GGLNRegressor):
        def fit(self, X, y):
            used.append(X)
            return fit(self, X, y)

        def predict_dist(self, X):
            used.append(X)
            return predict(self, X)

    monkeypatch.setattr(ablation, "GGLNRegressor", Watched)
    ablation.evaluate("yacht", 1, SMALL | {"base_model": "feature"}, 0, 40)
    data = tiny_sets("yacht")
    learnt, held_out = ({tuple(row) for row in X} for X in used)
    assert (len(learnt), len(held_out)) == (32, 8)
    assert not learnt & held_out
    assert learnt | held_out <= {tuple(row) for row in data.X[data.splits[1][0]]}


def test_measures_are_paired_by_split():
    cells = [{"rmse": 2.0, "nll": 1.0, "coverage_90": 1.0}, {"rmse": 1.0, "nll": 3.0, "coverage_90": 0.8}]
    defaults = [{"rmse": 1.0, "nll": 0.0}, {"rmse": 1.0, "nll": 1.0}]
    found = ablation.against(cells, defaults)
    assert (found["rmse_ratio"], found["nll_difference"]) == (1.5, 1.5)
    assert found["nll_difference_error"] == pytest.approx(0.5)
    assert ablation.against(cells[:1], defaults[:1])["rmse_ratio_error"] is None
    both = ablation.overall([found, found | {"rmse_ratio": 1 / 1.5, "nll_difference": -0.5}])
    assert both["rmse_ratio"] == pytest.approx(1.0)
    assert both["nll_difference"] == 0.5


def test_results_can_be_drawn(tiny_sets, few_variants, tmp_path):
    results = ablation.run(["yacht", "wine"], 2, 45, tmp_path / "store", **SMALL)
    record.write(tmp_path / "ablation.json", results)
    again = json.loads((tmp_path / "ablation.json").read_text())
    assert again["sets"]["wine"]["defaults"]["rmse_ratio"] == 1.0
    assert again["sets"]["wine"]["plain steps"]["splits"] == 2
    assert np.isfinite(again["overall"]["plain steps"]["nll_difference"])
    columns, rows = ablation.table(again)
    assert list(rows) == [label for label in again["settings"] if label != "defaults"]
    assert all(row.keys() == columns.keys() for row in rows.values())
    ratio = again["overall"]["plain steps"]["rmse_ratio"]
    assert rows["plain steps"]["RMSE, %"] == f"{100 * (ratio - 1):+.1f}"
    figure = picture.draw(again)
    assert len(figure.axes) == 2
    figure.savefig(tmp_path / "ablation.png")


def test_streams_are_those_of_one_pass(tiny_sets, monkeypatch, tmp_path):
    chosen = {"defaults": {}, "one linear regression": {"base_model": "linear"}}
    monkeypatch.setattr(ablation, "STREAM_VARIANTS", chosen)
    results = ablation.run(["yacht"], 2, 45, tmp_path, stream=True, **SMALL)
    assert results["experiment"] == "ablation-stream"
    setting = ablation.uci.default_setting() | SMALL | {"base_model": "linear"}
    alone = [one_pass.follow("yacht", one_pass.OURS, setting, order, 45)["rmse"] for order in range(2)]
    assert results["sets"]["yacht"]["one linear regression"]["rmse"] == pytest.approx(np.mean(alone))
    picture.draw(results).savefig(tmp_path / "ablation-stream.png")


def test_without_the_gaussian_process_the_other_regressors_stay(tiny_sets, monkeypatch):
    models = []

    class Watched(ablation.GGLNRegressor):
        def fit(self, X, y):
            models.append(self.base_model)
            return super().fit(X, y)

    monkeypatch.setattr(ablation, "GGLNRegressor", Watched)
    ablation.evaluate("yacht", 1, SMALL | {"base_model": ablation.NO_PROCESS}, 3, None)
    kinds = [type(regressor).__name__ for regressor in models[0]]
    assert kinds == ["GradientBoostingRegressor", "ExtraTreesRegressor", "MLPRegressor", "BayesianRidge"]
    assert all(regressor.random_state == 3 for regressor in models[0][:3])
