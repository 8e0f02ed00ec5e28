import json

import numpy as np
import pytest

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import going_on, uci
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 2}


def test_each_training_row_is_learnt_once_and_no_test_row(tiny_sets, monkeypatch):
    learnt = {"fit": [], "partial_fit": []}
    for method, rows in learnt.items():
        own = getattr(GGLNRegressor, method)
        monkeypatch.setattr(
            GGLNRegressor, method, lambda model, X, y, own=own, rows=rows: rows.extend(y) or own(model, X, y)
        )
    found = going_on.evaluate("yacht", 1, SMALL, 0)
    data = tiny_sets("yacht")
    assert (len(learnt["fit"]), len(learnt["partial_fit"])) == (27, 27)
    assert sorted(learnt["fit"] + learnt["partial_fit"]) == sorted(data.y[data.splits[1][0]])
    assert np.isfinite(found["rmse"])
    assert 0.0 < found["partial_seconds"] < found["seconds"]


def test_both_ways_are_compared_on_the_same_splits():
    whole = [{"rmse": 1.0, "nll": 1.0}, {"rmse": 2.0, "nll": 0.0}]
    halves = [{"rmse": 1.5, "nll": 1.5}, {"rmse": 2.0, "nll": 0.0}]
    found = going_on.summary({(i, 0): pair for i, pair in enumerate(zip(whole, halves, strict=True))})
    assert (found["rmse_ratio"], found["nll_difference"]) == (1.25, 0.25)
    assert found["rmse_ratio_error"] == pytest.approx(0.25)
    assert (found[going_on.WHOLE]["rmse"], found[going_on.HALVES]["rmse"]) == (1.5, 1.75)


def test_fits_on_all_rows_are_those_of_table_1(tiny_sets, tmp_path, monkeypatch):
    uci.run(["wine"], 2, 1, tmp_path / "store", networks="defaults", **SMALL)
    monkeypatch.setattr(uci, "scores", None)  # none is made again
    results = going_on.run(["wine"], 2, 1, tmp_path / "store", **SMALL)
    record.write(tmp_path / "going-on.json", results)
    again = json.loads((tmp_path / "going-on.json").read_text())
    own = again["sets"]["wine"]
    assert own[going_on.WHOLE]["splits"] == own[going_on.HALVES]["splits"] == 2
    _, columns, rows, _ = going_on.table(again)
    assert rows["wine"].keys() == columns.keys()
    assert rows["wine"]["RMSE,\nratio"] == f"{own['rmse_ratio']:.3f}"


def test_unknown_sets_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"sets must be among boston.*got whine"):
        going_on.run(["whine"], store=tmp_path)
