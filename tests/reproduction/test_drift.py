import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.reproduction import drift as experiment
from ggln.reproduction.competitors import drift_regressors
from ggln.reproduction.competitors.drift_regressors import GUESTS, PEERS, Ondil, SlidingRidge
from ggln.reproduction.shared import defaults
from ggln.reproduction.tasks.changing_streams import NAMES, SCALE, sample


@pytest.mark.parametrize("name", NAMES)
def test_streams(name):
    stream = sample(name, 400, 0)
    assert stream.X.shape[0] == stream.y.size == stream.scales.size == 400
    assert np.isfinite(stream.y).all()
    np.testing.assert_array_equal(stream.y, sample(name, 400, 0).y)
    assert not np.array_equal(stream.y, sample(name, 400, 1).y)
    assert all(0 < change < 400 for change in stream.changes)


def test_rows_after_a_change_of_scale_are_not_scored():
    stream = sample("scale x 1e6", 4000, 0)
    assert stream.scales.max() == SCALE
    counted = experiment._counted(stream)
    assert not counted[1000:1300].any()
    assert counted[1300:2000].all()


@pytest.mark.parametrize("name", PEERS)
def test_others_learn_a_line(name):
    model, random = PEERS[name](0), np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    for x in X:
        model.learn(x, 3.0 + x[0])
    assert np.abs(model.predict(X[-100:]) - 3.0 - X[-100:, 0]).mean() < 0.7


@pytest.mark.parametrize("name", GUESTS)
def test_guests_learn_a_line(name, monkeypatch):
    library, build = GUESTS[name]
    monkeypatch.setattr(drift_regressors, "find_spec", lambda _: None)
    assert name not in drift_regressors.peers()
    pytest.importorskip(library)
    model, random = build(0), np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    for x in X:
        model.learn(x, 3.0 + x[0] + 0.1 * random.normal())
    assert np.abs(model.predict(X[-100:]) - 3.0 - X[-100:, 0]).mean() < 0.7


class Diverging:
    """Stands for a regression of ondil: it predicts the mean it was fitted to, and no update goes well."""

    fits = 0

    def __init__(self, *_, **__):
        pass

    def fit(self, _, y):
        Diverging.fits += 1
        self.found = y.mean()

    def update(self, *_):
        self.found = np.nan

    def predict_distribution_parameters(self, X):
        return np.tile([self.found, 2.0], (len(X), 1))


def test_where_an_update_diverges_ondil_begins_anew(monkeypatch):
    fake = SimpleNamespace(OnlineDistributionalRegression=Diverging, Normal=lambda: None)
    monkeypatch.setattr(drift_regressors, "require", lambda _: fake)
    model, rows = Ondil(), drift_regressors.WINDOW + 50
    np.testing.assert_array_equal(model.predict(np.zeros((2, 1))), 0.0)
    for level in range(rows):
        model.learn(np.zeros(1), float(level))
    assert Diverging.fits == rows - drift_regressors.BEGUN + 1
    latest = np.mean(range(50, rows))
    np.testing.assert_array_equal(model.predict(np.zeros((2, 1))), latest)
    np.testing.assert_array_equal(model.deviations(np.zeros((2, 1))), 2.0)


def test_the_ridge_forgets():
    model = SlidingRidge()
    for level in (0.0, 5.0):
        for x in np.random.default_rng(0).normal(size=(200, 2)):
            model.learn(x, level)
    np.testing.assert_allclose(model.predict(np.zeros((1, 2))), 5.0)


def test_errors_of_the_latest_rows():
    errors = np.r_[np.full(300, 1.0), np.full(300, 3.0)]
    found = experiment._latest_errors(errors)
    assert found[300] == 1.0
    assert found[-1] == 3.0


@pytest.mark.nightly
def test_the_command(monkeypatch, tmp_path):
    small = defaults.default_setting() | {"layer_sizes": (3, 3), "n_estimators": 2}
    monkeypatch.setattr(defaults, "default_setting", lambda: small)
    models = f"{experiment.OURS},{experiment.NEVER},ridge on the latest 200 rows"
    arguments = [
        "reproduce",
        "drift",
        "--streams",
        "no change,level + 20",
        "--rows",
        "1000",
        "--models",
        models,
    ]
    result = CliRunner().invoke(cli.app, [*arguments, "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    results = json.loads((tmp_path / "drift.json").read_text())
    assert (tmp_path / "drift.png").exists()
    shifted, still = results["streams"]["level + 20"], results["streams"]["no change"]
    assert shifted[experiment.OURS]["rmse"] < 0.5 * shifted[experiment.NEVER]["rmse"]
    assert still[experiment.OURS]["rmse"] < 1.02 * still[experiment.NEVER]["rmse"]
    assert still[experiment.OURS]["nll"] < still[experiment.NEVER]["nll"] + 0.02
    for own in (shifted, still):
        assert all(0.86 <= covered <= 0.94 for covered in own[experiment.OURS]["coverage"])
    after, started = shifted[experiment.OURS]["after"][0], results["started"]["level + 20"][0]
    assert after < experiment.RATIO * started
