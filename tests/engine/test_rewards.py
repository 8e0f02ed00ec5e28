"""Kinds of reward: what networks are taught, and what follows from what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.engine.arms.rewards import BernoulliRewards, GaussianRewards, TreeRewards


@given(depth=st.integers(1, 5), reward=st.floats(0, 1))
def test_the_path_leads_to_the_bin_of_the_reward(depth: int, reward: float) -> None:
    tree = TreeRewards(depth)
    targets = tree.targets(np.array([[reward]]))
    assert np.count_nonzero(~np.isnan(targets)) == depth
    certain = tree.leaves(np.nan_to_num(targets, nan=0.5))[0]
    assert certain[min(int(reward * 2**depth), 2**depth - 1)] == 1.0
    certainly, tallies = np.nan_to_num(targets, nan=0.5)[None], np.zeros((1, 3, 2**depth))
    mean, variance = tree.moments(certainly, certainly, tallies)
    assert abs(mean[0, 0] - reward) <= 0.5 / 2**depth + 1e-12
    np.testing.assert_allclose(variance, 1 / 12 / 4**depth, rtol=1e-6)
    tree.tally(np.full((99, 1), reward), np.zeros(99, np.int64), tallies)
    assert abs(tree.moments(certainly, certainly, tallies)[0][0, 0] - reward) <= 0.005 / 2**depth + 1e-12


def test_an_arm_is_expected_to_pay_in_a_bin_what_it_paid_there() -> None:
    tree, tallies = TreeRewards(1), np.zeros((3, 3, 2))
    rewards, arms = np.array([0.6, 0.8, 0.1, 0.9]), np.array([0, 0, 0, 1])
    tree.tally(rewards[:, None], arms, tallies)
    mean, variance = tree.moments(np.full((3, 1, 1), 0.9), np.full((3, 1, 1), 0.9), tallies)
    width = 1 / 48  # variance of a uniform reward in half of [0, 1]
    for arm in range(3):
        lower = np.append(rewards[(arms == arm) & (rewards < 0.5)], 0.25)
        upper = np.append(rewards[(arms == arm) & (rewards >= 0.5)], 0.75)
        expected = 0.1 * lower.mean() + 0.9 * upper.mean()
        squares = [(np.sum(part**2) + width) / part.size for part in (lower, upper)]
        assert mean[arm, 0] == pytest.approx(expected)
        assert variance[arm, 0] == pytest.approx(0.1 * squares[0] + 0.9 * squares[1] - expected**2)


@given(depth=st.integers(1, 4), seed=st.integers(0, 1000))
def test_probabilities_of_the_bins_multiply_along_the_path(depth: int, seed: int) -> None:
    tree, chances = TreeRewards(depth), np.random.default_rng(seed).uniform(size=2**depth - 1)
    expected = []
    for leaf in range(2**depth):
        path = tree.targets(np.array([[(leaf + 0.5) / 2**depth]]))[0]
        expected.append(np.prod([abs(1 - up - p) for up, p in zip(path, chances, strict=True) if up == up]))
    np.testing.assert_allclose(tree.leaves(chances), expected)
    assert tree.leaves(chances).sum() == pytest.approx(1)


def test_moments_of_gaussians_and_chances() -> None:
    mean, variance = GaussianRewards(0.1).moments(
        np.array([[2.0], [1.0]]), np.array([[4.5], [1.0]]), np.zeros((2, 3, 0))
    )
    assert mean.tolist() == [2.0, 1.0]
    assert variance.tolist() == [0.5, 0.1]
    mean, variance = BernoulliRewards(0.01).moments(np.array([[0.2]]), np.array([[0.2]]), np.zeros((1, 3, 0)))
    np.testing.assert_allclose([mean[0], variance[0]], [0.2, 0.16])
