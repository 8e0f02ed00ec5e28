import json
import sys

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from ggln.reproduction import costs
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 2}


def test_the_table_is_friedmans_first():
    X, y = costs.friedman(2000)
    assert X.shape == (2000, 10)
    _, expected = make_friedman1(2000, noise=1.0, random_state=0)
    assert y.mean() == pytest.approx(expected.mean(), abs=0.5)
    assert y.std() == pytest.approx(expected.std(), rel=0.05)
    assert np.corrcoef(X[:, 3], y)[0, 1] > 0.4


@pytest.mark.nightly
def test_every_cost_is_measured_beside_its_goal(tmp_path):
    results = costs.run(40, 1, 5, **SMALL)
    record.write(tmp_path / "costs.json", results)
    again = json.loads((tmp_path / "costs.json").read_text())
    assert costs.GOALS.keys() == again["goals"].keys() == again["met"].keys()
    figures = again["figures"]
    assert all(figures[name] > 0.0 for name in costs.GOALS if name != "large_megabytes")
    assert 0.0 <= figures["large_megabytes"] < 1024.0
    assert figures["fit_ratio"] == pytest.approx(
        figures["fit_seconds"] / figures["catboost_seconds"], rel=1e-4
    )
    assert again["met"]["file_megabytes"]
    _, columns, rows, _ = costs.table(again)
    assert len(rows) == len(costs.GOALS)
    assert all(row.keys() == columns.keys() for row in rows.values())
    assert rows["model file"]["goal"] == "<= 30 MB"
    assert rows["partial_fit, after the first rows"]["goal"] == ">= 10,000 rows/s"


def test_goals_are_bounds_from_above_or_from_below():
    most, least = costs.GOALS["fit_ratio"], costs.GOALS["stream_rows_per_second"]
    assert (most.met(3.0), most.met(3.1)) == (True, False)
    assert (least.met(10_000.0), least.met(9_999.0)) == (True, False)


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ValueError, match=r"needs catboost.*pip install 'ggln\[peers\]'"):
        costs.run(40)
