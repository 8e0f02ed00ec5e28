"""The compiled summaries are those of the distribution."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ggln.distributions import GaussianMixture
from ggln.service.quantiles import judged, summaries

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


@example(seed=6961, components=2, spread=6.0)
@given(seed=st.integers(0, 2**32 - 1), components=st.integers(1, 12), spread=st.floats(0.0, 6.0))
def test_they_are_the_same(seed, components, spread):
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(components), size=3)
    means = 10.0 ** random.uniform(-spread, spread) * random.normal(size=(3, components))
    stds = 10.0 ** random.uniform(-spread, spread, size=(3, components))
    mixture = GaussianMixture(weights, means, stds)
    moments, quantiles = summaries(mixture, LEVELS)
    np.testing.assert_allclose(moments, np.column_stack([mixture.mean, mixture.std]), rtol=1e-9, atol=1e-12)
    for level, found in zip(LEVELS, quantiles.T, strict=True):
        # a component may be so narrow that F jumps by more from one number to the next
        assert np.all(mixture.cdf(np.nextafter(found, -np.inf)) <= level + 2e-9)
        assert np.all(mixture.cdf(np.nextafter(found, np.inf)) >= level - 2e-9)
    truths = means[:, 0] + stds[:, 0] * random.normal(size=3)
    expected = np.column_stack([-mixture.log_prob(truths), mixture.cdf(truths)])
    np.testing.assert_allclose(judged(mixture, truths), expected, rtol=1e-9, atol=1e-9)


def test_a_component_without_weight_does_not_count():
    mixture = GaussianMixture([1.0, 0.0], [[2.0, 1e9]], [[1.0, 1e-9]])
    moments, quantiles = summaries(mixture, LEVELS)
    assert moments.tolist() == [[2.0, 1.0]]
    assert quantiles[0, 2] == pytest.approx(2.0, abs=1e-8)


def test_far_truths_have_a_finite_loss():
    mixture = GaussianMixture([0.5, 0.5], [[0.0, 1.0]], [[1.0, 1.0]])
    loss, below = judged(mixture, np.array([1e6]))[0]
    assert np.isfinite(loss)
    assert below == 1.0


def test_rows_do_not_know_each_other():
    random = np.random.default_rng(0)
    mixture = GaussianMixture(random.dirichlet(np.ones(5), 9), random.normal(size=(9, 5)), np.ones((9, 5)))
    whole = np.column_stack(summaries(mixture, LEVELS))
    apart = np.concatenate([np.column_stack(summaries(mixture[i : i + 1], LEVELS)) for i in range(9)])
    assert np.array_equal(whole, apart)
