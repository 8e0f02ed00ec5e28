import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.distributions import GaussianMixture
from ggln.reproduction import shapes as experiment
from ggln.reproduction.competitors.quantile_regressors import crps, quantile_boosting, quantile_forest
from ggln.reproduction.shared import defaults
from ggln.reproduction.tasks.noises import NOISES, half_cells, sample


@pytest.mark.parametrize("noise", NOISES)
def test_tables(noise):
    X, y = sample(noise, 200, 0, 0)
    assert X.shape == (200, 5)
    assert np.isfinite(y).all()
    np.testing.assert_array_equal(y, sample(noise, 200, 0, 0)[1])
    assert not np.array_equal(X, sample(noise, 200, 0, 1)[0])
    assert (half_cells(noise, y) > 0).any() == (np.unique(y).size < 200)


def test_ranks_of_a_lattice_are_uniform():
    y = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 20_000, p=[0.2, 0.5, 0.3])
    dist = GaussianMixture([0.2, 0.5, 0.3], np.tile([0.0, 1.0, 2.0], (y.size, 1)), np.full((y.size, 3), 0.01))
    u = experiment.ranks(dist, y, np.full(y.size, 0.5), 1)
    counts = np.histogram(u, 20, (0.0, 1.0))[0]
    assert np.abs(counts / 1000 - 1).max() < 0.15


def test_crps_of_discrete_distributions():
    random = np.random.default_rng(0)
    values, weights = np.sort(random.normal(size=(4, 6)), axis=1), random.dirichlet(np.ones(6), 4)
    y = random.normal(size=4)
    expected = [
        w @ np.abs(v - t) - 0.5 * w @ np.abs(v[:, None] - v) @ w
        for v, w, t in zip(values, weights, y, strict=True)
    ]
    np.testing.assert_allclose(crps((values, weights), y), expected)


@pytest.mark.parametrize("model", [quantile_forest, quantile_boosting])
def test_quantile_models_know_their_rows(model):
    X, y = sample("normal", 300, 0, 0)
    new, targets = sample("normal", 100, 0, 1)
    values, weights = model(X, y, 0)(new)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert crps((values, weights), targets).mean() < 0.6 * np.abs(targets - np.median(y)).mean()


def test_the_command(monkeypatch, tmp_path):
    small = defaults.default_setting() | {"layer_sizes": (3, 3), "n_estimators": 2}
    monkeypatch.setattr(defaults, "default_setting", lambda: small)
    monkeypatch.setattr(experiment, "NEW_ROWS", 200)
    arguments = ["reproduce", "shapes", "--noises", "exponential,counts", "--rows", "200", "--seeds", "1"]
    models = ",".join([experiment.OURS, experiment.PLAIN, "quantile forest"])
    result = CliRunner().invoke(cli.app, [*arguments, "--models", models, "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "shapes.json").read_text())
    assert list(found["noises"]) == ["exponential", "counts"]
    for own in found["noises"].values():
        assert list(own) == [experiment.OURS, experiment.PLAIN, "quantile forest"]
        assert 0.0 < own[experiment.OURS]["crps"] < 2 * own["quantile forest"]["crps"]
        assert 0.0 <= own[experiment.OURS]["below"] <= 0.2
    assert (tmp_path / "shapes.png").exists()
    assert "spreads alone" in result.output
