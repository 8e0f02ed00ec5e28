"""Rows that come alone are learnt and predicted as rows of a block, to the last bit."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.settings import Settings
from ggln.engine.threads import Threads

ROWS = 60


def draw(rows, seed=0):
    """Return features [n, 5], one of them constant and some missing, and targets [n, 1]."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 5))
    Y = (np.sin(2.0 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0))[:, None] + 0.1 * random.standard_normal((rows, 1))
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 1.0 + (seed > 0)
    return X, Y


def learner(**others):
    """Return a learner of 200 rows."""
    given = {
        "layer_sizes": (4, 3), "context_dims": (), "n_estimators": 5, "regressions": True,
        "base_variance": 1.0, "bias_range": 5.0, "bias_variance": 1.0, "min_variance": 1e-10,
        "max_variance": 1e2, "covariance": "full", "standardize": True, "features": 5, "outputs": 1,
        "seed": 0,
    }  # fmt: skip
    own = ExactLearner(Settings(**given | others))
    X, Y = draw(200)
    Y = np.hstack([Y, Y**2])[:, : own.settings.outputs]
    own.fit(X, np.ascontiguousarray(Y), np.ones(200), Threads(1), lambda _: None)
    return own


KINDS = {
    "default": {},
    "one network": {"n_estimators": 1},
    "features alone": {"regressions": False},
    "as they come": {"standardize": False},
    "several outputs": {"outputs": 2},
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_alone_are_rows_of_a_block(kind):
    block, alone = (learner(**KINDS[kind]) for _ in range(2))
    X, Y = draw(ROWS, 1)
    Y = np.repeat(Y, block.settings.outputs, axis=1)
    weights = np.ones(ROWS)
    weights[::7], weights[1::5] = 0.0, 2.5
    for _ in range(2):
        expected = block.moments(X, Threads(1))
        found = [alone.moments_one(X[t : t + 1]) for t in range(ROWS)]
        for whole, parts in zip(expected, zip(*found, strict=True), strict=True):
            np.testing.assert_array_equal(np.concatenate(parts), whole)
        block.partial_fit(X, Y, weights, Threads(2), False)
        for t in range(ROWS):
            alone.learn_one(X[t : t + 1], Y[t : t + 1], weights[t : t + 1])
    for (name, whole), own in zip(block.state()[1].items(), alone.state()[1].values(), strict=True):
        if not name.startswith("first"):
            np.testing.assert_array_equal(own, whole, err_msg=name)


def test_features_that_wait_are_not_looked_at():
    own, (X, Y) = learner(online=True), draw(2, 1)
    wide = np.hstack([X, np.ones((2, 3))])
    np.testing.assert_array_equal(own.moments_one(wide[:1]), own.moments_one(X[:1]))
    other = pickle.loads(pickle.dumps(own))
    own._learn(X[:1], Y[:1], np.ones(1), None, False)
    other._learn(wide[:1], Y[:1], np.ones(1), None, False)
    np.testing.assert_array_equal(own.moments_one(X[1:]), other.moments_one(X[1:]))


def test_threads_predict_side_by_side():
    own, (X, _) = learner(), draw(ROWS, 1)
    expected = [own.moments_one(X[t : t + 1]) for t in range(ROWS)] * 20
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda t: own.moments_one(X[t % ROWS :][:1]), range(20 * ROWS)))
    np.testing.assert_array_equal(found, expected)
