"""Streams that change: what is promised of them, on small networks."""

import copy
import pickle

import numpy as np
import pytest

import ggln
from ggln import GGLNRegressor
from ggln.engine.newton import constants
from ggln.engine.newton.banks import COUNT, LEVEL, new_bank
from ggln.engine.newton.drift import DriftLearner
from ggln.engine.newton.fading import FadingLearner
from ggln.engine.newton.learner import ExactLearner

SMALL = {"layer_sizes": (3, 3), "n_estimators": 2, "random_state": 0}


def stream(rows=400, shift=10.0, seed=0):
    """Rows whose function changes in the middle."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.2 * random.normal(size=rows)
    late = np.arange(rows) >= rows // 2
    return X, np.where(late, shift - y, y)


def same(one, other):
    first, second = one.learner_.state(), other.learner_.state()
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    for name, array in first[1].items():
        assert np.array_equal(array, second[1][name], equal_nan=True), name


@pytest.fixture(scope="module")
def whole():
    X, y = stream()
    model = GGLNRegressor(**SMALL)
    return model, model.prequential(X, y)


def test_a_stream_begins_again_and_remembers(whole):
    model, found = whole
    _, y = stream()
    learner = model.learner_
    assert isinstance(learner, DriftLearner)
    assert len(learner.former) == 1
    assert learner.leader.rows < 210
    errors = np.abs(found.mean - y)
    assert errors[200:202].mean() > 5.0
    assert errors[300:].mean() < 1.3 * errors[100:200].mean()


def test_cuts_files_and_pickles_do_not_matter(whole, tmp_path):
    X, y = stream()
    model = GGLNRegressor(**SMALL)
    means = [model.prequential(X[:150], y[:150]).mean]
    for row in range(150, 240):
        means.append([model.predict_one(X[row])])
        model.learn_one(X[row], y[row])
    model.save(tmp_path / "model.ggln")
    model = pickle.loads(pickle.dumps(ggln.load(tmp_path / "model.ggln")))
    means.append(model.prequential(X[240:], y[240:]).mean)
    same(model, whole[0])
    np.testing.assert_allclose(np.concatenate(means), whole[1].mean, rtol=1e-9, atol=1e-9)


def test_threads_do_not_matter(whole):
    X, y = stream()
    same(GGLNRegressor(**SMALL, n_jobs=2).partial_fit(X, y), whole[0])


def test_a_calm_stream_decides_less_often(monkeypatch):
    monkeypatch.setattr(constants, "WARM_ROWS", 96)
    X, y = stream()
    model = GGLNRegressor(**SMALL).partial_fit(X[:130], y[:130])
    assert model.learner_.until == 3 * constants.CALM
    for row, target in zip(X[130:], y[130:], strict=True):
        model.learn_one(row, target)
    assert model.learner_.former
    same(model, GGLNRegressor(**SMALL, n_jobs=2).partial_fit(X, y))


def test_nobodys_regressions_begin_again_with_a_new_leader():
    """What they learnt before may have other units, and some of them forget it in thousands of rows."""
    X, y = stream(200)
    learner = GGLNRegressor(**SMALL).partial_fit(X, y).learner_
    learner._join(copy.deepcopy(learner.leader), new_bank(1, 3))
    learner.changed = learner.rows - 20
    assert learner.bank.numbers[-1, :, COUNT].min() > 10.0
    learner._lead(1, None)
    assert np.all(learner.bank.numbers[-1, :, COUNT] == 0.0)
    np.testing.assert_allclose(learner.bank.numbers[-1, :, LEVEL], y[-20:].mean())
    assert learner.shares.sum() == pytest.approx(1.0)
    assert 0.0 < learner.shares[-1].sum() < 1e-3


def test_a_regime_that_comes_back_is_remembered():
    X, y = stream()
    again, targets = stream(seed=1)
    model = GGLNRegressor(**SMALL).partial_fit(X, y)
    first = model.learner_.former[0].rows
    model.partial_fit(again[:100], targets[:100])
    assert model.learner_.leader.rows > first > 100


def test_coverage_is_kept(whole):
    _, y = stream()
    lower, upper = whole[1].interval(0.9)
    inside = (y >= lower) & (y <= upper)
    assert abs(inside[50:].mean() - 0.9) < 0.03


def test_without_forgetting_all_rows_count_alike():
    X, y = stream()
    model = GGLNRegressor(**SMALL, forgetting=None).partial_fit(X, y)
    assert type(model.learner_) is ExactLearner
    assert type(GGLNRegressor(**SMALL).fit(X, y).learner_) is ExactLearner


def test_rows_fade_in_fit_and_in_a_stream():
    X, y = stream()
    model = GGLNRegressor(**SMALL, forgetting=40).fit(X, y)
    assert isinstance(model.learner_, FadingLearner)
    recent, old = (
        np.abs(model.predict(X[200:]) - y[200:]).mean(),
        np.abs(model.predict(X[:200]) - y[:200]).mean(),
    )
    assert recent < 0.1 * old
    one = GGLNRegressor(**SMALL, forgetting=40).partial_fit(X, y)
    other = GGLNRegressor(**SMALL, forgetting=40).partial_fit(X[:33], y[:33]).partial_fit(X[33:], y[33:])
    same(one, other)
    assert np.abs(one.predict(X[300:]) - y[300:]).mean() < 0.5


def test_several_outputs_forget_each_for_itself():
    X, y = stream()
    model = GGLNRegressor(**SMALL).partial_fit(X, np.stack([y, X[:, 0]], axis=1))
    changed, steady = model.learner_.learners
    assert changed.former
    assert not steady.former
    assert np.abs(model.predict(X[300:])[:, 0] - y[300:]).mean() < 0.6


def test_features_may_still_join():
    X, y = stream(120)
    model = GGLNRegressor(**SMALL)
    for row, target in zip(X[:60], y[:60], strict=True):
        model.learn_one({"a": row[0], "b": row[1]}, target)
    for row, target in zip(X[60:], y[60:], strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), target)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert np.isfinite(model.predict_one({"a": 0.0, "b": 1.0, "c": 2.0}))


@pytest.mark.parametrize("value", [0, -3, 1.5, "never"])
def test_forgetting_is_checked(value):
    with pytest.raises(ValueError, match="forgetting"):
        GGLNRegressor(forgetting=value).fit(*stream(20))
