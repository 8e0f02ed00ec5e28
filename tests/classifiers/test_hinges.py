"""A regression on hinges among the base predictions: what it is worth, and the promises with it."""

import copy
import pickle

import joblib
import numpy as np
import pytest

import ggln
from ggln import GLNClassifier

LABELS = [0, 1, 2]


def test_it_helps_in_a_single_pass(tiny, table):
    X, y = table(900)
    plain, bent = (tiny(epochs=1, hinges=hinges).fit(X[:600], y[:600]) for hinges in (0, 60))
    losses = [
        -np.log(model.predict_proba(X[600:])[np.arange(300), y[600:]]).mean() for model in (plain, bent)
    ]
    assert losses[1] < 0.95 * losses[0]
    assert bent.learner_.ensemble.base_inputs == 3 + 3


@pytest.mark.parametrize("classes", [2, 3])
def test_cuts_and_files_do_not_matter(tiny, table, assert_same, tmp_path, classes):
    X, y = table(1100, classes)
    labels = LABELS[:classes]
    whole = tiny(hinges=5)
    before = whole.prequential(X, y, classes=labels)
    other = tiny(hinges=5).partial_fit(X[:1], y[:1], classes=labels)
    for row, label in zip(X[1:40], y[1:40], strict=True):
        other.learn_one(row, label)
    other.save(tmp_path / "model.ggln")
    for copied in (
        ggln.load(tmp_path / "model.ggln"),
        pickle.loads(pickle.dumps(other)),
        copy.deepcopy(other),
    ):
        recorded = [copied.prequential(X[part], y[part]) for part in (slice(40, 1025), slice(1025, None))]
        assert_same(whole, copied)
        np.testing.assert_array_equal(np.concatenate(recorded), before[40:])
        chances = list(copied.predict_proba_one(X[0]).values())
        np.testing.assert_allclose(chances, whole.predict_proba(X[:1])[0], rtol=1e-12)


def test_a_table_is_learnt_once_by_the_regression_and_fit_starts_afresh(tiny, table, assert_same):
    X, y = table(80)
    once, twice = tiny(hinges=5, epochs=1).fit(X, y), tiny(hinges=5, epochs=2).fit(X, y)
    for model in (once, twice):
        assert model.learner_.hinges.noise[0] == 81
    assert_same(once, once.partial_fit(X, y).fit(X, y))
    assert twice.partial_fit(X, y).learner_.hinges.noise[0] == 161


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e30])
def test_hostile_input_yields_probabilities(tiny, table, scale):
    X, y = table()
    for standardize in (True, False):
        model = tiny(hinges=5, standardize=standardize).fit(scale * X, y).partial_fit(X, y)
        for rows in (X, scale * X, -1e3 * X):
            chances = model.predict_proba(rows)
            assert (chances > 0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_models_in_memory_that_cannot_be_written_to_go_on(tmp_path):
    """As joblib hands large models to its workers."""
    random = np.random.default_rng(0)
    X = random.standard_normal((100, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    model = GLNClassifier(
        layer_sizes=(4,),
        context_dim=4,
        epochs=1,
        n_estimators=4,
        gating="tree",
        step="normalised",
        hinges=20,
        random_state=0,
    ).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        mapped.partial_fit(X, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X)
    )
