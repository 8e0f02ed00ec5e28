"""Tables, and a table fitted in partitions without any cluster."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ggln import GGLNRegressor
from ggln.distributed.partitions import Here
from ggln.distributed.rows import Part
from ggln.distributed.solve import solve_table
from ggln.engine.newton.learner import make_learner

SMALL = {"layer_sizes": (4, 3), "n_estimators": 4, "random_state": 0}


@pytest.fixture
def small():
    return dict(SMALL)


@pytest.fixture(scope="session")
def friedman():
    return _friedman


@pytest.fixture(scope="session")
def fit_in_parts():
    return _fit_in_parts


@pytest.fixture(scope="session")
def assert_alike():
    return _assert_alike


def _friedman(rows, features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=rows)


def _fit_in_parts(X, y, cuts, weights=None, **parameters):
    """Return a regressor that was fitted on rows cut at some places."""
    weights = np.ones(len(X)) if weights is None else weights
    Y = y.reshape(len(X), -1)
    bounds = [0, *cuts, len(X)]
    parts = [
        Part(i, X[a:b].copy(), Y[a:b].copy(), weights[a:b].copy(), b - a)
        for i, (a, b) in enumerate(itertools.pairwise(bounds))
    ]
    model, partitions = GGLNRegressor(**parameters), Here(parts)
    learner = make_learner(model._exact_settings(X.shape, Y.shape[1]))
    solve_table(partitions, learner, lambda _: None)
    model.n_features_in_ = X.shape[1]
    model._keep(learner, y)
    model.traffic_ = partitions.traffic
    return model


def _assert_alike(one, other, X, y):
    """Predictions differ by less than a millionth of the targets' deviation."""
    scale = y.std(axis=0)
    for mine, theirs in zip(one.predict(X, return_std=True), other.predict(X, return_std=True), strict=True):
        assert np.abs((mine - theirs) / scale).max() < 1e-6
