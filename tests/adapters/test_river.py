"""The regressor of River: its own checks, rows that change their features, and a pipeline."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import checks, compose, datasets, dummy, evaluate, metrics, preprocessing, stats

from ggln import GGLNRegressor
from ggln.adapters.river import SMALL, RiverGGLN


def small(seed=0, **settings):
    plain = {**SMALL, "gating": "mixed", "base_model": "feature", **settings}
    return RiverGGLN(GGLNRegressor(**plain), seed=seed)


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    return pd.DataFrame(X, columns=["b", "a", "c"]), pd.Series(X[:, 0] * X[:, 1] + 0.1 * X[:, 2])


def state(model):
    return model.model.learner_.state()[1]


def assert_same(one, other):
    assert one.features == other.features
    first, second = state(one), state(other)
    assert first.keys() == second.keys()
    for name in first:
        assert np.array_equal(first[name], second[name]), name


def dicts(X):
    return X.to_dict("records")


CHECKS = [
    pytest.param(
        RiverGGLN(**parameters),
        check,
        id=f"{number}-{check.__name__}",
        marks=[pytest.mark.nightly] if number else [],
    )
    for number, parameters in enumerate(RiverGGLN._unit_test_params())
    for check in checks.yield_checks(RiverGGLN(**parameters))
]


@pytest.mark.parametrize(("model", "check"), CHECKS)
def test_keeps_the_conventions_of_river(model, check):
    assert not model._unit_test_skips()
    check(model.clone())


def test_learning_many_rows_is_exactly_a_loop():
    X, y = rows(1100)  # past the end of the warm-up
    one, many = small(), small()
    for x, target in zip(dicts(X), y, strict=True):
        one.learn_one(x, target)
    for part in (slice(0, 1), slice(1, 700), slice(700, 1100)):
        many.learn_many(X[part], y[part])
    assert_same(one, many)
    assert one.predict_many(X[:5]).tolist() == [many.predict_one(x) for x in dicts(X[:5])]
    columns = many.model.predict(X[:5][["a", "b", "c"]].to_numpy())
    np.testing.assert_allclose(one.predict_many(X[:5]), columns, rtol=1e-12)


def test_frames_with_gaps_are_learnt_as_a_loop_too():
    X, y = rows(40)
    X.iloc[3, 0] = X.iloc[0, 1] = np.nan
    one, many = small(), small()
    for x, target in zip(dicts(X), y, strict=True):
        one.learn_one(x, target)
    many.learn_many(X, y)
    assert many.features == ["a", "b", "c"]
    assert_same(one, many)


def test_frames_of_polars_are_read():
    X, y = rows(30)
    one, other = small(), small()
    one.learn_many(X, y)
    other.learn_many(pl.DataFrame(X.to_dict("list")), pl.Series(y.to_list()))
    assert_same(one, other)
    assert isinstance(other.predict_many(pl.DataFrame(X.to_dict("list"))), pl.Series)
    assert one.predict_many(X.set_index(X.index + 7)).index.tolist() == (X.index + 7).tolist()


def test_it_is_the_regressor_on_sorted_features():
    X, y = rows(80)
    model = small()
    for x, target in zip(dicts(X), y, strict=True):
        model.learn_one(x, target)
    settings = {**SMALL, "gating": "mixed", "base_model": "feature"}
    plain = GGLNRegressor(**settings, random_state=0).partial_fit(X[["a", "b", "c"]].to_numpy(), y)
    mean, std = plain.predict_one(X[["a", "b", "c"]].to_numpy()[0], return_std=True)
    gaussian = model.predict_one(dicts(X)[0], with_dist=True)
    assert model.predict_one(dicts(X)[0]) == mean == gaussian.mu
    assert gaussian.sigma == pytest.approx(std)
    assert gaussian.cdf(mean) == pytest.approx(0.5)


def test_a_feature_that_emerges_early_is_learnt_from_then_on():
    X, y = rows(300)
    model = small(n_estimators=4)
    for i, (x, target) in enumerate(zip(dicts(X), y, strict=True)):
        model.learn_one(x if i >= 50 else {"b": x["b"], "c": x["c"]}, target)
    assert model.features == ["a", "b", "c"]
    assert model.model.learner_.rows == 300
    errors = [target - model.predict_one(x) for x, target in zip(dicts(X), y, strict=True)]
    assert np.var(errors) < 0.7 * np.var(y)  # without "a" there is nothing to learn but 0.1 c


def test_a_feature_that_emerges_late_is_ignored_with_a_warning():
    X, y = rows(2050)
    model, other = small(), small()
    model.learn_many(X, y)
    other.learn_many(X, y)
    with pytest.warns(UserWarning, match=r"features \['late'\] appear after 2050 rows and are ignored"):
        model.learn_one({**dicts(X)[0], "late": 1.0}, 0.5)
    model.learn_one({**dicts(X)[0], "late": 2.0}, 0.5)  # once is enough
    for _ in range(2):
        other.learn_one(dicts(X)[0], 0.5)
    assert_same(model, other)
    assert model.predict_one({**dicts(X)[0], "late": 1.0}) == other.predict_one(dicts(X)[0])


def test_what_is_missing_is_at_its_mean():
    X, y = rows(64)  # a number of rows after which means are taken anew
    model = small()
    model.learn_many(X, y)
    x = dicts(X)[0]
    filled = {**x, "a": X["a"].mean()}
    for gap in ({"b": x["b"], "c": x["c"]}, {**x, "a": None}, {**x, "a": float("nan")}):
        assert model.predict_one(gap) == pytest.approx(model.predict_one(filled), rel=1e-9)


def test_a_row_of_nothing_teaches_nothing():
    model = small()
    model.learn_one({}, 3.0)
    assert model.predict_one({}) == 0.0
    assert not model.features


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": 1.0, "new": "red"}, 1.0, "feature 'new' is 'red', expected a number: put an encoder"),
        ({"a": 1.0, "new": float("inf")}, 1.0, "feature 'new' is inf, expected a finite number"),
        ({"a": 1.0, "new": 1.0}, float("nan"), "y is nan, expected a finite number"),
    ],
)
def test_bad_rows_change_nothing(x, y, message):
    X, targets = rows(20)
    model, other = small(), small()
    model.learn_many(X, targets)
    other.learn_many(X, targets)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y)
    assert_same(model, other)


@pytest.mark.nightly
def test_in_a_pipeline_with_scalers_it_beats_the_mean():
    stream = list(datasets.TrumpApproval().take(500))
    mine = (
        compose.Select("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
        | preprocessing.StandardScaler()
        | RiverGGLN(GGLNRegressor(n_estimators=3), seed=0)
    )
    mean = dummy.StatisticRegressor(stats.Mean())
    own = evaluate.progressive_val_score(stream, mine, metrics.MAE()).get()
    other = evaluate.progressive_val_score(stream, mean, metrics.MAE()).get()
    spread = np.abs(np.diff([y for _, y in stream])).mean()
    assert own < 1.0  # of about 40 percent
    assert own < 0.8 * other
    assert spread < own  # a stream that hardly moves: not to be taken for more than it is
    assert mine.predict_one(stream[0][0], with_dist=True).sigma > 0


def test_nothing_else_imports_the_libraries():
    code = (
        "import sys, ggln, ggln.estimators.regressor, ggln.plots, ggln.adapters, ggln.cli\n"
        "assert not {'river', 'skpro'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
