import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.reproduction import outside as experiment
from ggln.reproduction.shared import defaults


@pytest.mark.parametrize("name", experiment.TASKS)
def test_rows(name):
    X, y, new = experiment.sample(name, 100, 0)
    assert np.isfinite(y).all()
    low, high = experiment.TASKS[name].box
    for factor, (at, targets, outside) in new.items():
        assert np.isfinite(targets).all()
        np.testing.assert_array_equal(outside, ((at < low) | (at > high)).any(axis=1))
        assert outside.any() == (factor > 1.0)
        assert (np.abs(at - (low + high) / 2) <= factor * (high - low) / 2).all()
    np.testing.assert_array_equal(X, experiment.sample(name, 100, 0)[0])


def test_the_command(monkeypatch, tmp_path):
    small = defaults.default_setting() | {"layer_sizes": (3, 3), "n_estimators": 2}
    monkeypatch.setattr(defaults, "default_setting", lambda: small)
    monkeypatch.setattr(experiment, "NEW_ROWS", 200)
    models = [experiment.OURS, experiment.BEFORE, "Gaussian process", experiment.FOREST]
    arguments = ["reproduce", "outside", "--functions", "line,fast sine", "--rows", "100", "--seeds", "1"]
    result = CliRunner().invoke(
        cli.app, [*arguments, "--models", ",".join(models), "-o", str(tmp_path)], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "outside.json").read_text())
    assert list(found["tasks"]) == ["line", "fast sine"]
    for own in found["tasks"].values():
        assert list(own) == models
        ours, before = own[experiment.OURS], own[experiment.BEFORE]
        assert min(ours["covered_1.5"], ours["covered_3"]) >= experiment.GOAL
        assert ours["width_3"] > before["width_3"]
        assert abs(ours["width_1"] / before["width_1"] - 1.0) < 0.02
        assert own[experiment.FOREST]["covered_3"] < 0.8
    assert (tmp_path / "outside.png").exists()
