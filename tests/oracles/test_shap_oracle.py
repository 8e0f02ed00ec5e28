"""Contributions are what SHAP's exact explainer finds; on linear problems, effects are as well."""

import warnings

import numpy as np
import pytest

from ggln import GGLNRegressor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it imports
    import shap

COEFFICIENTS = np.array([3.0, -2.0, 0.5, 0.0])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 5.0, 0.0, -1.0]
    return X, X @ COEFFICIENTS + 10.0


def exact(model, rows, background):
    """Shapley values with features replaced by those of the background, over all subsets."""
    explainer = shap.explainers.Exact(model.predict, shap.maskers.Independent(background, len(background)))
    return explainer(rows)


@pytest.mark.nightly
@pytest.mark.parametrize("base_model", ["auto", "feature"])
def test_contributions_of_four_features_are_shapley_values(problem, base_model):
    X, y = problem
    target = y + 3.0 * np.sin(X[:, 0]) * X[:, 1] * np.sign(X[:, 3] + 1.0)  # features that act together
    settings = {"layer_sizes": (8, 4), "n_estimators": 2, "base_model": base_model}
    model = GGLNRegressor(**settings, random_state=0).fit(X, target)
    rows, background = X[:6], X[100:130]
    expected = exact(model, rows, background)
    found = model.explain(rows, background, n_background=30)
    np.testing.assert_allclose(found.mean, expected.values, atol=1e-9)
    np.testing.assert_allclose(found.intercept, expected.base_values, atol=1e-9)


@pytest.mark.nightly
def test_contributions_of_more_features_are_close_to_shapley_values(problem):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(400, 7))
    y = 3 * X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3] * X[:, 4] * X[:, 5]
    model = GGLNRegressor(layer_sizes=(8, 4), n_estimators=2, random_state=0).fit(X, y)
    rows, background = X[:6], X[100:132]
    expected = exact(model, rows, background).values
    found = model.explain(rows, background).mean
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_a_linear_problem_has_its_own_terms(problem):
    X, y = problem
    model = GGLNRegressor(random_state=0, n_estimators=2).fit(X, y)
    rows, background = X[:8], X[100:150]
    truth = COEFFICIENTS * (rows - background.mean(axis=0))
    scale = np.abs(truth).max()
    np.testing.assert_allclose(
        model.explain(rows, background, n_background=50).mean, truth, atol=0.01 * scale
    )
    np.testing.assert_allclose(model.effects(rows, background, 50).total, truth, atol=0.01 * scale)
    np.testing.assert_allclose(model.slopes(rows), np.tile(COEFFICIENTS, (8, 1)), atol=0.05)


def test_without_gates_centred_contributions_are_shapley_values(problem):
    X, y = problem
    settings = {
        "step": "capped",
        "gating": "mixed",
        "layer_sizes": (8, 4, 1),
        "n_estimators": 2,
        "epochs": 10,
        "base_model": "feature",
        "folds": 0,
    }
    model = GGLNRegressor(**settings, context_dim=0, random_state=0).fit(X, y)
    rows, background = X[:8], X[100:150]
    expected = exact(model, rows, background)
    found = model.explain(rows).mean - model.explain(background).mean.mean(axis=0)
    np.testing.assert_allclose(found[:, :4], expected.values, atol=1e-4)
    np.testing.assert_allclose(found[:, 4:], 0.0, atol=1e-9)  # biases tell no rows apart
    np.testing.assert_allclose(model.effects(rows, background, 50).total, expected.values, atol=1e-4)
    linear = shap.LinearExplainer((model.slopes(rows)[0], 0.0), background).shap_values(rows)
    np.testing.assert_allclose(linear, expected.values, atol=1e-4)


def test_with_gates_a_linear_problem_is_explained_nearly_so(problem):
    X, y = problem
    settings = {"layer_sizes": (16, 16, 1), "context_dim": 2, "n_estimators": 6, "gating": "mixed"}
    model = GGLNRegressor(**settings, step="capped", epochs=20, folds=0, random_state=0).fit(X, y)
    rows, background = X[:12], X[100:150]
    expected = exact(model, rows, background).values
    found = model.effects(rows, background, 50).total
    truth = COEFFICIENTS * (rows - background.mean(axis=0))
    scale = np.abs(truth).max()
    assert np.abs(found - expected).mean() < 0.05 * scale  # features hardly interact
    assert np.abs(found - truth).mean() < 0.06 * scale
    for feature in (0, 1):
        assert np.corrcoef(found[:, feature], expected[:, feature])[0, 1] > 0.99
