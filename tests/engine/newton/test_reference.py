"""The twin of exact learning against finite differences, SciPy, linear regression, and learning anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from ggln.engine.newton.reference import (
    LEAST_PIVOT,
    MOST_TOLD,
    combine,
    derivatives,
    go_on,
    invert,
    leave_out,
    posterior_variance,
    present,
    solve,
    take,
)
from ggln.engine.newton.reference_structures import (
    FURTHEST_LOGIT,
    KEPT,
    LEAST_PRECISION,
    Bernoulli,
    Diagonal,
    Full,
    Isotropic,
    Univariate,
)

GAUSSIAN = [("univariate", 1), *((kind, D) for kind in ("isotropic", "diagonal", "full") for D in (2, 3))]
KINDS = [*GAUSSIAN, ("bernoulli", 1)]
EVERY = pytest.mark.parametrize(("kind", "D"), KINDS)
EVERY_GAUSSIAN = pytest.mark.parametrize(("kind", "D"), GAUSSIAN)
FACTORS = {
    "univariate": lambda D: 2,
    "isotropic": lambda D: 1 + D,
    "diagonal": lambda D: 2 * D,
    "full": lambda D: D**2 + D,
    "bernoulli": lambda D: 1,
}


def as_inputs(kind, means, precisions):
    """A structure and its inputs, from means [n, m, D] and precision matrices [n, m, D, D]."""
    naturals = np.einsum("njde,nje->njd", precisions, means)
    if kind == "full":
        return Full(), (precisions, naturals)
    diagonals = np.einsum("njdd->njd", precisions)
    if kind == "diagonal":
        return Diagonal(), (diagonals, diagonals * means)
    first = diagonals[:, :, 0]
    if kind == "isotropic":
        return Isotropic(), (first, first[:, :, None] * means)
    return Univariate(), (first, first * means[:, :, 0])


def draw(kind, D, n, seed=0):
    """Rows of two guesses of the target, the better first, and two biases; or of two logits and a bias."""
    rng = np.random.default_rng(seed)
    if kind == "bernoulli":
        x = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
        y = rng.random(n) < 1 / (1 + np.exp(-(x @ [1.0, -0.5, -0.2])))
        return Bernoulli(), (x,), y.astype(float)
    y = rng.normal(size=(n, D))
    guesses = y[:, None] + np.array([[0.6], [1.0]]) * rng.normal(size=(n, 2, D))
    biases = 3.0 * np.array([1, -1])[:, None] * np.ones((n, 2, D))
    half = np.eye(D) + 0.3 * rng.normal(size=(n, 4, D, D))
    precisions = half @ half.swapaxes(2, 3)
    structure, inputs = as_inputs(kind, np.concatenate([guesses, biases], axis=1), precisions)
    return structure, inputs, y[:, 0] if kind == "univariate" else y


def prior(inputs):
    m = inputs[0].shape[1]
    return np.full(m, 1 / m), np.linspace(2.0, 4.0, m)


def some(inputs, rows):
    return tuple(part[rows] for part in inputs)


def total_loss(structure, inputs, y, c, centre, pull):
    """What `solve` minimises, as a function of w."""

    def value(w):
        totals = combine(inputs, w)
        if not structure.admissible(totals).all():
            return np.inf
        return c @ structure.loss(totals, y) + 0.5 * np.sum(pull * (w - centre) ** 2)

    return value


def assert_same(one, other, **tolerances):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, **tolerances)


# Structures ----------------------------------------------------------------------------------------------


@EVERY
def test_gradient_factors_and_slopes_against_finite_differences(kind, D):
    structure, inputs, y = draw(kind, D, 20)
    w = np.random.default_rng(1).uniform(0.1, 1.0, inputs[0].shape[1])
    ahead, behind = ([combine(inputs, w + s * 1e-5 * step) for step in np.eye(w.size)] for s in (1, -1))

    def differences(f):
        return np.stack(
            [(f(a) - f(b)) / 2e-5 for a, b in zip(ahead, behind, strict=True)],
            axis=1,  # [n, m, ..]
        )

    def mean(totals):
        if kind == "full":
            return np.linalg.solve(totals[0], totals[1][:, :, None])[:, :, 0]
        if kind == "bernoulli":
            return totals[0]
        return totals[1] / totals[0].reshape(totals[0].shape + (1,) * (totals[1].ndim - totals[0].ndim))

    totals = combine(inputs, w)
    g, F = structure.gradient(inputs, totals, y), structure.factors(inputs, totals)
    assert F.shape == (20, FACTORS[kind](D), w.size)
    near = {"rtol": 1e-6, "atol": 1e-7}
    np.testing.assert_allclose(g, differences(lambda t: structure.loss(t, y)), **near)
    hessian = differences(lambda t: structure.gradient(inputs, t, y))
    np.testing.assert_allclose(F.swapaxes(1, 2) @ F, hessian, **near)
    np.testing.assert_allclose(structure.slopes(inputs, totals), differences(mean), **near)


@EVERY_GAUSSIAN
def test_loss_is_twice_the_negative_log_density(kind, D):
    stats = pytest.importorskip("scipy.stats")
    structure, inputs, y = draw(kind, D, 5)
    assert structure.scale == 2
    totals = combine(inputs, prior(inputs)[0])
    for i, loss in enumerate(structure.loss(totals, y)):
        precision = totals[0][i] if kind == "full" else totals[0][i] * np.eye(D)
        mean = np.linalg.solve(precision, np.atleast_1d(totals[1][i]))
        nll = -stats.multivariate_normal.logpdf(np.atleast_1d(y[i]), mean, np.linalg.inv(precision))
        np.testing.assert_allclose(loss, 2 * nll - D * np.log(2 * np.pi), rtol=1e-9)


@EVERY
def test_gradient_lies_in_the_span_of_the_factors(kind, D):
    structure, inputs, y = draw(kind, D, 10)
    g, F = derivatives(structure, inputs, y, np.ones(10), prior(inputs)[0])
    for gradient, factors in zip(g, F, strict=True):
        np.testing.assert_allclose(factors.T @ np.linalg.pinv(factors.T) @ gradient, gradient, atol=1e-10)


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
def test_one_output_is_the_same_in_every_structure(kind):
    rng, n, m = np.random.default_rng(3), 40, 3
    means, precisions = rng.normal(size=(n, m, 1)), np.exp(rng.normal(size=(n, m, 1, 1)))
    y, c = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
    univariate, inputs = as_inputs("univariate", means, precisions)
    structure, others = as_inputs(kind, means, precisions)
    one = solve(univariate, inputs, y, c, *prior(inputs))
    other = solve(structure, others, y[:, None], c, *prior(inputs))
    assert_same(one, other, rtol=1e-9, atol=1e-12)
    flat = [
        np.concatenate([np.ravel(part) for part in parts])
        for parts in (
            leave_out(univariate, inputs, y, c, *one),
            leave_out(structure, others, y[:, None], c, *one),
        )
    ]
    np.testing.assert_allclose(*flat, rtol=1e-9)
    later = go_on(univariate, some(inputs, 0), 9.0, 1.5, *one)[1]
    assert_same(
        later, go_on(structure, some(others, 0), np.array([9.0]), 1.5, *one)[1], rtol=1e-9, atol=1e-12
    )
    variances = posterior_variance(univariate, inputs, *one)
    np.testing.assert_allclose(posterior_variance(structure, others, *one)[:, 0], variances, rtol=1e-9)


# Solving -------------------------------------------------------------------------------------------------


@EVERY
def test_the_solution_is_where_the_gradient_vanishes_and_its_inverse_is_that_of_the_hessian(kind, D):
    structure, inputs, y = draw(kind, D, 60)
    (centre, pull), c = prior(inputs), np.random.default_rng(2).uniform(0.5, 2.0, 60)
    w, inverse = solve(structure, inputs, y, c, centre, pull)
    g, F = derivatives(structure, inputs, y, c, w)
    assert np.abs(g.sum(axis=0) + pull * (w - centre)).max() < 1e-7
    hessian = np.einsum("nri,nrj->ij", F, F) + np.diag(pull)
    np.testing.assert_allclose(inverse @ hessian, np.eye(w.size), atol=1e-9)


@EVERY
def test_scipy_finds_the_same_minimum(kind, D):
    structure, inputs, y = draw(kind, D, 25)
    problem = structure, inputs, y, np.ones(25), *prior(inputs)
    settings = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000}
    found = minimize(total_loss(*problem), problem[4], method="Nelder-Mead", options=settings)
    assert found.success
    np.testing.assert_allclose(solve(*problem).weights, found.x, atol=1e-5)


@EVERY
def test_steps_never_raise_the_loss(kind, D):
    structure, inputs, y = draw(kind, D, 30)
    y = 10 * y if kind != "bernoulli" else y  # far from what the centre says
    problem = structure, inputs, y, np.ones(30), *prior(inputs)
    losses = [total_loss(*problem)(solve(*problem, iterations).weights) for iterations in range(15)]
    assert losses[0] == total_loss(*problem)(problem[4])  # no step, no move
    assert np.all(np.diff(losses) <= 1e-12 * np.abs(losses[0]))


@EVERY
def test_a_row_of_weight_two_is_the_row_twice_and_one_of_weight_zero_is_absent(kind, D):
    structure, inputs, y = draw(kind, D, 30)
    c = np.array([0.0, 1.0, 2.0] * 10)
    for part in inputs:
        part[::3] = np.nan  # nothing at all of an absent row may count
    repeated = np.repeat(np.arange(30), c.astype(int))
    weighted = solve(structure, inputs, y, c, *prior(inputs))
    plain = solve(structure, some(inputs, repeated), y[repeated], np.ones(30), *prior(inputs))
    assert_same(weighted, plain, rtol=1e-8, atol=1e-10)
    left = some(leave_out(structure, inputs, y, c, *weighted), slice(1, None, 3))
    ones = repeated % 3 == 1  # rows that were there once
    assert_same(
        left, some(leave_out(structure, some(inputs, repeated), y[repeated], np.ones(30), *plain), ones)
    )


@EVERY
def test_without_rows_all_is_as_the_pull_says(kind, D):
    structure, inputs, y = draw(kind, D, 3)
    centre, pull = prior(inputs)
    for rows, c in ((slice(0), np.ones(0)), (slice(None), np.zeros(3))):
        w, inverse = solve(structure, some(inputs, rows), y[rows], c, centre, pull)
        np.testing.assert_array_equal(w, centre)
        np.testing.assert_allclose(inverse, np.diag(1 / pull), rtol=1e-14)
        assert_same(
            leave_out(structure, some(inputs, rows), y[rows], c, w, inverse), combine(some(inputs, rows), w)
        )


@EVERY
def test_one_row(kind, D):
    structure, inputs, y = draw(kind, D, 1)
    centre, pull = prior(inputs)
    w, inverse = solve(structure, inputs, y, np.ones(1), centre, 1e3 * pull)
    left = leave_out(structure, inputs, y, np.ones(1), w, inverse)
    for total, without, before in zip(
        combine(inputs, w), left, combine(inputs, centre), strict=True
    ):  # with a strong pull, first order is all there is
        assert np.linalg.norm(without - before) < 0.02 * np.linalg.norm(total - before)
    for weak in (1e-3, 1e-9):
        solution = solve(structure, inputs, y, np.ones(1), centre, weak * pull)
        left = leave_out(structure, inputs, y, np.ones(1), *solution)
        assert all(np.isfinite(part).all() for part in (*solution, *left))


@EVERY
def test_inputs_that_are_alike_or_zero(kind, D):
    structure, inputs, y = draw(kind, D, 40)
    centre, pull = prior(inputs)
    m = centre.size
    wide = tuple(np.concatenate([part, part, 0 * part[:, :1]], axis=1) for part in inputs)
    centres, pulls = np.append(np.tile(centre / 2, 2), 0.3), np.append(np.tile(pull, 2), 1e-6)
    w, inverse = solve(structure, wide, y, np.ones(40), centres, pulls)
    np.testing.assert_allclose(w[:m], w[m:-1], rtol=1e-9)  # twins stay twins
    assert w[-1] == 0.3
    np.testing.assert_allclose(inverse[-1, -1], 1e6)
    # two inputs of weight w/2 and pull 2k are one of weight w and pull k
    alone = solve(structure, inputs, y, np.ones(40), centre, pull / 2)
    np.testing.assert_allclose(2 * w[:m], alone.weights, atol=1e-6)
    left = leave_out(structure, wide, y, np.ones(40), w, inverse)
    assert_same(left, leave_out(structure, inputs, y, np.ones(40), *alone), rtol=1e-5, atol=1e-5)
    _, later = go_on(structure, some(wide, 0), y[0], 1.0, w, inverse)
    assert np.linalg.eigvalsh(later.inverse)[0] > 0


@EVERY_GAUSSIAN
def test_precisions_near_zero_stay_finite(kind, D):
    structure, inputs, y = draw(kind, D, 40)
    for i in range(10):  # of rows, the first has inputs without any precision
        for part in inputs:
            part[i] *= 0.0 if i == 0 else 10.0 ** (-12 + i)
    centre, pull = prior(inputs)
    usable = structure.admissible(combine(inputs, centre))
    assert not usable[:3].any()
    solution = solve(structure, inputs, y, np.ones(40), centre, pull)
    assert all(np.isfinite(part).all() for part in solution)
    assert np.linalg.eigvalsh(solution.inverse)[0] > 0
    assert all(np.isfinite(part).all() for part in leave_out(structure, inputs, y, np.ones(40), *solution))
    variance = posterior_variance(structure, inputs, *solution)
    dense = structure.admissible(combine(inputs, solution.weights))
    np.testing.assert_array_equal(np.isfinite(variance).reshape(40, -1).all(axis=1), dense)
    for i in range(40):
        _, solution = go_on(structure, some(inputs, i), y[i], 1.0, *solution)
        assert all(np.isfinite(part).all() for part in solution)


@EVERY_GAUSSIAN
def test_rows_that_are_no_densities_at_the_centre_are_absent(kind, D):
    structure, inputs, y = draw(kind, D, 40)
    _, pull = prior(inputs)
    for part in inputs:
        part[:10, :3] = 0.0
    centre = np.array([0.5, 0.5, 0.3, -0.05])  # no density where only the last input has a precision
    dense = present(structure, inputs, np.ones(40), centre)
    np.testing.assert_array_equal(dense, np.arange(40) >= 10)
    solution = solve(structure, inputs, y, np.ones(40), centre, pull)
    assert_same(solution, solve(structure, inputs, y, dense.astype(float), centre, pull), rtol=0)
    left = leave_out(structure, inputs, y, dense.astype(float), *solution)
    totals = combine(inputs, solution.weights)
    assert_same(take(left, ~dense), take(totals, ~dense), rtol=0)  # weights that have not learnt them
    _, later = go_on(structure, some(inputs, 0), y[0], 1.0, centre, solution.inverse)
    assert_same(later, (centre, solution.inverse), rtol=0)


# Leaving out ---------------------------------------------------------------------------------------------


@EVERY
def test_left_out_is_as_learnt_without_the_row(kind, D):
    structure, inputs, y = draw(kind, D, 300)
    centre, pull = prior(inputs)
    c = np.random.default_rng(5).choice([0.5, 1.0, 2.0], 300)
    solution = solve(structure, inputs, y, c, centre, pull)
    first = some(inputs, slice(50))
    others = [np.where(np.arange(300) == i, 0, c) for i in range(50)]
    without = np.array([solve(structure, inputs, y, rest, centre, pull).weights for rest in others])
    for left, true, with_it in zip(
        some(leave_out(structure, inputs, y, c, *solution), slice(50)),
        combine(first, without),
        combine(first, solution.weights),
        strict=True,
    ):
        assert np.linalg.norm(left - true) < 0.06 * np.linalg.norm(with_it - true)


@EVERY
def test_leaving_out_is_the_formula_where_no_floor_is_reached(kind, D):
    structure, inputs, y = draw(kind, D, 50)
    (centre, pull), c = prior(inputs), np.full(50, 1.5)
    w, inverse = solve(structure, inputs, y, c, centre, pull)
    g, F = derivatives(structure, inputs, y, c, w)
    assert np.linalg.eigvalsh(np.eye(F.shape[1]) - F @ inverse @ F.swapaxes(1, 2)).min() > LEAST_PIVOT
    hessian = np.linalg.inv(inverse)
    moved = [w + np.linalg.solve(hessian - f.T @ f, slope) for slope, f in zip(g, F, strict=True)]
    assert_same(leave_out(structure, inputs, y, c, w, inverse), combine(inputs, np.array(moved)), rtol=1e-8)


@EVERY
def test_a_row_that_determines_its_context_moves_its_weights_a_bounded_way(kind, D):
    structure, inputs, y = draw(kind, D, 1)
    (w, pull), c = prior(inputs), np.full(1, 1e6)
    (g,), (F,) = derivatives(structure, inputs, y, c, w)
    inverse = invert(F, pull)  # nothing but this row and the pull
    left = leave_out(structure, inputs, y, c, w, inverse)
    size = np.sqrt(g @ inverse @ g)  # in the metric of the Hessian, where the floor bounds the move
    beyond = []
    for part, whole, row in zip(left, combine(inputs, w), inputs, strict=True):
        columns = row[0].reshape(w.size, -1)
        limit = (1 + 1 / LEAST_PIVOT) * size * np.sqrt(np.einsum("jd,jk,kd->d", columns, inverse, columns))
        assert np.all(np.abs(np.ravel(part - whole)) <= 1.001 * limit)
        beyond.append(np.abs(columns.T @ (g / pull)) > 10 * limit)  # what the formula says without a floor
    assert np.concatenate(beyond).any()


# Going on ------------------------------------------------------------------------------------------------


@EVERY
def test_rows_learnt_one_by_one_end_near_the_solution_of_all(kind, D):
    structure, inputs, y = draw(kind, D, 1000)
    centre, pull = prior(inputs)
    first = solve(structure, some(inputs, slice(100)), y[:100], np.ones(100), centre, pull)
    goal = solve(structure, inputs, y, np.ones(1000), centre, pull)
    state = first
    for i in range(100, 1000):
        _, state = go_on(structure, some(inputs, i), y[i], 1.0, *state)

    def distance(w):
        return np.linalg.norm(np.linalg.cholesky(np.linalg.inv(goal.inverse)).T @ (w - goal.weights))

    assert distance(state.weights) < 0.2 * distance(first.weights)
    assert distance(state.weights) < 1.5  # standard deviations of what all rows can tell
    np.testing.assert_allclose(np.trace(state.inverse), np.trace(goal.inverse), rtol=0.3)


@EVERY
def test_the_inverse_is_that_of_the_sum_of_all_updates(kind, D):
    structure, inputs, y = draw(kind, D, 300)
    (centre, pull), c = prior(inputs), np.random.default_rng(6).uniform(0.0, 2.0, 300)
    state, factors = (centre, np.diag(1 / pull)), []
    for i in range(300):
        row = some(inputs, slice(i, i + 1))
        if present(structure, row, c[i : i + 1], state[0]).all():
            factors.append(derivatives(structure, row, y[i : i + 1], c[i : i + 1], state[0])[1])
        _, state = go_on(structure, some(inputs, i), y[i], c[i], *state)
    np.testing.assert_allclose(state[1], invert(np.concatenate(factors), pull), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(state[1], state[1].T, rtol=1e-10)


@EVERY
def test_going_on_predicts_before_it_learns_and_changes_nothing_it_was_given(kind, D):
    structure, inputs, y = draw(kind, D, 3)
    centre, pull = prior(inputs)
    inverse = np.diag(1 / pull)
    predicted, state = go_on(structure, some(inputs, 0), y[0], 1.0, centre, inverse)
    assert_same(predicted, some(combine(inputs, centre), 0))
    np.testing.assert_array_equal(centre, prior(inputs)[0])
    np.testing.assert_array_equal(inverse, np.diag(1 / pull))
    assert np.abs(state.weights - centre).max() > 0
    _, same = go_on(structure, some(inputs, 0), y[0], 0.0, centre, inverse)
    assert_same(same, (centre, inverse), rtol=0)


@EVERY_GAUSSIAN
@pytest.mark.parametrize("far", [3.0, 30.0, 1e4])
def test_a_row_keeps_a_quarter_of_its_precision(kind, D, far):
    structure, inputs, y = draw(kind, D, 20)
    (centre, pull), bounded = prior(inputs), 0
    for i in range(20):
        before, state = go_on(structure, some(inputs, i), far * y[i], 1.0, centre, np.diag(1e2 / pull))
        after = some(combine(inputs, state.weights), i)
        if kind == "full":
            half = np.linalg.inv(np.linalg.cholesky(before[0]))
            left = np.linalg.eigvalsh(half @ after[0] @ half.T)
        else:
            left = after[0] / before[0]
        assert np.min(left) >= KEPT * (1 - 1e-9)
        bounded += np.isclose(np.min(left), KEPT)
    assert bounded > 0


@EVERY
def test_a_row_that_would_tell_too_much_counts_less(kind, D):
    structure, inputs, y = draw(kind, D, 1)
    w, inverse = prior(inputs)[0], 1e9 * np.eye(inputs[0].shape[1])
    (F,) = derivatives(structure, inputs, y, np.ones(1), w)[1]
    share = MOST_TOLD / np.trace(F @ inverse @ F.T)
    assert share < 0.1
    whole, part = (go_on(structure, some(inputs, 0), y[0], c, w, inverse)[1] for c in (1.0, share))
    assert_same(whole, part, rtol=1e-9)


def test_rows_of_next_to_no_precision_do_not_ruin_the_inverse():
    rng, structure, inverse, before = np.random.default_rng(9), Univariate(), np.eye(4), 4.0
    for _ in range(50):  # of inputs of high precision, weighted so that almost nothing is left of it
        a, w = 10.0 ** rng.uniform(0, 4, size=4), rng.normal(size=4)
        w -= a * (w @ a - 10.0 ** rng.uniform(-5.9, -3)) / (a @ a)
        _, (w, inverse) = go_on(structure, (a, a * rng.normal(size=4)), rng.normal(), 1.0, w, inverse)
        assert np.isfinite(w).all()
        assert np.linalg.eigvalsh(inverse)[0] > -1e-15 * before
        assert np.trace(inverse) <= before
        before = np.trace(inverse)


def test_a_wrong_logit_turns_no_further_than_from_even_odds():
    structure, x = Bernoulli(), np.array([1.0, 2.0])
    for z in (-40.0, -3.0, 0.0, 3.0, 40.0):
        w, inverse = z * x / (x @ x), 1e3 * np.eye(2)
        (before,), state = go_on(structure, (x,), 1.0, 1.0, w, inverse)
        assert before == pytest.approx(z, abs=1e-12)
        assert before - 1e-9 <= x @ state.weights <= max(FURTHEST_LOGIT, z + FURTHEST_LOGIT) + 1e-9


# The limit in which only the mean is learnt --------------------------------------------------------------


def regression(kind, D, n=30, k=3):
    """Rows whose product has mean X w and precision 1, whatever the weights: linear regression on X.

    The first input is a standard normal with a fixed weight of 1; the others have no precision, only b_j.
    """
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(n, k, D)), rng.normal(size=(n, D))
    b = np.concatenate([np.zeros((n, 1, D)), X], axis=1)
    a = np.zeros((n, k + 1, D, D))
    a[:, 0] = np.eye(D)
    structure, (precisions, _) = as_inputs(kind, b, a)
    centre, pull = np.append(1.0, np.full(k, 0.2)), np.append(1e12, np.full(k, 3.0))
    if kind == "univariate":
        return structure, (precisions, b[:, :, 0]), y[:, 0], centre, pull, X, y
    return structure, (precisions, b), y, centre, pull, X, y


def ridge(X, y, centre, pull):
    """Minimiser of sum |y - X w|^2 + 1/2 sum pull (w - centre)^2, and (X'X + diag(pull) / 2)^-1."""
    inverse = np.linalg.inv(np.einsum("njd,nkd->jk", X, X) + np.diag(pull) / 2)
    return inverse @ (np.einsum("njd,nd->j", X, y) + pull * centre / 2), inverse


@EVERY_GAUSSIAN
def test_without_precisions_to_learn_it_is_linear_regression(kind, D):
    structure, inputs, y, centre, pull, X, Y = regression(kind, D)
    near = {"rtol": 1e-7, "atol": 1e-8}
    w, inverse = ridge(X, Y, centre[1:], pull[1:])
    solution = solve(structure, inputs, y, np.ones(30), centre, pull, 1)  # the loss is a parabola: one step
    np.testing.assert_allclose(solution.weights[1:], w, **near)
    np.testing.assert_allclose(2 * solution.inverse[1:, 1:], inverse, **near)
    # leaving a row out is exact
    _, means = leave_out(structure, inputs, y, np.ones(30), *solution)
    for i in range(30):
        rest = np.arange(30) != i
        expected = ridge(X[rest], Y[rest], centre[1:], pull[1:])[0] @ X[i]
        np.testing.assert_allclose(np.atleast_1d(means[i]), expected, **near)
    # so is going on: recursive least squares
    state = solve(structure, some(inputs, slice(10)), y[:10], np.ones(10), centre, pull)
    for i in range(10, 30):
        (_, mean), state = go_on(structure, some(inputs, i), y[i], 1.0, *state)
        expected = ridge(X[:i], Y[:i], centre[1:], pull[1:])[0] @ X[i]
        np.testing.assert_allclose(np.atleast_1d(mean), expected, **near)
    assert_same(state, solution, rtol=1e-7, atol=1e-7)
    # and the mean's variance is that of Bayesian regression with noise of variance 1
    variance = posterior_variance(structure, inputs, *solution)
    expected = np.einsum("njd,jk,nkd->nd", X, inverse, X)
    np.testing.assert_allclose(variance.reshape(30, D), expected, **near)


# The posterior -------------------------------------------------------------------------------------------


@EVERY
def test_the_posterior_widens_away_from_the_rows_and_narrows_with_them(kind, D):
    structure, inputs, y = draw(kind, D, 400)
    few = solve(structure, some(inputs, slice(50)), y[:50], np.ones(50), *prior(inputs))
    many = solve(structure, inputs, y, np.ones(400), *prior(inputs))
    narrow, wide = (posterior_variance(structure, inputs, *solution).mean() for solution in (many, few))
    assert 0 < narrow < wide / 3


@EVERY
def test_the_posterior_variance_is_that_of_fits_to_new_targets(kind, D):
    """Targets drawn from a well-specified neuron, again and again: how its predictions spread over them."""
    rng, n = np.random.default_rng(8), 400
    structure, inputs, _ = draw(kind, D, n)
    pull = np.full(inputs[0].shape[1], 1e-3)
    truth = np.array([0.8, 0.4, 0.3, 0.2])[: pull.size]
    totals = combine(inputs, truth)
    predictions, predicted = [], []
    for _ in range(60):
        if kind == "bernoulli":
            y = (rng.random(n) < 1 / (1 + np.exp(-totals[0]))).astype(float)
        else:
            P = totals[0] if kind == "full" else totals[0].reshape(n, -1, 1) * np.eye(D)
            h = totals[1].reshape(n, D, 1)
            noise = np.linalg.solve(np.linalg.cholesky(P).swapaxes(1, 2), rng.normal(size=(n, D, 1)))
            y = (np.linalg.solve(P, h) + noise).reshape(totals[1].shape)
        solution = solve(structure, inputs, y, np.ones(n), truth, pull)
        found = combine(inputs, solution.weights)
        if kind == "bernoulli":
            predictions.append(found[0])
        else:
            P = found[0] if kind == "full" else found[0].reshape(n, -1, 1) * np.eye(D)
            predictions.append(np.linalg.solve(P, found[1].reshape(n, D, 1)).reshape(found[1].shape))
        predicted.append(posterior_variance(structure, inputs, *solution).mean())
    spread = np.var(predictions, axis=0, ddof=1).mean()
    np.testing.assert_allclose(np.mean(predicted), spread, rtol=0.25)


def test_the_floor_of_the_precision_is_the_structures_own():
    inputs, y = (np.full((1, 1), 1e-8), np.full((1, 1), 1e-8)), np.ones(1)
    for structure, moved in ((Univariate(), False), (Univariate(least=1e-12), True)):
        w, _ = solve(structure, inputs, y, np.ones(1), np.ones(1), np.ones(1))
        assert (w[0] != 1.0) == moved
    assert Univariate().least == LEAST_PRECISION
