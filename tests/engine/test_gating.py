"""Half-space gating: how gates are drawn, and which contexts rows select (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggln.engine.gating import (
    SAMPLERS,
    Gates,
    contexts,
    sample_axis,
    sample_mixed,
    sample_offsets,
    sample_pairs,
    sample_sphere,
    shift,
)
from ggln.engine.gradient import reference
from ggln.engine.gradient.build import Settings, draw_gates

Array = NDArray[Any]


def find(gates: Gates, side: Array, columns: Array | None = None, first: int = 0, last: int = -1) -> Array:
    columns = np.arange(len(side)) if columns is None else columns
    last = len(gates.codes) if last < 0 else last
    found = np.empty((last - first, columns.size), np.int32)
    contexts(gates, side, columns, first, last, found)
    return found


def test_normals_are_uniform_on_the_sphere() -> None:
    gates = sample_sphere(5000, 4, np.empty((0, 3)), 1.0, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(gates.normals, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(gates.normals.mean(axis=0), 0.0, atol=0.02)  # 5 standard errors
    np.testing.assert_allclose(gates.normals.T @ gates.normals / 20_000, np.eye(3) / 3, atol=0.011)
    # on a sphere in three dimensions each coordinate is uniform on [-1, 1] (Archimedes)
    quartiles = np.quantile(gates.normals, [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(quartiles, np.tile([[-0.5], [0.0], [0.5]], 3), atol=0.04)


@pytest.mark.parametrize("gating", sorted(SAMPLERS))
def test_offsets_have_the_asked_scale(gating: str) -> None:
    gates = SAMPLERS[gating](4000, 5, np.zeros((9, 3)), 0.05, np.random.default_rng(0))
    np.testing.assert_allclose(gates.offsets.std(), 0.05, rtol=0.03)
    np.testing.assert_allclose(gates.offsets.mean(), 0.0, atol=0.002)


def test_pairs_of_rows_give_directions_in_which_rows_differ() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 1)) * np.array([[3.0, 4.0, 0.0]]) * 1e200
    gates = sample_pairs(40, 3, rows, 0.5, rng)
    unit = np.abs(gates.normals @ np.array([0.6, 0.8, 0.0]))
    np.testing.assert_allclose(np.linalg.norm(gates.normals, axis=1), 1.0, rtol=1e-12)
    assert np.mean(unit > 1 - 1e-9) > 0.9  # the rest took a row twice
    for alike in (np.empty((0, 3)), np.ones((1, 3)), np.ones((7, 3))):
        gates = sample_pairs(40, 3, alike, "data", rng)
        np.testing.assert_allclose(np.linalg.norm(gates.normals, axis=1), 1.0, rtol=1e-12)
        assert np.isfinite(gates.offsets).all()
    assert sample_pairs(4, 0, rows, 0.5, rng).codes.shape == (4, 0)


def test_axis_gates_take_features_uniformly() -> None:
    gates = sample_axis(3000, 4, np.zeros((0, 4)), 1.0, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(gates.codes.ravel()) / 12_000, 0.25, atol=0.02)
    assert gates.normals.shape == (0, 4)


def test_mixed_gates_are_half_and_half() -> None:
    gates = sample_mixed(3000, 4, np.zeros((0, 3)), 1.0, np.random.default_rng(0))
    general = gates.codes >= 3
    np.testing.assert_allclose(general.mean(), 0.5, atol=0.03)
    np.testing.assert_array_equal(gates.codes[general] - 3, np.arange(general.sum()))  # each its own normal
    assert len(gates.normals) == general.sum()


@given(
    rows=st.integers(1, 30), features=st.integers(1, 4), levels=st.integers(1, 6), seed=st.integers(0, 10**6)
)
def test_data_offsets_separate_values(rows: int, features: int, levels: int, seed: int) -> None:
    """Every threshold lies between two values, or lets all of them pass."""
    rng = np.random.default_rng(seed)
    side = rng.integers(levels, size=(rows, features)).astype(float)
    offsets = sample_offsets(side, "data", rng)
    for values, offset in zip(side.T, offsets, strict=True):
        above, below = values[values >= offset], values[values < offset]
        assert above.size > 0
        assert np.isclose(offset, 0.5 * (above.min() + below.max()) if below.size else above.min())


def test_data_offsets_without_rows_are_zero() -> None:
    np.testing.assert_array_equal(
        sample_offsets(np.empty((0, 4)), "data", np.random.default_rng(0)), np.zeros(4)
    )


@pytest.mark.parametrize("gating", sorted(SAMPLERS))
@given(
    context_dim=st.integers(0, 6),
    features=st.integers(1, 9),  # projections take four features at a time
    neurons=st.integers(1, 5),
    bias=st.sampled_from([0.0, 0.5, "data"]),
    seed=st.integers(0, 10**6),
)
def test_contexts_equal_the_twins(
    gating: str, context_dim: int, features: int, neurons: int, bias: float | str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    side = rng.normal(size=(7, features)) * 10.0 ** rng.integers(-3, 4, size=features)
    side[0] = 0.0  # on the hyperplane where the offset is 0: `>=` counts it in
    gates = SAMPLERS[gating](neurons, context_dim, side, bias, rng)
    expected = [[reference.context(gates, k, z) for z in side] for k in range(neurons)]
    np.testing.assert_array_equal(find(gates, side), expected)


def test_bits_of_a_context() -> None:
    """Gate i is bit i; a row on the hyperplane is inside."""
    gates = Gates(
        np.array([[0, 1, 2]], np.int32), np.array([[0.5, -1.0, 0.0]]), np.array([[0.6, 0.8]])
    )  # x0 >= 0.5, x1 >= -1, 0.6 x0 + 0.8 x1 >= 0
    side = np.array([[0.5, -2.0], [0.0, -1.0], [0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(find(gates, side), [[0b001, 0b010, 0b110, 0b111]])


@pytest.mark.parametrize("gating", SAMPLERS)
def test_shifted_gates_do_not_look_at_the_columns_in_front(gating: str) -> None:
    random = np.random.default_rng(0)
    side = random.normal(size=(30, 3))
    gates = SAMPLERS[gating](8, 2, side, "data", random)
    wider = np.hstack([random.normal(size=(30, 4)), side])
    np.testing.assert_array_equal(find(shift(gates, 4), wider), find(gates, side))


def test_contexts_do_not_depend_on_blocks() -> None:
    """Rows on the hyperplanes themselves, so that the last bit of a projection decides."""
    rng = np.random.default_rng(0)
    gates = sample_sphere(6, 4, np.empty((0, 7)), 0.0, rng)
    side = rng.normal(size=(150, 7))
    for t in range(150):  # the twin's own sums become offsets of rows
        normal = gates.normals[t % 24]
        side[t] -= (side[t] @ normal) * normal
    whole = find(gates, side)
    rows = [find(gates, side[t : t + 1]) for t in range(150)]
    np.testing.assert_array_equal(whole, np.concatenate(rows, axis=1))
    order = rng.permutation(150)
    np.testing.assert_array_equal(find(gates, side, order), whole[:, order])
    np.testing.assert_array_equal(
        np.concatenate([find(gates, side[:63]), find(gates, side[63:])], axis=1), whole
    )
    np.testing.assert_array_equal(find(gates, side, first=2, last=5), whole[2:5])
    twin = [[reference.context(gates, k, z) for z in side] for k in range(6)]
    np.testing.assert_array_equal(whole, twin)


def test_networks_have_their_own_gates(make_settings: Callable[..., Settings]) -> None:
    """Joined gates select for each network what its own would."""
    side = np.random.default_rng(0).normal(size=(20, 3))
    both = draw_gates(make_settings(n_estimators=2, gating="mixed", gating_bias="data"), side)
    one = draw_gates(make_settings(n_estimators=1, gating="mixed", gating_bias="data"), side)
    found = find(both, side)
    np.testing.assert_array_equal(found[:8], find(one, side))
    assert np.any(found[8:] != found[:8])
