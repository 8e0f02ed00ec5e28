"""Promises of the engine, for the classifier: threads, cuts, files, bad and hostile input."""

import copy
import pickle

import numpy as np
import pytest

import ggln
from ggln.engine import constants


@pytest.mark.parametrize("classes", [2, 3])
def test_threads_do_not_matter(tiny, table, assert_same, classes, monkeypatch):
    monkeypatch.setattr(constants, "PARALLEL_WEIGHTS", 1)
    X, y = table(100, classes)
    for networks in (1, 2):
        one = tiny(n_estimators=networks, n_jobs=1).fit(X, y)
        for jobs in (2, 7):
            other = tiny(n_estimators=networks, n_jobs=jobs).fit(X, y)
            assert_same(one, other)
            np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("classes", [2, 3])
def test_cuts_do_not_matter(tiny, table, assert_same, classes):
    X, y = table(1500, classes)
    labels = np.arange(classes)
    whole = tiny(decay=100.0)
    before = whole.prequential(X, y, classes=labels)
    assert before.shape == (1500, classes)
    np.testing.assert_allclose(before.sum(axis=1), 1.0)
    for cuts in ([1], [3, 700, 1024, 1025], list(range(100, 1500, 100))):
        other, parts = tiny(decay=100.0), np.split(np.arange(1500), cuts)
        recorded = [other.prequential(X[part], y[part], classes=labels) for part in parts]
        assert_same(whole, other)
        np.testing.assert_array_equal(np.concatenate(recorded), before)
    single = tiny(decay=100.0).partial_fit(X[:1], y[:1], classes=labels)
    for row, label in zip(X[1:300], y[1:300], strict=True):
        single.learn_one(row, label)
    single.partial_fit(X[300:], y[300:])
    assert_same(whole, single)


def test_what_was_predicted_before_learning_is_what_predict_says(tiny, table):
    X, y = table(200)
    model = tiny().partial_fit(X[:150], y[:150], classes=[0, 1, 2])
    expected = model.predict_proba(X[150:151])
    np.testing.assert_allclose(model.prequential(X[150:], y[150:])[:1], expected, rtol=1e-12)


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [2.0, -1.0, 7.0], [True, False], ["a", "b", "cc"]])
def test_files_hold_all_there_is_and_learning_goes_on(tiny, table, assert_same, tmp_path, labels):
    X, numbers = table(200, len(labels))
    y = np.array(labels)[numbers]
    model = tiny().partial_fit(X[:90], y[:90], classes=labels)
    model.save(tmp_path / "model.ggln")
    loaded = ggln.load(tmp_path / "model.ggln")
    assert loaded.classes_.dtype == model.classes_.dtype
    for other in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_same(model, other)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        again = copy.deepcopy(model).partial_fit(X[90:], y[90:])
        assert_same(again, other.partial_fit(X[90:], y[90:]))


def test_a_fitted_model_comes_back_from_its_file(tiny, table, assert_same, tmp_path):
    X, y = table()
    model = tiny(gating="tree", context_dim=(1, 3)).fit(X, y)
    model.save(tmp_path / "model.ggln")
    assert_same(model, ggln.load(tmp_path / "model.ggln"))


def test_bad_values_are_named_and_change_nothing(tiny, table, assert_same):
    X, y = table()
    model = tiny().partial_fit(X, y, classes=[0, 1, 2])
    before = copy.deepcopy(model)
    for bad, what in ((np.nan, "NaN"), (np.inf, "infinity"), (1e200, "too large")):
        worse = X.copy()
        worse[7, 2] = bad
        for call in (model.partial_fit, model.prequential):
            with pytest.raises(ValueError, match=f"X contains .*{what}.*row 7, column 2.*unchanged"):
                call(worse, y)
        with pytest.raises(ValueError, match="row 7, column 2"):
            model.predict_proba(worse)
        with pytest.raises(ValueError, match=r"x contains .*column 2"):
            model.learn_one(worse[7], 1)
    with pytest.raises(ValueError, match="y contains NaN: row 1"):
        model.partial_fit(X[:2], [0.0, np.nan])
    with pytest.raises(ValueError, match=r"labels \[3\], which are not among the classes \[0, 1, 2\]"):
        model.partial_fit(X[:2], [0, 3])
    with pytest.raises(ValueError, match=r"labels \[3\]"):
        model.learn_one(X[0], 3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(X[:3], [0, 1])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.partial_fit(X[:, :2], y)
    assert_same(before, model)


def test_a_failed_beginning_leaves_nothing(tiny, table):
    X, y = table()
    worse = X.copy()
    worse[0, 0] = np.nan
    model = tiny()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(worse, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(worse, y)
    assert not [name for name in vars(model) if name.endswith("_") or name.endswith("_in_")]


@pytest.mark.parametrize(
    "make_hostile",
    [
        lambda X: X * 1e30,
        lambda X: X * 1e-30,
        lambda X: np.zeros_like(X),
        lambda X: np.where(np.arange(len(X))[:, None] == 5, 1e30, X),
        lambda X: np.repeat(X[:1], len(X), axis=0),
        lambda X: X + 1e12,
    ],
    ids=["huge", "tiny", "zeros", "outlier", "constant", "shifted"],
)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("step", ["normalised", "ogd"])
def test_hostile_input_yields_probabilities(tiny, table, make_hostile, standardize, step):
    X, y = table()
    hostile = make_hostile(X)
    settings = {"standardize": standardize, "step": step, "learning_rate": 1.0}
    fitted = tiny(**settings).fit(hostile, y)
    streamed = tiny(**settings).partial_fit(hostile, y, classes=[0, 1, 2])
    for model in (fitted, streamed):
        for rows in (hostile, X, -1e3 * hostile):
            chances = model.predict_proba(rows)
            assert np.isfinite(chances).all()
            assert (chances > 0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0)
            assert np.isfinite(model.decision_function(rows)).all()
            assert np.isfinite(model.predict_log_proba(rows)).all()
        assert sum(model.predict_proba_one(hostile[0]).values()) == pytest.approx(1.0)
