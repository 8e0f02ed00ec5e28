"""Classification that learns exactly: tables, streams, and what is saved."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ggln.engine.newton.classes import KIND, ClassLearner, merge_rows, networks_of_column, sigmoid
from ggln.engine.newton.settings import Settings
from ggln.engine.newton.solving import fit_network
from ggln.engine.threads import Threads

EVERY = pytest.mark.parametrize("classes", [2, 3])


def make(classes, **changes):
    values = {
        "layer_sizes": (3, 3),
        "context_dims": (2, 2),
        "n_estimators": 4,
        "regressions": True,
        "base_variance": 1.0,
        "bias_range": 5.0,
        "bias_variance": 1.0,
        "min_variance": 1e-10,
        "max_variance": 1e2,
        "covariance": "isotropic",
        "standardize": True,
        "features": 3,
        "outputs": 1 if classes == 2 else classes,
        "seed": 0,
    }
    return ClassLearner(Settings(**{**values, **changes}))


def table(n, classes, seed=0):
    """Rows, and classes that are drawn with the probabilities that come last."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    logits = np.column_stack([np.zeros(n), 3 * X[:, 0] * X[:, 1], 2 * np.abs(X[:, 2])])[:, :classes]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return X, (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1), p


def ones(codes, classes):
    """Zeros and ones of classes, as the learner takes them."""
    return np.eye(classes)[codes][:, 1 if classes == 2 else 0 :].copy()


def log_loss(p, codes):
    return -np.mean(np.log(p[np.arange(len(codes)), codes]))


@EVERY
@pytest.mark.parametrize("regressions", [True, False])
def test_a_table_is_learnt(classes, regressions):
    X, codes, _ = table(400, classes)
    learner = make(classes, regressions=regressions)
    with Threads(1) as threads:
        learner.fit(X, ones(codes, classes), np.ones(400), threads, lambda _: None)
    X, codes, p = table(1000, classes, seed=1)
    found = learner.probabilities(X, None)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    ignorant = log_loss(np.full(p.shape, 1 / classes), codes)
    assert log_loss(found, codes) < ignorant - 0.5 * (ignorant - log_loss(p, codes))


@EVERY
def test_how_a_stream_is_cut_does_not_matter(classes):
    X, codes, _ = table(40, classes)
    goals, weights = ones(codes, classes), np.ones(40)
    weights[[0, 5, 20]] = 0.0, 0.0, 2.5
    found, last = [], []
    for cuts in ([], [1, 2, 7, 19, 20, 33]):
        learner = make(classes, online=True)
        parts = [
            p
            for part in np.split(np.arange(40), cuts)
            for p in learner.partial_fit(X[part], goals[part], weights[part], None, True)
        ]
        found.append(np.concatenate(parts))
        last.append(learner.probabilities(X, None))
    assert found[0].shape == goals.shape
    np.testing.assert_allclose(found[0][0], 1 / classes)
    assert np.array_equal(*found)
    assert np.array_equal(*last)


@EVERY
@pytest.mark.parametrize("online", [True, False])
def test_state_and_pickle_go_on_to_the_last_bit(classes, online):
    X, codes, _ = table(60, classes)
    goals = ones(codes, classes)
    learner = make(classes, online=online)
    if not online:
        with Threads(1) as threads:
            learner.fit(X, goals, np.ones(60), threads, lambda _: None)
    learner.partial_fit(X[:21], goals[:21], np.ones(21), None, False)
    values, arrays = pickle.loads(pickle.dumps(learner.state()))
    others = [ClassLearner.from_state(values, arrays), pickle.loads(pickle.dumps(learner))]
    for each in (learner, *others):
        each.partial_fit(X[21:40], goals[21:40], np.ones(19), None, False)
    for other in others:
        assert np.array_equal(learner.probabilities(X, None), other.probabilities(X, None))


@pytest.mark.parametrize(
    ("n_estimators", "columns", "each"), [(1, 9, 1), (16, 1, 16), (16, 4, 16), (16, 10, 6), (3, 50, 2)]
)
def test_many_columns_share_networks(n_estimators, columns, each):
    assert networks_of_column(n_estimators, columns) == each
    learner = make(max(columns, 2), n_estimators=n_estimators)
    assert sum(len(group) for group in learner.groups[:-1]) == each
    assert learner.count == each + len(learner.groups[0])


def fit_linear(X, goals, weights):
    """Return what a linear network's weights predict of rows."""
    learner = make(2)
    shape = learner._shape(learner.groups[-1].start, len(X))._replace(mixing=False)
    rows = X, np.empty((len(X), 0, 1)), goals, weights
    network = fit_network(KIND, shape, *rows, np.random.default_rng(0), goals - 0.5, lambda _: None)
    return sigmoid(np.column_stack([X, np.ones(len(X))]) @ network.tables[0, 0, :4])


def test_linear_networks_are_logistic_regressions():
    """Towards its root, which is pulled to zero, a network without gates is pulled once more."""
    X, codes, _ = table(200, 2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    found, inputs = fit_linear(X, ones(codes, 2), weights), np.column_stack([X, np.ones(200)])
    for strength in (1.0, 2.0):
        twin = LogisticRegression(C=strength, fit_intercept=False, tol=1e-10).fit(inputs, codes, weights)
        np.testing.assert_allclose(found, twin.predict_proba(inputs)[:, 1], atol=0.01)


def test_rows_that_are_alike_are_one_row_of_their_weight():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, -0.0], [1.0, 0.0], [2.0, 1.0]])
    goals = np.array([[1.0], [0.0], [1.0], [0.0], [0.0]])
    found = merge_rows(X, goals, np.array([1.0, 2.0, 0.5, 4.0, 0.0]))
    for array, expected in zip(found, ([[1, 0], [2, 1], [1, 0]], [[1], [0], [0]], [1.5, 2, 4]), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_a_class_that_never_came_is_unlikely_and_possible():
    X, codes, _ = table(100, 2)
    learner = make(3)
    with Threads(1) as threads:
        learner.fit(X, ones(codes, 3), np.ones(100), threads, lambda _: None)
    found = learner.probabilities(X, None)[:, 2]
    assert np.all(found > 0)
    assert found.mean() < 0.05


def test_missing_values_are_taken():
    X, codes, _ = table(100, 2)
    X[::7, 1] = np.nan
    learner = make(2)
    with Threads(1) as threads:
        learner.fit(X, ones(codes, 2), np.ones(100), threads, lambda _: None)
    assert np.all(np.isfinite(learner.probabilities(X, None)))


@EVERY
def test_before_any_row_counts_all_classes_are_alike(classes):
    X, codes, _ = table(3, classes)
    learner = make(classes, online=True)
    learner.partial_fit(X, ones(codes, classes), np.zeros(3), None, False)
    np.testing.assert_allclose(learner.probabilities(X, None), 1 / classes)


@EVERY
def test_moments_are_those_of_zeros_and_ones(classes):
    X, codes, _ = table(60, classes)
    learner = make(classes, online=True)
    for row, goal in zip(X[:20], ones(codes, classes)[:20], strict=True):
        learner.learn_one(row[None], goal[None], np.ones(1))
    mean, deviation = learner.moments(X, None)
    assert np.array_equal(mean, learner.probabilities(X, None)[:, -mean.shape[1] :])
    np.testing.assert_allclose(deviation**2, mean * (1 - mean))
    assert np.array_equal(np.concatenate([learner.moments_one(x[None])[0] for x in X]), mean)
