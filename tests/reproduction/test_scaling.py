import json

import numpy as np
import pytest

from ggln.reproduction import scaling
from ggln.reproduction.competitors import point_regressors
from ggln.reproduction.scaling import measure as measuring
from ggln.reproduction.scaling.run import MODELS
from ggln.reproduction.scaling.table import exponent
from ggln.reproduction.shared import jobs, process, record
from ggln.reproduction.tasks import large_tables

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 2}


@pytest.mark.parametrize(("name", "features"), [("Friedman 1", 10), ("kin40k-like", 8), ("HIGGS-like", 28)])
def test_tables_are_the_same_every_time_and_longer_ones_are_alike(name, features):
    X, y = large_tables.TABLES[name](2000, 0)
    again, same = large_tables.TABLES[name](2000, 0)
    assert X.shape == (2000, features)
    assert np.array_equal(X, again)
    assert np.array_equal(y, same)
    _, longer = large_tables.TABLES[name](20_000, 1)
    assert y.std() == pytest.approx(longer.std(), rel=0.1)


def test_an_arm_reaches_as_far_as_it_is_long(monkeypatch):
    """Eight links are one length together; the more they bend, the nearer the hand is to the shoulder."""
    monkeypatch.setattr(large_tables, "TARGET", np.zeros(3))
    monkeypatch.setattr(large_tables, "ARM_NOISE", 0.0)
    X, y = large_tables.arm(500, 0)
    assert y.max() < 1.0
    assert np.corrcoef(np.abs(X[:, 1:7]).sum(axis=1), y)[0, 1] < -0.5


@pytest.fixture
def here(monkeypatch):
    """Measure in this process: a new one takes seconds to import everything."""
    monkeypatch.setattr(measuring, "alone", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(measuring, "TEST_ROWS", 300)


@pytest.mark.nightly
def test_all_is_measured_beside_its_goal(here, tmp_path):
    arguments = {
        "rows": (60, 600),
        "features": (10, 20),
        "peer_rows": (300,),
        "stream_rows": 1,
        "file_rows": 1000,
        "in_memory": 300,
        "wide_rows": 200,
        "threads": 1,
        "store": tmp_path / "store",
    }
    results = scaling.run(**arguments, **SMALL)
    record.write(tmp_path / "scaling.json", results)
    again = json.loads((tmp_path / "scaling.json").read_text())
    assert list(again["rows"]) == ["60", "600"]
    assert again["rows"]["600"]["rmse"] < again["rows"]["60"]["rmse"]
    assert set(again["tables"]) == {f"{name}: 300 rows" for name in large_tables.TABLES}
    for name, own in again["tables"].items():
        assert own.keys() == set(MODELS), name
        assert all(0.0 < one["rmse"] < 6.0 and one["seconds"] > 0.0 for one in own.values())
    assert again["figures"]["error_ratio"] < 1.0
    assert list(again["stream"]) == ["4096"]
    own = again["file"]
    assert own["fit"]["seconds"] > own["read"]["seconds"]
    ratio = own["fit"]["seconds"] / own["stream"]["seconds"]
    assert again["figures"]["file_ratio"] == pytest.approx(ratio, rel=1e-3)
    titles = [table.title for table in scaling.table(again)]
    assert titles[-1] == "Goals"
    assert all(table.rows for table in scaling.table(again))
    assert scaling.draw(again).get_axes()[0].get_xlabel() == "rows, 10 features"
    # nothing is measured again
    assert scaling.run(**arguments, **SMALL)["rows"] == results["rows"]


@pytest.mark.nightly
def test_river_is_left_out_where_it_would_take_hours(here, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "run_grid", lambda wanted, *_: asked.append(wanted) or {}["stop"])
    with pytest.raises(KeyError, match="stop"):
        scaling.run(store=tmp_path)
    cells = asked[0]
    assert ("HIGGS-like: 10,000 rows", "River") in cells
    assert ("HIGGS-like: 100,000 rows", "River") not in cells
    assert ("HIGGS-like: 1,000,000 rows", "LightGBM") in cells
    # what two parts of the experiment need is measured once
    names = [job.file_name for own in cells.values() for job in own]
    assert len(set(names)) < len(names)


@pytest.mark.nightly
def test_each_fit_has_a_process_of_its_own():
    """So the peak of its memory is not that of a larger one before it."""
    held = np.ones(2**30 // 8)
    found = measuring.measure("Friedman 1", 100, 10, point_regressors.OURS, 1, SMALL)
    assert held.nbytes / process.MEGABYTE < process.peak() / process.MEGABYTE
    assert 50.0 < found["megabytes"] < 1024.0
    assert 0.0 <= found["grown"] < 100.0


def test_the_exponent_is_the_slope():
    fits = {"10": {"seconds": 1.0, "processor": 1.0}, "1000": {"seconds": 1000.0, "processor": 10.0}}
    assert exponent(fits) == pytest.approx(1.5)
    assert exponent(fits, "processor") == pytest.approx(0.5)


def test_peers_predict(here):
    X, y = large_tables.friedman(500)
    for name in point_regressors.LIBRARIES:
        predict = point_regressors.fit(name, X, y, 1, {})
        assert np.sqrt(np.mean((predict(X) - y) ** 2)) < y.std()
