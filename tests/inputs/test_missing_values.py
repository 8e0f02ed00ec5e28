"""NaN in X is a missing value for networks that are solved."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import ggln
from ggln import GGLNRegressor, GLNClassifier


def test_all_methods_take_missing_values(regressor, gappy):
    X, y = gappy(120)
    model = regressor().fit(X[:80], y[:80])
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()
    assert np.isfinite(model.predict_dist(X).log_prob(y)).all()
    assert np.isfinite(model.prequential(X[80:110], y[80:110]).log_prob(y[80:110])).all()
    one = model.learn_one(X[110], y[110]).predict_one(X[111])
    assert one == pytest.approx(model.predict(X[111:112])[0], rel=1e-12)
    assert model.predict_one(np.full(4, np.nan)) == pytest.approx(model.predict(np.full((1, 4), np.nan))[0])
    explanation = model.explain(X[:5])
    assert np.isfinite(explanation.mean).all()
    np.testing.assert_allclose(explanation.prediction, model.predict(X[:5]), atol=1e-9)
    assert np.isfinite(model.effects(X[:3]).total).all()
    slopes = model.slopes(X[:5])
    assert (slopes[np.isnan(X[:5])] == 0.0).all()
    assert np.isfinite(slopes).all()
    assert np.isfinite(model.neurons(X[:5])[0].mean).all()
    assert model.contexts(X[:5]).shape[0] == 5


def test_gates_of_a_row_that_lacks_values(regressor, gappy):
    X, y = gappy(120)
    model = regressor().fit(X, y)
    row = X[:1].copy()
    row[0, :2] = [np.nan, 0.5]
    gates = model.active_gates(row)
    lacks = gates.normals[:, 0] != 0.0
    np.testing.assert_array_equal(
        np.isnan(gates.projections), lacks | (gates.normals @ np.isnan(row[0]) != 0.0)
    )
    known = ~np.isnan(gates.projections)
    assert 0 < np.count_nonzero(known) < known.size
    np.testing.assert_array_equal(gates.inside[known], (gates.projections >= gates.offsets)[known])
    np.testing.assert_array_equal(gates.bounds[0], [-np.inf, np.inf])
    assert gates.bounds[1, 0] <= 0.5 <= gates.bounds[1, 1]
    assert any(condition.endswith("is missing") for condition in gates.conditions())


def test_a_classifier_takes_missing_values(classifier, gappy):
    X, y = gappy(120)
    model = classifier().fit(X[:80], y[:80] > 0)
    model.partial_fit(X[80:90], y[80:90] > 0).learn_one(X[91], True)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(list(model.predict_proba_one(X[0]).values())).all()
    assert np.isfinite(model.prequential(X[90:], y[90:] > 0)).all()


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_stream_may_be_cut_and_saved_anywhere(regressor, gappy, tmp_path, outputs):
    X, y = gappy(90)
    y = y if outputs == 1 else np.stack([y, -2 * y], axis=1)
    whole = regressor().partial_fit(X, y)
    cut = regressor()
    for start in range(0, 90, 17):
        cut.partial_fit(X[start : start + 17], y[start : start + 17])
        cut.save(tmp_path / "model.ggln")
        cut = ggln.load(tmp_path / "model.ggln")
    np.testing.assert_array_equal(cut.predict(X), whole.predict(X))
    threads = regressor(n_jobs=2).partial_fit(X, y)
    np.testing.assert_array_equal(threads.predict(X), whole.predict(X))


def test_what_is_missing_can_tell_the_target(regressor):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    lacks = rng.random(400) < 0.3
    y = np.where(lacks, 3.0, -1.0) + 0.1 * rng.normal(size=400)
    X[lacks, 1] = np.nan
    model = regressor().fit(X[:300], y[:300])
    assert np.sqrt(np.mean((model.predict(X[300:]) - y[300:]) ** 2)) < 0.2
    alone = regressor(base_model="feature").fit(X[:300], y[:300])  # by gates, without the regression
    assert np.sqrt(np.mean((alone.predict(X[300:]) - y[300:]) ** 2)) < 0.3


def test_values_missing_because_they_are_high_are_better_left_missing(regressor, table):
    X, y = table(900)
    X[(X > 0.3) & (np.random.default_rng(5).random(X.shape) < 0.7)] = np.nan
    models = regressor(), make_pipeline(SimpleImputer(), regressor())
    errors = [np.mean((model.fit(X[:500], y[:500]).predict(X[500:]) - y[500:]) ** 2) for model in models]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize("make", ["regressor", "classifier"])
def test_a_column_without_any_value_says_nothing(request, make, table):
    X, y = table(80)
    y = y if make == "regressor" else y > 0
    X[:, 3] = np.nan
    other = X.copy()
    other[:, 3] = 1e6
    fitted = request.getfixturevalue(make)().fit(X, y)
    streamed = request.getfixturevalue(make)()
    streamed.partial_fit(X, y, **({} if make == "regressor" else {"classes": [False, True]}))
    for model in (fitted, streamed):
        ask = model.predict if make == "regressor" else model.predict_proba
        np.testing.assert_array_equal(ask(X), ask(other))


def test_nothing_but_missing_values(regressor):
    X, y = np.full((30, 2), np.nan), np.arange(30.0)
    model = regressor().fit(X, y)
    assert model.predict(X)[0] == pytest.approx(14.5, abs=1.0)
    assert np.isfinite(regressor().partial_fit(X, y).predict(X)).all()


def test_a_feature_that_was_never_missing_may_be_so_later(regressor, table):
    X, y = table(200)
    model = regressor().fit(X, y)
    gaps = X.copy()
    gaps[:, 3] = np.nan  # which says nothing
    assert np.sqrt(np.mean((model.predict(gaps) - model.predict(X)) ** 2)) < 0.5 * y.std()


@pytest.mark.parametrize("step", ["ogd", "capped"])
def test_gradient_steps_say_that_they_need_every_feature(table, step):
    X, y = table(30)
    X[7, 2] = np.nan
    model = GGLNRegressor(layer_sizes=(4, 1), context_dim=2, step=step, n_estimators=1, folds=0)
    for method in (model.fit, model.partial_fit, model.prequential):
        with pytest.raises(
            ValueError, match=r"NaN: row 7, column 2. Networks that learn by gradient steps.*newton"
        ):
            method(X, y)
    model.fit(X[:7], y[:7])
    with pytest.raises(ValueError, match="newton"):
        model.predict(X)
    with pytest.raises(ValueError, match="newton"):
        model.predict_one(X[7])
    with pytest.raises(ValueError, match="newton"):
        GLNClassifier(step="normalised", context_dim=2).fit(X, y > 0)


def test_missing_targets_and_infinite_features_are_refused(regressor, table):
    X, y = table(30)
    with pytest.raises(ValueError, match="y contains NaN"):
        regressor().fit(X, np.where(np.arange(30) == 3, np.nan, y))
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="infinity: row 4, column 1"):
        regressor().fit(X, y)
    assert regressor().__sklearn_tags__().input_tags.allow_nan
    assert not GGLNRegressor(step="ogd").__sklearn_tags__().input_tags.allow_nan
