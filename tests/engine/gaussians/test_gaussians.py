"""Gated Gaussians: kernels against plain NumPy, expectation maximisation against what is known exactly."""

import numpy as np
import pytest

from ggln.engine.gaussians import mixture, reference, solve
from ggln.engine.gaussians.model import Gaussians
from ggln.engine.gaussians.solve import Choice
from ggln.engine.threads import Threads

NOISE = np.array([0.1, 0.0, 0.4])


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    roots = random.normal(size=(4, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(3)
    return Gaussians(np.array([0.1, 0.2, 0.3, 0.4]), random.normal(size=(4, 3)), covariances)


@pytest.fixture(scope="module")
def gappy():
    random = np.random.default_rng(1)
    rows = 2.0 * random.normal(size=(60, 3))
    rows[random.random(rows.shape) < 0.3] = np.nan
    return rows


def test_kernels_say_what_plain_numpy_says(model, gappy):
    density, expected = mixture.describe(model, gappy, NOISE, Threads(1))
    for row, log_density, mean in zip(gappy, density, expected, strict=True):
        logs, means, _ = reference.condition(model, row, NOISE)
        np.testing.assert_allclose(log_density, np.log(np.exp(logs).sum()), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(mean, reference.gates_of(logs) @ means, rtol=1e-9, atol=1e-12)


def test_sums_over_gaps_are_those_of_plain_numpy(model, gappy):
    patterns = mixture.find_patterns(gappy)
    found, likelihood = solve.expect_gaps(gappy[patterns.order], patterns, model)
    counts, sums, squares, total = np.zeros(4), np.zeros((4, 3)), np.zeros((4, 3, 3)), 0.0
    for row in gappy:
        logs, means, rest = reference.condition(model, row, np.zeros(3))
        gates = reference.gates_of(logs)
        total += np.log(np.exp(logs).sum())
        counts += gates
        sums += gates[:, None] * means
        squares += gates[:, None, None] * (means[:, :, None] * means[:, None] + rest)
    np.testing.assert_allclose(likelihood, total)
    for own, expected in zip(found, (counts, sums, squares), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-8, atol=1e-9)


def test_complete_rows_and_rows_with_gaps_are_expected_alike(model):
    rows = np.random.default_rng(2).normal(size=(50, 3))
    gates, likelihood = solve.open_gates(model, rows)
    found = solve.collect(rows, gates)
    patterns = mixture.find_patterns(rows)
    same, again = solve.expect_gaps(rows[patterns.order], patterns, model)
    np.testing.assert_allclose(likelihood, again)
    for own, other in zip(found, same, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-7, atol=1e-8)


def test_the_step_to_the_mean_is_the_gradient_of_the_log_density(model):
    x, noise, threads = np.array([[0.3, -0.7, 1.1]]), np.full(3, 0.25), Threads(1)
    score = (mixture.describe(model, x, noise, threads)[1] - x) / noise
    for j, step in enumerate(1e-5 * np.eye(3)):
        up, down = (mixture.describe(model, x + s, noise, threads, False)[0] for s in (step, -step))
        np.testing.assert_allclose(score[0, j], (up - down)[0] / 2e-5, rtol=1e-6)


def test_every_round_of_maximisation_is_likelier(gappy):
    table = solve.Table.of(gappy[~np.isnan(gappy).all(axis=1)])
    model = solve.maximise(solve.collect(np.nan_to_num(gappy), np.ones((len(gappy), 1))), 0.0, 1e-3)
    likelihoods = []
    for _ in range(8):
        sums, likelihood = table.expect(model)
        likelihoods.append(likelihood)
        model = solve.maximise(sums._replace(counts=sums.counts), 0.0, 1e-3)
    assert likelihoods[-1] > likelihoods[0] + 1.0
    assert (np.diff(likelihoods[:5]) > -0.05).all()


def test_gaps_cost_a_gaussian_little():
    random = np.random.default_rng(3)
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    rows = random.multivariate_normal([0.5, -0.5], covariance, 4000)
    rows[random.random(4000) < 0.4, 1] = np.nan
    model = solve.iterate(rows, Choice(1, 0.0, 1e-3))
    np.testing.assert_allclose(model.means[0], [0.5, -0.5], atol=0.06)
    np.testing.assert_allclose(model.covariances[0], covariance, atol=0.07)


def test_left_out_rows_find_how_many_gaussians_there_are():
    random = np.random.default_rng(4)
    one = random.normal(size=(1000, 2))
    assert solve.solve(one, 0, Threads(1)).choice.gaussians <= 2
    four = 0.2 * one + random.choice([-1.0, 1.0], (1000, 2))
    assert solve.solve(four, 0, Threads(1)).choice.gaussians == 4


def test_cells_hold_rows_enough_and_repeat():
    rows = np.repeat(np.random.default_rng(5).normal(size=(30, 2)), 4, axis=0)
    cells = solve.cut(rows, 16)
    assert 2 < cells.max() + 1 <= 16
    np.testing.assert_array_equal(cells, solve.cut(rows, 16))
    assert solve.cut(np.ones((50, 2)), 8).max() == 0  # nothing to cut


def test_draws_have_the_distribution_that_they_are_drawn_from(model):
    row = np.array([[0.5, np.nan, np.nan]])
    logs, means, rest = reference.condition(model, row[0], np.zeros(3))
    gates = reference.gates_of(logs)
    drawn = mixture.draw(model, np.repeat(row, 4000, axis=0), np.random.default_rng(0))
    mean = gates @ means
    second = np.einsum("k,kij->ij", gates, rest + means[:, :, None] * means[:, None])
    np.testing.assert_allclose(drawn[:, 0], 0.5)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(drawn.T), second - np.outer(mean, mean), atol=0.25)


def test_draws_are_those_of_plain_numpy(model, gappy):
    drawn, random = mixture.draw(model, gappy, np.random.default_rng(7)), np.random.default_rng(7)
    uniform, normal = random.random(len(gappy)), random.standard_normal(gappy.shape)
    for row, u, xi, found in zip(gappy, uniform, normal, drawn, strict=True):
        logs, means, rest = reference.condition(model, row, np.zeros(3))
        k, gone = int(np.searchsorted(reference.gates_of(logs).cumsum(), u)), np.isnan(row)
        expected = np.where(gone, means[k], row)
        expected[gone] += np.linalg.cholesky(rest[k][np.ix_(gone, gone)]) @ xi[gone]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_known_values_without_noise_stay_what_they_are(model, gappy):
    _, expected = mixture.describe(model, gappy, np.zeros(3), Threads(1))
    np.testing.assert_array_equal(expected[~np.isnan(gappy)], gappy[~np.isnan(gappy)])
    for row, mean in zip(gappy, expected, strict=True):
        logs, means, _ = reference.condition(model, row, np.zeros(3))
        np.testing.assert_allclose(mean, reference.gates_of(logs) @ means, rtol=1e-8, atol=1e-9)
