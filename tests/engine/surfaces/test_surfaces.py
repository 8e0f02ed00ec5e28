"""Posteriors in closed form: kernels against plain NumPy, and NumPy against SciPy."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from ggln.engine.pinned import Pinned
from ggln.engine.surfaces import constants, kernels, reference, solve
from ggln.engine.surfaces.learner import SurfaceLearner
from ggln.engine.surfaces.rows import Rows


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.normal(2.0, 3.0, size=(60, 3))
    return Rows(X, X[:, 0] * X[:, 1] + random.normal(size=60), random.uniform(0.2, 2.0, size=60))


@pytest.fixture
def make(table):
    """A regression of a kind that knows nothing."""

    def build(kind):
        features = np.stack([table.contexts.mean(axis=0), table.contexts.std(axis=0)])
        units = solve.Units(features, np.array([table.rewards.mean(), table.rewards.std()]))
        goals = (table.rewards - units.paid[0]) / units.paid[1]
        scales, centres = np.ones(3), np.empty((3, 0))
        if kind == "bumps":
            scales, centres = solve.find_bumps(table.contexts, goals, features, np.random.default_rng(0))
        return solve.blank(kind, units, np.array([0.7, 1.3, 2.0]), scales, centres[:, :40])

    return build


@pytest.mark.parametrize("kind", solve.KINDS)
def test_the_posterior_is_that_of_the_formulas(kind, make, table):
    """Solved at once, learnt row by row, and by plain NumPy."""
    at_once, stepwise = make(kind), make(kind)
    phi = reference.inputs(at_once, table.contexts)
    np.testing.assert_allclose(kernels.inputs_of(at_once, table.contexts), phi, atol=1e-6)
    goals = (table.rewards - at_once.paid[0]) / at_once.paid[1]
    known = reference.posterior(phi, goals, table.weights, *at_once.noise)
    solve.condition(at_once, table)
    told = np.empty(1)
    for row in zip(*table, strict=True):
        kernels.learn(Pinned([stepwise]), 0, *row, told)
    for surface in (at_once, stepwise):
        np.testing.assert_allclose(surface.mean, known.mean, atol=1e-6)
        np.testing.assert_allclose(surface.spread, known.spread, atol=1e-6)
        np.testing.assert_allclose(surface.noise, [known.shape, known.scale], rtol=1e-6)
    found = np.empty((60, 1, 3))
    kernels.ask(Pinned([stepwise]), np.ones(1, bool), table.contexts, found)
    np.testing.assert_allclose(
        found[:, 0, 0], stepwise.paid[0] + stepwise.paid[1] * phi @ known.mean, rtol=1e-5, atol=1e-4
    )
    noise = known.scale / known.shape * stepwise.paid[1] ** 2
    leverage = np.einsum("ni,ij,nj->n", phi, known.spread, phi)
    np.testing.assert_allclose(found[:, 0, 1], noise * leverage, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rows", [4, 40])
def test_evidence_is_students_density(rows):
    """With more inputs than rows, and with fewer."""
    random = np.random.default_rng(1)
    phi, rewards = random.normal(size=(rows, 9)), random.normal(size=rows)
    found = solve.evidence(phi, rewards, np.ones(rows), 0.3)
    shape = constants.FIRST_SHAPE
    density = multivariate_t(np.zeros(rows), 0.3 * (np.eye(rows) + phi @ phi.T), df=2 * shape)
    assert found - 0.5 * rows * np.log(2 * np.pi) == pytest.approx(density.logpdf(rewards))


def test_what_was_predicted_is_what_is_believed():
    """Where rewards are products, the regression on products is; where they are a plane, that on a plane."""
    random = np.random.default_rng(2)
    X = random.normal(size=(150, 3))
    for kind, rewards in (("line", X @ [1.0, -1.0, 0.5]), ("products", X[:, 0] * X[:, 1] + X[:, 2] ** 2)):
        learner = SurfaceLearner(3, 1, 0)
        for x, reward in zip(X, rewards + 0.3 * random.normal(size=150), strict=True):
            learner.learn(x, 0, float(reward), 1.0)
        assert learner.kinds[int(learner.shares()[0].argmax())] == kind


def test_many_features_have_no_products():
    assert solve.kinds_for(21) == solve.KINDS
    assert solve.kinds_for(22) == ("line", "bumps")


def test_error_bars_of_arms_hold_their_means():
    """Of arms' true means, two deviations hold most."""
    random, inside = np.random.default_rng(3), []
    for _ in range(6):
        W, learner = random.normal(size=(4, 2)), SurfaceLearner(4, 2, 0)
        for t in range(60):
            x = random.normal(size=4)
            learner.learn(x, t % 2, float(x @ W[:, t % 2] + random.normal()), 1.0)
        X = random.normal(size=(50, 4))
        posterior = learner.posterior(X)
        inside.append(np.abs(posterior.mean() - X @ W) < 2.0 * np.sqrt(posterior.variance()))
    assert 0.85 < np.mean(inside) <= 1.0
