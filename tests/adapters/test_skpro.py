"""The probabilistic regressor of skpro: its own checks, and what its predictions are."""

import numpy as np
import pandas as pd
import pytest
from skpro.utils import check_estimator

from ggln import GGLNRegressor
from ggln.adapters.skpro import SkproGGLN

SETTINGS = {"layer_sizes": (8, 4), "n_estimators": 2, "epochs": 5, "base_model": "feature", "random_state": 0}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"], index=np.arange(80) * 2)
    Y = pd.DataFrame({"u": X["a"] * X["b"], "v": X["c"]}) + 0.1 * rng.normal(size=(80, 2))
    return X, Y


def test_keeps_the_conventions_of_skpro():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONWARNINGS", "ignore")
        results = check_estimator(SkproGGLN, raise_exceptions=True, verbose=False)
    assert len(results) > 50
    assert set(results.values()) == {"PASSED"}


@pytest.mark.parametrize("columns", [["u"], ["u", "v"]])
def test_predictions_are_the_regressors(table, columns):
    X, Y = table
    model = SkproGGLN(GGLNRegressor(**SETTINGS)).fit(X, Y[columns])
    plain = GGLNRegressor(**SETTINGS).fit(X, Y[columns].to_numpy())
    dist, shape = plain.predict_dist(X), (80, len(columns))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_allclose(model.predict_var(X), (dist.std**2).reshape(shape), rtol=1e-5)
    quantiles = model.predict_quantiles(X, alpha=[0.1, 0.7])
    assert quantiles.columns.tolist() == [(name, level) for name in columns for level in (0.1, 0.7)]
    for i, name in enumerate(columns):
        for level in (0.1, 0.7):
            own = dist.quantile(level).reshape(shape)[:, i]
            np.testing.assert_allclose(quantiles[name, level], own)
    interval = model.predict_interval(X, coverage=0.8)
    assert (interval["u", 0.8, "lower"] < interval["u", 0.8, "upper"]).all()
    assert interval.index.equals(X.index)


@pytest.mark.parametrize("columns", [["u"], ["u", "v"]])
def test_the_distribution_is_the_whole_mixture(table, columns):
    X, Y = table
    model = SkproGGLN(GGLNRegressor(**SETTINGS)).fit(X, Y[columns])
    proba, dist = model.predict_proba(X), model.regressor_.predict_dist(X)
    assert proba.shape == (80, len(columns))
    marginals = [dist] if len(columns) == 1 else [dist.marginal(d) for d in range(2)]
    for i, (marginal, name) in enumerate(zip(marginals, columns, strict=True)):
        y = Y[name].to_numpy()
        np.testing.assert_allclose(proba.log_pdf(Y[columns]).iloc[:, i], marginal.log_prob(y), rtol=1e-6)
        np.testing.assert_allclose(proba.cdf(Y[columns]).iloc[:, i], marginal.cdf(y), rtol=1e-6, atol=1e-9)


def test_updates_go_on_learning_and_fit_starts_afresh(table):
    X, Y = table
    y = Y[["u"]]
    model = SkproGGLN(GGLNRegressor(**SETTINGS)).fit(X[:60], y[:60]).update(X[60:], y[60:])
    plain = GGLNRegressor(**SETTINGS).fit(X[:60], y[:60].to_numpy()).partial_fit(X[60:], y[60:].to_numpy())
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    again = model.fit(X[:60], y[:60]).predict(X)
    np.testing.assert_array_equal(again, GGLNRegressor(**SETTINGS).fit(X[:60], y[:60].to_numpy()).predict(X))


def test_the_given_regressor_is_not_fitted(table):
    X, Y = table
    regressor = GGLNRegressor(**SETTINGS)
    SkproGGLN(regressor).fit(X, Y[["u"]])
    assert not hasattr(regressor, "learner_")
