"""Shares and spreads from rows that were left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from ggln.engine.gradient.calibration import LEAST_LEFT, SPREADS, calibrate, left_of_variance, log_densities

STEP = SPREADS[-1] / SPREADS[-2]


@pytest.mark.parametrize("structure", ["isotropic", "diagonal", "full"])
@pytest.mark.parametrize("size", [1, 3])
def test_log_densities_are_those_of_the_mixture(size: int, structure: str) -> None:
    rng = np.random.default_rng(0)
    rows, neurons = 5, 4
    means, targets = rng.normal(size=(rows, neurons, size)), rng.normal(size=(rows, size))
    factors = rng.normal(size=(rows, neurons, size, size))
    if structure == "isotropic" or size == 1:
        numbers = rng.uniform(0.5, 2, size=(rows, neurons, 1))
        matrices = numbers[..., None] * np.eye(size)
    elif structure == "diagonal":
        numbers = rng.uniform(0.5, 2, size=(rows, neurons, size))
        matrices = numbers[..., None] * np.eye(size)
    else:
        matrices = factors @ np.swapaxes(factors, 2, 3) + np.eye(size)
        numbers = matrices.reshape(rows, neurons, size * size)
    weights = rng.dirichlet(np.ones(neurons))
    found = log_densities(np.concatenate([means, numbers], axis=2), weights, targets)
    for s in (0, 11, -1):
        for t in range(rows):
            parts = [
                stats.multivariate_normal(means[t, k], SPREADS[s] * np.linalg.inv(matrices[t, k])).logpdf(
                    targets[t]
                )
                for k in range(neurons)
            ]
            np.testing.assert_allclose(found[s, t], logsumexp(parts, b=weights), rtol=1e-9)


def scores(deviations: list[float], targets: np.ndarray) -> np.ndarray:
    """Log-densities of kinds that predict N(0, deviation^2), for every spread."""
    return np.array(
        [[stats.norm(0, d * np.sqrt(spread)).logpdf(targets) for spread in SPREADS] for d in deviations]
    )


@pytest.mark.parametrize("deviation", [0.3, 1.0, 1.8])
def test_spread_repairs_a_wrong_width(deviation: float) -> None:
    targets = np.random.default_rng(0).normal(size=5000)
    shares, spreads = calibrate(scores([deviation], targets))
    assert shares == [1.0]
    assert 1 / STEP < spreads[0] * deviation**2 < STEP


def test_shares_go_to_the_kind_that_predicts_better() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=2000)
    good = scores([1.0], targets - 0.0)[0]
    bad = scores([1.0], targets - 3.0)[0]
    shares, _ = calibrate(np.array([good, bad]))
    assert shares[0] > 0.95
    np.testing.assert_allclose(shares.sum(), 1.0)


def test_two_scales_are_told_apart() -> None:
    """Narrow and wide rows in equal parts: two kinds that know nothing share them."""
    rng = np.random.default_rng(0)
    targets = rng.normal(size=8000) * np.where(rng.random(8000) < 0.5, 0.6, 3.0)
    one = calibrate(scores([1.0], targets))
    two = calibrate(scores([1.0, 1.1], targets))
    assert two[1].min() < one[1][0] < two[1].max()
    np.testing.assert_allclose(np.sort(two[1]), [0.36, 9.0], rtol=0.35)


def test_few_rows_rule_nobody_out() -> None:
    targets = np.zeros(3)
    shares, _ = calibrate(scores([0.01, 1.0], targets))
    assert shares.min() >= 1 / 5 - 1e-12


def test_together_networks_get_the_variance_that_their_mean_errs_with() -> None:
    """Networks err by noise in common and by something of their own, of which the mean keeps a fifth."""
    rng = np.random.default_rng(0)
    networks, rows = 5, 20_000
    truth = rng.normal(size=(rows, 2))
    means = truth + 0.5 * rng.normal(size=(networks, rows, 2))
    targets = truth + rng.normal(size=(rows, 2))
    alone = np.full_like(means, 1.25)  # right for each: 1 of the noise, 0.25 of its own
    shares = np.full(networks, 0.2)
    factor = left_of_variance(means, alone, shares)
    mixture = factor * 1.25 + means.var(axis=0).mean()
    assert mixture == pytest.approx(np.mean((means.mean(axis=0) - targets) ** 2), rel=0.03)


def test_equal_networks_keep_their_variance_and_far_ones_most_of_it() -> None:
    same, variances, shares = np.zeros((3, 4, 1)), np.ones((3, 4, 1)), np.full(3, 1 / 3)
    assert left_of_variance(same, variances, shares) == 1.0
    far = np.arange(3.0)[:, None, None] * np.full((1, 4, 1), 9.0)
    assert left_of_variance(far, variances, shares) == LEAST_LEFT
