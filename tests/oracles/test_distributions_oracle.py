"""CRPS and energy score against scoringrules; tails and quantiles against SciPy and mpmath."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from ggln.distributions import GaussianMixture, MultivariateGaussianMixture

mpmath = pytest.importorskip("mpmath")

scoringrules = pytest.importorskip("scoringrules")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("components", "log_scale"), [(1, 1.0), (2, 1.0), (20, 2.0), (200, 0.3), (200, 2.0)])
def test_crps_of_mixtures(components: int, log_scale: float, dtype: type[np.floating]) -> None:
    rng = np.random.default_rng(components)
    shape = (8, components)
    weights = rng.dirichlet(np.ones(components), size=8)
    means, stds = (
        rng.normal(size=shape).astype(dtype),
        np.exp(log_scale * rng.normal(size=shape)).astype(dtype),
    )
    y = 3.0 * rng.normal(size=8)
    dist = GaussianMixture(weights, means, stds)
    # float64 copies: scoringrules computes in the dtype it is given
    expected = scoringrules.crps_mixnorm(
        y, means.astype(np.float64), stds.astype(np.float64), weights, backend="numpy"
    )
    np.testing.assert_allclose(dist.crps(y), expected, atol=2e-6 * dist.std.max())


def test_crps_of_one_gaussian() -> None:
    rng = np.random.default_rng(0)
    m, s, y = rng.normal(size=50), np.exp(rng.normal(size=50)), 5.0 * rng.normal(size=50)
    expected = scoringrules.crps_normal(y, m, s, backend="numpy")
    np.testing.assert_allclose(GaussianMixture([1.0], m[:, None], s[:, None]).crps(y), expected, rtol=1e-10)


def test_log_score_of_one_gaussian() -> None:
    rng = np.random.default_rng(0)
    m, s, y = rng.normal(size=50), np.exp(rng.normal(size=50)), 2.0 * rng.normal(size=50)
    expected = scoringrules.logs_normal(y, m, s, backend="numpy")
    np.testing.assert_allclose(
        -GaussianMixture([1.0], m[:, None], s[:, None]).log_prob(y), expected, rtol=1e-10
    )


def test_energy_score() -> None:
    rng = np.random.default_rng(0)
    weights, means = rng.dirichlet(np.ones(3)), rng.normal(size=(4, 3, 2))
    dist = MultivariateGaussianMixture(weights, means, np.exp(rng.normal(size=(4, 3, 2))))
    y = 2.0 * rng.normal(size=(4, 2))
    ensemble = np.moveaxis(dist.sample(1500, random_state=1), 0, 1)
    expected = scoringrules.es_ensemble(y, ensemble, estimator="fair", backend="numpy")
    np.testing.assert_allclose(dist.energy_score(y, n_samples=20_000, random_state=2), expected, atol=0.15)


TAILS = (-1e8, -300.0, -40.0, -9.0, -1.0, 0.0, 0.5, 6.0, 12.0, 45.0, 1e3, 1e9)


def test_tails_of_one_gaussian() -> None:
    m, s = 2.0, 3.0
    dist = GaussianMixture([1.0], [[m]], [[s]])
    norm = stats.norm(m, s)
    for y in TAILS:
        np.testing.assert_allclose(dist.sf(y)[0], norm.sf(y), rtol=1e-12)
        np.testing.assert_allclose(dist.log_cdf(y)[0], norm.logcdf(y), rtol=1e-12)
        np.testing.assert_allclose(dist.log_sf(y)[0], norm.logsf(y), rtol=1e-12)


@pytest.mark.parametrize("y", TAILS)
def test_tails_of_a_mixture(y: float) -> None:
    weights, means, stds = [0.6, 0.3, 0.1], [0.0, 3.0, -2.0], [1.0, 0.01, 7.0]
    dist = GaussianMixture(weights, [means], [stds])
    with mpmath.workdps(60):
        parts = [
            (mpmath.mpf(w), (mpmath.mpf(y) - m) / mpmath.mpf(s))
            for w, m, s in zip(weights, means, stds, strict=True)
        ]
        total = sum(w for w, _ in parts)
        below = sum(w * mpmath.erfc(-z / mpmath.sqrt(2)) / 2 for w, z in parts) / total
        above = sum(w * mpmath.erfc(z / mpmath.sqrt(2)) / 2 for w, z in parts) / total
        expected = [float(v) for v in (above, mpmath.log(below), mpmath.log(above))]
    found = [dist.sf(y)[0], dist.log_cdf(y)[0], dist.log_sf(y)[0]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("q", [1e-12, 1e-3, 0.2, 0.5, 0.8, 0.999, 1.0 - 1e-12])
def test_quantiles_by_bisection(q: float) -> None:
    rng = np.random.default_rng(1)
    weights, means, stds = rng.dirichlet(np.ones(4)), rng.normal(size=4), np.exp(rng.normal(size=4))

    def excess(x: float) -> float:
        return float(weights @ stats.norm.cdf(x, means, stds)) - q

    expected = brentq(excess, -100.0, 100.0, xtol=1e-13)
    found = GaussianMixture(weights, [means], [stds]).quantile(q)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5 if q > 1.0 - 1e-9 else 1e-9)
