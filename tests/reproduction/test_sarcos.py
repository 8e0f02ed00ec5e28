import json

import numpy as np
import pytest

from ggln import presets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import sarcos
from ggln.reproduction.shared import defaults, record

SMALL = {"layer_sizes": (8, 8), "context_dim": 2, "epochs": 3}


@pytest.fixture
def results(tiny_arm, monkeypatch, tmp_path):
    monkeypatch.setattr(
        defaults, "default_setting", lambda: {**SMALL, "n_estimators": 1, "standardize": True}
    )
    return sarcos.run(150, 0, tmp_path / "store", **SMALL)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_both_protocols_and_all_models_are_there(results, tmp_path):
    record.write(tmp_path / "sarcos.json", results)
    again = json.loads((tmp_path / "sarcos.json").read_text())
    for protocol in ("paper", "leak-free"):
        found = again["protocols"][protocol]
        assert tuple(found) == sarcos.MODELS
        assert {model["train_rows"] for model in found.values()} == {150}
        assert all(np.isfinite(model["mse"]) for model in found.values())
        assert {"nll", "coverage_90"} <= found["G-GLN"].keys()
    assert again["complete"] is False
    _, columns, rows, _ = sarcos.table(again)
    assert rows["G-GLN"]["published"] == "0.10"
    assert rows["TabNet-L"]["paper"] == ""
    assert all(row.keys() == columns.keys() for row in rows.values())
    sarcos.draw(again).savefig(tmp_path / "sarcos.png")


def test_errors_are_in_raw_units_averaged_over_the_torques(tiny_arm, tmp_path):
    data = tiny_arm()
    found = sarcos.evaluate("linear regression", False, 0, None)
    design = np.column_stack([np.ones(200), data.X_train])
    weights = np.linalg.lstsq(design, data.Y_train, rcond=None)[0]
    residuals = data.Y_test - np.column_stack([np.ones(20), data.X_test]) @ weights
    assert found["mse"] == pytest.approx(np.mean(residuals**2))
    assert found["mse"] == pytest.approx(np.mean([np.mean(column**2) for column in residuals.T]))


def test_the_papers_network_learns_what_it_sees_again_and_again(tiny_arm):
    """With variances of at least 1, more precision is all that targets in [-1, 1] ask for.

    Were the weights not projected, their sum would grow, and the means would stand still.
    """
    data, setting = tiny_arm(), presets.PAPER_SARCOS | {"layer_sizes": (8, 8), "context_dim": 8}
    low, high = data.Y_train.min(axis=0), data.Y_train.max(axis=0)
    goals = 2 * (data.Y_train - low) / (high - low) - 1
    model = GGLNRegressor(**setting | {"epochs": 60}, random_state=0).fit(data.X_train, goals)
    assert np.mean((model.predict(data.X_train) - goals) ** 2) < 0.03 * goals.var()
    layers = model.neurons(data.X_train)
    assert min(layer.variance.min() for layer in layers) == 1.0


def test_the_papers_network_learns_rescaled_targets_and_predicts_raw_ones(tiny_arm):
    setting = presets.PAPER_SARCOS | SMALL
    found = sarcos.evaluate("G-GLN", False, 0, None, setting)
    data = tiny_arm()
    order = np.random.default_rng(0).permutation(200)
    low, high = data.Y_train.min(axis=0), data.Y_train.max(axis=0)
    scaled = 2 * (data.Y_train - low) / (high - low) - 1
    model = GGLNRegressor(**setting, random_state=0).fit(data.X_train[order], scaled[order])
    predicted = low + (model.predict(data.X_test) + 1) * (high - low) / 2
    assert found["mse"] == pytest.approx(np.mean((predicted - data.Y_test) ** 2), rel=1e-4)
    assert found["mse"] < data.Y_test.var(axis=0).mean()
