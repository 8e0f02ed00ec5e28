"""Running standardisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.engine.scaling import Scaler, within


@pytest.mark.parametrize("scale", [1e-90, 1e-6, 1.0, 1e6, 1e90])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_running_statistics_are_those_of_the_whole(scale: float, shift: float) -> None:
    rows = scale * (shift + np.random.default_rng(0).normal(size=(500, 3)))
    running, whole = Scaler(3, np.inf, True), Scaler(3, np.inf, True)
    running.learn(rows)
    whole.fit(rows)
    for scaler in (running, whole):
        mean, deviation = scaler.shift_and_scale()
        np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-12, atol=1e-14 * scale)
        np.testing.assert_allclose(deviation, rows.std(axis=0), rtol=1e-10)
        z = scaler.transform(rows)
        np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(z.std(axis=0), 1.0, rtol=1e-9)


@given(rows=st.integers(1, 40), cuts=st.lists(st.integers(0, 40), max_size=5), seed=st.integers(0, 10**6))
def test_cuts_do_not_matter(rows: int, cuts: list[int], seed: int) -> None:
    """Bit for bit: what rows become, and what is known afterwards."""
    data = 1e3 + np.random.default_rng(seed).normal(size=(rows, 2))
    whole, cut = Scaler(2, 3.0, True), Scaler(2, 3.0, True)
    parts = np.split(data, sorted(min(c, rows) for c in cuts))
    expected, shifts, scales = whole.learn_recorded(data)
    np.testing.assert_array_equal(np.concatenate([cut.learn(part) for part in parts]), expected)
    np.testing.assert_array_equal(cut.state, whole.state)
    inside = np.abs(expected) < 3.0
    np.testing.assert_allclose((shifts + scales * expected)[inside], data[inside], rtol=1e-12)


def test_each_row_is_scaled_by_the_rows_before_it() -> None:
    data = np.random.default_rng(0).normal(2.0, 3.0, size=(20, 1))
    found = Scaler(1, np.inf, True).learn(data)
    assert found[0, 0] == data[0, 0], "nothing is known before the first row"
    for t in range(2, 20):
        np.testing.assert_allclose(found[t], (data[t] - data[:t].mean()) / data[:t].std(), rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e90, 1e-90, 12345.678])
def test_constant_columns_are_only_shifted(value: float) -> None:
    data = np.full((1000, 1), value)
    for learn in (Scaler.fit, Scaler.learn):
        scaler = Scaler(1, 1e6, True)
        learn(scaler, data)
        assert scaler.shift_and_scale()[1] == 1.0
        np.testing.assert_allclose(scaler.transform(data), 0.0, atol=1e-12 * abs(value))


def test_nearly_constant_columns_are_not_constant() -> None:
    data = 1e6 + 1e-3 * np.random.default_rng(0).normal(size=(1000, 1))
    scaler = Scaler(1, 1e6, True)
    scaler.learn(data)
    np.testing.assert_allclose(scaler.shift_and_scale()[1], data.std(), rtol=1e-6)


def test_limits() -> None:
    scaler = Scaler(1, 2.0, True)
    scaler.fit(np.array([[-1.0], [1.0]]))
    np.testing.assert_array_equal(
        scaler.transform(np.array([[-9.0], [0.5], [1e300]])), [[-2.0], [0.5], [2.0]]
    )


def test_inactive_scalers_pass_values_through() -> None:
    scaler, data = Scaler(2, 5.0, False), np.array([[1.0, 9.0], [-2.0, -9.0]])
    np.testing.assert_array_equal(scaler.learn(data), [[1.0, 5.0], [-2.0, -5.0]])
    np.testing.assert_array_equal(scaler.shift_and_scale(), [[0.0, 0.0], [1.0, 1.0]])


def test_restored_moments_are_in_the_users_units() -> None:
    scaler, data = Scaler(2, np.inf, True), np.random.default_rng(0).normal(3.0, 2.0, size=(50, 2))
    scaler.learn(data)
    mean, second = np.array([[0.8, -2.0]]), np.array([[0.82, 4.0]])  # sums over four networks
    scaler.restore_moments(mean, second, 4, 0.01)
    shift, scale = data.mean(axis=0), data.std(axis=0)
    np.testing.assert_allclose(mean, [shift + scale * [0.2, -0.5]])
    np.testing.assert_allclose(second, [scale * np.sqrt([0.205 - 0.04, 0.75])])


@pytest.mark.parametrize(
    ("value", "fine"), [(1.0, True), (2.0, True), (2.1, False), (np.nan, False), (-np.inf, False)]
)
def test_within(value: float, fine: bool) -> None:
    assert within(np.array([[0.0, value]]), 2.0) == fine


def test_missing_values_are_no_part_of_the_units():
    random = np.random.default_rng(0)
    X = 5.0 + 3.0 * random.standard_normal((100, 3))
    X[random.random(X.shape) < 0.3] = np.nan
    X[:, 2] = np.nan
    scaler = Scaler(3, 1e6, True, hold=True)
    scaler.settle(X, np.ones(100))
    np.testing.assert_allclose(scaler.state[1, :2], np.nanmean(X[:, :2], axis=0))
    found = scaler.transform(X)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    np.testing.assert_allclose(np.nanstd(found[:, :2], axis=0), 1.0)
    assert np.isnan(scaler.transform(np.ones((2, 3)))[:, 2]).all()


def test_columns_that_were_constant_stay_so():
    X = np.full((20, 3), [0.1, 1e9, 0.0])
    for active in (True, False):
        scaler = Scaler(3, 1e12, active, hold=True)
        scaler.settle(X, np.ones(20))
        np.testing.assert_array_equal(scaler.state[1], X[0])  # to the last bit
        assert scaler.constant().all()
        other = np.array([[7.0, 1e6, np.nan]])
        np.testing.assert_array_equal(scaler.transform(other)[:, :2], scaler.transform(X[:1])[:, :2])
        assert np.isnan(scaler.transform(other)[0, 2])
    assert not Scaler(3, 1e6, True).constant().any()
