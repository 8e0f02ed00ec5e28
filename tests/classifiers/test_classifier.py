"""What a user sees of the classifier."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from ggln import GLNClassifier
from ggln.engine.gating import Gates
from ggln.engine.gradient.reference_bernoulli import ReferenceBernoulli


@pytest.mark.nightly
def test_digits_by_engine_and_twin():
    """The defaults learn scikit-learn's digits; the twin, given the same gates, predicts the same."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    assert GLNClassifier(random_state=0).fit(X_train, y_train).score(X_test, y_test) > 0.97
    few = GLNClassifier(
        layer_sizes=(3, 2), context_dim=2, n_estimators=1, gating="axis", gating_bias=0.5, random_state=0
    )
    few.set_params(step="normalised", standardize=False).partial_fit(
        X_train[:40] / 4 - 2, y_train[:40], classes=range(10)
    )
    learner = few.learner_
    twin = ReferenceBernoulli(learner.settings, Gates(*learner.ensemble.gates))
    for row, label in zip(X_train[:40] / 4 - 2, y_train[:40], strict=True):
        twin.learn(row, np.eye(10)[label])
    for row in X_test[:5] / 4 - 2:
        chances = twin.mixture() @ np.concatenate(twin.predict(row))
        np.testing.assert_allclose(few.predict_proba([row])[0], chances / chances.sum(), rtol=1e-4)


@pytest.mark.parametrize(
    ("labels", "one"), [(["spam", "ham"], "spam"), ([3, -1], 3), ([True, False], True), ([0.0, 2.0], 2.0)]
)
def test_two_classes(tiny, table, labels, one):
    X, numbers = table(200, 2)
    y = np.array(labels)[numbers]
    model = tiny(epochs=10).fit(X, y)
    assert list(model.classes_) == sorted(labels)
    assert model.learner_.settings.outputs == 1
    assert model.score(X, y) > 0.8
    chances, scores = model.predict_proba(X), model.decision_function(X)
    assert scores.shape == (200,)
    np.testing.assert_array_equal(scores > 0, chances[:, 1] > 0.5)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    assert one in model.predict_proba_one(X[0])
    assert model.predict_one(X[0]) == model.predict(X[:1])[0]


def test_several_classes(tiny, table):
    X, y = table(300)
    model = tiny(epochs=10).fit(X, y)
    chances, scores = model.predict_proba(X), model.decision_function(X)
    assert chances.shape == scores.shape == (300, 3)
    np.testing.assert_array_equal(chances.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_allclose(np.log(chances), model.predict_log_proba(X))
    one = model.predict_proba_one(X[4])
    np.testing.assert_allclose([one[k] for k in range(3)], chances[4], rtol=1e-12)


def test_ties_go_to_the_first_class(tiny, table):
    model = tiny(aggregation="last", n_estimators=1).fit(*table(60, 2))
    model.learner_.ensemble.pool.numbers[:] = 0.0
    model.learner_.ensemble.shape.priors[:] = 0.0  # all weights vanish, so that all chances are a half
    np.testing.assert_array_equal(model.predict_proba(np.ones((1, 3))), [[0.5, 0.5]])
    assert model.predict(np.ones((1, 3)))[0] == model.predict_one(np.ones(3)) == 0


def test_fit_starts_afresh_and_partial_fit_goes_on(tiny, table, assert_same):
    X, y = table()
    model = tiny().fit(X, y)
    assert_same(model.fit(X, y), tiny().fit(X, y))
    before = model.learner_.rows
    assert model.partial_fit(X, y).learner_.rows == before + 60
    refitted = model.fit(X, np.array(["a", "b", "c"])[y])
    assert list(refitted.classes_) == ["a", "b", "c"]


def test_a_stream_has_to_name_its_classes(tiny, table):
    X, y = table()
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        tiny().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"labels \[2\], which are not among the classes \[0, 1\]"):
        tiny().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must have at least two classes, got 1 class"):
        tiny().partial_fit(X, y, classes=[0])
    with pytest.raises(NotFittedError, match="learn_one has to know the classes"):
        tiny().learn_one(X[0], 1)
    with pytest.raises(NotFittedError, match="predict_proba_one has to know the classes"):
        tiny().predict_proba_one(X[0])
    model = tiny().partial_fit(X[:5], y[:5], classes=[2, 1, 0])
    model.partial_fit(X[5:], y[5:], classes=[0, 1, 2])
    with pytest.raises(
        ValueError, match=r"classes must be those of the first call, \[0, 1, 2\], got \[0, 1\]"
    ):
        model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.0}, "'learning_rate' parameter"),
        ({"decay": -1.0}, "'decay' parameter"),
        ({"min_probability": 0.5}, "'min_probability' parameter"),
        ({"step": "capped"}, "'step' parameter"),
        ({"hinges": -1}, "'hinges' parameter"),
        ({"layer_sizes": ()}, "layer_sizes must be a sequence of positive integers"),
        ({"context_dim": 17}, "'context_dim' parameter|context_dim must be"),
        ({"weight_range": (0.5, 1.0)}, "weight_range must begin below the initial weight"),
        ({"weight_range": (1.0, 0.0)}, "weight_range must be"),
    ],
)
def test_wrong_parameters_are_named(tiny, table, changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes).fit(*table())


def test_one_class_is_not_enough(tiny, table):
    X, _ = table()
    with pytest.raises(ValueError, match="y must have at least two classes, got 1 class"):
        tiny().fit(X, np.zeros(60))


def test_sample_weights_are_refused(tiny, table):
    X, y = table()
    with pytest.raises(TypeError, match="sample_weight"):
        tiny().fit(X, y, sample_weight=np.ones(60))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_read_by_name(tiny, table, frame):
    X, y = table()
    rows = frame(dict(zip("abc", X.T, strict=True)))
    model = tiny().fit(rows, y)
    assert list(model.feature_names_in_) == list("abc")
    np.testing.assert_array_equal(model.predict_proba(rows), tiny().fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(rows[["b", "a", "c"]])
    row = dict(zip("cab", X[0, [2, 0, 1]], strict=True))
    assert model.predict_proba_one(row) == model.predict_proba_one(X[0])
    with pytest.raises(ValueError, match=r"lacks the features \['c'\]"):
        model.learn_one({"a": 1.0, "b": 2.0}, 1)


def test_it_works_where_classifiers_work(tiny):
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    pipeline = make_pipeline(MinMaxScaler(), tiny(epochs=10))
    assert cross_val_score(pipeline, X, names, cv=3).mean() > 0.85
    search = GridSearchCV(tiny(), {"learning_rate": [0.1, 1.0]}, scoring="neg_log_loss", cv=2).fit(X, names)
    assert search.best_estimator_.score(X, names) > 0.8
    calibrated = CalibratedClassifierCV(tiny(epochs=10), cv=2).fit(X, names)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert clone(tiny(decay=7.0)).decay == 7.0


def test_progress_is_shown_on_demand(tiny, table, capsys):
    tiny(verbose=1).fit(*table())
    assert "learning" in capsys.readouterr().out


def test_several_context_dimensions(tiny, table):
    X, y = table(100)
    model = tiny(context_dim=(0, 3)).fit(X, y)
    neurons = model.learner_.ensemble.pool.visited()[0]
    counts = np.bincount(neurons, minlength=2 * 16).reshape(2, 16)
    assert (counts[0] == 1).all()
    assert (counts[1] > 1).any()
