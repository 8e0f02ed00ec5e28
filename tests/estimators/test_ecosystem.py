"""The regressor among scikit-learn's tools, and with data frames."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from ggln import GGLNRegressor

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.fixture(params=FRAMES)
def frame(request):
    """From rows and names to a data frame."""
    return lambda X, names="abc": FRAMES[request.param]({n: X[:, i] for i, n in enumerate(names)})


def test_in_a_pipeline_it_sees_what_the_steps_before_it_made(tiny, table):
    X, y = table()
    steps = make_pipeline(StandardScaler(), PolynomialFeatures(2), tiny()).fit(X, y)
    features = steps[:-1].transform(X)
    assert steps[-1].n_features_in_ == features.shape[1]
    assert np.array_equal(steps.predict(X), tiny().fit(features, y).predict(features))


def test_grid_search_finds_the_setting_that_fits(tiny, table):
    X, y = table(rows=300)
    y = X[:, 0] * X[:, 1]
    grid = {"context_dim": [0, 3], "epochs": np.arange(1, 3)}
    search = GridSearchCV(tiny(layer_sizes=(16, 16, 1)), grid, cv=3, n_jobs=1).fit(X, y)
    assert search.best_params_["context_dim"] == 3  # without gates there is no product
    assert search.best_estimator_.score(X, y) > 0.3


def test_cross_validation_scores_are_those_of_separate_fits(tiny, table):
    X, y = table()
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    expected = [tiny().fit(X[a], y[a]).score(X[b], y[b]) for a, b in halves]
    assert cross_val_score(tiny(), X, y, cv=halves).tolist() == expected


def test_clone_has_the_parameters_but_none_of_the_knowledge(tiny, table):
    model = tiny(learning_rate=0.1, weight_range=(-1.0, 10.0)).fit(*table())
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not [name for name in vars(copied) if name.endswith("_")]


def test_target_transformation_is_undone_in_predictions(tiny, table):
    X, y = table()
    wrapped = TransformedTargetRegressor(tiny(), func=np.arcsinh, inverse_func=np.sinh).fit(X, y)
    expected = np.sinh(tiny().fit(X, np.arcsinh(y)).predict(X))
    np.testing.assert_allclose(wrapped.predict(X), expected, rtol=1e-12)


def test_several_outputs_need_no_wrapper(tiny, table):
    X, Y = table(outputs=3)
    model = tiny().fit(X, Y)
    assert model.n_outputs_ == 3
    assert model.predict(X).shape == (60, 3)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("rows", [40, 1100])
def test_a_copy_goes_on_as_the_original_without_touching_it(tiny, table, assert_same, duplicate, rows):
    X, y = table(rows=rows + 50)
    model = tiny().partial_fit(X[:rows], y[:rows])
    for i in range(3):  # kernels specialised for single rows must not be copied
        model.learn_one(X[i], y[i])
    before = duplicate(model)
    other = duplicate(model)
    other.partial_fit(X[rows:], y[rows:])
    assert_same(model, before)
    model.partial_fit(X[rows:], y[rows:])
    assert_same(model, other)
    assert model.learn_one(X[0], y[0]).predict_one(X[1]) == other.learn_one(X[0], y[0]).predict_one(X[1])


def test_parameters_can_be_read_and_set_back():
    changed = GGLNRegressor(epochs=3, gating="sphere", layer_sizes=[4, 1])
    assert GGLNRegressor().set_params(**changed.get_params()).get_params() == changed.get_params()


def test_parameters_set_after_fitting_count_from_the_next_fit_on(tiny, table, assert_same):
    X, y = table()
    model = tiny().fit(X, y).set_params(context_dim=1, layer_sizes=(4, 1))
    assert_same(copy.deepcopy(model).partial_fit(X, y), tiny().fit(X, y).partial_fit(X, y))
    assert_same(model.fit(X, y), tiny(context_dim=1, layer_sizes=(4, 1)).fit(X, y))


def test_fitting_again_starts_afresh(tiny, table, assert_same):
    X, y = table()
    once = tiny().fit(X, y)
    assert_same(tiny().fit(X, y).fit(X, y), once)
    assert_same(tiny().partial_fit(X[:20], y[:20]).fit(X, y), once)
    assert_same(tiny().fit(X[:, :2], table(outputs=2)[1]).fit(X, y), once)


def test_partial_fit_goes_on_after_fit(tiny, table):
    X, y = table()
    model = tiny().fit(X, y)
    rows, before = model.learner_.rows, model.predict(X)
    model.partial_fit(X, y)
    assert model.learner_.rows == rows + 60
    assert not np.array_equal(model.predict(X), before)


def test_sample_weight_needs_exact_learning(tiny, table):
    X, y = table()
    for method in ("fit", "partial_fit"):
        for step in ("capped", "ogd"):
            with pytest.raises(ValueError, match=f"sample_weight needs step=\"newton\", got step='{step}'"):
                getattr(tiny(step=step), method)(X, y, sample_weight=np.ones(60))
        weighted = getattr(tiny(exact=True), method)(X, y, sample_weight=np.ones(60))
        assert np.array_equal(weighted.predict(X), getattr(tiny(exact=True), method)(X, y).predict(X))
        for bad in (-np.ones(60), np.full(60, np.nan), np.ones(59)):
            with pytest.raises(ValueError, match=r"[Ss]ample.weight|Input contains NaN"):
                getattr(tiny(exact=True), method)(X, y, sample_weight=bad)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        tiny(exact=True).fit(X, y, sample_weight=np.zeros(60))
    assert has_fit_parameter(tiny(), "sample_weight")


def test_rows_of_more_weight_pull_harder(tiny, table):
    X, y = table(rows=300)
    y += np.random.default_rng(1).normal(size=300)
    weights = np.where(y > y.mean(), 5.0, 1.0)
    plain = tiny(exact=True).fit(X, y).predict(X).mean()
    pulled = tiny(exact=True).fit(X, y, sample_weight=weights).predict(X).mean()
    assert pulled - plain > 0.4 * (np.average(y, weights=weights) - y.mean())


def test_stacked_with_others_it_is_one_of_the_columns(tiny, table):
    X, y = table(rows=120)
    parts = [("ggln", tiny()), ("ridge", Ridge())]
    stacked = StackingRegressor(parts, final_estimator=LinearRegression(), cv=3).fit(X, y)
    columns = np.stack([tiny().fit(X, y).predict(X), Ridge().fit(X, y).predict(X)], axis=1)
    np.testing.assert_allclose(stacked.transform(X), columns, rtol=1e-12)
    # and as the last one, it mixes what the others predict, with error bars
    last = StackingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=4))], tiny(), cv=3)
    mean, std = last.fit(X, y).predict(X, return_std=True)
    assert mean.shape == std.shape == (120,)
    assert (std > 0).all()


def test_conformal_intervals_around_it_cover_what_they_promise(tiny):
    from mapie.regression import SplitConformalRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (900, 3))
    y = X[:, 0] * X[:, 1] + 0.2 * rng.standard_normal(900)
    model = tiny(layer_sizes=(8, 8), epochs=5)
    conformal = SplitConformalRegressor(model, confidence_level=0.8, prefit=False)
    conformal.fit(X[:300], y[:300]).conformalize(X[300:600], y[300:600])
    mean, intervals = conformal.predict_interval(X[600:])
    assert np.array_equal(mean, model.fit(X[:300], y[:300]).predict(X[600:]))
    covered = (intervals[:, 0, 0] <= y[600:]) & (y[600:] <= intervals[:, 1, 0])
    assert 0.72 < covered.mean() < 0.88  # 300 rows to calibrate with, and 300 to test


def test_cross_conformal_intervals_refit_it_for_every_fold(tiny, table):
    from mapie.regression import CrossConformalRegressor

    X, y = table(rows=60)
    conformal = CrossConformalRegressor(tiny(), confidence_level=0.8, cv=3)
    conformal.fit_conformalize(X, y)
    intervals = conformal.predict_interval(X)[1]
    assert ((intervals[:, 0, 0] <= y) & (y <= intervals[:, 1, 0])).mean() > 0.7


# Data frames -------------------------------------------------------------------------------------------


def test_frames_give_what_arrays_give(tiny, table, frame, assert_same):
    X, y = table()
    model = tiny().fit(frame(X), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_same(model, tiny().fit(X, y))
    assert np.array_equal(model.predict(frame(X)), tiny().fit(X, y).predict(X))


def test_targets_may_be_series_and_frames(tiny, table, assert_same):
    X, Y = table(outputs=2)
    for targets in (pd.DataFrame(Y, columns=["u", "v"]), pl.DataFrame(Y, schema=["u", "v"])):
        assert_same(tiny().fit(X, targets), tiny().fit(X, Y))
    for targets in (pd.Series(Y[:, 0], index=np.arange(60)[::-1]), pl.Series(Y[:, 0])):
        model = tiny().fit(X, targets)
        assert_same(model, tiny().fit(X, Y[:, 0]))
        assert model.predict(X).shape == (60,)


@pytest.mark.parametrize("method", ["predict", "predict_dist", "neurons", "explain", "partial_fit"])
@pytest.mark.parametrize("names", ["acb", "abd"])
def test_other_columns_are_refused(tiny, table, frame, method, names):
    X, y = table()
    model = tiny().fit(frame(X), y)
    arguments = (frame(X, names), y) if method == "partial_fit" else (frame(X, names),)
    with pytest.raises(ValueError, match="feature names should match"):
        getattr(model, method)(*arguments)


def test_names_from_fit_are_forgotten_when_fitting_an_array(tiny, table, frame):
    X, y = table()
    model = tiny().fit(frame(X), y).fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(X).shape == (60,)


def test_missing_values_are_named_by_column(tiny, table, frame):
    X, y = table()
    X[7, 1] = np.nan
    model = tiny()
    with pytest.raises(ValueError, match=r"X contains NaN: row 7, column 1 \('b'\)"):
        model.fit(frame(X), y)
    model.fit(frame(np.nan_to_num(X)), y)
    with pytest.raises(ValueError, match=r"X contains NaN: row 7, column 1 \('b'\)"):
        model.predict(frame(X))


def test_single_rows_may_be_dicts_in_any_order(tiny, table, frame, assert_same):
    X, y = table()
    model, other = tiny().partial_fit(frame(X), y), tiny().partial_fit(X, y)
    row = dict(zip("cab", X[0, [2, 0, 1]], strict=True))
    assert model.predict_one(row) == other.predict_one(X[0])
    assert_same(model.learn_one(row, y[0]), other.learn_one(X[0], y[0]))


@pytest.mark.parametrize("names", [["c", "a", "b"], [2, 0, 1]])
def test_a_stream_of_dicts_learns_names_from_the_first(tiny, table, assert_same, tmp_path, names):
    from ggln import load

    X, y = table()
    model = tiny()
    for x, target in zip(X, y, strict=True):
        model.learn_one(dict(zip(names, x, strict=True)), target)
    assert model.feature_names_in_.tolist() == names
    assert_same(model, tiny().partial_fit(X, y))
    model.save(tmp_path / "model")
    row = dict(zip(names, X[5], strict=True))
    assert load(tmp_path / "model").predict_one(row) == model.predict_one(row)


# Threads -----------------------------------------------------------------------------------------------


def test_threads_may_predict_with_the_same_model(tiny, table):
    X, y = table(rows=2000)
    model = tiny(layer_sizes=(32,) * 4, epochs=1).fit(X, y)
    parts = [X[:1000], X[1000:]] * 20
    expected = [model.predict(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for got, want in zip(pool.map(model.predict, parts), expected, strict=True):
            assert np.array_equal(got, want)


def test_processes_may_predict_with_the_same_model(tiny, table):
    X, y = table(rows=500)
    model = tiny(layer_sizes=(96, 64), context_dim=6, epochs=1).fit(X, y)
    alone = permutation_importance(model, X, y, n_repeats=2, random_state=0, n_jobs=1)
    shared = permutation_importance(model, X, y, n_repeats=2, random_state=0, n_jobs=2)
    assert model.learner_.ensemble.pool.numbers.nbytes > 2**20  # joblib then maps it read-only
    again = permutation_importance(model, X, y, n_repeats=2, random_state=0, n_jobs=2)
    assert np.array_equal(again.importances, shared.importances)
    # this process may have compiled its kernels, which then round otherwise than those of the cache
    np.testing.assert_allclose(alone.importances, shared.importances, rtol=1e-5)


def test_rows_of_a_frame_are_read_by_name(tiny, table):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abc"))
    model = tiny().fit(frame, y)
    expected = model.predict_one(X[0])
    assert model.predict_one(frame.iloc[0]) == expected
    assert model.predict_one(frame.iloc[0][::-1]) == expected
