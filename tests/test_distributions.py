"""Predictive distributions: against scipy.stats, numerical integration and their own definitions."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad

from ggln.distributions import CopulaMixture, GaussianMixture, MultivariateGaussianMixture, formulas
from ggln.distributions import mixture as base

Array = NDArray[Any]


def mixture(
    n: int = 5, components: int = 3, *, shared: bool = False, dtype: Any = np.float64, log_scale: float = 0.7
) -> GaussianMixture:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(components), size=None if shared else n)
    means, stds = 2.0 * rng.normal(size=(n, components)), np.exp(log_scale * rng.normal(size=(n, components)))
    return GaussianMixture(weights.astype(dtype), means.astype(dtype), stds.astype(dtype))


def joint(kind: str, n: int = 4, components: int = 3, outputs: int = 2) -> MultivariateGaussianMixture:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(n, components, outputs, outputs)) + 2.0 * np.eye(outputs)
    full = root @ np.swapaxes(root, 2, 3)
    covariances = {
        "isotropic": full[:, :, 0, 0],
        "diagonal": np.diagonal(full, axis1=2, axis2=3),
        "full": full,
    }[kind]
    weights = rng.dirichlet(np.ones(components), size=n)
    return MultivariateGaussianMixture(weights, rng.normal(size=(n, components, outputs)), covariances)


def matrices(dist: MultivariateGaussianMixture) -> Array:
    """Covariances of the components as matrices, (n, M, D, D)."""
    eye = np.eye(dist.means.shape[2])
    c = dist.covariances
    return {2: lambda: c[:, :, None, None] * eye, 3: lambda: c[..., None] * eye, 4: lambda: c}[c.ndim]()


def rescale(dist: GaussianMixture, i: int, fraction: float) -> GaussianMixture:
    """Shrink component i of all rows to a fraction of its standard deviation."""
    stds = dist.stds.copy()
    stds[:, i] *= fraction
    return GaussianMixture(dist.weights, dist.means, stds)


KINDS = ["isotropic", "diagonal", "full"]


# One Gaussian: everything in closed form.


@pytest.fixture
def gaussian() -> tuple[GaussianMixture, Any, Array]:
    rng = np.random.default_rng(3)
    m, s = 10.0 * rng.normal(size=6), np.exp(rng.normal(size=6))
    return GaussianMixture([1.0], m[:, None], s[:, None]), stats.norm(m, s), m + 3.0 * s * rng.normal(size=6)


def test_one_component_is_the_gaussian(gaussian: tuple[GaussianMixture, Any, Array]) -> None:
    dist, norm, y = gaussian
    np.testing.assert_allclose(dist.mean, norm.mean(), rtol=1e-15)
    np.testing.assert_allclose(dist.std, norm.std(), rtol=1e-15)
    np.testing.assert_allclose(dist.var, norm.var(), rtol=1e-15)
    np.testing.assert_allclose(dist.log_prob(y), norm.logpdf(y), rtol=1e-13)
    np.testing.assert_allclose(dist.cdf(y), norm.cdf(y), rtol=1e-13)


@pytest.mark.parametrize("q", [1e-300, 1e-12, 0.05, 0.5, 0.95, 1.0 - 1e-12])
def test_quantile_of_one_component(gaussian: tuple[GaussianMixture, Any, Array], q: float) -> None:
    dist, norm, _ = gaussian
    np.testing.assert_allclose(dist.quantile(q), norm.ppf(q), rtol=1e-12)


def test_crps_of_one_component(gaussian: tuple[GaussianMixture, Any, Array]) -> None:
    dist, norm, y = gaussian
    z = (y - norm.mean()) / norm.std()
    expected = norm.std() * (
        z * (2.0 * stats.norm.cdf(z) - 1.0) + 2.0 * stats.norm.pdf(z) - 1.0 / np.sqrt(np.pi)
    )
    np.testing.assert_allclose(dist.crps(y), expected, rtol=1e-12)


# Mixtures: against their definitions.


@pytest.mark.parametrize("shared", [False, True])
def test_density_and_cdf_are_the_weighted_sums(shared: bool) -> None:
    dist = mixture(shared=shared)
    y = np.linspace(-4.0, 4.0, len(dist))
    norm = stats.norm(dist.means, dist.stds)
    w = np.broadcast_to(dist.weights, dist.means.shape)
    np.testing.assert_allclose(np.exp(dist.log_prob(y)), np.sum(w * norm.pdf(y[:, None]), axis=1), rtol=1e-12)
    np.testing.assert_allclose(dist.cdf(y), np.sum(w * norm.cdf(y[:, None]), axis=1), rtol=1e-12)


def test_cdf_and_moments_are_integrals_of_the_density() -> None:
    dist = mixture(n=1)

    def integral(power: int, upper: float) -> float:
        def integrand(x: float) -> float:
            return float((x - dist.mean[0] * (power == 2)) ** power * np.exp(dist.log_prob(x)[0]))

        edges = np.linspace(-30.0, upper, 7)
        return sum(quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(edges))

    assert integral(0, 30.0) == pytest.approx(1.0, abs=1e-9)
    assert integral(0, 1.3) == pytest.approx(dist.cdf(1.3)[0], abs=1e-9)
    assert integral(1, 30.0) == pytest.approx(dist.mean[0], abs=1e-9)
    assert integral(2, 30.0) == pytest.approx(dist.var[0], abs=1e-8)


def test_crps_is_the_integral_of_the_squared_difference() -> None:
    dist = mixture(n=1)
    y = 0.7
    left = quad(lambda x: dist.cdf(x)[0] ** 2, -30.0, y, epsabs=1e-12, limit=200)[0]
    right = quad(lambda x: (1.0 - dist.cdf(x)[0]) ** 2, y, 30.0, epsabs=1e-12, limit=200)[0]
    assert dist.crps(y)[0] == pytest.approx(left + right, abs=1e-9)


def test_variance_does_not_cancel() -> None:
    dist = mixture().scaled(1e9, 1.0)
    np.testing.assert_allclose(dist.std, mixture().std, rtol=1e-6)


# CRPS by quadrature.


def spread_error(dist: GaussianMixture) -> float:
    exact = dist._map_standard(formulas.spread_pairwise, np.arange(len(dist)))
    return float(np.max(np.abs(dist._standard_spread - exact)))


@pytest.mark.parametrize("log_scale", [0.0, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("separation", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("concentration", [0.05, 1.0])
def test_quadrature_agrees_with_pairs(log_scale: float, separation: float, concentration: float) -> None:
    rng = np.random.default_rng(5)
    shape = (6, 300)
    weights, means = rng.dirichlet(np.full(300, concentration), size=6), separation * rng.normal(size=shape)
    dist = GaussianMixture(weights, means, np.exp(log_scale * rng.normal(size=shape)))
    assert spread_error(dist) < 2e-6


def test_quadrature_is_used_and_so_are_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    pairs = formulas.spread_pairwise

    def spy(w: Array, m: Array, s: Array) -> Array:
        rows.append(len(w))
        return pairs(w, m, s)

    monkeypatch.setattr(formulas, "spread_pairwise", spy)
    smooth, spiky = mixture(4, 100, log_scale=0.1), mixture(4, 100, log_scale=0.1).means
    smooth.crps(0.0)
    assert sum(rows) == 0
    GaussianMixture(np.full(100, 0.01), spiky, np.full((4, 100), 1e-5)).crps(0.0)
    assert sum(rows) == 4


def test_quadrature_ignores_components_without_weight() -> None:
    dist = mixture(3, 100, shared=True)
    huge = np.full((3, 1), 1e30)
    padded = GaussianMixture(
        np.append(dist.weights, 0.0), np.hstack([dist.means, huge]), np.hstack([dist.stds, huge])
    )
    np.testing.assert_allclose(padded.crps(0.5), dist.crps(0.5), rtol=1e-6)
    np.testing.assert_allclose(padded.quantile(0.3), dist.quantile(0.3), rtol=1e-9)


# Quantiles.

LEVELS = np.array([1e-9, 0.001, 0.05, 0.3, 0.5, 0.8, 0.999, 1.0 - 1e-9])


def test_quantile_inverts_cdf_both_ways() -> None:
    dist = mixture(n=20, components=8)
    np.testing.assert_allclose(
        [dist.cdf(x) for x in dist.quantile(LEVELS)], LEVELS[:, None] * np.ones(20), rtol=1e-8
    )
    for t in (-2.0, 0.0, 1.5):
        x = dist.mean + t * dist.std
        for i, q in enumerate(dist.cdf(x)):
            np.testing.assert_allclose(dist.quantile(q)[i], x[i], atol=1e-9 * dist.std[i])


@pytest.mark.parametrize("fraction", [1e-2, 1e-6, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_quantile_with_scales_far_apart(fraction: float, offset: float) -> None:
    dist = rescale(mixture(n=30, components=4), 1, fraction).scaled(offset, 1.0)
    accuracy = 2e-10 * dist.std + 4e-16 * np.abs(dist.mean)
    for q, x in zip(LEVELS, dist.quantile(LEVELS), strict=True):
        slack = accuracy + 2e-10 * np.abs(x - dist.mean)
        assert np.all(dist.cdf(x - slack) <= q + 4e-16)
        assert np.all(dist.cdf(x + slack) >= q - 4e-16)


@pytest.mark.parametrize(
    ("dist", "limit"),
    [
        (mixture(50, 30, log_scale=0.3), 8),
        (GaussianMixture([1.0, 0.0], [[0.0, 0.0]], [[1.0, 1e100]]), 0),
        (GaussianMixture([1.0 - 1e-3, 1e-3], [[0.0, 0.0]], [[1e-7, 1.0]]), 60),
        (GaussianMixture([0.9, 0.1 - 1e-9, 1e-9], [[0.0, 1e-3, 1e5]], [[1.0, 1e-6, 1e3]]), 60),
    ],
)
def test_quantile_takes_few_steps(dist: GaussianMixture, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, score = [0], formulas.score

    def spy(*args: Any) -> Array:
        steps[0] += 1
        return score(*args)

    monkeypatch.setattr(formulas, "score", spy)
    counts = []
    for q in LEVELS:
        steps[0] = 0
        dist.quantile(q)
        counts.append(steps[0])
    assert max(counts) <= limit, counts


def test_quantile_ends_where_the_tolerance_is_below_rounding() -> None:
    dist = GaussianMixture([1.0 - 1e-14, 1e-14], [[0.0, 1e12]], [[1.0, 1.0]])
    assert dist.quantile(1.0 - 5e-15)[0] == pytest.approx(1e12)


def test_quantile_in_the_gap_between_components() -> None:
    dist = GaussianMixture([0.5, 0.5], [[-1e6, 1e6]], [[1.0, 1.0]])
    assert -1e6 < dist.quantile(0.5)[0] < 1e6
    np.testing.assert_allclose(dist.quantile([0.25, 0.75])[:, 0], [-1e6, 1e6], atol=1e-3)


def test_quantile_finds_a_far_component_of_little_weight() -> None:
    dist = GaussianMixture([1.0 - 1e-9, 1e-9], [[0.0, 1e6]], [[1.0, 2.0]])
    assert dist.quantile(1.0 - 5e-10)[0] == pytest.approx(1e6, abs=1e-4)


def test_quantile_shapes_and_interval() -> None:
    dist = mixture()
    assert dist.quantile(0.5).shape == (5,)
    assert dist.quantile([0.5]).shape == (1, 5)
    assert dist.quantile([]).shape == (0, 5)
    lower, upper = dist.interval(0.9)
    np.testing.assert_allclose([lower, upper], dist.quantile([0.05, 0.95]))
    np.testing.assert_allclose(dist.cdf(upper) - dist.cdf(lower), 0.9)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, [0.5, 1.0], [[0.5]]])
def test_quantile_levels_outside_are_refused(q: Any) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1, got"):
        mixture().quantile(q)


@pytest.mark.parametrize("level", [0.0, 1.0, np.nan, [0.5], np.array([0.5, 0.9]), "0.5", None])
def test_interval_levels_outside_are_refused(level: Any) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1, got"):
        mixture().interval(level)


# Extreme inputs.


def test_far_tails_are_finite_and_right() -> None:
    dist = mixture()
    far = dist.mean + 1e6 * dist.std
    assert np.all(np.isfinite(dist.log_prob(far)))
    assert np.all(dist.log_prob(far) < -1e9)
    np.testing.assert_allclose(dist.crps(far), far - dist.mean, rtol=1e-5)
    np.testing.assert_array_equal(dist.cdf(far), 1.0)


@pytest.mark.parametrize("y", [np.inf, -np.inf, 1e300, -1e300])
def test_infinitely_far(y: float) -> None:
    dist = mixture()
    assert np.all(dist.log_prob(y) == -np.inf)
    assert np.all(dist.cdf(y) == float(y > 0))
    np.testing.assert_allclose(dist.crps(y), abs(y))


def test_nan_stays_in_its_row() -> None:
    dist = mixture()
    y = np.array([0.0, np.nan, 0.0, 0.0, 0.0])
    for values in (dist.log_prob(y), dist.cdf(y), dist.crps(y)):
        np.testing.assert_array_equal(np.isnan(values), np.isnan(y))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_do_not_matter(scale: float) -> None:
    dist, scaled = mixture(4, 100), mixture(4, 100).scaled(0.0, scale)
    np.testing.assert_allclose(scaled.quantile(LEVELS), scale * dist.quantile(LEVELS), rtol=1e-8)
    np.testing.assert_allclose(scaled.crps(0.3 * scale), scale * dist.crps(0.3), rtol=1e-10)
    np.testing.assert_allclose(scaled.log_prob(0.3 * scale), dist.log_prob(0.3) - np.log(scale), rtol=1e-12)


# Sampling.


@pytest.mark.parametrize("shared", [False, True])
def test_samples_follow_the_distribution(shared: bool) -> None:
    dist = mixture(n=3, shared=shared)
    draws = dist.sample(20_000, random_state=0)
    assert draws.shape == (20_000, 3)
    for i in range(3):
        row = dist[np.full(len(draws), i)]
        assert stats.kstest(draws[:, i], lambda x, row=row: row.cdf(x)).pvalue > 1e-3
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.03


def test_random_states() -> None:
    dist = mixture()
    np.testing.assert_array_equal(dist.sample(3, 7), dist.sample(3, np.random.default_rng(7)))
    state = np.random.RandomState(7)
    np.testing.assert_array_equal(dist.sample(3, state), dist.sample(3, np.random.RandomState(7)))
    assert np.any(dist.sample(3, state) != dist.sample(3, state))
    assert dist.sample().shape == (1, 5)


def test_components_without_weight_are_never_drawn() -> None:
    dist = GaussianMixture([0.0, 1.0, 0.0], [[-1e9, 0.0, 1e9]], [[1.0, 1.0, 1.0]])
    assert np.max(np.abs(dist.sample(1000, 0))) < 10.0


def test_weights_that_fall_short_of_one_by_rounding() -> None:
    dist = GaussianMixture([0.49996, 0.49996], [[-1.0, 1.0]], [[1.0, 1.0]])
    assert dist.sample(100_000, 0).shape == (100_000, 1)
    np.testing.assert_allclose(dist.cdf(0.0), 0.5, rtol=1e-15)


# Blocks, dtypes, rows, copies.


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("components", [1, 3, 100])
def test_blocks_do_not_change_results(shared: bool, components: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, y = mixture(7, components, shared=shared), np.linspace(-2.0, 2.0, 7)
    expected = [
        whole.mean,
        whole.var,
        whole.log_prob(y),
        whole.cdf(y),
        whole.crps(y),
        whole.quantile([0.1, 0.9]),
    ]
    monkeypatch.setattr(base, "BLOCK", 2 * components)
    dist = mixture(7, components, shared=shared)
    actual = [dist.mean, dist.var, dist.log_prob(y), dist.cdf(y), dist.crps(y), dist.quantile([0.1, 0.9])]
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_temporaries_are_bounded() -> None:
    dist = mixture(400, 3000, dtype=np.float32, log_scale=0.1)
    tracemalloc.start()
    dist.log_prob(0.0), dist.quantile(0.9), dist[:8].crps(0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


def test_float32_parameters_are_kept_and_computed_in_float64() -> None:
    single = mixture(dtype=np.float32)
    weights, means, stds = (p.astype(np.float64) for p in (single.weights, single.means, single.stds))
    double = GaussianMixture(weights / weights.sum(axis=1, keepdims=True), means, stds)
    assert single.means.dtype == single[1:].stds.dtype == np.float32
    for f in (lambda d: d.mean, lambda d: d.log_prob(0.5), lambda d: d.quantile(0.9), lambda d: d.crps(0.5)):
        assert f(single).dtype == np.float64
        np.testing.assert_allclose(f(single), f(double), rtol=1e-13)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "index", [2, -1, np.int64(1), slice(1, 4), slice(0, 0), [3, 0], np.arange(5) % 2 == 0]
)
def test_rows(shared: bool, index: Any) -> None:
    dist = mixture(shared=shared)
    part = dist[index]
    assert isinstance(part, GaussianMixture)
    np.testing.assert_allclose(part.mean, np.atleast_1d(dist.mean[index]), rtol=1e-14)
    np.testing.assert_allclose(part.quantile(0.2), np.atleast_1d(dist.quantile(0.2)[index]), rtol=1e-12)
    np.testing.assert_allclose(part.crps(0.0), np.atleast_1d(dist.crps(0.0)[index]), rtol=1e-12)
    assert len(part) == len(part.mean)


def test_iteration_ends() -> None:
    assert [len(row) for row in mixture()] == [1] * 5  # type: ignore[attr-defined]
    with pytest.raises(IndexError):
        mixture()[5]


@pytest.mark.parametrize("dist", [mixture(), joint("diagonal")])
def test_pickle(dist: Any) -> None:
    expected = dist.std
    copy = pickle.loads(pickle.dumps(dist))
    np.testing.assert_array_equal(copy.std, expected)
    np.testing.assert_array_equal(copy.quantile(0.4), dist.quantile(0.4))


def test_repr() -> None:
    assert repr(mixture()) == "GaussianMixture(rows=5, components=3)"
    assert repr(joint("full")) == "MultivariateGaussianMixture(rows=4, components=3, outputs=2, full)"


# Scaling.


def test_scaled() -> None:
    dist, y = mixture(), np.linspace(-3.0, 3.0, 5)
    scaled = dist.scaled(7.0, 0.01)
    np.testing.assert_allclose(scaled.mean, 7.0 + 0.01 * dist.mean)
    np.testing.assert_allclose(scaled.std, 0.01 * dist.std)
    np.testing.assert_allclose(scaled.log_prob(7.0 + 0.01 * y), dist.log_prob(y) - np.log(0.01))
    np.testing.assert_allclose(scaled.cdf(7.0 + 0.01 * y), dist.cdf(y))
    np.testing.assert_allclose(scaled.quantile(0.1), 7.0 + 0.01 * dist.quantile(0.1))
    np.testing.assert_allclose(scaled.crps(7.0 + 0.01 * y), 0.01 * dist.crps(y))
    assert mixture(dtype=np.float32).scaled(1e9, 1.0).means.dtype == np.float64


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan])
def test_scale_must_be_positive(scale: float) -> None:
    with pytest.raises(ValueError, match="scale must be positive"):
        mixture().scaled(0.0, scale)
    with pytest.raises(ValueError, match="scale must be positive"):
        joint("full").scaled(0.0, scale)


# Refusals.


@pytest.mark.parametrize(
    ("weights", "means", "stds", "message"),
    [
        ([0.5, 0.5], [[0.0]], [[1.0]], r"weights has shape \(2,\), expected \(1,\) or \(1, 1\)"),
        ([0.5, 0.6], [[0.0, 0.0]], [[1.0, 1.0]], "sum to one"),
        ([1.5, -0.5], [[0.0, 0.0]], [[1.0, 1.0]], "non-negative"),
        ([np.nan, 1.0], [[0.0, 0.0]], [[1.0, 1.0]], "sum to one"),
        ([1.0], [0.0], [1.0], r"means has shape \(1,\)"),
        ([1.0], [[0.0]], [[1.0, 1.0]], r"stds \(1, 2\)"),
        ([1.0], [[np.nan]], [[1.0]], "means must be finite"),
        ([1.0], [[0.0]], [[0.0]], "stds must be positive"),
        ([1.0], [[0.0]], [[np.inf]], "stds must be positive and finite"),
        ([], np.empty((2, 0)), np.empty((2, 0)), "weights has shape"),
    ],
)
def test_bad_parameters(weights: Any, means: Any, stds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianMixture(weights, means, stds)


@pytest.mark.parametrize("method", ["log_prob", "cdf", "crps"])
def test_y_of_the_wrong_shape(method: str) -> None:
    with pytest.raises(ValueError, match=r"y has shape \(3,\), expected \(5,\)"):
        getattr(mixture(), method)(np.zeros(3))
    with pytest.raises(ValueError, match=r"y has shape \(4,\), expected \(4, 2\)"):
        getattr(joint("full"), method)(np.zeros(4))


@pytest.mark.parametrize(
    ("means", "covariances"),
    [
        ((4, 3), (4, 3)),
        ((4, 3, 2), (4,)),
        ((4, 3, 2), (4, 3, 3)),
        ((4, 3, 2), (4, 3, 2, 1)),
        ((4, 3, 0), (4, 3)),
    ],
)
def test_bad_shapes_of_several_outputs(means: tuple[int, ...], covariances: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected"):
        MultivariateGaussianMixture(np.full(3, 1 / 3), np.zeros(means), np.ones(covariances))


def test_bad_covariances() -> None:
    with pytest.raises(ValueError, match="variances positive"):
        MultivariateGaussianMixture([1.0], np.zeros((1, 1, 2)), [[[1.0, -1.0]]])
    indefinite = MultivariateGaussianMixture([1.0], np.zeros((1, 1, 2)), [[[[1.0, 2.0], [2.0, 1.0]]]])
    with pytest.raises(np.linalg.LinAlgError):
        indefinite.log_prob(np.zeros((1, 2)))


# Several outputs.


@pytest.mark.parametrize("kind", KINDS)
def test_joint_density_and_moments(kind: str) -> None:
    dist = joint(kind)
    y = np.random.default_rng(1).normal(size=(4, 2))
    for i in range(4):
        parts = list(zip(dist.weights[i], dist.means[i], matrices(dist)[i], strict=True))
        density = sum(w * stats.multivariate_normal(m, c).pdf(y[i]) for w, m, c in parts)
        mean = sum(w * m for w, m, _ in parts)
        cov = sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in parts)
        assert dist.log_prob(y)[i] == pytest.approx(np.log(density))
        np.testing.assert_allclose(dist.mean[i], mean)
        np.testing.assert_allclose(dist.cov[i], cov)
    np.testing.assert_allclose(dist.std, np.sqrt(np.diagonal(dist.cov, axis1=1, axis2=2)))


@pytest.mark.parametrize("kind", KINDS)
def test_marginals(kind: str) -> None:
    dist, y = joint(kind), np.random.default_rng(1).normal(size=(4, 2))
    marginal = GaussianMixture(dist.weights, dist.means[:, :, 1], np.sqrt(matrices(dist)[:, :, 1, 1]))
    np.testing.assert_allclose(dist.cdf(y)[:, 1], marginal.cdf(y[:, 1]))
    np.testing.assert_allclose(dist.crps(y)[:, 1], marginal.crps(y[:, 1]))
    np.testing.assert_allclose(dist.quantile(0.3)[:, 1], marginal.quantile(0.3))
    assert dist.quantile([0.1, 0.5, 0.9]).shape == (3, 4, 2)
    lower, upper = dist.interval(0.8)
    np.testing.assert_allclose(dist.cdf(upper) - dist.cdf(lower), np.full((4, 2), 0.8))


@pytest.mark.parametrize("kind", KINDS)
def test_joint_scaled(kind: str) -> None:
    dist, y = joint(kind), np.random.default_rng(1).normal(size=(4, 2))
    shift, scale = np.array([3.0, -5.0]), np.array([100.0, 0.1])
    scaled = dist.scaled(shift, scale)
    assert scaled.covariances.ndim == (4 if kind == "full" else 3)
    np.testing.assert_allclose(scaled.log_prob(shift + scale * y), dist.log_prob(y) - np.log(scale).sum())
    np.testing.assert_allclose(scaled.cov, dist.cov * np.outer(scale, scale))
    np.testing.assert_allclose(scaled.crps(shift + scale * y), scale * dist.crps(y))
    with pytest.raises(ValueError, match=r"shift has shape \(3,\)"):
        dist.scaled(np.zeros(3), scale)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_samples(kind: str) -> None:
    dist = joint(kind, n=2)
    draws = dist.sample(40_000, random_state=0)
    assert draws.shape == (40_000, 2, 2)
    for i in range(2):
        np.testing.assert_allclose(draws[:, i].mean(axis=0), dist.mean[i], atol=0.02 * dist.std[i].max())
        np.testing.assert_allclose(np.cov(draws[:, i].T), dist.cov[i], atol=0.05 * dist.std[i].max() ** 2)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_rows_and_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dist, y = joint(kind), np.random.default_rng(1).normal(size=(4, 2))
    expected = dist.log_prob(y), dist.cov
    monkeypatch.setattr(base, "BLOCK", 1)
    np.testing.assert_allclose(joint(kind).log_prob(y), expected[0], rtol=1e-13)
    np.testing.assert_allclose(joint(kind).cov, expected[1], rtol=1e-13)
    np.testing.assert_allclose(dist[2].log_prob(y[2:3]), expected[0][2:3], rtol=1e-13)
    assert len(dist[1:3]) == 2
    assert dist[:0].log_prob(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_far_tails_and_nan(kind: str) -> None:
    dist = joint(kind)
    assert np.all(np.isfinite(dist.log_prob(dist.mean + 1e6 * dist.std)))
    assert np.all(dist.log_prob(np.full((4, 2), 1e200)) == -np.inf)
    y = np.zeros((4, 2))
    y[1, 0] = np.nan
    np.testing.assert_array_equal(np.isnan(dist.log_prob(y)), [False, True, False, False])
    np.testing.assert_array_equal(np.isnan(dist.crps(y)), np.isnan(y))


def test_energy_score() -> None:
    dist = joint("isotropic", n=3, outputs=1)
    y = np.array([[0.0], [3.0], [-10.0]])
    estimates = dist.energy_score(y, n_samples=40_000, random_state=0)
    np.testing.assert_allclose(estimates, dist.crps(y)[:, 0], atol=0.05)  # they agree for one output
    many = [dist.energy_score(y, n_samples=2, random_state=i) for i in range(4000)]
    np.testing.assert_allclose(
        np.mean(many, axis=0), dist.crps(y)[:, 0], atol=5 * np.std(many) / np.sqrt(4000)
    )
    with pytest.raises(ValueError, match="at least 2, got 1"):
        dist.energy_score(y, n_samples=1)


# Outputs with shapes of their own.

SHAPE = np.array([[1.0, 0.7, -0.2], [0.7, 1.0, 0.1], [-0.2, 0.1, 1.0]])
FREEDOMS = (np.inf, 15.0, 3.0)


def copula(freedom: float, n: int = 3) -> CopulaMixture:
    return CopulaMixture([mixture(n, 2), mixture(n, 3), mixture(n, 4)], SHAPE, freedom)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_samples_of_a_copula_have_its_moments_and_regions(freedom: float) -> None:
    dist = copula(freedom)
    draws = dist.sample(20_000, random_state=0)
    assert draws.shape == (20_000, 3, 3)
    for i in range(3):
        deviations = dist.std[i]
        np.testing.assert_allclose(draws[:, i].mean(axis=0), dist.mean[i], atol=0.04 * deviations.max())
        np.testing.assert_allclose(
            np.cov(draws[:, i].T) / np.outer(deviations, deviations),
            dist.cov[i] / np.outer(deviations, deviations),
            atol=0.06,
        )
    np.testing.assert_allclose(np.einsum("ndd->nd", dist.cov), dist.std**2)
    levels = np.array([dist.region_level(draw) for draw in draws[:2000]])
    for level in (0.5, 0.9):
        assert np.mean(levels <= level) == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_joint_density_of_a_copula_integrates_to_one(freedom: float) -> None:
    grid = np.linspace(-20.0, 20.0, 401)
    y = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    parts = [mixture(1, 2), mixture(1, 3)]
    many = [
        GaussianMixture(*(np.repeat(own, len(y), axis=0) for own in (part.weights, part.means, part.stds)))
        for part in parts
    ]
    density = np.exp(CopulaMixture(many, SHAPE[:2, :2], freedom).log_prob(y))
    assert density.sum() * (grid[1] - grid[0]) ** 2 == pytest.approx(1.0, abs=0.01)


def test_a_copula_of_gaussians_is_a_gaussian() -> None:
    means, stds = np.array([1.0, -2.0, 0.5]), np.array([0.1, 10.0, 2.0])
    alone = [GaussianMixture([1.0], [[mean]], [[std]]) for mean, std in zip(means, stds, strict=True)]
    dist, covariance = CopulaMixture(alone, SHAPE), SHAPE * np.outer(stds, stds)
    y = np.array([[1.1, 3.0, 0.0]])
    expected = stats.multivariate_normal(means, covariance)
    assert dist.log_prob(y)[0] == pytest.approx(expected.logpdf(y[0]))
    np.testing.assert_allclose(dist.cov[0], covariance, rtol=1e-3)
    squares = (y[0] - means) @ np.linalg.inv(covariance) @ (y[0] - means)
    assert dist.region_level(y)[0] == pytest.approx(stats.chi2.cdf(squares, 3))


def test_a_region_of_one_output_is_its_interval() -> None:
    dist = CopulaMixture([mixture(4, 3)], np.eye(1), 3.0)
    for bound in dist.interval(0.9):
        np.testing.assert_allclose(dist.region_level(bound), 0.9)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_rows_and_units_of_a_copula(freedom: float) -> None:
    dist, y = copula(freedom), np.random.default_rng(0).normal(size=(3, 3))
    each = CopulaMixture(dist.marginals, np.tile(SHAPE, (3, 1, 1)), np.full(3, freedom))
    for other in (each, each[[0, 1, 2]], dist[:]):
        np.testing.assert_allclose(other.log_prob(y), dist.log_prob(y))
        np.testing.assert_allclose(other.cov, dist.cov)
    np.testing.assert_allclose(each[1].log_prob(y[1:2]), dist.log_prob(y)[1:2])
    shift, scale = np.array([3.0, 0.0, -1.0]), np.array([100.0, 1.0, 0.1])
    moved = dist.scaled(shift, scale)
    np.testing.assert_allclose(moved.log_prob(shift + scale * y), dist.log_prob(y) - np.log(scale).sum())
    np.testing.assert_allclose(moved.region_level(shift + scale * y), dist.region_level(y))
    np.testing.assert_allclose(moved.cov, dist.cov * np.outer(scale, scale), rtol=1e-6)
    assert repr(dist) == "CopulaMixture(rows=3, outputs=3)"
    assert dist.energy_score(y, 50, 0).shape == (3,)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_far_tails_and_nan_of_a_copula(freedom: float) -> None:
    dist = copula(freedom)
    assert np.all(np.isfinite(dist.log_prob(dist.mean + 1e3 * dist.std)))
    assert np.all(dist.log_prob(np.full((3, 3), 1e200)) == -np.inf)
    y = np.zeros((3, 3))
    y[1, 0] = np.nan
    np.testing.assert_array_equal(np.isnan(dist.log_prob(y)), [False, True, False])
    np.testing.assert_array_equal(np.isnan(dist.region_level(y)), [False, True, False])


def test_bad_copulas() -> None:
    alone = [mixture(3, 2), mixture(3, 2)]
    for marginals, shape, freedom, message in (
        ([mixture(3, 2), mixture(2, 2)], np.eye(2), 3.0, "as many rows"),
        (alone, np.eye(3), 3.0, "correlations has shape"),
        (alone, 2.0 * np.eye(2), 3.0, "ones on the diagonal"),
        (alone, np.eye(2), [3.0, 3.0], "freedoms has shape"),
        (alone, np.eye(2), 0.0, "freedoms must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            CopulaMixture(marginals, shape, freedom)
    with pytest.raises(np.linalg.LinAlgError):
        CopulaMixture(alone, [[1.0, 2.0], [2.0, 1.0]]).log_prob(np.zeros((3, 2)))


@pytest.mark.parametrize(
    "kind", [kind if kind == "full" else pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS]
)
def test_regions_of_highest_density(kind: str) -> None:
    dist = joint(kind, n=2)
    draws = dist.sample(200, random_state=1)
    levels = [dist.region_level(draw, 150, random_state=2) for draw in draws]
    assert np.mean(np.array(levels) <= 0.9) == pytest.approx(0.9, abs=0.05)
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        dist.region_level(draws[0], 0)


# Properties.


@st.composite
def mixtures(draw: st.DrawFn) -> GaussianMixture:
    size = draw(st.integers(1, 5))
    logits = np.array(draw(st.lists(st.floats(-30, 30), min_size=size, max_size=size)))
    means = draw(st.lists(st.floats(-1e4, 1e4), min_size=size, max_size=size))
    log_stds = np.array(draw(st.lists(st.floats(-7, 7), min_size=size, max_size=size)))
    weights = np.exp(logits - logits.max())
    return GaussianMixture(weights / weights.sum(), [means], [np.exp(log_stds)])


@settings(max_examples=150, deadline=None)
@given(mixtures(), st.lists(st.floats(1e-9, 1 - 1e-9), min_size=2, max_size=4))
def test_quantiles_bracket_their_level_and_increase(dist: GaussianMixture, levels: list[float]) -> None:
    levels.sort()
    x = dist.quantile(levels)
    slack = (
        2e-10 * (dist.std + np.abs(x - dist.mean))
        + 1e-11 * dist.stds.min()
        + 1e-15 * np.abs(dist.means).max()
    )
    assert np.all(np.diff(x, axis=0) >= -slack[1:])
    for q, at, tol in zip(levels, x, slack, strict=True):
        assert dist.cdf(at - tol)[0] <= q * (1.0 + 1e-12)
        assert dist.cdf(at + tol)[0] >= q * (1.0 - 1e-12)


@settings(max_examples=150, deadline=None)
@given(mixtures(), st.floats(-1e5, 1e5), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_crps_is_proper_in_its_bounds(dist: GaussianMixture, y: float, shift: float, scale: float) -> None:
    crps = dist.crps(y)[0]
    distance = abs(dist.mean[0] - y)
    assert -1e-9 * dist.std[0] <= crps <= distance + dist.std[0]
    moved = dist.scaled(shift, scale)
    tolerance = 1e-9 * scale * (abs(y) + 1e4 + dist.std[0]) + 1e-9 * abs(shift)
    assert moved.crps(shift + scale * y)[0] == pytest.approx(scale * crps, abs=tolerance)


@settings(max_examples=100, deadline=None)
@given(mixtures(), st.floats(-1e6, 1e6))
def test_density_is_the_slope_of_the_cdf(dist: GaussianMixture, y: float) -> None:
    h = 1e-4 * dist.stds.min()
    slope = (dist.cdf(y + h) - dist.cdf(y - h)) / ((y + h) - (y - h) or h)
    rounding = (1e-15 + 1e-16 * abs(y) / dist.stds.min()) / h
    density = np.exp(dist.log_prob(y))
    np.testing.assert_allclose(density, slope, rtol=1e-5, atol=10.0 * rounding)


@st.composite
def uneven_mixtures(draw: st.DrawFn) -> GaussianMixture:
    """Components of widths from 1e-8 to 1e8, near to each other or far apart."""
    count = draw(st.integers(1, 5))
    exponents = draw(st.lists(st.floats(-8.0, 8.0), min_size=count, max_size=count))
    places = draw(st.lists(st.floats(-8.0, 8.0), min_size=count, max_size=count))
    signs = draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=count, max_size=count))
    shares = np.array(draw(st.lists(st.floats(1e-6, 1.0), min_size=count, max_size=count)))
    means = [[sign * 10.0**place for sign, place in zip(signs, places, strict=True)]]
    return GaussianMixture(shares / shares.sum(), means, [[10.0**exponent for exponent in exponents]])


@given(uneven_mixtures(), st.one_of(st.floats(1e-12, 0.5), st.floats(0.5, 1.0 - 1e-12)))
def test_quantiles_are_right_in_probability_for_any_widths(dist: GaussianMixture, q: float) -> None:
    x = dist.quantile(q)
    if abs(dist.cdf(x)[0] - q) > 1e-9:  # then no number is better: the widths are below their distances
        assert dist.cdf(np.nextafter(x, -np.inf))[0] <= q <= dist.cdf(np.nextafter(x, np.inf))[0]


def test_quantile_of_a_narrow_component_far_from_the_mean() -> None:
    dist = GaussianMixture([[0.5, 0.5]], [[0.0, 1e6]], [[1e-5, 1.0]])
    levels = np.array([1e-9, 0.15, 0.3, 0.45, 0.55, 0.7, 0.85, 1.0 - 1e-9])
    np.testing.assert_allclose([dist.cdf(x)[0] for x in dist.quantile(levels)], levels, atol=1e-9)


@given(uneven_mixtures(), st.floats(-1e9, 1e9))
def test_the_two_sides_and_their_logarithms_agree(dist: GaussianMixture, y: float) -> None:
    np.testing.assert_allclose(dist.cdf(y) + dist.sf(y), 1.0, atol=1e-14)
    for log, plain in ((dist.log_cdf(y), dist.cdf(y)), (dist.log_sf(y), dist.sf(y))):
        assert log[0] <= 0.0
        # rounding of y - m matters in units of the width, times the slope of the logarithm
        np.testing.assert_allclose(np.exp(log), plain, rtol=1e-9, atol=1e-300)


def test_logarithms_of_infinitely_far_and_of_nan() -> None:
    dist = mixture(3, 2)
    y = np.array([-np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(dist.log_cdf(y), [-np.inf, 0.0, np.nan])
    np.testing.assert_array_equal(dist.log_sf(y), [0.0, -np.inf, np.nan])
    np.testing.assert_array_equal(dist.sf(y), [1.0, 0.0, np.nan])


@pytest.mark.parametrize("method", ["cdf", "sf", "log_cdf", "log_sf", "crps"])
def test_several_outputs_have_their_marginals(method: str) -> None:
    dist, y = joint("full"), np.random.default_rng(0).normal(size=(4, 2))
    found = getattr(dist, method)(y)
    for d in range(2):
        np.testing.assert_array_equal(found[:, d], getattr(dist.marginal(d), method)(y[:, d]))


def test_what_is_not_there_is_refused_by_name() -> None:
    joint = MultivariateGaussianMixture([1.0], np.zeros((2, 1, 3)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="d must be below the number of outputs, 3, got 9"):
        joint.marginal(9)
    for dist in (joint, joint.marginal(-1)):
        with pytest.raises(ValueError, match="n must be at least 0, got -1"):
            dist.sample(-1)
