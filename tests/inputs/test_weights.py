"""Weights of rows: what they are equal to, and how they are routed."""

from functools import partial

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


@pytest.mark.parametrize(("outputs", "forgetting"), [(1, "auto"), (1, None), (2, "auto")])
def test_rows_of_weight_zero_are_predicted_and_not_there(regressor, table, outputs, forgetting):
    X, y = table(80)
    y = y if outputs == 1 else np.column_stack([y, X[:, 0]])
    weights, make = np.ones(80), partial(regressor, forgetting=forgetting)
    weights[[0, 1, 17, 40, 41, 42, 79]] = 0.0
    counted = weights > 0
    plain = make()
    expected = plain.prequential(X[counted], y[counted])
    model = make()
    found = model.prequential(X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.mean[counted], expected.mean)
    np.testing.assert_array_equal(found.std[counted], expected.std)
    assert np.isfinite(found.mean).all()
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    alone = make()
    for x, target, weight in zip(X, y, weights, strict=True):  # cut as it may be
        alone.partial_fit([x], [target], sample_weight=[weight])
    np.testing.assert_array_equal(alone.predict(X), plain.predict(X))


def test_a_classifier_does_not_count_rows_of_weight_zero(classifier, table):
    X, y = table(80)
    names, weights = y > 0, (np.arange(80) % 7 > 0).astype(float)
    plain, model = classifier(), classifier()
    expected = plain.prequential(X[weights > 0], names[weights > 0], [False, True])
    found = model.prequential(X, names, [False, True], sample_weight=weights)
    np.testing.assert_array_equal(found[weights > 0], expected)
    np.testing.assert_array_equal(found[0], [0.5, 0.5])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("weights", [[1e-300, 1.0], [1.0, 1e90], [np.nan, 1.0], [-1.0, 1.0]])
def test_weights_out_of_range_are_refused(regressor, classifier, weights):
    for learn in (regressor().fit, regressor().partial_fit, classifier().fit):
        with pytest.raises(ValueError, match=r"sample_weight|Sample weights"):
            learn([[0.0], [1.0]], [0, 1], sample_weight=weights)


@pytest.mark.parametrize("weight", [1e-12, 1e12])
def test_the_least_and_the_greatest_weights_are_learnt(regressor, table, weight):
    X, y = table(120)
    weights = np.where(np.arange(120) % 2, 1.0, weight)
    for model in (regressor().fit(X, y, weights), regressor().partial_fit(X, y, weights)):
        assert np.isfinite(model.predict_dist(X).log_prob(y)).all()
