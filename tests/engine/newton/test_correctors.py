"""Correctors: the kernel against its plain twin, and what it is for."""

from itertools import pairwise

import numpy as np
import pytest

from ggln.engine.newton import constants
from ggln.engine.newton.banks import (
    chosen_banks,
    chosen_shares,
    joined_banks,
    joined_shares,
    new_bank,
    prior_shares,
)
from ggln.engine.newton.correctors import (
    FACTOR,
    KEPT,
    SUSPICION,
    expect_moments,
    expect_rows,
    follow_experts,
)
from ggln.engine.newton.reference_correctors import Mixture, Stream


def stream(rows=200, seed=0, features=3):
    """Rows, targets whose level jumps, and mixtures [1, 3, n, P] that do not know of it."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    f = X[:, 0] - 0.5 * X[:, 1]
    y = f + 0.3 * random.normal(size=rows) + np.where(np.arange(rows) >= rows // 2, 8.0 + 2.0 * X[:, 2], 0.0)
    mixtures = np.empty((1, 3, rows, 4))
    mixtures[0, 0] = [0.4, 0.3, 0.2, 0.1]
    mixtures[0, 1] = f[:, None] + 0.2 * random.normal(size=(rows, 4))
    mixtures[0, 2] = [0.2, 0.3, 0.4, 0.8]
    return X, y, mixtures


def run(X, y, mixtures, weights=None, steady=False, cuts=()):
    state = new_bank(1, X.shape[1]), prior_shares(1), np.zeros(4), np.zeros(1)
    bank, shares, known, gains = state
    out, ring = np.empty(mixtures.shape[1:]), np.empty((64, X.shape[1] + KEPT))
    weights = np.ones(len(X)) if weights is None else weights
    for start, stop in pairwise([0, *cuts, len(X)]):
        part = slice(start, stop)
        lesson = X[part], y[part], weights[part], mixtures[:, :, part], bank, shares, prior_shares(1), steady
        follow_experts(*lesson, known, gains, ring, start, out[:, part])
    return out, state


def test_the_kernel_is_its_twin():
    X, y, mixtures = stream()
    out, (_, shares, known, _) = run(X, y, mixtures)
    twin = Stream()
    expected = [
        twin.follow(x, goal, Mixture(*mixtures[0, :, t]))
        for t, (x, goal) in enumerate(zip(X, y, strict=True))
    ]
    np.testing.assert_allclose(out[1], [row.means for row in expected], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(out[2], [row.deviations for row in expected], rtol=1e-7)
    np.testing.assert_allclose(shares.ravel()[shares.ravel() > 0.0], twin.shares, rtol=1e-6, atol=1e-9)
    assert known[FACTOR] == pytest.approx(twin.log_factor)


def test_slopes_from_few_rows_hold_no_further_than_these():
    """The first rows differ by next to nothing in a feature, whose slope is then enormous."""
    X, y, mixtures = stream(12)
    X[:3, 0] *= 1e-5
    y += [3.0, -3.0, 2.0, -2.0] * 3
    out, _ = run(X, y, mixtures)
    means, twin = np.sum(out[0] * out[1], axis=1), Stream()
    assert np.abs(means - y).max() < 20.0
    expected = [
        twin.follow(x, goal, Mixture(*mixture)).moments()[0]
        for x, goal, mixture in zip(X, y, mixtures[0].transpose(1, 0, 2), strict=True)
    ]
    np.testing.assert_allclose(means, expected, rtol=1e-7, atol=1e-7)


def test_cuts_do_not_matter():
    X, y, mixtures = stream()
    one, state = run(X, y, mixtures)
    other, same = run(X, y, mixtures, cuts=(1, 7, 120))
    assert np.array_equal(one, other)
    for array, again in zip((*state[0], *state[1:]), (*same[0], *same[1:]), strict=True):
        assert np.array_equal(array, again)


def test_a_jump_is_corrected_within_some_rows_and_rouses_suspicion():
    X, y, mixtures = stream()
    out, (*_, known, _) = run(X, y, mixtures)
    errors = np.abs(np.sum(out[0] * out[1], axis=1) - y)
    assert errors[100:102].mean() > 4.0
    assert errors[140:].mean() < 0.7
    assert known[SUSPICION] > constants.ALARM


def test_without_a_change_nothing_is_lost():
    X, y, mixtures = stream()
    y = np.where(np.arange(len(y)) >= 100, y - 8.0 - 2.0 * X[:, 2], y)
    out, (_, shares, known, _) = run(X, y, mixtures)
    plain = np.sum(mixtures[0, 0] * mixtures[0, 1], axis=1)
    corrected = np.sum(out[0] * out[1], axis=1)
    assert np.mean((corrected - y) ** 2) < 1.02 * np.mean((plain - y) ** 2)
    assert shares[0, 0] > 0.5 * shares[0].sum()  # nobody's learn this line as well
    assert known[SUSPICION] < constants.ALARM


def test_units_do_not_matter():
    X, y, mixtures = stream()
    scaled = mixtures * np.array([1.0, 1e6, 1e6])[:, None, None]
    one, other = run(X, y, mixtures)[0], run(1e-3 * X + 5.0, 1e6 * y, scaled)[0]
    np.testing.assert_allclose(other[1:], 1e6 * one[1:], rtol=1e-6, atol=1e-2)


def test_missing_values_and_rows_of_no_weight():
    X, y, mixtures = stream()
    X[::3, 1] = np.nan
    weights = np.ones(len(X))
    weights[50:60] = 0.0
    out, (bank, shares, *_) = run(X, y, mixtures, weights)
    assert np.isfinite(out).all()
    left = np.r_[0:50, 60 : len(X)]
    _, (same, others, *_) = run(X[left], y[left], mixtures[:, :, left])
    for array, again in zip((*bank, shares), (*same, others), strict=True):
        assert np.array_equal(array, again)


def test_where_targets_repeat_the_form_stays_as_long_as_it_is_right():
    X, y, mixtures = stream()
    out, _ = run(X, y, mixtures, steady=True)
    np.testing.assert_allclose(out[:, 30:90], mixtures[0, :, 30:90], rtol=1e-12, atol=1e-12)
    assert np.abs(out[1, 110:] - mixtures[0, 1, 110:]).min() > 1.0


def test_moments_are_those_of_the_mixtures():
    X, y, mixtures = stream()
    _, (bank, shares, known, _) = run(X, y, mixtures)
    factor = np.exp(known[FACTOR])
    out, told = np.empty(mixtures.shape[1:]), np.empty((len(X), 3))
    expect_rows(X, mixtures, bank, shares, factor, False, out)
    means, deviations = np.transpose([Mixture(*mixtures[0, :, t]).moments() for t in range(len(X))])
    moments = np.stack([np.stack([means, deviations], 1), np.stack([0.0 * means, deviations], 1)], 1)
    expect_moments(X, moments, bank, shares, factor, False, told)
    found = np.array([Mixture(*out[:, t]).moments() for t in range(len(X))])
    np.testing.assert_allclose(told[:, :2], found, rtol=1e-9, atol=1e-9)


def test_a_function_that_moves_is_followed_without_the_networks():
    """A learner's prediction that stays behind and bends is harder to correct than the target is to learn."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    angle = np.linspace(0.0, 3.0, len(X))
    y = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 5.0 + 0.1 * random.normal(size=len(X))
    _, _, mixtures = stream(len(X))
    mixtures[0, 1] = 5.0 + np.sin(3.0 * X[:, :1] + np.arange(len(X))[:, None] // 50)
    out, (_, shares, *_) = run(X, y, mixtures)
    errors = np.sum(out[0] * out[1], axis=1) - y
    assert np.sqrt(np.mean(errors[100:] ** 2)) < 0.14  # 0.150 with correctors alone
    assert shares[-1].sum() > 0.9


def test_banks_and_shares_of_those_that_join_and_stay():
    """Nobody's regressions stay what and where they are, and keep their share, whoever joins."""
    X, y, mixtures = stream()
    _, (bank, shares, *_) = run(X, y, mixtures)
    other = new_bank(1, X.shape[1], 7.0)
    both, joint = joined_banks(bank, other), joined_shares(shares, 0.5)
    assert joint.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(joint[-1], shares[-1])
    assert joint[0].sum() == pytest.approx(joint[1].sum())
    for one, new, found in zip(bank, other, both, strict=True):
        np.testing.assert_array_equal(found, np.stack([one[0], new[0], one[1]]))
    for one, found in zip(bank, chosen_banks(both, np.array([0])), strict=True):
        np.testing.assert_array_equal(found, one)
    left = chosen_shares(joint, np.array([1]))
    assert left.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(left[-1] > 0.0, prior_shares(1)[-1] > 0.0)
