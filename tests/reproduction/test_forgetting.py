import json
from itertools import pairwise

import numpy as np
import pytest

from ggln.reproduction import forgetting
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 1}


def test_regions_follow_each_other_along_one_feature(tiny_sets):
    parts = forgetting.parts_of("power", 0, None)
    assert len(parts) == forgetting.PARTS
    assert sum(len(part.y) + len(part.y_test) for part in parts) == 60
    together = [np.concatenate([part.X, part.X_test]) for part in parts]
    assert all(
        a[:, 2].max() <= b[:, 2].min() for a, b in pairwise(together)
    )  # the third feature has the largest slope
    targets = np.concatenate([np.concatenate([part.y, part.y_test]) for part in parts])
    assert targets.mean() == pytest.approx(0.0, abs=1e-9)
    assert targets.std() == pytest.approx(1.0)


@pytest.mark.parametrize("data", forgetting.SYNTHETIC)
def test_synthetic_parts_are_the_same_for_the_same_seed(data):
    first, again, other = (forgetting.parts_of(data, seed, 160) for seed in (1, 1, 2))
    assert all(
        np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y) for a, b in zip(first, again, strict=True)
    )
    assert not np.array_equal(first[0].X, other[0].X)
    assert [len(part.y) for part in first] == [16] * forgetting.PARTS
    assert [len(part.y_test) for part in first] == [4] * forgetting.PARTS


def test_what_is_forgotten_is_the_error_at_the_end_less_the_error_when_learnt():
    matrix = np.array([[1.0, 9, 9, 9], [2, 1, 9, 9], [3, 2, 1, 9], [5, 4, 3, 1]])
    found = forgetting.summary([matrix, matrix])
    assert (found["learnt"], found["first"], found["forgotten"], found["all"]) == (1.0, 4.5, 3.5, 3.25)


def test_results_can_be_drawn(tiny_sets, tmp_path):
    results = forgetting.run(["tasks", "kin8nm"], 2, 120, tmp_path / "store", **SMALL)
    record.write(tmp_path / "forgetting.json", results)
    again = json.loads((tmp_path / "forgetting.json").read_text())
    errors = np.array(again["sets"]["tasks"]["GGLNRegressor()"]["errors"])
    assert errors.shape == (forgetting.PARTS, forgetting.PARTS)
    assert np.isfinite(errors).all()
    _, columns, rows, _ = forgetting.table(again)
    assert len(rows) == 2 * len(forgetting.METHODS)
    assert all(row.keys() == columns.keys() for row in rows.values())
    figure = forgetting.draw(again)
    assert len(figure.axes) == 2 * len(forgetting.METHODS) + 1
    figure.savefig(tmp_path / "forgetting.png")


def test_unknown_data_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"sets must be among regions.*got wine"):
        forgetting.run(["wine"], store=tmp_path)
