"""Several outputs: joint neurons, networks apart, and the copula that joins outputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from ggln.distributions.assembly import mixture
from ggln.engine.newton.copula import FREEDOMS, Copula, JointBlend, levels_of, normalised
from ggln.engine.newton.joint import JointMixture
from ggln.engine.newton.kinds import kind_of
from ggln.engine.newton.learner import ExactLearner, make_learner, restore_learner
from ggln.engine.newton.mixture import Blend
from ggln.engine.newton.outputs import ApartLearner
from ggln.engine.newton.settings import Settings
from ggln.engine.newton.shapes import ShapeMixture
from ggln.engine.student import log_copula, scores
from ggln.engine.threads import Threads

JOINT = "full", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("isotropic", "diagonal"))
EVERY = pytest.mark.parametrize("covariance", [*JOINT, "apart"])


def settings(covariance, outputs=2, **changes):
    values = {
        "layer_sizes": (3, 3),
        "context_dims": (2, 2),
        "n_estimators": 4,
        "regressions": True,
        "base_variance": 1.0,
        "bias_range": 5.0,
        "bias_variance": 1.0,
        "min_variance": 1e-10,
        "max_variance": 1e2,
        "covariance": covariance,
        "standardize": True,
        "features": 3,
        "outputs": outputs,
        "seed": 0,
    }
    return Settings(**{**values, **changes})


def table(n, outputs=2, seed=0, correlation=0.8):
    """Smooth functions with noise of unequal size, 0.3 and 3 for two outputs."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    F = np.column_stack([4 * np.sin(5 * X[:, 0]) + X[:, 1], 30 * X[:, 1] * X[:, 2], X.sum(axis=1)])[
        :, :outputs
    ]
    C = np.full((outputs, outputs), correlation) + (1 - correlation) * np.eye(outputs)
    noise = rng.normal(size=(n, outputs)) @ np.linalg.cholesky(C).T
    return X, F + noise * np.array([0.3, 3.0, 1.0])[:outputs]


def fitted(covariance, n=120, outputs=2, **changes):
    learner = make_learner(settings(covariance, outputs, **changes))
    X, Y = table(n, outputs)
    with Threads(1) as threads:
        learner.fit(X, Y, np.ones(n), threads, lambda _: None)
    return learner


def arrays_of(blend):
    return [*(array for own in blend.marginals for array in own), blend.correlations, blend.freedoms]


def same_blend(one, other):
    return all(np.array_equal(a, b) for a, b in zip(arrays_of(one), arrays_of(other), strict=True))


# Kinds as arrays -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", JOINT)
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_natural_parameters_and_back(covariance, outputs):
    kind, rng = kind_of(outputs, covariance), np.random.default_rng(0)
    means, variances = rng.normal(size=(5, outputs)), rng.uniform(0.5, 2.0, (5, outputs))
    planes = kind.natural(means, variances)
    assert planes.shape == (5, kind.planes)
    found, covariances = kind.gaussians(planes)
    np.testing.assert_allclose(found, means)
    expected = variances if covariance != "isotropic" else np.tile(variances.mean(axis=1)[:, None], outputs)
    np.testing.assert_allclose(kind.variances(covariances), expected)
    scale = np.linspace(1.0, 3.0, outputs)
    np.testing.assert_allclose(kind.variances(kind.rescale(covariances, scale)), expected * scale**2)
    np.testing.assert_allclose(
        kind.natural(means, variances[0]), kind.natural(means, np.tile(variances[0], (5, 1)))
    )


@pytest.mark.parametrize("covariance", JOINT)
def test_each_output_alone_is_the_marginal(covariance):
    kind, rng = kind_of(3, covariance), np.random.default_rng(1)
    planes = kind.natural(rng.normal(size=(8, 3)), rng.uniform(0.5, 2.0, (8, 3)))
    if covariance == "full":
        planes[:, 1] = 0.3  # off the diagonal
    means, covariances = kind.gaussians(planes)
    alone = kind.alone(planes)
    np.testing.assert_allclose(alone[..., 1] / alone[..., 0], means)
    np.testing.assert_allclose(1.0 / alone[..., 0], kind.variances(covariances))
    assert np.iscomplexobj(kind.alone(planes + 0j))


def test_one_output_is_univariate_whatever_the_covariance():
    for covariance in ("isotropic", "diagonal", "full"):
        assert type(kind_of(1, covariance)).__name__ == "Univariate"
    assert isinstance(make_learner(settings("apart", 1)), ExactLearner)
    assert isinstance(make_learner(settings("apart", 2)), ApartLearner)


# Learning ------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("outputs", [2, 3])
def test_a_table_is_learnt(covariance, outputs):
    learner = fitted(covariance, 300, outputs)
    X, Y = table(500, outputs, seed=9)
    mean, std = learner.moments(X, None)
    noise = np.array([0.3, 3.0, 1.0])[:outputs]
    error = np.sqrt(np.mean((mean - Y) ** 2, axis=0))
    assert np.all(error < [0.6, 3.6, 1.2][:outputs])
    assert np.all(error > 0.8 * noise)
    for d, own in enumerate(learner.predictions(X, None).marginals):
        weights = np.broadcast_to(own.weights, own.means.shape[:2])
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        found = np.einsum("nk,nk->n", weights, own.means[..., 0])
        np.testing.assert_allclose(found, mean[:, d], rtol=1e-9, atol=1e-9)
        squares = own.covariances[..., 0] + (own.means[..., 0] - mean[:, d, None]) ** 2
        np.testing.assert_allclose(np.sqrt(np.einsum("nk,nk->n", weights, squares)), std[:, d], rtol=1e-7)


def test_every_feature_in_every_coordinate_if_there_are_many():
    assert settings("diagonal", 3, features=10).shape(0, 100).along_axes
    assert not settings("diagonal", 3, features=11).shape(0, 100).along_axes


@EVERY
def test_how_a_stream_is_cut_does_not_matter(covariance):
    X, Y = table(26)
    weights = np.ones(26)
    weights[[5, 20]] = 0.0, 2.5
    learners, blends = [], []
    for cuts in ([], [1, 2, 7, 19, 20]):
        learner = make_learner(settings(covariance, online=True))
        found = []
        for part in np.split(np.arange(26), cuts):
            found += learner.partial_fit(X[part], Y[part], weights[part], None, True)
        learners.append(learner)
        blends.append(mixture(found, 2, 99))
    one, other = blends
    assert len(one) == len(other) == 26
    for d in range(2):
        for name in ("weights", "means", "stds"):
            np.testing.assert_array_equal(getattr(one.marginals[d], name), getattr(other.marginals[d], name))
    np.testing.assert_array_equal(one.correlations, other.correlations)
    np.testing.assert_array_equal(one.freedoms, other.freedoms)
    assert same_blend(*(learner.predictions(X, None) for learner in learners))


@EVERY
def test_state_and_pickle_go_on_to_the_last_bit(covariance):
    X, Y = table(40, seed=3)
    for learner in (fitted(covariance), make_learner(settings(covariance, online=True))):
        learner.partial_fit(X[:21], Y[:21], np.ones(21), None, False)
        values, arrays = learner.state()
        values, arrays = pickle.loads(pickle.dumps((values, arrays)))
        others = [restore_learner(values, arrays), pickle.loads(pickle.dumps(learner))]
        for each in (learner, *others):
            each.partial_fit(X[21:], Y[21:], np.ones(19), None, False)
        for other in others:
            assert same_blend(learner.predictions(X, None), other.predictions(X, None))


# Apart ---------------------------------------------------------------------------------------------------


def test_apart_predicts_the_means_of_single_outputs():
    X, Y = table(120)
    learner = fitted("apart")
    mean, _ = learner.moments(X, None)
    with Threads(1) as threads:
        for d in range(2):
            alone = make_learner(settings("isotropic", 1))
            alone.fit(X, Y[:, d : d + 1], np.ones(120), threads, lambda _: None)
            np.testing.assert_array_equal(mean[:, d : d + 1], alone.moments(X, threads)[0])


@EVERY
def test_intervals_regions_and_correlations_are_honest(covariance):
    """The small twin of `ggln reproduce outputs`."""
    X, Y = table(1500, seed=9)
    dist = mixture([fitted(covariance, 600).predictions(X, None)], 2)
    lower, upper = dist.interval(0.9)
    inside = np.mean((lower <= Y) & (upper >= Y), axis=0)
    assert np.all((inside > 0.86) & (inside < 0.94))
    assert np.mean(dist.region_level(Y) <= 0.9) == pytest.approx(0.9, abs=0.04)
    said = np.mean(dist.cov[:, 0, 1] / dist.std.prod(axis=1))
    assert said == pytest.approx(np.corrcoef((Y - dist.mean).T)[0, 1], abs=0.1)


@EVERY
def test_a_stream_learns_the_correlation_as_well(covariance):
    X, Y = table(200)
    learner = make_learner(settings(covariance, online=True))
    learner.partial_fit(X, Y, np.ones(200), None, False)
    correlations, _ = learner.predictions(X, None)[1:]
    assert correlations[0, 1] == pytest.approx(0.8, abs=0.2)


def test_a_wild_row_does_not_decide_the_correlation():
    learner = fitted("apart", 300)
    before = learner.predictions(np.ones((1, 3)), None).correlations
    learner.learn_one(np.full((1, 3), 0.5), np.array([[1e9, -1e9]]), np.ones(1))
    after = learner.predictions(np.ones((1, 3)), None).correlations
    assert np.max(np.abs(after - before)) < 0.15


def test_apart_keeps_the_distribution_of_each_output():
    X, Y = table(120)
    blend = fitted("apart").predictions(X, None)
    alone = make_learner(settings("isotropic", 1))
    with Threads(1) as threads:
        alone.fit(X, Y[:, 1:], np.ones(120), threads, lambda _: None)
        expected = alone.predictions(X, threads)
    for own, other in zip(blend.marginals[1], expected, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("covariance", JOINT)
def test_the_mean_of_joint_neurons_can_be_derived(covariance):
    """Explanations carry derivatives along as imaginary parts."""
    kind, rng = kind_of(2, covariance), np.random.default_rng(0)
    means, variances = rng.normal(size=(2, 300, 2)), rng.uniform(0.5, 2.0, (2, 300, 2))
    kinds = np.stack([kind.natural(*own) for own in zip(means, variances, strict=True)], axis=1)  # [n, K, Q]
    goals = means[0] + rng.exponential(size=(300, 2))
    joint = JointMixture(kind, lambda: ShapeMixture(kind_of(1, "")))
    joint.judge(kinds, goals, np.ones(300), goals)
    own = np.moveaxis(kinds, 1, 0)  # [K, n, Q]
    np.testing.assert_allclose(joint.mean(kind.gaussians(own)[0], own), joint.moments(kinds)[0], rtol=1e-9)
    step = rng.normal(size=own.shape) * (
        np.arange(own.shape[2]) >= own.shape[2] - 2
    )  # of precision times mean

    def mean_at(planes):
        alone = kind.alone(planes)
        return joint.mean(alone[..., 1] / alone[..., 0], planes)

    derived = mean_at(own + 1e-30j * step).imag / 1e-30
    moved = (mean_at(own + 1e-6 * step) - mean_at(own - 1e-6 * step)) / 2e-6
    close = np.isclose(derived, moved, rtol=1e-4, atol=1e-5)
    assert close.mean() > 0.95  # means have kinks where classes meet


# The copula ------------------------------------------------------------------------------------------------


def levels(freedom, rows=3000, correlation=0.6, outputs=2, seed=0):
    shape = np.full((outputs, outputs), correlation) + (1 - correlation) * np.eye(outputs)
    if np.isinf(freedom):
        Z = stats.multivariate_normal(np.zeros(outputs), shape).rvs(rows, random_state=seed)
        return np.stack([stats.norm.cdf(Z), stats.norm.sf(Z)])
    Z = stats.multivariate_t(np.zeros(outputs), shape, freedom).rvs(rows, random_state=seed)
    return np.stack([stats.t.cdf(Z, freedom), stats.t.sf(Z, freedom)])


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("outputs", [2, 3])
def test_a_copula_finds_correlations_and_degrees_of_freedom(freedom, outputs):
    copula = Copula(outputs)
    copula.judge(levels(freedom, outputs=outputs), np.ones(3000))
    correlations, found = copula.now()
    assert found == freedom
    np.testing.assert_allclose(correlations[np.triu_indices(outputs, 1)], 0.6, atol=0.05)


@pytest.mark.parametrize("freedom", [np.inf, 3.0])
def test_a_copula_in_a_stream_comes_to_the_same(freedom):
    copula = Copula(2)
    joined, chosen = copula.follow(levels(freedom), np.ones(3000), True)
    np.testing.assert_array_equal(joined[0], np.eye(2))
    correlations, found = copula.now()
    assert found == freedom == chosen[-1]
    assert correlations[0, 1] == pytest.approx(0.6, abs=0.05)


def test_rows_are_followed_as_the_formulas_say():
    given, weights = levels(6.0, 40), np.random.default_rng(0).uniform(0.5, 2.0, 40)
    copula = Copula(2)
    scatters, evidence, seen = copula.scatters.copy(), np.zeros(FREEDOMS.size), copula.prior
    for t, weight in enumerate(weights):
        seen += weight
        for v, freedom in enumerate(FREEDOMS):
            own, R = scores(*given[:, t : t + 1], freedom), normalised(scatters[v])
            evidence[v] += weight * log_copula(own, np.linalg.cholesky(R), freedom)[0]
            squares = (own @ np.linalg.inv(R) @ own.T).item()
            wide = 1.0 if np.isinf(freedom) else (freedom + 2) / (freedom + squares)
            scatters[v] += weight / seen * (wide * own.T @ own - scatters[v])
    copula.follow(given, weights, False)
    np.testing.assert_allclose(copula.scatters, scatters)
    np.testing.assert_allclose(copula.evidence, evidence)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_density_of_the_copula(freedom):
    given, shape = levels(freedom, 50), np.array([[1.0, 0.6], [0.6, 1.0]])
    own = scores(*given, freedom)
    if np.isinf(freedom):
        expected = stats.multivariate_normal(np.zeros(2), shape).logpdf(own) - stats.norm.logpdf(own).sum(1)
    else:
        joint = stats.multivariate_t(np.zeros(2), shape, freedom)
        expected = joint.logpdf(own) - stats.t.logpdf(own, freedom).sum(axis=1)
    np.testing.assert_allclose(log_copula(own, np.linalg.cholesky(shape), freedom), expected, atol=1e-9)


def test_levels_are_those_of_the_mixture():
    rng = np.random.default_rng(0)
    weights, means, variances = rng.dirichlet(np.ones(3), 5), rng.normal(size=(5, 3)), rng.random((5, 3))
    y = rng.normal(size=5)
    lower, upper = levels_of(Blend(weights, means[..., None], variances[..., None]), y)
    expected = np.sum(weights * stats.norm.cdf((y[:, None] - means) / np.sqrt(variances)), axis=1)
    np.testing.assert_allclose(lower, expected)
    np.testing.assert_allclose(upper, 1.0 - expected)


def test_units_of_a_joint_prediction():
    own = Blend(np.ones(1), np.zeros((2, 1, 1)), np.ones((2, 1, 1)))
    moved = JointBlend((own, own), np.eye(2), np.array(np.inf)).moved(
        np.array([1.0, 2.0]), np.array([3.0, 4.0])
    )
    assert [part.means[0, 0, 0] for part in moved.marginals] == [1.0, 2.0]
    assert [part.covariances[0, 0, 0] for part in moved.marginals] == [9.0, 16.0]


def test_apart_gives_each_output_its_column_of_what_regressors_say():
    class Known:
        def __init__(self, X):
            self.left = self.predict(X)

        def predict(self, X):
            return np.stack([4 * np.sin(5 * X[:, 0]) + X[:, 1], 30 * X[:, 1] * X[:, 2]], axis=1)[:, None]

    X, Y = table(120)
    learner = make_learner(settings("apart", regressions=False, regressors=1))
    learner.hand_in(Known(X))
    with Threads(1) as threads:
        learner.fit(X, Y, np.ones(120), threads, lambda _: None)
    X, Y = table(300, seed=9)
    error = np.sqrt(np.mean((learner.moments(X, None)[0] - Y) ** 2, axis=0))
    assert np.all(error < [0.36, 3.5])
