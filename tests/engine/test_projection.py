"""Projections (Appendix E): the engine's against the twin's and against what they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggln.engine.gradient import reference
from ggln.engine.gradient.reference import Constraints
from ggln.engine.neurons.projection import project_exact, solve_gram

Array = NDArray[Any]


def project(point: Array, rows: Array, bounds: Array, low: float, high: float) -> Array:
    """The engine's projection, given the violated constraints rows @ w <= bounds."""
    row = np.array(point, float)
    project_exact(row, np.array(rows, float), np.array(bounds, float), low, high)
    return row


def test_exact_projection_is_not_the_nearest_point() -> None:
    """(-3, 0.9) in [0, 1]^2 with sum >= 0.5: the nearest point is (0, 0.9), as tests/oracles finds."""
    expected = [0.0, 0.5]
    found = project(np.array([-3.0, 0.9]), -np.ones((1, 2)), np.array([-0.5]), 0.0, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    limits = Constraints(-np.ones((1, 2)), np.array([-0.5]), np.ones(1))
    np.testing.assert_allclose(
        reference.project_exact(np.array([-3.0, 0.9]), limits, 0.0, 1.0), expected, atol=1e-15
    )


def test_point_without_violations_stays() -> None:
    point = np.array([0.2, 0.7, 0.0])
    np.testing.assert_array_equal(project(point, np.empty((0, 3)), np.empty(0), 0.0, 1.0), point)


def test_box_alone_is_a_clip() -> None:
    found = project(np.array([-1.0, 0.3, 9.0]), np.empty((0, 3)), np.empty(0), -0.5, 2.0)
    np.testing.assert_array_equal(found, [-0.5, 0.3, 2.0])


@given(
    inputs=st.integers(1, 8),
    count=st.integers(1, 3),
    low=st.sampled_from([0.0, -0.5]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    seed=st.integers(0, 10**6),
)
def test_engine_equals_twin(inputs: int, count: int, low: float, scale: float, seed: int) -> None:
    """Rows of very different lengths are all that makes this hard."""
    rng = np.random.default_rng(seed)
    point, rows = rng.normal(size=inputs), rng.normal(size=(count, inputs))
    rows[1:] *= scale
    bounds = rows @ point - np.abs(rng.normal(size=count)) * np.linalg.norm(rows, axis=1)
    limits = Constraints(rows, bounds, np.ones(count))
    free = (point >= low) & (point <= 1.0)
    units = rows[:, free] / np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(units, compute_uv=False) if free.any() else np.zeros(1)
    assume(count <= free.sum() and values.min() > 0.05)
    np.testing.assert_allclose(
        project(point, rows, bounds, low, 1.0),
        reference.project_exact(point, limits, low, 1.0),
        rtol=1e-9,
        atol=1e-9,
    )


def test_constraints_are_met_whatever_their_scale() -> None:
    """A constraint on a variance of 1e-4 and one on a variance of 1: both count."""
    rows, bounds = np.array([[1e4, 0.0], [0.0, 1.0]]), np.array([1e4, 1.0])
    np.testing.assert_allclose(project(np.array([2.0, 2.0]), rows, bounds, 0.0, 10.0), [1.0, 1.0])


def test_dependent_rows_count_once() -> None:
    rows = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
    found = project(np.array([3.0, 2.0]), rows, np.array([4.0, 8.0, 1.0]), 0.0, 10.0)
    np.testing.assert_allclose(found, [1.0, 3.0], rtol=1e-12)


def test_rows_without_a_free_weight_do_nothing() -> None:
    found = project(np.array([-1.0, -2.0]), np.array([[-1.0, -1.0]]), np.array([-0.5]), 0.0, 1.0)
    np.testing.assert_array_equal(found, [0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solve_gram(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    right = rng.normal(size=3)
    found = right.astype(dtype)
    solve_gram((rows @ rows.T).astype(dtype), found)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.linalg.solve(rows @ rows.T, right), rtol=100 * np.finfo(dtype).eps)


def test_solve_gram_with_dependent_rows() -> None:
    """Rows 0 and 2 are the same: x = 0 for the second of them leaves rows' x, the step, as it is."""
    rows = np.array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])
    right = np.array([1.0, 0.5, 1.0])
    found = right.copy()
    solve_gram(rows @ rows.T, found)
    assert found[2] == 0.0
    np.testing.assert_allclose(rows.T @ found, np.linalg.pinv(rows) @ right, rtol=1e-12)


def test_projections_in_turn() -> None:
    """The log-barrier's backstop, on paper: clip, then the half-space, then clip again."""
    limits = Constraints(np.array([[1.0, 1.0]]), np.array([1.0]), np.ones(1))
    found = reference.project_in_turn(np.array([1.0, 0.6]), limits, 0.0, 0.6)
    np.testing.assert_allclose(found, [0.6, 0.3])
