import json

import pytest

from ggln.cli import speeds


@pytest.mark.nightly
def test_bench_prints_speeds_and_writes_them(ggln, monkeypatch, tmp_path):
    full = speeds.run
    small = {"layer_sizes": (4, 4), "n_estimators": 2, "epochs": 1, "base_model": "feature", "folds": 0}
    monkeypatch.setattr(speeds, "run", lambda n_jobs: full(n_jobs, rows=64, **small))
    code, output, said = ggln("bench", "-o", "speeds.json")
    assert code == 0, said
    for words in ("fit, 64 rows", "ggln stream", "rows/s", "microseconds"):
        assert words in output
    found = json.loads((tmp_path / "speeds.json").read_text())
    assert all(rate > 0 for rate in found["rows_per_second"].values())
    assert found["machine"]["cpu"] in output
