"""Calibration of gradient networks on the rows that they leave out."""

import numpy as np
import pytest

QUICK = {"layer_sizes": (8, 8), "context_dim": (1, 3), "epochs": 5, "n_estimators": 6, "folds": 3}


@pytest.fixture
def quick(tiny):
    return lambda **changes: tiny(**{**QUICK, "gating": "tree", **changes})


def test_intervals_cover_what_they_say(tiny):
    """Pure noise is where networks that see rows many times grow too sure."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 5)), rng.normal(size=1200)
    settings = {"layer_sizes": (16,) * 6, "context_dim": (2, 4, 6), "epochs": 20, "n_estimators": 15}
    covered = {}
    for folds in (0, 5):
        model = tiny(**settings, gating="tree", folds=folds).fit(X[:600], y[:600])
        low, high = model.predict_dist(X[600:]).interval(0.9)
        covered[folds] = np.mean((low <= y[600:]) & (y[600:] <= high))
    assert covered[0] < 0.85
    assert 0.86 < covered[5] < 0.94


@pytest.mark.parametrize("outputs", [None, 2])
def test_threads_do_not_matter(quick, table, assert_same, outputs):
    X, y = table(130, outputs)
    expected = quick().fit(X, y)
    for n_jobs in (2, 7):
        other = quick(n_jobs=n_jobs).fit(X, y)
        assert_same(expected, other)
        np.testing.assert_array_equal(other.predict(X), expected.predict(X))


def test_moments_and_mixture_agree(quick, table):
    X, y = table(90)
    model = quick().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    mixture = model.predict_dist(X)
    np.testing.assert_allclose(mixture.mean, mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mixture.std, std, rtol=1e-8)


def test_prequential_after_fit_predicts_as_predict_does(quick, table):
    X, y = table(90)
    model = quick().fit(X[:80], y[:80])
    expected = model.predict(X[80:81])
    np.testing.assert_allclose(model.prequential(X[80:81], y[80:81]).mean, expected, rtol=1e-10)


def test_every_network_leaves_out_its_fold(quick, table):
    """What a network does not see cannot matter to it."""
    X, y = table(90)
    changed = y.copy()
    unscaled = {"gating": "axis", "standardize": False}
    model = quick(**unscaled).fit(X, y)
    folds = model.learner_.settings.assign_folds(90)
    changed[folds == 0] += 1.0
    other = quick(**unscaled).fit(X, changed)
    ours, theirs = model.neurons(X)[0].mean, other.neurons(X)[0].mean
    per_network = QUICK["layer_sizes"][0]
    same = [
        np.array_equal(*pair) for pair in zip(*(np.split(a, 6, axis=1) for a in (ours, theirs)), strict=True)
    ]
    assert ours.shape[1] == 6 * per_network
    assert same == [True, False, False, True, False, False]


def test_networks_of_a_kind_share_their_calibration(quick, table):
    X, y = table(90)
    ensemble = quick().fit(X, y).learner_.ensemble
    assert np.unique(ensemble.spreads[:3]).size == np.unique(ensemble.spreads[3:]).size == 1
    np.testing.assert_allclose(ensemble.shares.sum(), 1.0)
    assert np.unique(ensemble.shares[:3]).size == np.unique(ensemble.shares[3:]).size == 1
    contexts = [np.count_nonzero(index.any(axis=0)) for index in np.split(ensemble.pool.index, 6)]
    assert max(contexts[:3]) <= 2 < max(contexts[3:]) <= 8


def test_tables_of_few_rows_do_without_folds(quick, table):
    X, y = table(5)
    model = quick().fit(X, y)
    assert model.learner_.settings.folds == 0
    assert np.isfinite(model.predict(X)).all()
