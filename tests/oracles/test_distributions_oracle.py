"""CRPS and energy score against scoringrules."""

from __future__ import annotations

import numpy as np
import pytest

from ggln.distributions import GaussianMixture, MultivariateGaussianMixture

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
