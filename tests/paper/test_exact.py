"""Exact learning as `ggln.paper` writes it, against rows really left out, and the engine against it."""

import numpy as np
import pytest

from ggln.engine.newton import reference
from ggln.engine.newton.reference_structures import Univariate
from ggln.paper import algorithm, exact

UNIVARIATE = Univariate()


@pytest.fixture
def context():
    """Return inputs of 60 rows, and targets that they predict."""
    random = np.random.default_rng(0)
    y = random.normal(size=60)
    a = 0.5 + random.random((60, 4))
    means = y[:, None] + random.normal(size=(60, 4))
    means[:, 3] = 1.0
    return exact.Inputs(a, a * means), y


def test_factors_are_gradient_and_hessian_of_the_paper(context):
    inputs, y = context
    w = np.array([0.3, 0.5, 0.2, 0.4])
    F, r = exact.factors(inputs, y, w)
    for t in range(5):
        experts = algorithm.gaussians((inputs.b[t] / inputs.a[t])[:, None], 1.0 / inputs.a[t])
        np.testing.assert_allclose(F[t].T @ r[t], algorithm.gradient(y[t : t + 1], w, experts))
        np.testing.assert_allclose(F[t].T @ F[t], algorithm.hessian(w, experts))


def test_it_solves_and_leaves_out_as_the_engines_twin_does(context):
    inputs, y = context
    centre, pull = np.full(4, 0.25), 2.0
    w, inverse = exact.solve(inputs, y, centre, pull)
    parts, ones = (inputs.a, inputs.b), np.ones(60)
    twin = reference.solve(UNIVARIATE, parts, y, ones, centre, np.full(4, pull))
    np.testing.assert_allclose(w, twin.weights, rtol=1e-6)
    np.testing.assert_allclose(inverse, twin.inverse, rtol=1e-6)
    left = exact.leave_out(inputs, y, w, inverse)
    expected = reference.leave_out(UNIVARIATE, parts, y, ones, w, inverse)
    np.testing.assert_allclose(left.a, expected[0], rtol=1e-6)
    np.testing.assert_allclose(left.b, expected[1], rtol=1e-6, atol=1e-9)


def test_left_out_is_as_if_the_row_had_not_been_there(context):
    inputs, y = context
    w, inverse = exact.solve(inputs, y, np.full(4, 0.25), 2.0)
    left = exact.leave_out(inputs, y, w, inverse)
    for t in range(0, 60, 7):
        rest = np.delete(np.arange(60), t)
        without, _ = exact.solve(inputs.take(rest), y[rest], np.full(4, 0.25), 2.0)
        moved = inputs.a[t] @ without - inputs.a[t] @ w
        assert left.a[t] - inputs.a[t] @ w == pytest.approx(moved, abs=0.2 * abs(moved) + 1e-3)


def test_a_gate_goes_where_the_error_is():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    normal, offset = exact.pick_gate(X, np.where(X[:, 1] > 0.4, 1.0, -0.5), 60, random)
    inside = X @ normal >= offset
    agreement = np.mean(inside == (X[:, 1] > 0.4))
    assert max(agreement, 1.0 - agreement) > 0.85


def test_a_network_learns_what_a_line_cannot():
    random = np.random.default_rng(2)
    X = random.uniform(-1.7, 1.7, size=(700, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1]
    y = (y - y.mean()) / y.std()
    network = exact.Network((4, 4), 4).fit(X[:500], y[:500])
    mean, variance = network.predict(X[500:])
    assert np.sqrt(np.mean((mean - y[500:]) ** 2)) < 0.45
    assert (variance > 0.0).all()
