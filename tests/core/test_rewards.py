"""Kinds of reward: what networks are taught, and what follows from what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.core.rewards import BernoulliRewards, GaussianRewards, TreeRewards


@given(depth=st.integers(1, 5), reward=st.floats(0, 1))
def test_the_path_leads_to_the_bin_of_the_reward(depth: int, reward: float) -> None:
    tree = TreeRewards(depth)
    targets = tree.targets(np.array([[reward]]))
    assert np.count_nonzero(~np.isnan(targets)) == depth
    certain = tree.leaves(np.nan_to_num(targets, nan=0.5))[0]
    assert certain[min(int(reward * 2**depth), 2**depth - 1)] == 1.0
    mean, variance = tree.moments(np.nan_to_num(targets, nan=0.5), targets)
    assert abs(mean[0] - reward) <= 0.5 / 2**depth + 1e-12
    np.testing.assert_allclose(variance, 1 / 12 / 4**depth, rtol=1e-6)


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
    mean, variance = GaussianRewards(0.1).moments(np.array([[2.0], [1.0]]), np.array([[4.5], [1.0]]))
    assert mean.tolist() == [2.0, 1.0]
    assert variance.tolist() == [0.5, 0.1]
    mean, variance = BernoulliRewards(0.01).moments(np.array([[0.2]]), np.array([[0.2]]))
    np.testing.assert_allclose([mean[0], variance[0]], [0.2, 0.16])
