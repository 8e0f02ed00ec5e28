"""Regressors in a stream's mixture: what they predict, and how they are judged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ggln.core.advice import Advisers, add_advice, judge_advice
from ggln.core.base_models import join

LIMIT = 5.0


@pytest.fixture(params=[1, 2])
def case(request):
    """Rows, what three regressors predict of each output, some of it out of range, and their precisions."""
    rng, outputs = np.random.default_rng(0), request.param
    predictions, precisions = 4.0 * rng.normal(size=(20, 3, outputs)), rng.uniform(0.5, 50.0, (20, 3))
    side = join(rng.normal(size=(20, 4)), predictions, precisions, 1e6)
    return side, np.clip(predictions, -LIMIT, LIMIT), precisions, rng.normal(size=(20, outputs))


def test_predictions_stand_where_they_were_written(case):
    side, means, precisions, targets = case
    found = Advisers(3, 4, LIMIT).read(side, targets.shape[1])
    for one, other in zip(found, (means, precisions), strict=True):
        np.testing.assert_array_equal(one, other)


def test_evidence_is_the_log_density_without_its_constant(case):
    side, means, precisions, targets = case
    evidence = np.zeros((5, 20))
    judge_advice(Advisers(3, 4, LIMIT), side, targets, evidence)
    deviations = 1 / np.sqrt(precisions)[..., None]
    expected = stats.norm.logpdf(targets[:, None], means, deviations) + 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(evidence[2:], expected.sum(axis=2).T, rtol=1e-10)
    assert not evidence[:2].any()


def test_moments_are_added_with_their_shares(case):
    side, means, precisions, targets = case
    mean, second = np.ones(targets.shape), np.full(targets.shape, 2.0)
    shares = np.array([0.3, 0.1, 0.2, 0.15, 0.25])
    add_advice(Advisers(3, 4, LIMIT), side, shares, 2, mean, second)
    own = 2 * shares[2:, None]
    np.testing.assert_allclose(mean, 1 + (own * means).sum(axis=1))
    np.testing.assert_allclose(second, 2 + (own * (means**2 + 1 / precisions[..., None])).sum(axis=1))
