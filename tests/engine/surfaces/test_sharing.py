"""What arms have in common, against joint Gaussians of all rows, and on arms that are or are not alike."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ggln.engine.surfaces import constants, sharing, solve
from ggln.engine.surfaces.learner import SurfaceLearner
from ggln.engine.surfaces.rows import Rows

ARMS, FEATURES, WIDTH = 3, 2, 1.4
FLAT = 1e4  # variance of levels about which nothing is known


@pytest.fixture
def arms():
    """Units, and rows of three arms, with their regressions on lines."""
    random = np.random.default_rng(0)
    units = solve.Units(np.array([[0.5, -1.0], [2.0, 0.7]]), np.array([3.0, 1.5]))
    rows, lines = [], []
    for count in (9, 14, 6):
        X = random.normal(size=(count, FEATURES)) * units.features[1] + units.features[0]
        rewards = 3.0 + X @ [0.7, -1.0] + random.normal(size=count)
        rows.append(Rows(X, rewards, random.uniform(0.5, 2.0, size=count)))
        line = solve.blank("line", units, np.array([1.0, WIDTH, 0.0]), np.ones(2), np.empty((2, 0)))
        solve.condition(line, rows[-1])
        lines.append(line)
    return units, rows, lines


def joint(units, rows, lines, rho):
    """Return rewards [n], the covariance of all, and that with the slopes common to all [n, d]."""
    noises = np.array([line.noise[1] / line.noise[0] for line in lines])
    arm = np.repeat(range(ARMS), [len(own.rewards) for own in rows])
    X = np.concatenate([(own.contexts - units.features[0]) / units.features[1] for own in rows])
    X /= np.sqrt(FEATURES)
    goals = (np.concatenate([own.rewards for own in rows]) - units.paid[0]) / units.paid[1]
    common = rho * WIDTH**2 * noises.mean()
    own = FLAT + (1.0 - rho) * WIDTH**2 * noises[arm] * (X @ X.T)
    covariance = common * X @ X.T + np.where(arm[:, None] == arm, own, 0.0)
    covariance += np.diag(noises[arm] / np.concatenate([r.weights for r in rows]))
    return arm, goals, covariance, common * X, common


@pytest.mark.parametrize("rho", [0.3, 0.95])
def test_what_others_say_is_the_conditional_of_a_joint_gaussian(rho, arms):
    units, rows, lines = arms
    unit = solve.blank("line", units, np.ones(3), np.ones(2), np.empty((2, 0)))
    told = [sharing.slopes_of(unit, *pair) for pair in zip(lines, rows, strict=True)]
    told = sharing.Slopes(*(np.array(part) for part in zip(*told, strict=True)))
    scores, densities = [], []
    for part in (0.0, rho):
        score, mean, spread = sharing.known_of(part, told, np.arange(ARMS), told.noises, WIDTH)
        arm, goals, covariance, cross, common = joint(*arms, part)
        scores.append(score)
        densities.append(multivariate_normal(np.zeros(len(goals)), covariance).logpdf(goals))
        for own in range(ARMS):
            others = arm != own
            gain = np.linalg.solve(covariance[np.ix_(others, others)], cross[others]).T
            np.testing.assert_allclose(mean[own] * WIDTH, gain @ goals[others], atol=1e-3)
            left = common * np.eye(FEATURES) - gain @ cross[others]
            expected = left / (WIDTH**2 * told.noises[own]) + (1.0 - part) * np.eye(FEATURES)
            np.testing.assert_allclose(spread[own], expected, atol=1e-3)
    assert scores[1] - scores[0] == pytest.approx(densities[1] - densities[0], abs=1e-3)


def test_a_prior_is_one_more_row_of_evidence(arms):
    """Conditioning on rows in two parts is conditioning on all of them."""
    units, (rows, *_), _ = arms
    widths, nothing = np.array([1.0, WIDTH, 0.0]), (np.ones(2), np.empty((2, 0)))
    prior = solve.Prior(np.array([0.3, -0.4]), np.array([[0.5, 0.2], [0.2, 0.4]]))
    whole, half = (solve.blank("line", units, widths, *nothing, prior) for _ in range(2))
    solve.condition(whole, rows)
    for cut in (slice(4), slice(4, None)):
        solve.condition(half, Rows(*(part[cut] for part in rows)))
    np.testing.assert_allclose(half.mean, whole.mean)
    np.testing.assert_allclose(half.spread, whole.spread)
    np.testing.assert_allclose(half.noise, whole.noise)


def learnt(slopes, levels, rows=240):
    random, learner = np.random.default_rng(1), SurfaceLearner(slopes.shape[1], len(slopes), 0)
    for t in range(rows):
        arm, x = t % (len(slopes) - 1), random.normal(size=slopes.shape[1])
        reward = levels[arm] + x @ slopes[arm] + random.normal()
        learner.learn(x, arm, float(reward), 1.0)
    return learner


def test_arms_that_are_alike_learn_from_each_other():
    """The last of six arms was never played: it expects what the others pay, if these are alike."""
    random = np.random.default_rng(2)
    slope, X = random.normal(size=8), random.normal(size=(200, 8))
    alike = slope + 0.1 * random.normal(size=(6, 8))
    strangers = random.normal(size=(6, 8)) * np.linalg.norm(slope) / np.sqrt(8)
    errors, spreads = [], []
    for slopes in (alike, strangers):
        posterior = learnt(slopes, np.zeros(6)).posterior(X)
        errors.append(np.mean((posterior.mean()[:, 5] - X @ slopes[5]) ** 2) / np.var(X @ slopes[5]))
        spreads.append(np.mean(posterior.variance()[:, 5] / np.var(X @ slopes[5])))
    assert errors[0] < 0.2
    assert spreads[0] < 0.4
    assert errors[1] > 0.6
    assert spreads[1] > 0.5


def test_levels_are_as_wide_as_those_of_arms():
    random = np.random.default_rng(3)
    slopes, levels = random.normal(size=(6, 4)), random.normal(size=6)
    for deviation, least, most in ((0.1, 0.0, 1.0), (4.0, 2.0, 8.0)):
        line = learnt(slopes, deviation * levels).surfaces[0]
        noise = line.noise[1] / line.noise[0] * line.paid[1] ** 2
        found = line.widths[0] / np.sqrt(4) * np.sqrt(noise)
        assert least < found < most


def test_many_features_are_not_compared():
    many = constants.MOST_SHARED + 1
    learner = learnt(np.zeros((2, many)), np.zeros(2), rows=12)
    assert np.array_equal(learner.common.spreads, np.tile(np.eye(many), (2, 1, 1)))
