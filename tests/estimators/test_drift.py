"""Streams whose rows come sorted, or change their units: nothing is lost, and no cut is seen."""

import numpy as np
import pytest

from ggln import GGLNRegressor, load
from ggln.core.constants import WARMUP_ROWS

ROWS = 3 * WARMUP_ROWS + 50


def small():
    return GGLNRegressor(layer_sizes=(4, 2), n_estimators=2, context_dim=3, random_state=0)


@pytest.fixture(scope="module")
def sorted_stream():
    """Rows in the order of their first feature, which the target follows up and down."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (ROWS, 2))
    X = X[np.argsort(X[:, 0])]
    return X, np.sin(2.0 * X[:, 0]) + X[:, 0] + 0.05 * rng.standard_normal(ROWS)


@pytest.fixture(scope="module")
def whole(sorted_stream):
    return small().partial_fit(*sorted_stream)


def test_units_follow_a_sorted_stream_in_steps(sorted_stream, whole):
    X, _ = sorted_stream
    scaler = whole.learner_.inputs
    assert scaler.state[0, 0] % WARMUP_ROWS == 0  # the rows after which they were drawn last
    assert scaler.state[0, 0] > WARMUP_ROWS
    assert scaler.shift_and_scale()[1][0] > 2.0 * X[:WARMUP_ROWS, 0].std()


def test_a_sorted_stream_remembers_its_first_rows(sorted_stream, whole):
    X, y = sorted_stream
    first = slice(0, WARMUP_ROWS)
    error = np.sqrt(np.mean((whole.predict(X[first]) - y[first]) ** 2))
    assert error < 0.5 * y[first].std()


def test_units_of_a_shuffled_stream_stand_still(sorted_stream):
    order = np.random.default_rng(1).permutation(ROWS)
    X, y = (values[order] for values in sorted_stream)
    model = small().partial_fit(X[: WARMUP_ROWS + 1], y[: WARMUP_ROWS + 1])
    before = model.learner_.inputs.state.copy()
    assert np.array_equal(
        model.partial_fit(X[WARMUP_ROWS + 1 :], y[WARMUP_ROWS + 1 :]).learner_.inputs.state, before
    )


@pytest.mark.parametrize("cuts", [[1500], [2046, 2048, 2050, 3072, 3074]])
def test_cuts_saving_and_single_rows_change_nothing(sorted_stream, whole, assert_same, tmp_path, cuts):
    X, y = sorted_stream
    model = small()
    for start, stop in zip([0, *cuts], [*cuts, ROWS], strict=True):
        model.partial_fit(X[start : stop - 1], y[start : stop - 1])
        model.save(tmp_path / "model.ggln")
        model = load(tmp_path / "model.ggln").learn_one(X[stop - 1], y[stop - 1])
    assert_same(model, whole)


def test_a_stream_survives_a_change_of_units(sorted_stream):
    X, y = sorted_stream
    order = np.random.default_rng(2).permutation(ROWS)
    X, y = X[order], y[order]
    model = small().partial_fit(X, y).partial_fit(X, 1000.0 * y)
    model.partial_fit(X, 1000.0 * y).partial_fit(X, 1000.0 * y)
    error = np.sqrt(np.mean((model.predict(X) - 1000.0 * y) ** 2))
    assert error < 500.0 * y.std()
