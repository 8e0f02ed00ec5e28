"""Weights of rows: what they are equal to, and how they are routed."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ggln import TableRegressor
from ggln.engine.scaling import Scaler


def test_units_of_weighted_rows_are_those_of_repeated_rows(gappy):
    X, _ = gappy(50)
    weights = np.random.default_rng(2).integers(1, 4, size=50)
    one, other = Scaler(4, 1e6, True), Scaler(4, 1e6, True)
    one.settle(X, weights.astype(float))
    other.settle(np.repeat(X, weights, axis=0), np.ones(weights.sum()))
    np.testing.assert_allclose(one.state, other.state, rtol=1e-12)


def test_a_row_of_weight_two_is_left_out_as_a_whole(regressor, table):
    X, y = table(400)
    weights = np.random.default_rng(2).integers(1, 4, size=300)
    weighted = regressor().fit(X[:300], y[:300], sample_weight=weights)
    repeated = regressor().fit(np.repeat(X[:300], weights, axis=0), np.repeat(y[:300], weights))
    errors = [np.mean((model.predict(X[300:]) - y[300:]) ** 2) for model in (weighted, repeated)]
    assert errors[0] < errors[1]  # a row that comes twice stands in two folds: none of them leaves it out


def test_all_weights_of_one_change_nothing(regressor, classifier, table):
    X, y = table(60)
    ones = np.ones(60)
    np.testing.assert_array_equal(regressor().fit(X, y, ones).predict(X), regressor().fit(X, y).predict(X))
    streams = regressor(), regressor()
    weighted = streams[0].prequential(X, y, sample_weight=ones)
    np.testing.assert_array_equal(weighted.mean, streams[1].prequential(X, y).mean)
    classes = [False, True]
    np.testing.assert_array_equal(
        classifier().prequential(X, y > 0, classes, sample_weight=ones),
        classifier().prequential(X, y > 0, classes),
    )


def test_weights_count_in_a_table_of_names(regressor, table):
    X, y = table(100)
    heavy = np.where(np.arange(100) % 2 == 0, 100.0, 0.01)
    shifted = np.where(np.arange(100) % 2 == 0, y, y + 50.0)
    model = TableRegressor(regressor())
    assert abs(np.mean(model.fit(X, shifted, sample_weight=heavy).predict(X) - y)) < 1.0
    model = TableRegressor(regressor()).partial_fit(X, shifted, sample_weight=heavy)
    assert abs(np.mean(model.predict(X) - y)) < 1.0
    assert np.isfinite(TableRegressor(regressor()).prequential(X, y, sample_weight=heavy).mean).all()


def test_scores_are_weighted(regressor, classifier, table):
    X, y = table(60)
    weights = np.r_[np.ones(30), np.zeros(30)]
    model, classes = regressor().fit(X, y), classifier().fit(X, y > 0)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(model.score(X[:30], y[:30]))
    assert classes.score(X, y > 0, sample_weight=weights) == pytest.approx(classes.score(X[:30], y[:30] > 0))


@pytest.mark.parametrize("make", ["regressor", "classifier", "table"])
def test_weights_are_routed(request, make, table):
    X, y = table(60)
    weights = np.where(np.arange(60) < 50, 1.0, 1e-3)
    model = request.getfixturevalue("regressor" if make == "table" else make)()
    model = TableRegressor(model) if make == "table" else model
    y = y > 0 if make == "classifier" else y
    with config_context(enable_metadata_routing=True):
        asking = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        routed = pipeline.fit(X, y, sample_weight=weights).predict(X)
        scaled = StandardScaler().fit_transform(X)
        np.testing.assert_array_equal(routed, asking.fit(scaled, y, sample_weight=weights).predict(scaled))
        search = GridSearchCV(
            asking, {"regressor__n_estimators" if make == "table" else "n_estimators": [1, 2]}, cv=2
        )
        assert np.isfinite(search.fit(X, y, sample_weight=weights).best_score_)
        found = cross_validate(asking, X, y, cv=2, params={"sample_weight": weights})
        assert np.isfinite(found["test_score"]).all()
        going_on = asking.set_partial_fit_request(sample_weight=True)
        assert going_on.get_metadata_routing().partial_fit.requests["sample_weight"] is True
