import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.reproduction import outputs as experiment
from ggln.reproduction.shared import defaults


@pytest.mark.parametrize("case", experiment.CASES)
def test_tables(case):
    own = experiment.CASES[case]
    X, Y = experiment.sample(own, 4000, 0, 0)
    assert X.shape == (4000, 5)
    np.testing.assert_array_equal(Y, experiment.sample(own, 4000, 0, 0)[1])
    assert not np.array_equal(X, experiment.sample(own, 4000, 0, 1)[0])
    silent = experiment.sample(own._replace(sizes=(0.0,) * len(own.sizes)), 4000, 0, 0)[1]
    noise = Y - silent
    np.testing.assert_allclose(noise.std(axis=0), own.sizes, rtol=0.5)
    if own.sizes[0]:
        assert np.corrcoef(noise.T)[0, 1] == pytest.approx(own.correlation, abs=0.15)


@pytest.mark.nightly
def test_boosting_knows_the_covariance_of_its_errors():
    pytest.importorskip("catboost")
    case = experiment.CASES["1:10 r=0.8"]
    (X, Y), (new, targets) = (experiment.sample(case, 300, 0, part) for part in (0, 1))
    found = experiment.measure(experiment.catboost(X, Y, 0)(new), targets)
    assert 0.8 < found["least"] <= found["most"] < 0.97
    assert found["correlation"] < 0.2


def test_the_command(monkeypatch, tmp_path):
    # a network for each fold and kind: with two networks, 25 of 200 rows would judge the intervals
    small = defaults.default_setting() | {"layer_sizes": (3, 3), "n_estimators": 16}
    monkeypatch.setattr(defaults, "default_setting", lambda: small)
    monkeypatch.setattr(experiment, "NEW_ROWS", 300)
    arguments = ["reproduce", "outputs", "--cases", "1:10 r=0.8", "--rows", "200", "--seeds", "1"]
    result = CliRunner().invoke(cli.app, [*arguments, "--models", "apart,stream,full", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "outputs.json").read_text())
    models = found["cases"]["1:10 r=0.8"]
    assert list(models) == ["apart", "stream", "full"]
    for own in models.values():
        assert 0.8 < own["least"] <= own["most"] < 0.98
        assert 0.8 < own["joint"] < 0.98
        assert own["correlation"] < 0.2
    assert (tmp_path / "outputs.png").exists()
    assert "correlation" in result.output
