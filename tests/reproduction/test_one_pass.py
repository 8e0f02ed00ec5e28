import json
import sys

import numpy as np
import pytest
from scipy.stats import norm

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import one_pass
from ggln.reproduction.competitors import online_regressors
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2, "n_estimators": 1}


@pytest.fixture
def table():
    random = np.random.default_rng(1)
    X = 1e3 + random.normal(size=(80, 2)) * [1.0, 30.0]
    return X, 500.0 + X @ [2.0, 0.1] + random.standard_normal(80)


def test_running_statistics_are_those_of_the_rows_so_far(table):
    X, y = table
    stream = one_pass.standardized(X, y)
    for i in (1, 5, 79):
        so_far, targets = X[: i + 1], y[: i + 1]
        assert stream.X[i] == pytest.approx((X[i] - so_far.mean(axis=0)) / so_far.std(axis=0))
        assert stream.goals[i] == pytest.approx((y[i] - targets.mean()) / targets.std())
        assert stream.shifts[i] == pytest.approx(y[:i].mean())
        assert stream.scales[i] == pytest.approx(y[:i].std() if i > 1 else 1.0)
    assert np.abs(stream.X[0]).max() == stream.goals[0] == 0.0
    same = one_pass.standardized(np.full((5, 1), 7.0), np.arange(5.0))
    assert np.array_equal(same.X, np.zeros((5, 1)))


@pytest.mark.parametrize("method", online_regressors.NAMES)
def test_no_prediction_knows_its_own_or_a_later_target(method, table):
    X, y = table
    changed = y.copy()
    changed[60:] += 100.0
    first, second = (one_pass._others(one_pass.standardized(X, t), method, 0) for t in (y, changed))
    assert np.array_equal(first["nll"][:60], second["nll"][:60])
    mean_error = np.sqrt(first["squared"][one_pass.UNSCORED :].mean())
    assert mean_error < 5.0 * y.std()


def test_errors_so_far_give_the_error_bars():
    errors, scales = np.array([99.0, 3.0, 4.0, 0.0]), np.array([1.0, 2.0, 2.0, 2.0])
    found = one_pass._past_errors(errors, scales)
    assert found == pytest.approx([1.0, 2.0, 3.0, np.sqrt(12.5)])


def test_our_predictions_are_the_streams_in_the_targets_units(table, monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 17)
    stream = one_pass.standardized(*table)
    found = one_pass._ours(stream, SMALL, 3)
    model = GGLNRegressor(**SMALL, random_state=3)
    predicted = model.prequential(stream.X, stream.goals)
    mean = stream.shifts + stream.scales * predicted.mean
    assert found["squared"] == pytest.approx((mean - stream.y) ** 2)
    i = 50
    density = norm(
        stream.shifts[i] + stream.scales[i] * predicted.means[i], stream.scales[i] * predicted.stds[i]
    )
    assert found["nll"][i] == pytest.approx(
        -np.log(predicted.weights[i] @ density.pdf(stream.y[i])), rel=1e-5
    )


def test_results_can_be_drawn(tiny_sets, tmp_path):
    results = one_pass.run(["yacht", "wine"], 2, 40, tmp_path / "store", **SMALL)
    record.write(tmp_path / "one-pass.json", results)
    again = json.loads((tmp_path / "one-pass.json").read_text())
    own = again["sets"]["wine"][one_pass.OURS]
    assert own["rows"] == 40
    assert own["seeds"] == 2
    assert "river" in again["machine"]
    _, columns, rows, _ = one_pass.table(again)
    assert len(rows) == 2 * len(one_pass.METHODS)
    assert all(row.keys() == columns.keys() for row in rows.values())
    figure = one_pass.draw(again)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["yacht", "wine"]
    figure.savefig(tmp_path / "one-pass.png")


def test_what_is_not_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ValueError, match=r"needs river.*pip install 'ggln\[peers\]'"):
        one_pass.run(["yacht"], store=tmp_path)
