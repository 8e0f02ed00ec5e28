"""The regression on hinges: the exact posterior after every row, however rows come."""

from __future__ import annotations

import numpy as np
import pytest

from ggln.engine.bases import hinges
from ggln.engine.constants import HINGE_LIMIT, HINGE_PRIOR

LEAST = 1e-4


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, np.stack([X[:, 0] * X[:, 1] > 0, X[:, 2] > 0.3], axis=1).astype(float)


def new(X, seed=3):
    return hinges.HingeRegression(7, 2, LEAST, X, np.random.default_rng(seed))


def test_each_row_is_predicted_by_the_posterior_of_those_before(rows):
    X, Y = rows
    regression = new(X)
    bent = np.maximum(np.clip(X, -HINGE_LIMIT, HINGE_LIMIT) @ regression.normals - regression.offsets, 0.0)
    inputs = np.hstack([bent, np.ones((len(X), 1))])
    means, precisions = regression.learn(X, Y)
    assert means.shape == (60, 2)
    count = squares = 1.0
    for t, f in enumerate(inputs):
        posterior = np.linalg.inv(HINGE_PRIOR * np.eye(f.size) + inputs[:t].T @ inputs[:t])
        expected, leverage = f @ posterior @ inputs[:t].T @ Y[:t], f @ posterior @ f
        np.testing.assert_allclose(means[t], expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(precisions[t], count / squares / (1 + leverage), rtol=1e-7)
        count, squares = count + 1, squares + np.mean((Y[t] - expected) ** 2) / (1 + leverage)


def test_cuts_do_not_matter(rows, monkeypatch):
    X, Y = rows
    whole, cut = new(X), new(X)
    expected = whole.learn(X, Y)
    monkeypatch.setattr(hinges, "BLOCK", 5)
    parts = [cut.learn(X[a:b], Y[a:b]) for a, b in [(0, 1), (1, 2), (2, 31), (31, 60)]]
    for number in (0, 1):
        np.testing.assert_array_equal(np.concatenate([part[number] for part in parts]), expected[number])
    for one, other in zip(whole.predict(X), cut.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_hinges_bend_where_rows_are(rows):
    X, _ = rows
    regression = new(X)
    projected = X @ regression.normals
    np.testing.assert_allclose(projected.std(axis=0), 1.0)
    assert ((projected > regression.offsets).mean(axis=0) > 0).all()
    restored = new(np.empty((0, 5)), seed=4)
    restored.restore(regression.state())
    np.testing.assert_array_equal(restored.predict(X)[0], regression.predict(X)[0])


def test_rows_that_are_all_alike():
    regression = new(np.zeros((3, 5)))
    means, precisions = regression.learn(np.zeros((4, 5)), np.ones((4, 2)))
    assert np.isfinite(means).all()
    assert np.isfinite(precisions).all()
