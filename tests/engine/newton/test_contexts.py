"""Solving a context and leaving out its rows, compiled, against the plain twin; promises about rows."""

import numpy as np
import pytest

from ggln.engine.jit import fast_kernel
from ggln.engine.newton import constants, contexts, reference
from ggln.engine.newton.contexts import Rows, make_work, order_by_context
from ggln.engine.newton.lanes import padded
from ggln.engine.newton.neurons.univariate import Univariate
from ggln.engine.newton.reference_structures import Univariate as Twin
from ggln.engine.newton.trees import Rules, solve_tree

KIND, TWIN = Univariate(1), Twin()
SIZES = 1, 3, 8, 13, 21


@fast_kernel
def solve_and_leave_out(
    kind, rows, start, stop, centre, pull, iterations, settled, weights, work, left, widths
):
    contexts.solve(kind, rows, start, stop, centre, pull, iterations, settled, weights, work)
    contexts.leave_out(kind, rows, start, stop, pull.size, work, left, widths)


@fast_kernel
def run_factor(matrix, size, right, factor, shares, unit, inverse, solution):
    contexts.factorise(matrix, size, factor, shares)
    contexts.invert_factor(factor, shares, size, unit, inverse)
    return contexts.solve_inverted(inverse, size, right, solution)


def draw(rows, size, seed=0):
    """Return inputs [n, 2, m], targets [n, 1] and weights [n] of rows."""
    random = np.random.default_rng(seed)
    precisions = random.gamma(3.0, 0.3, (rows, size))
    inputs = np.stack([precisions, precisions * random.standard_normal((rows, size))], axis=1)
    return inputs, random.standard_normal((rows, 1)), random.choice([0.0, 0.5, 1.0, 2.0], rows)


def widen(inputs):
    """Return inputs with their padding."""
    wide = np.zeros((*inputs.shape[:2], padded(inputs.shape[2])))
    wide[:, :, : inputs.shape[2]] = inputs
    return wide


def run(inputs, targets, counts, start=0, stop=None):
    """Return weights, totals left out and widths of rows start to stop."""
    rows, _, size = inputs.shape
    weights, centre = np.empty(padded(size)), np.zeros(padded(size))
    centre[:size] = 1.0 / size
    pull, left, widths = np.linspace(1.0, 2.0, size), np.full((rows, 2), np.nan), np.full(rows, np.nan)
    work = make_work(rows, 2, size)
    table = Rows(widen(inputs), targets, counts)
    stop = rows if stop is None else stop
    solve_and_leave_out(KIND, table, start, stop, centre, pull, 40, 1e-14, weights, work, left, widths)
    assert not weights[size:].any()
    return weights[:size], left, widths


def run_twin(inputs, targets, counts):
    """As `run`, by the twin."""
    size = inputs.shape[2]
    parts, goals = (inputs[:, 0], inputs[:, 1]), targets[:, 0]
    centre, pull = np.full(size, 1.0 / size), np.linspace(1.0, 2.0, size)
    weights, inverse = reference.solve(TWIN, parts, goals, counts, centre, pull)
    totals = reference.combine(parts, weights)
    without = reference.leave_out(TWIN, parts, goals, counts, weights, inverse)
    length = TWIN.stride(totals, tuple(total - other for total, other in zip(totals, without, strict=True)))
    left = [total + length * (other - total) for total, other in zip(totals, without, strict=True)]
    return weights, np.stack(left, axis=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 200])
def test_context_is_solved_as_by_the_twin(rows, size):
    inputs, targets, counts = draw(rows, size)
    weights, left, widths = run(inputs, targets, counts)
    expected, expected_left = run_twin(inputs, targets, counts)
    np.testing.assert_allclose(weights, expected, rtol=1e-6, atol=1e-6)
    if rows > 6 * size:  # else pivots are cut, which the twin does along other directions
        np.testing.assert_allclose(left, expected_left, rtol=1e-5, atol=1e-5)
    assert np.all(widths >= 0.0)


def test_rows_of_weight_0_change_nothing_but_are_predicted():
    inputs, targets, counts = draw(90, 13)
    counts[::3] = 0.0
    kept = counts > 0.0
    weights, left, widths = run(inputs, targets, counts)
    alone = run(inputs[kept], targets[kept], counts[kept])
    np.testing.assert_allclose(weights, alone[0], rtol=1e-9)
    np.testing.assert_allclose(left[kept], alone[1], rtol=1e-9)
    np.testing.assert_allclose(left[~kept], inputs[~kept] @ weights, rtol=1e-9)
    assert np.isfinite(widths).all()


def test_no_rows_leave_the_centre():
    inputs, targets, counts = draw(5, 13)
    weights, left, widths = run(inputs, targets, counts, 2, 2)
    np.testing.assert_array_equal(weights, np.full(13, 1.0 / 13))
    assert np.isnan(left).all()
    assert np.isnan(widths).all()


def test_only_rows_of_weight_0_leave_the_centre():
    inputs, targets, _ = draw(5, 13)
    np.testing.assert_allclose(run(inputs, targets, np.zeros(5))[0], np.full(13, 1.0 / 13), rtol=1e-12)


def test_weight_2_is_the_row_twice():
    inputs, targets, _ = draw(40, 13)
    twice = np.r_[np.arange(40), np.arange(40)]
    weights = run(inputs, targets, np.full(40, 2.0))[0]
    np.testing.assert_allclose(
        weights, run(inputs[twice], targets[twice], np.ones(80))[0], rtol=1e-8, atol=1e-10
    )


def test_other_rows_of_the_table_do_not_matter():
    inputs, targets, counts = draw(100, 13)
    weights, left, _ = run(inputs, targets, counts, 20, 70)
    alone = run(inputs[20:70], targets[20:70], counts[20:70])
    np.testing.assert_array_equal(weights, alone[0])
    np.testing.assert_array_equal(left[20:70], alone[1])


def test_rows_that_are_no_density_are_left_aside():
    inputs, targets, _ = draw(30, 8)
    inputs[3, 0] = 0.0
    weights, left, widths = run(inputs, targets, np.ones(30))
    kept = np.arange(30) != 3
    np.testing.assert_allclose(weights, run(inputs[kept], targets[kept], np.ones(29))[0], rtol=1e-9)
    assert widths[3] == 1.0
    np.testing.assert_allclose(left[3], inputs[3] @ weights, rtol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_inverse_of_a_hessian(size):
    random, width = np.random.default_rng(size), padded(size)
    root = random.standard_normal((size, size + 2))
    matrix, factor, inverse = (np.zeros((width, width)) for _ in range(3))
    matrix[:size, :size] = root @ root.T
    right, solution, shares = np.zeros(width), np.zeros(width), np.zeros(width)
    right[:size] = given = random.standard_normal(size)
    square = run_factor(matrix, size, right, factor, shares, contexts.make_unit(), inverse, solution)
    own = np.tril(factor)[:size, :size]
    np.testing.assert_allclose((own.T * shares[:size]) @ own, matrix[:size, :size], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inverse @ inverse.T @ matrix, np.diag(np.arange(width) < size), atol=1e-7)
    np.testing.assert_allclose(matrix[:size, :size] @ solution[:size], given, atol=1e-7)
    np.testing.assert_allclose(square, given @ solution[:size], rtol=1e-9)
    assert not solution[size:].any()


def test_contexts_without_rows_take_their_parents_weights():
    inputs, targets, counts = draw(40, 5)
    wide, pull, root = widen(inputs), np.ones(5), np.zeros(8)
    root[:5] = 0.2
    chosen, starts, order = np.tile([6, 7], 20), np.empty(9, np.int64), np.empty(40, np.int64)
    order_by_context(chosen, starts, order)
    np.testing.assert_array_equal(starts, [0, 0, 0, 0, 0, 0, 0, 20, 40])
    tables, curvatures, spreads = np.zeros((8, 8)), np.zeros((8, 40)), np.zeros(8)
    above, spread, rules = wide @ root, np.ones(40), Rules(True, True, True)
    solve_tree(
        KIND, Rows(wide, targets, counts), starts, root, constants.PULL * pull, constants.ITERATIONS,
        constants.SETTLED, rules, make_work(40, 2, 5), above, spread, np.empty((40, 2)), np.empty(40),
        tables, curvatures, spreads,
    )  # fmt: skip
    np.testing.assert_array_equal(tables[:4], np.tile(root, (4, 1)))
    assert np.any(tables[4] != root)  # as the inside of the first gate, which has rows
    np.testing.assert_array_equal(tables[5], tables[4])
    assert not curvatures[:6].any()
    assert np.all(curvatures[7, np.arange(5) * 9] > 0.0)  # the diagonal, in lines of eight
    assert np.any(tables[7] != tables[4])
    np.testing.assert_array_equal(spreads[:6], 1.0)


def test_a_context_that_nothing_was_cut_off_is_not_solved_again():
    inputs, targets, counts = draw(40, 5)
    wide, pull, root = widen(inputs), np.ones(5), np.zeros(8)
    root[:5] = 0.2
    found = {}
    for levels, all_in in ((1, 1), (3, 7)):  # three levels: the first and the last are solved
        starts, order = np.empty((1 << levels) + 1, np.int64), np.empty(40, np.int64)
        order_by_context(np.full(40, all_in), starts, order)
        size = 1 << levels
        tables, curvatures, spreads = np.zeros((size, 8)), np.zeros((size, 40)), np.zeros(size)
        above, spread, rules = wide @ root, np.ones(40), Rules(True, True, False)
        solve_tree(
            KIND, Rows(wide, targets, counts), starts, root, constants.PULL * pull, constants.ITERATIONS,
            constants.SETTLED, rules, make_work(40, 2, 5), above, spread, np.empty((40, 2)), np.empty(40),
            tables, curvatures, spreads,
        )  # fmt: skip
        found[levels] = tables[all_in], curvatures[all_in], spreads[all_in], above
    for one, other in zip(found[1], found[3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
