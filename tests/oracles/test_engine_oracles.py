"""The core's formulas against SciPy: integrals, densities, optimisers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.integrate import quad

from ggln.engine.gradient import reference
from ggln.engine.gradient.reference import Gaussians, LinearRegression
from ggln.engine.neurons.projection import project_exact

Array = NDArray[Any]


def test_product_of_one_output_by_quadrature() -> None:
    """Eq. 2: the normalised product of powers, its mean and its variance."""
    mu, sigma, w = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 1.0, 3.0]), np.array([0.3, 1.2, 0.0])

    def density(y: float) -> float:
        return float(np.prod(stats.norm.pdf(y, mu, sigma) ** w))

    def integral(power: int) -> float:
        return float(quad(lambda y: y**power * density(y), -12, 12, epsabs=1e-13, limit=200)[0])

    mean, precision = reference.product(w, Gaussians(mu[:, None], sigma[:, None, None] ** -2))
    expected = integral(1) / integral(0)
    np.testing.assert_allclose(mean[0], expected, rtol=1e-9)
    np.testing.assert_allclose(1 / precision[0, 0], integral(2) / integral(0) - expected**2, rtol=1e-8)
    for y in (-2.0, 0.1, 1.7):
        np.testing.assert_allclose(
            stats.norm.pdf(y, mean[0], precision[0, 0] ** -0.5), density(y) / integral(0), rtol=1e-9
        )


def test_product_of_two_outputs_on_a_grid() -> None:
    """Eq. 4, with full matrices; a sum over a fine grid is an integral to rounding."""
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 2, 2)) + 2 * np.eye(2)
    inputs = Gaussians(rng.normal(size=(3, 2)), roots @ np.swapaxes(roots, 1, 2))
    w = np.array([0.2, 0.5, 1.0])
    axis = np.linspace(-8, 8, 801)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = sum(
        weight * stats.multivariate_normal.logpdf(grid, mu, np.linalg.inv(P))
        for weight, mu, P in zip(w, *inputs, strict=True)
    )
    share = np.exp(log_density - log_density.max())
    share /= share.sum()
    mean, precision = reference.product(w, inputs)
    np.testing.assert_allclose(mean, share @ grid, rtol=1e-9, atol=1e-9)
    centred = grid - share @ grid
    np.testing.assert_allclose(np.linalg.inv(precision), (centred.T * share) @ centred, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_loss_is_twice_the_negative_log_density(outputs: int) -> None:
    """Eq. 6 drops the constant D log(2 pi)."""
    rng = np.random.default_rng(outputs)
    root, mean, y = rng.normal(size=(outputs, outputs)) + np.eye(outputs), *rng.normal(size=(2, outputs))
    precision = root @ root.T
    density = stats.multivariate_normal.logpdf(y, mean, np.linalg.inv(precision))
    np.testing.assert_allclose(
        reference.loss(y, mean, precision), -2 * density - outputs * np.log(2 * np.pi), rtol=1e-9
    )


def test_gradient_by_complex_steps() -> None:
    """One output: the derivative of Eq. 6 to machine precision, without differences."""
    rng = np.random.default_rng(0)
    p, mu, w, y = rng.uniform(0.2, 3.0, 6), rng.normal(size=6), rng.uniform(size=6), 0.7

    def loss(v: Array) -> Any:
        L = v @ p
        return -np.log(L) + L * (y - (v @ (p * mu)) / L) ** 2

    slopes = [np.imag(loss(w + 1e-30j * unit)) / 1e-30 for unit in np.eye(6)]
    inputs = Gaussians(mu[:, None], p[:, None, None])
    found = reference.gradient(np.array([y]), *reference.product(w, inputs), inputs)
    np.testing.assert_allclose(found, slopes, rtol=1e-12)


def test_nearest_point_is_another_than_the_papers() -> None:
    """(-3, 0.9) in [0, 1]^2 with sum >= 0.5 (docs/deviations.md)."""
    point = np.array([-3.0, 0.9])
    nearest = optimize.minimize(
        lambda w: np.sum((w - point) ** 2),
        [0.5, 0.5],
        jac=lambda w: 2 * (w - point),
        bounds=[(0, 1)] * 2,
        constraints=[{"type": "ineq", "fun": lambda w: w.sum() - 0.5}],
        tol=1e-12,
    )
    np.testing.assert_allclose(nearest.x, [0.0, 0.9], atol=1e-6)
    papers = point.copy()
    project_exact(papers, -np.ones((1, 2)), np.array([-0.5]), 0.0, 1.0)
    np.testing.assert_allclose(papers, [0.0, 0.5], atol=1e-12)


def test_exact_projection_of_one_violated_constraint_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    point, row = rng.uniform(0.4, 0.6, size=5), rng.uniform(size=5)
    bound = 0.9 * row @ point
    nearest = optimize.minimize(
        lambda w: np.sum((w - point) ** 2),
        point,
        jac=lambda w: 2 * (w - point),
        bounds=[(0, 1)] * 5,
        constraints=[{"type": "ineq", "fun": lambda w: bound - row @ w, "jac": lambda _: -row}],
        tol=1e-14,
    )
    found = point.copy()
    project_exact(found, row[None], np.array([bound]), 0.0, 1.0)
    np.testing.assert_allclose(found, nearest.x, atol=1e-6)


def test_linear_regression_is_bayes_rule_on_centred_features() -> None:
    """Appendix C treats slope and offset apart, which is exact where the features sum to zero."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=9)
    x -= x.mean()
    y, tau, new = 2.0 * x + rng.normal(size=9), 1.7, 0.8
    model = LinearRegression(1, 1, tau, limit=5.0)
    for one, target in zip(x, y, strict=True):
        model.learn(np.array([one]), np.array([target]))
    design, features = np.stack([x, np.ones(9)], axis=1), np.array([new, 1.0])
    # y and the new target are jointly Gaussian with covariance A A' / tau_0 + I / tau (tau_0 = 1)
    joint = design @ design.T + np.eye(9) / tau
    gain = np.linalg.solve(joint, design @ features)
    mean, variance = model.predict(np.array([new]))
    np.testing.assert_allclose(mean[0, 0], gain @ y, rtol=1e-10)
    np.testing.assert_allclose(
        variance[0], features @ features + 1 / tau - (design @ features) @ gain, rtol=1e-10
    )


def test_noise_maximises_the_evidence() -> None:
    """The fixed point of Bishop's 3.95 is the maximum of the marginal likelihood over tau."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    x -= x.mean()
    y = 0.7 * x + 0.2 + 0.6 * rng.normal(size=60)
    model = LinearRegression(1, 1, None, limit=5.0)
    model.X, model.Y = x[:-1, None], y[:-1, None]
    for _ in range(50):  # the same rows again and again: `learn` adds the last one each time
        model.learn(x[-1:], y[-1:])
        model.X, model.Y = model.X[:59], model.Y[:59]
    design = np.stack([x, np.ones(60)], axis=1)

    def evidence(log_tau: float) -> float:
        covariance = design @ design.T + np.eye(60) / np.exp(log_tau)
        return float(-stats.multivariate_normal.logpdf(y, np.zeros(60), covariance))

    best = optimize.minimize_scalar(evidence, bounds=(-3, 4), method="bounded", options={"xatol": 1e-8})
    np.testing.assert_allclose(model.noise[0], np.exp(best.x), rtol=1e-4)


@pytest.mark.parametrize("models", [2, 5])
def test_switching_is_the_bayesian_mixture_over_switching_sequences(models: int) -> None:
    """Appendix D's recursion equals the sum over all sequences of models that switch with probability 1/t."""
    rng = np.random.default_rng(models)
    steps = 4
    densities = rng.uniform(0.1, 2.0, size=(steps, models))
    sequences = np.stack(np.meshgrid(*[np.arange(models)] * steps, indexing="ij"), axis=-1).reshape(-1, steps)
    prior = np.full(len(sequences), 1 / models)
    for t in range(2, steps + 1):
        stays = sequences[:, t - 1] == sequences[:, t - 2]
        prior *= np.where(stays, 1 - 1 / t, 1 / t / (models - 1))
    weights = np.full(models, 1 / models)
    for t in range(steps):
        seen = prior * np.prod([densities[s, sequences[:, s]] for s in range(t)], axis=0)
        expected = [seen[sequences[:, t] == i].sum() for i in range(models)] / seen.sum()
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
        weights = reference.switch(weights, t + 1, np.log(densities[t]))
