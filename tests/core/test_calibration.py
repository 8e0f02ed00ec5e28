"""Shares and spreads from rows that were left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ggln.core.calibration import SPREADS, calibrate, log_densities

STEP = SPREADS[1] / SPREADS[0]


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
                weights[k]
                * stats.multivariate_normal(means[t, k], SPREADS[s] * np.linalg.inv(matrices[t, k])).pdf(
                    targets[t]
                )
                for k in range(neurons)
            ]
            np.testing.assert_allclose(found[s, t], np.log(sum(parts)), rtol=1e-9)


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
