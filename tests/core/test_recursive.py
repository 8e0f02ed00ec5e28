"""Recursive regressions: the exact posterior after every row, however rows come."""

from __future__ import annotations

import numpy as np
import pytest

from ggln.core.constants import RECURSIONS, STEP_LIMIT, WAVE
from ggln.core.recursive import Recursions, draw_steps
from ggln.core.threads import Threads

LEAST = 1e-4


@pytest.fixture
def make():
    return lambda features=3, outputs=2: Recursions(features, outputs, LEAST, np.random.default_rng(5))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]], axis=1) + 0.1 * rng.normal(size=(60, 2))


def inputs_of(regression, X):
    """The regression's inputs, in plain NumPy."""
    X = np.clip(X, -STEP_LIMIT, STEP_LIMIT)
    along = X @ regression.directions - regression.offsets
    return np.hstack([X, np.ones((len(X), 1)), along / np.sqrt(1.0 + along**2)])


def test_each_row_is_predicted_by_the_posterior_of_those_before(make, rows):
    X, Y = rows
    recursions = make()
    means, precisions = recursions.learn(X, Y, None)
    for r, ((*_, prior), regression) in enumerate(zip(RECURSIONS, recursions.regressions, strict=True)):
        inputs, count, squares = inputs_of(regression, X), 1.0, 1.0
        for t in range(len(X)):
            past, f = inputs[:t], inputs[t]
            posterior = np.linalg.inv(prior * np.eye(f.size) + past.T @ past)
            expected = f @ posterior @ past.T @ Y[:t]
            leverage = f @ posterior @ f
            np.testing.assert_allclose(means[t, r], expected, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(precisions[t, r], count / squares / (1 + leverage), rtol=1e-7)
            count, squares = count + 1, squares + np.mean((Y[t] - expected) ** 2) / (1 + leverage)


def test_cuts_and_threads_do_not_matter(make, rows):
    X, Y = rows
    whole, cut = make(), make()
    expected = whole.learn(X, Y, None)
    with Threads(3) as threads:
        parts = [cut.learn(X[a:b], Y[a:b], threads) for a, b in [(0, 1), (1, 2), (2, 31), (31, 60)]]
    assert any(len(part[0]) % WAVE for part in parts)  # waves of rows begin elsewhere
    for number in (0, 1):
        np.testing.assert_array_equal(np.concatenate([part[number] for part in parts]), expected[number])
    for one, other in zip(whole.predict(X), cut.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_predicting_changes_nothing_and_a_state_can_be_restored(make, rows):
    X, Y = rows
    learnt, fresh = make(), make()
    learnt.learn(X, Y, None)
    before = {name: array.copy() for name, array in learnt.state().items()}
    expected = learnt.predict(X)
    fresh.restore(before)
    for name, array in learnt.state().items():
        np.testing.assert_array_equal(array, before[name])
    for one, other in zip(expected, fresh.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_views_are_read_as_what_they_show(make, rows):
    X, Y = rows
    whole, views = make(), make()
    expected = whole.learn(X, Y, None)
    wider, later = np.hstack([X, X]), np.hstack([Y, Y])
    views.predict(X)
    for one, other in zip(expected, views.learn(wider[:, :3], later[:, 2:], None), strict=True):
        np.testing.assert_array_equal(one, other)


def test_steps_learn_what_a_plane_cannot(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 2))
    Y = np.abs(X[:, :1]) * X[:, 1:]
    means, _ = make(2, 1).learn(X, Y, None)
    errors = np.mean((means[750:, :, 0] - Y[750:]) ** 2, axis=0)
    assert errors[2] < 0.1 * errors[0]
    assert errors[3] < 0.1 * errors[0]


@pytest.mark.parametrize(("features", "among", "most"), [(9, 3, 3), (9, 0, 9), (1, 3, 1)])
def test_steps_look_at_as_many_features_as_they_may(features, among, most):
    directions, offsets = draw_steps(400, among, 1.4, features, np.random.default_rng(0))
    seen = (directions != 0).sum(axis=0)
    assert directions.shape == (features, 400)
    assert offsets.shape == (400,)
    assert set(seen) == (set(range(1, most + 1)) if among else {features})
    # whatever a step looks at, rows of spread 1 spread by its steepness along it
    np.testing.assert_allclose(np.sqrt((directions**2).sum(axis=0).mean()), 1.4, rtol=0.1)


def test_slopes_are_the_derivatives_of_predictions(make, rows):
    X, Y = rows
    recursions = make()
    recursions.learn(X, Y, None)
    x, moved = X[:5], 1e-5
    means, precisions = recursions.slopes(x)
    for j in range(3):
        ahead, behind = (recursions.predict(x + sign * moved * np.eye(3)[j]) for sign in (1, -1))
        for found, a, b in zip((means, precisions), ahead, behind, strict=True):
            np.testing.assert_allclose(found[..., j], (a - b) / (2 * moved), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("case", ["constant", "duplicates", "far out", "equal columns"])
def test_hostile_rows_stay_finite(make, case):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 2))
    if case == "constant":
        X[:], Y[:] = 0.0, 0.0
    elif case == "duplicates":
        X[:], Y[:] = X[0], Y[0]
    elif case == "far out":
        X[::7] *= 1e6
        Y[::11] *= 1e6
    else:
        X[:, 1:] = X[:, :1]
    recursions = make()
    for means, precisions in (recursions.learn(X, Y, None), recursions.predict(X)):
        assert np.isfinite(means).all()
        assert (precisions > 0).all()
        assert (precisions <= 1 / LEAST).all()
