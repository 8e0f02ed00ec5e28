"""Columns and targets that are always the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ggln import GGLNRegressor

SMALL = {"layer_sizes": (4, 4), "n_estimators": 2, "random_state": 0}


@pytest.mark.parametrize("constant", [0.0, 7.0, -3e8])
@pytest.mark.parametrize("standardize", [True, False])
def test_a_column_that_was_constant_cannot_move_a_prediction(
    regressor, classifier, table, constant, standardize
):
    X, y = table(100)
    X[:, 1] = constant if standardize else 0.5
    other = X.copy()
    other[:, 1] = 1e6
    settings = {"standardize": standardize}
    models = [regressor(**settings).fit(X, y), regressor(**settings).partial_fit(X, y)]
    for model in models:
        np.testing.assert_array_equal(model.predict(other), model.predict(X))
        assert model.predict_one(other[0]) == model.predict_one(X[0])
        np.testing.assert_array_equal(model.slopes(X)[:, 1], 0.0)
    classes = classifier(**settings).fit(X, y > 0)
    np.testing.assert_array_equal(classes.predict_proba(other), classes.predict_proba(X))


@settings(max_examples=12)
@given(
    st.floats(-1e12, 1e12).filter(lambda c: c == 0 or abs(c) > 1e-12),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
)
def test_a_constant_target_is_predicted_to_the_last_bit(constant, rows, stream, weighted):
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 3)), np.full(rows, constant)
    weights = rng.uniform(0.5, 3.0, size=rows) if weighted else None
    model = GGLNRegressor(**SMALL)
    (model.partial_fit if stream else model.fit)(X, y, sample_weight=weights)
    mean, std = model.predict(rng.normal(size=(5, 3)), return_std=True)
    np.testing.assert_array_equal(mean, constant)
    np.testing.assert_array_equal(model.predict_dist(X).mean, constant)
    assert model.predict_one(X[0]) == constant
    if rows >= 20:
        assert (std <= 1e-4 * (abs(constant) or 1.0)).all()


def test_a_constant_target_among_others(table):
    X, y = table(80)
    model = GGLNRegressor(**SMALL).fit(X, np.stack([y, np.full(80, 0.1)], axis=1))
    np.testing.assert_array_equal(model.predict(X)[:, 1], 0.1)


def test_a_target_may_begin_to_change(table):
    X, y = table(300)
    y[:50] = 2.0
    model = GGLNRegressor(**SMALL).partial_fit(X, y)
    assert np.corrcoef(model.predict(X[50:]), y[50:])[0, 1] > 0.8
