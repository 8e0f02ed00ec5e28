"""Several outputs: joint neurons, and networks apart with one covariance of their errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ggln.core.newton.kinds import kind_of
from ggln.core.newton.learner import ExactLearner, Settings, make_learner, restore_learner
from ggln.core.newton.outputs import SPREADS, ApartLearner, moments_of
from ggln.core.threads import Threads

JOINT = "isotropic", "diagonal", "full"
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


def same_blend(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def covariances_of(blend):
    if blend.covariances.ndim == 4:
        return blend.covariances
    return blend.covariances[..., None] * np.eye(blend.means.shape[2])


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
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_score_is_that_of_the_density(covariance, outputs):
    kind, rng = kind_of(outputs, covariance), np.random.default_rng(1)
    planes = kind.natural(rng.normal(size=(8, outputs)), rng.uniform(0.5, 2.0, (8, outputs)))
    if covariance == "full" and outputs > 1:
        planes[:, 1] = 0.3  # off the diagonal
    planes, goals = planes.reshape(4, 2, -1), rng.normal(size=(4, outputs))
    quadratic, log_determinant = kind.score(planes, goals)
    means, covariances = kind.gaussians(planes)
    matrices = covariances if covariances.ndim == 4 else covariances[..., None] * np.eye(outputs)
    errors = goals[:, None] - means
    np.testing.assert_allclose(
        quadratic, np.einsum("nkd,nkde,nke->nk", errors, np.linalg.inv(matrices), errors)
    )
    np.testing.assert_allclose(log_determinant, -np.linalg.slogdet(matrices)[1], atol=1e-12)


def test_one_output_is_univariate_whatever_the_covariance():
    assert {type(kind_of(1, covariance)).__name__ for covariance in JOINT} == {"Univariate"}
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
    blend = learner.predictions(X, None)
    assert blend.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.einsum("k,nkd->nd", blend.weights, blend.means), mean, rtol=1e-9, atol=1e-9)
    variances = np.einsum("nkdd->nkd", covariances_of(blend))
    total = np.einsum("k,nkd->nd", blend.weights, variances + (blend.means - mean[:, None]) ** 2)
    np.testing.assert_allclose(np.sqrt(total), std, rtol=1e-7)


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
        blends.append(
            [
                (blend.means[i], covariances_of(blend)[i], blend.weights[i])
                for blend in found
                for i in range(len(blend.means))
            ]
        )
    assert len(blends[0]) == len(blends[1]) == 26
    for one, other in zip(*blends, strict=True):
        assert same_blend(one, other)
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


def test_apart_knows_how_errors_go_together():
    learner = fitted("apart", 600)
    X, Y = table(1000, seed=9)
    blend = learner.predictions(X, None)
    covariance = np.einsum("k,nkde->nde", blend.weights, blend.covariances)
    deviations = np.sqrt(np.einsum("ndd->nd", covariance))
    assert np.mean(covariance[:, 0, 1] / deviations.prod(axis=1)) == pytest.approx(0.8, abs=0.1)
    errors = (Y - blend.means[:, 0]) / deviations
    inside = np.mean(np.abs(errors) < 1.645, axis=0)
    assert np.all((inside > 0.86) & (inside < 0.94))
    joint = np.einsum("nd,nde,ne->n", Y - blend.means[:, 0], np.linalg.inv(covariance), Y - blend.means[:, 0])
    assert np.mean(joint < 4.605) == pytest.approx(0.9, abs=0.04)


def test_apart_in_a_stream_learns_the_correlation_as_well():
    X, Y = table(200)
    learner = make_learner(settings("apart", online=True))
    learner.partial_fit(X, Y, np.ones(200), None, False)
    scatter = learner.scatter
    assert scatter[0, 1] / np.sqrt(scatter[0, 0] * scatter[1, 1]) == pytest.approx(0.8, abs=0.15)
    assert learner.shares.sum() == pytest.approx(1.0)


def test_a_wild_row_does_not_decide_the_correlation():
    learner = fitted("apart", 300)
    before = learner.scatter.copy()
    learner.learn_one(np.full((1, 3), 0.5), np.array([[1e9, -1e9]]), np.ones(1))
    assert np.max(np.abs(learner.scatter - before)) < 0.1


def test_moments_of_a_mixture_of_one_output():
    learner = fitted("apart")
    X, _ = table(5)
    one = learner.learners[0]
    mean, std = moments_of(one.predictions(X, None))
    expected = one.moments(X, None)
    np.testing.assert_allclose(mean, expected[0])
    np.testing.assert_allclose(std, expected[1])
    assert learner.predictions(X, None).means.shape == (5, SPREADS.size, 2)


def test_apart_gives_each_output_its_column_of_what_regressors_say():
    class Known:
        def __init__(self, X):
            self.left = self.predict(X)

        def predict(self, X):
            return np.stack([4 * np.sin(5 * X[:, 0]) + X[:, 1], 30 * X[:, 1] * X[:, 2]], axis=1)[:, None]

    X, Y = table(120)
    learner = make_learner(settings("apart", regressions=False, regressors=1))
    learner.advise = Known(X)
    with Threads(1) as threads:
        learner.fit(X, Y, np.ones(120), threads, lambda _: None)
    X, Y = table(300, seed=9)
    error = np.sqrt(np.mean((learner.moments(X, None)[0] - Y) ** 2, axis=0))
    assert np.all(error < [0.36, 3.5])
