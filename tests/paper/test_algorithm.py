"""The paper's equations against integrals and differences. The engine is compared in `tests/engine`."""

import numpy as np
import pytest
from scipy import integrate, stats

from ggln.paper import algorithm as paper


@pytest.fixture
def random():
    return np.random.default_rng(0)


def experts_of(random, count, outputs):
    roots = random.normal(size=(count, outputs, outputs))
    precisions = roots @ roots.swapaxes(1, 2) + np.eye(outputs)
    return paper.Gaussians(random.normal(size=(count, outputs)), precisions)


def test_the_product_is_the_normalised_product_of_powers(random):
    experts, weights = experts_of(random, 4, 1), random.random(4)

    def powers(y):
        deviations = experts.precisions[:, 0, 0] ** -0.5
        return np.prod(stats.norm.pdf(y, experts.means[:, 0], deviations) ** weights)

    mean, precision = paper.product(weights, experts)
    total = integrate.quad(powers, -20, 20)[0]
    for y in (-1.0, 0.3, 2.0):
        assert stats.norm.pdf(y, mean[0], precision[0, 0] ** -0.5) == pytest.approx(powers(y) / total)


def test_isotropic_experts_are_equation_five(random):
    means, variances, weights = random.normal(size=(5, 3)), 0.5 + random.random(5), random.random(5)
    mean, precision = paper.product(weights, paper.gaussians(means, variances))
    share = weights / variances
    np.testing.assert_allclose(mean, share @ means / share.sum())
    np.testing.assert_allclose(precision, share.sum() * np.eye(3), atol=1e-15)


@pytest.mark.parametrize("outputs", [1, 3])
def test_gradient_and_hessian_are_those_of_the_loss(random, outputs):
    experts, weights, y = experts_of(random, 4, outputs), 0.2 + random.random(4), random.normal(size=outputs)
    steps = 1e-5 * np.eye(4)
    by_differences = [
        (paper.loss(y, weights + h, experts) - paper.loss(y, weights - h, experts)) / 2e-5 for h in steps
    ]
    np.testing.assert_allclose(paper.gradient(y, weights, experts), by_differences, rtol=1e-6)
    curvature = [
        (paper.gradient(y, weights + h, experts) - paper.gradient(y, weights - h, experts)) / 2e-5
        for h in steps
    ]
    np.testing.assert_allclose(paper.hessian(weights, experts), curvature, rtol=1e-6)


def test_projection_and_barriers_keep_weights_allowed(random):
    experts, limits = experts_of(random, 3, 1), paper.Limits(largest_weight=2.0, largest_mean=1.0)
    A, u = paper.inequalities(experts, limits)
    inside = np.array([0.5, 0.5, 0.5])
    assert paper.project(inside, experts, limits) is inside
    outside = np.array([3.0, -1.0, 0.5])
    found = paper.project(outside, experts, limits)
    violated = A @ outside > u
    assert violated.any()
    np.testing.assert_allclose(A[violated] @ found, u[violated])
    other = np.linalg.lstsq(A[violated], u[violated], rcond=None)[0]  # also meets them, further away
    assert np.linalg.norm(found - outside) <= np.linalg.norm(other - outside)
    wide = paper.Limits()
    rows, bounds = paper.inequalities(experts, wide)
    by_differences = [
        (-np.log(bounds - rows @ (inside + h)).sum() + np.log(bounds - rows @ (inside - h)).sum()) / 2e-6
        for h in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(paper.barrier_gradient(inside, experts, wide), by_differences, rtol=1e-5)


def test_linear_regression_is_the_posterior_predictive(random):
    model, x, y = paper.LinearRegression(noise=4.0, prior=0.5), random.normal(size=9), random.normal(size=9)
    for pair in zip(x - x.mean(), y, strict=True):
        model.learn(*pair)
    design = np.stack([x - x.mean(), np.ones(9)], axis=1)  # centred: both coefficients are independent
    covariance = np.linalg.inv(0.5 * np.eye(2) + 4.0 * design.T @ design)
    new = np.array([1.5, 1.0])
    expected = new @ covariance @ (4.0 * design.T @ y), new @ covariance @ new + 0.25
    np.testing.assert_allclose(model.predict(1.5), expected)


def test_switching_follows_the_best_neuron():
    shares = np.full(3, 1.0 / 3.0)
    for time in range(1, 50):
        shares = paper.switch(shares, np.array([0.1, 0.9, 0.1]), time)
        assert shares.sum() == pytest.approx(1.0)
    assert shares[1] > 0.9


def test_a_denoiser_of_a_gaussian_gives_its_score():
    x, noise = np.array([0.5, -2.0]), 1e-3
    np.testing.assert_allclose(paper.score(x / (1.0 + noise), x, noise), -x, rtol=2e-3)
