import json
import sys

import numpy as np
import pytest
from catboost import CatBoostRegressor
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ggln import datasets
from ggln.reproduction import peers, uci
from ggln.reproduction.competitors import regressors
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "n_estimators": 1, "base_model": "feature"}


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr(regressors, "NGBOOST_TREES", 60)
    monkeypatch.setattr(regressors, "NGBOOST", regressors.NGBOOST | {"learning_rate": 0.1})


@pytest.mark.parametrize("peer", peers.PEERS)
def test_every_peer_learns_a_noisy_curve_with_honest_error_bars(peer, few_trees):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = X[:, 0] + 0.3 * random.standard_normal(200)
    with threadpool_limits(1):  # as in a job
        mean, std = regressors.PEERS[peer](X[:150], y[:150], 0)(X[150:])
    assert mean.shape == std.shape == (50,)
    errors = mean - y[150:]
    assert np.sqrt(np.mean(errors**2)) < 0.8
    # CatBoost's own are far too narrow after a thousand trees on so few rows: its defaults are what they are
    most = 10.0 if peer == "CatBoost" else 1.6
    assert 0.5 < np.sqrt(np.mean(errors**2 / std**2)) < most


def test_catboost_has_the_rmse_of_its_defaults_and_the_intervals_of_another_loss(tiny_sets):
    found = peers.evaluate("yacht", 0, "CatBoost", 0)
    data = tiny_sets("yacht")
    (train, test), quiet = data.splits[0], {"silent": True, "allow_writing_files": False, "random_seed": 0}
    X, y = (values[train] for values in (data.X, data.y))
    default = CatBoostRegressor(**quiet).fit(X, y).predict(data.X[test])
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((default - data.y[test]) ** 2)), rel=1e-3)
    goals = (y - y.mean()) / y.std()
    other = CatBoostRegressor(loss_function="RMSEWithUncertainty", **quiet).fit(X, goals)
    mean, variance = other.predict(data.X[test]).T
    density = norm(y.mean() + y.std() * mean, y.std() * np.sqrt(variance))
    assert found["nll"] == pytest.approx(-density.logpdf(data.y[test]).mean(), rel=1e-3)
    assert found["rmse_of_intervals"] == pytest.approx(
        np.sqrt(np.mean((density.mean() - data.y[test]) ** 2)), rel=1e-3
    )
    assert 0.0 < found["point_seconds"] < found["seconds"]


@pytest.mark.nightly
def test_results_say_everything_and_can_be_drawn(tiny_sets, few_trees, tmp_path):
    results = peers.run(["yacht", "naval"], 1, tmp_path / "store", **SMALL)
    record.write(tmp_path / "peers.json", results)
    again = json.loads((tmp_path / "peers.json").read_text())
    assert again["sets"]["yacht"].keys() == set(peers.MODELS)
    own = again["sets"]["yacht"]["NGBoost"]
    assert {"rmse", "nll", "crps", "coverage_90", "seconds", "predict_seconds", "splits"} <= own.keys()
    _, columns, rows, _ = peers.scores_table(again)
    assert len(rows) == 2 * (len(peers.MODELS) + len(peers.SOURCES))
    assert all(row.keys() == columns.keys() for row in rows.values())
    assert rows["yacht: WGBoost, published"]["NLL"] == "0.16"
    assert list(peers.marks(again).rows) == ["yacht", "naval", "better"]
    figure = peers.draw(again)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["yacht", "naval"]
    assert "RMSEWithUncertainty" in figure.legends[1].get_texts()[0].get_text()
    figure.savefig(tmp_path / "peers.png")


def test_fits_of_table_1_are_not_made_again(tiny_sets, tmp_path, monkeypatch):
    uci.run(["yacht"], 2, 1, tmp_path, networks="defaults", **SMALL)
    monkeypatch.setattr(uci, "scores", None)
    results = peers.run(["yacht"], 2, tmp_path, models=[peers.OURS], **SMALL)
    assert results["sets"]["yacht"][peers.OURS]["splits"] == 2


def test_a_large_set_has_no_gaussian_process(tiny_sets, tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "GP_ROWS", 59)
    results = peers.run(["yacht"], 1, tmp_path, models=["Gaussian process", "Bayesian ridge"])
    assert list(results["sets"]["yacht"]) == ["Bayesian ridge"]


def test_marks_compare_what_was_published():
    own = {"rmse": 0.4951, "nll": -1.0}
    results = {"sets": {"yacht": {peers.OURS: own}}, "published": {"yacht": peers.published("yacht")}}
    _, columns, rows, _ = peers.marks(results)
    assert rows["yacht"] == dict(zip(columns, ("equal", "better", "worse", *["better"] * 3), strict=True))
    assert list(rows["better"].values())[:2] == ["0 of 1", "1 of 1"]


def test_published_numbers_name_every_source():
    for name in datasets.names()[:9]:
        assert peers.published(name)["G-GLN"]["rmse"] == uci.PAPER[name][0]


@pytest.mark.parametrize("library", ["ngboost", "catboost"])
def test_what_is_not_installed_is_named(library, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match=rf"needs {library}.*pip install 'ggln\[peers\]'"):
        peers.run(["yacht"], store=tmp_path)
