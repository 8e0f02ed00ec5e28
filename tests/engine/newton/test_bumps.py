"""The regression on bumps: the closed form, however its rows come and whoever computes it."""

from __future__ import annotations

import pickle

import joblib
import numba
import numpy as np
import pytest
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from ggln.engine.newton import bumps, factors, reference_bumps
from ggln.engine.newton.bump_kernels import GROWTH, STREAM_ROWS, factorised, gather, solve
from ggln.engine.newton.bumps import JITTER, LEAST_VARIANCE, RIDGES, Bumps, choose_features, fit_bumps
from ggln.engine.newton.matern import exponentials
from ggln.engine.threads import Threads


@pytest.fixture
def table():
    """(rows, features, outputs) -> rows, standardised targets that are smooth but for noise, and weights."""

    def make(n, d=3, outputs=1, noise=0.1, seed=0):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, d))
        smooth = [np.sin(2 * X[:, 0]) + X[:, -1] ** 2, X[:, 0] * X[:, -1], np.abs(X[:, 0])]
        Y = np.stack(smooth[:outputs], axis=1) + noise * random.normal(size=(n, outputs))
        return X, (Y - Y.mean(axis=0)) / Y.std(axis=0), random.uniform(0.2, 3.0, n)

    return make


@pytest.fixture
def fit():
    def run(X, Y, weights=None, most=30, seed=0, count=1):
        weights = np.ones(len(X)) if weights is None else weights
        with Threads(count) as threads:
            return fit_bumps(X, Y, weights, most, np.random.default_rng(seed), threads)

    return run


def twin_inputs(model: Bumps, X):
    """The inputs of the plain twin, with the model's own lengths and centres."""
    X = X[:, model.chosen]
    return reference_bumps.inputs(X, model.learnt.lengths, model.learnt.centres.T, JITTER)


def assert_same(one: Bumps, other: Bumps):
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, other.state()[name], err_msg=name)


# Kernels -----------------------------------------------------------------------------------------------
def test_the_exponential_is_that_of_the_library():
    x = -np.append(np.geomspace(1e-300, 700.0, 200_000), [0.0, np.log(2) / 2, 3 * np.log(2) / 2])
    np.testing.assert_allclose(exponentials(x), np.exp(x), rtol=5e-16)
    np.testing.assert_array_equal(
        exponentials(np.array([-701.0, -1e9, -np.inf])), exponentials(np.full(3, -700.0))
    )
    assert exponentials(np.zeros(1)) == 1.0


def test_vectorised_exponentials_are_those_of_one_number():
    x = -np.random.default_rng(0).exponential(10.0, size=1003)
    alone = np.concatenate([exponentials(x[i : i + 1]) for i in range(x.size)])
    np.testing.assert_array_equal(exponentials(x), alone)


@numba.njit
def run_factors(matrix, lines, below):
    possible = factors.factorise(matrix)
    factors.solve_lower(matrix, lines)
    factors.solve_upper(matrix, below)
    return possible


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 31, 32, 33, 64, 71, 130])
@pytest.mark.parametrize("extra", [0, 1, 3])
def test_factors_are_those_of_the_library(size, extra):
    random = np.random.default_rng(size)
    root, targets = random.normal(size=(size, size + 5)), random.normal(size=(extra, size))
    square = root @ root.T
    matrix = np.vstack([np.tril(square) + np.triu(np.full_like(square, np.nan), 1), targets])
    lines, below = random.normal(size=(size + 2, 7)), random.normal(size=(2, size + 3))
    solved, solved_below = lines.copy(), below.copy()
    assert run_factors(matrix, solved, solved_below)
    factor = np.linalg.cholesky(square)
    np.testing.assert_allclose(np.tril(matrix[:size]), factor, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix[size:], solve_triangular(factor, targets.T, lower=True).T, rtol=1e-6)
    np.testing.assert_allclose(solved[:size], solve_triangular(factor, lines[:size], lower=True), rtol=1e-6)
    expected = solve_triangular(factor, below[:, :size].T, lower=True, trans=1).T
    np.testing.assert_allclose(solved_below[:, :size], expected, rtol=1e-6)
    np.testing.assert_array_equal(solved[size:], lines[size:])  # what is beyond is left alone
    np.testing.assert_array_equal(solved_below[:, size:], below[:, size:])


def test_a_ridge_grows_until_there_is_a_factor():
    factor, ridge = factorised(np.ones((40, 40)), 1e-30)  # its other eigenvalues are 0
    assert 1e-17 < ridge < 1e-12
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, np.ones((40, 40)), atol=1e-10)
    assert factorised(np.eye(3), 0.5)[1] == 0.5
    assert factorised(np.full((3, 3), np.nan), 1.0)[1] == np.inf


# Fitting -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("n", "most"), [(80, 30), (80, 1000), (700, 45)])
def test_predictions_are_those_of_the_plain_twin(table, fit, n, most, outputs):
    X, Y, weights = table(n, outputs=outputs)
    model, _ = fit(X, Y, weights, most)
    assert model.learnt.centres.shape == (3, min(n, most))
    offset = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(model.learnt.offset, offset)
    beta = reference_bumps.solution(twin_inputs(model, X), Y - offset, weights, model.learnt.ridge[0])
    rows = table(40, seed=1)[0]
    expected = offset + twin_inputs(model, rows) @ beta
    np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-6, atol=1e-7)


def test_with_a_bump_at_each_row_it_is_a_gaussian_process(table, fit):
    X, Y, _ = table(60)
    model, _ = fit(X, Y, most=60)
    rows, scales = table(20, seed=1)[0], model.learnt.lengths

    def prior(A, B):
        return reference_bumps.heights(A / scales, B / scales) + 1.0 + A @ B.T / 3.0

    noisy = prior(X, X) + model.learnt.ridge * np.eye(60)
    offset = model.learnt.offset
    expected = offset + prior(rows, X) @ np.linalg.solve(noisy, Y - offset)
    np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-4, atol=1e-4)  # but for the jitter


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("noise", "most"), [(0.1, 20), (0.1, 70), (0.0, 70)])
def test_left_out_means_fitted_without_the_row(table, fit, noise, most, outputs):
    X, Y, weights = table(70, outputs=outputs, noise=noise)
    weights[::9] = 0.0
    model, left_out = fit(X, Y, weights, most)
    offset, ridge = model.learnt.offset, model.learnt.ridge[0]
    expected = offset + reference_bumps.left_out(twin_inputs(model, X), Y - offset, weights, ridge)
    np.testing.assert_allclose(left_out, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(left_out[::9], model.predict(X[::9]), rtol=1e-8, atol=1e-8)
    errors = np.average((Y - left_out) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(model.variance, errors)


def test_the_ridge_is_the_one_with_the_least_errors_left_out(table, fit):
    X, Y, weights = table(60, outputs=2, noise=0.5)
    model, _ = fit(X, Y, weights, 25)
    phi, goals = twin_inputs(model, X), Y - model.learnt.offset
    losses = [
        np.sum(weights[:, None] * (goals - reference_bumps.left_out(phi, goals, weights, ridge)) ** 2)
        for ridge in RIDGES
    ]
    assert model.learnt.ridge[0] == RIDGES[np.argmin(losses)]
    assert RIDGES[0] < model.learnt.ridge[0] < RIDGES[-1]


def test_many_rows_choose_the_ridge_by_a_sample(table, fit, monkeypatch):
    X, Y, weights = table(700)
    whole, _ = fit(X, Y, weights)
    monkeypatch.setattr(bumps, "RIDGE_ROWS", 200)
    model, _ = fit(X, Y, weights)
    beta = reference_bumps.solution(
        twin_inputs(model, X), Y - model.learnt.offset, weights, model.learnt.ridge[0]
    )
    expected = model.learnt.offset + twin_inputs(model, X) @ beta
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(model.learnt.centres, whole.learnt.centres)


def test_unseen_rows_err_as_rows_left_out(table, fit):
    X, Y, _ = table(1200)
    model, left_out = fit(X[:600], Y[:600], most=200)
    errors = np.mean((model.predict(X[600:]) - Y[600:]) ** 2)
    assert 0.7 * model.variance[0] < errors < 1.3 * model.variance[0]
    assert model.variance[0] < 0.02
    assert np.mean((left_out - Y[:600]) ** 2) > np.mean((model.predict(X[:600]) - Y[:600]) ** 2)


def test_rows_of_weight_0_are_absent(table, fit):
    X, Y, weights = table(150)
    weights[::3] = 0.0
    seen = weights > 0
    model, left_out = fit(X, Y, weights)
    Y[::3] = np.nan  # whatever they are
    absent, of_these = fit(X, Y, weights)
    assert_same(model, absent)
    np.testing.assert_array_equal(left_out, of_these)
    assert model.learnt.counts[1] == seen.sum()


def test_weight_2_is_a_row_twice(table, fit):
    X, Y, weights = table(100)
    model, _ = fit(X, Y, weights)
    learnt = model.learnt
    for rows, weights in ((np.repeat(X, 2, axis=0), np.ones(200)), (X, np.full(100, 2.0))):
        learnt.sums[:] = 0.0
        gather(learnt, rows, np.repeat(Y, len(rows) // 100, axis=0), weights, learnt.sums)
        solve(learnt)
        if len(rows) == 200:
            twice = model.predict(X)
    np.testing.assert_allclose(model.predict(X), twice, rtol=1e-8, atol=1e-9)


def test_neither_threads_nor_those_of_the_blas_matter(table, fit):
    X, Y, weights = table(2100, outputs=2)  # five blocks
    expected, left_out = fit(X, Y, weights, 150)
    for count in (2, 3):
        with threadpool_limits(count):
            model, other = fit(X, Y, weights, 150, count=count)
        assert_same(model, expected)
        np.testing.assert_array_equal(other, left_out)


def test_the_seed_decides(table, fit):
    X, Y, weights = table(90)
    assert_same(fit(X, Y, weights)[0], fit(X, Y, weights)[0])
    assert not np.array_equal(fit(X, Y)[0].learnt.centres, fit(X, Y, seed=1)[0].learnt.centres)


def test_a_prediction_does_not_depend_on_other_rows(table, fit):
    X, Y, weights = table(103, outputs=2)
    model, _ = fit(X, Y, weights, 37)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(model.predict(X), alone)
    np.testing.assert_array_equal(model.predict(np.asfortranarray(X)), alone)
    X.setflags(write=False)
    np.testing.assert_array_equal(model.predict(X), alone)
    np.testing.assert_array_equal(model.predict(np.hstack([X, X])[:, 3:]), alone)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("d", [1, 4, 150])
def test_slopes_are_derivatives(table, fit, d, outputs):
    X, Y, weights = table(120, d, outputs)
    model, _ = fit(X, Y, weights)
    rows = table(6, d, seed=1)[0]
    slopes = model.slopes(rows)
    assert slopes.shape == (6, outputs, d)
    for i, step in enumerate(1e-4 * np.eye(d)):
        difference = (model.predict(rows + step) - model.predict(rows - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, :, i], difference, rtol=1e-5, atol=1e-5)


def test_of_many_features_those_that_tell_something_are_looked_at(fit):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 150))
    Y = np.stack([X[:, 7] + 0.1 * random.normal(size=400), X[:, 99] ** 2], axis=1)
    model, _ = fit(X, Y, most=60)
    assert model.chosen.size == 50
    assert {7, 99} <= set(model.chosen)
    unseen = np.setdiff1d(np.arange(150), model.chosen)
    moved = X.copy()
    moved[:, unseen] += 3.0
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))
    assert not model.slopes(X[:5])[:, :, unseen].any()
    assert choose_features(X[:, :100], Y).size == 100
    assert choose_features(np.zeros((5, 101)), np.zeros((5, 1))).size == 50


# Odd tables --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("d", [1, 3, 150])
def test_a_few_rows_will_do(n, outputs, d, fit):
    random = np.random.default_rng(n)
    X, Y = random.normal(size=(n, d)), random.normal(size=(n, outputs))
    model, left_out = fit(X, Y)
    assert np.isfinite(left_out).all()
    assert np.isfinite(model.predict(X)).all()
    assert (model.variance >= LEAST_VARIANCE).all()
    if n == 1:
        np.testing.assert_array_equal(model.predict(X), Y)
    stream = random.normal(size=(70, d)), random.normal(size=(70, outputs)), np.ones(70)
    assert np.isfinite(model.learn(*stream)).all()
    assert (model.variance > 0.1).all()


def test_a_constant_target_is_predicted_exactly(table, fit):
    X, Y, weights = table(300)
    Y[:] = 0.1
    model, left_out = fit(X, Y, weights)
    np.testing.assert_array_equal(left_out, Y)
    np.testing.assert_array_equal(model.predict(3.0 * X), Y)
    np.testing.assert_array_equal(model.variance, [LEAST_VARIANCE])
    assert model.learnt.ridge[0] == RIDGES[-1]


@pytest.mark.parametrize("case", ["constant features", "equal columns", "duplicates", "one row", "wild rows"])
def test_hostile_rows_stay_finite(table, fit, case):
    X, Y, weights = table(500, outputs=2)
    if case == "constant features":
        X[:, 1:] = 0.0
    elif case == "equal columns":
        X[:, 1:] = X[:, :1]
    elif case == "duplicates":
        X[:], Y[:] = np.repeat(X[:50], 10, axis=0), np.repeat(Y[:50], 10, axis=0)
    elif case == "one row":
        X[:] = X[0]
    else:
        X[::7] *= 1e6
        Y[::101] *= 1e3
    model, left_out = fit(X[:300], Y[:300], weights[:300], 200)
    assert np.isfinite(left_out).all()
    means = model.learn(X, Y, weights)
    assert np.isfinite(means).all()
    assert np.mean((Y - model.predict(X)) ** 2) < 1.1 * np.mean(Y**2)
    assert (np.abs(model.predict(1e6 * X)) < 10 * np.abs(Y).max()).all()  # far off there were no rows
    assert np.isfinite(model.slopes(1e6 * X)).all()


def test_wild_rows_do_not_spoil_the_others(table, fit):
    X, Y, weights = table(600, noise=0.0)
    spoilt = X.copy()
    spoilt[::50, 1] = 1e6
    model, _ = fit(spoilt[:400], Y[:400], weights[:400], 150)
    rows = np.flatnonzero(np.arange(400, 600) % 50) + 400
    assert np.mean((model.predict(X[rows]) - Y[rows]) ** 2) < 0.05


# Going on ----------------------------------------------------------------------------------------------
def test_cuts_of_a_stream_do_not_matter(table, fit):
    X, Y, weights = table(400, outputs=2)
    start = fit(X[:70], Y[:70], weights[:70], 40)[0].state()
    whole, rows = Bumps.from_state(start), slice(70, 400)
    expected = whole.learn(X[rows], Y[rows], weights[rows])
    for size in (1, 7, STREAM_ROWS, 100):
        cut, found = Bumps.from_state(start), []
        for first in range(70, 400, size):
            part = slice(first, min(first + size, 400))
            found.append(cut.learn(X[part], Y[part], weights[part]))
        np.testing.assert_array_equal(np.concatenate(found), expected)
        assert_same(cut, whole)


def test_each_row_is_predicted_before_it_is_learnt(table, fit):
    X, Y, weights = table(300, outputs=2)
    model, _ = fit(X[:100], Y[:100], weights[:100])
    squares, mass = model.variance * weights[:100].sum(), weights[:100].sum()
    for first in range(100, 300, 10):
        rows = slice(first, first + 10)
        before = np.concatenate([model.predict(X[rows])])
        solved = model.learnt.counts[2]
        means = model.learn(X[rows], Y[rows], weights[rows])
        if solved == model.learnt.counts[2]:
            np.testing.assert_array_equal(means, before)
        np.testing.assert_array_equal(means[0], before[0])
        squares = squares + np.sum(weights[rows, None] * (Y[rows] - means) ** 2, axis=0)
        mass += weights[rows].sum()
        np.testing.assert_allclose(model.variance, squares / mass)


def test_learning_rows_is_fitting_them(table, fit):
    X, Y, weights = table(500, outputs=2)
    model, _ = fit(X[:100], Y[:100], weights[:100], 60)
    expected_counts = solved = 100
    for first in range(100, 500, STREAM_ROWS):
        model.learn(*(array[first : first + STREAM_ROWS] for array in (X, Y, weights)))
        expected_counts = min(first + STREAM_ROWS, 500)
        if expected_counts % STREAM_ROWS == 100 % STREAM_ROWS and expected_counts >= solved * (
            1 + 1 / GROWTH
        ):
            solved = expected_counts
        assert list(model.learnt.counts) == [(expected_counts - 100) % STREAM_ROWS, expected_counts, solved]
    assert solved > 400
    phi, offset = twin_inputs(model, X[:solved]), model.learnt.offset
    beta = reference_bumps.solution(phi, Y[:solved] - offset, weights[:solved], model.learnt.ridge[0])
    np.testing.assert_allclose(model.predict(X), offset + twin_inputs(model, X) @ beta, rtol=1e-7, atol=1e-8)


def test_a_stream_becomes_better(table, fit):
    X, Y, weights = table(2000)
    model, _ = fit(X[:30], Y[:30])
    errors = (model.learn(X[30:], Y[30:], weights[30:]) - Y[30:]) ** 2
    assert errors[-500:].mean() < 0.5 * errors[:100].mean()
    assert model.variance[0] == pytest.approx(errors.mean(), rel=0.1)


def test_rows_of_weight_0_leave_no_trace_in_a_stream(table, fit):
    X, Y, weights = table(300)
    with_them, _ = fit(X[:50], Y[:50])
    without = Bumps.from_state(with_them.state())
    weights[::3] = 0.0
    Y[::3] = np.nan
    seen = weights > 0
    means = with_them.learn(X, Y, weights)
    np.testing.assert_array_equal(means[seen], without.learn(X[seen], Y[seen], weights[seen]))
    assert_same(with_them, without)
    assert np.isfinite(means).all()


@pytest.mark.parametrize("way", ["state", "pickle", "mapped"])
def test_a_model_that_was_stored_goes_on_to_the_last_bit(table, fit, way, tmp_path):
    X, Y, weights = table(300, 130, 2)  # of which some features are not looked at
    model, _ = fit(X[:100], Y[:100], weights[:100])
    known = 100 + STREAM_ROWS + 13
    model.learn(X[100:known], Y[100:known], weights[100:known])
    assert model.learnt.counts[0] == 13  # rows wait
    if way == "state":
        restored = Bumps.from_state(model.state())
    elif way == "pickle":
        restored = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model")
        restored = joblib.load(tmp_path / "model", mmap_mode="r")
    assert_same(restored, model)
    rest = X[known:], Y[known:], weights[known:]
    np.testing.assert_array_equal(restored.learn(*rest), model.learn(*rest))
    assert_same(restored, model)
    np.testing.assert_array_equal(restored.slopes(X), model.slopes(X))


def test_a_state_is_a_copy_with_triangles(table, fit):
    X, Y, weights = table(90, outputs=2)
    model, _ = fit(X, Y, weights, 20)
    state, size = model.state(), 20 + 1 + 3
    assert "factor" not in state  # the centres give it again
    assert state["sums"].shape == (size * (size + 1) // 2 + 2 * size,)
    before = {name: array.copy() for name, array in state.items()}
    model.learn(X, Y, weights)
    for name, array in before.items():
        np.testing.assert_array_equal(state[name], array)


def test_being_missing_is_a_feature_where_it_happens_often():
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 3))
    X[:40, 1], X[:5, 2] = np.nan, np.nan
    Y = np.where(np.isnan(X[:, 1]), 2.0, -1.0)[:, None] + 0.01 * random.standard_normal((120, 1))
    bumps, left = fit_bumps(X, Y, np.ones(120), 50, random, Threads(1))
    np.testing.assert_array_equal(bumps.gaps, [1])
    assert np.sqrt(np.mean((left - Y) ** 2)) < 0.1
    again = Bumps.from_state(bumps.state())
    np.testing.assert_array_equal(again.predict(X), bumps.predict(X))
    centres = bumps.centre_rows()
    assert np.isnan(centres[:, 1]).any()
    np.testing.assert_allclose(bumps.predict(centres)[np.isnan(centres[:, 1])], 2.0, atol=0.1)
    assert bumps.slopes(X).shape == (120, 1, 3)
