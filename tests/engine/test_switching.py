"""Switching aggregation (Appendix D) and the exponential it uses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.engine.switching import densities, exp_negative, switch, switch_networks


def test_exponential() -> None:
    x = -np.concatenate(
        [np.linspace(0, 2, 999), np.geomspace(1e-300, 700, 999), [0.0, np.log(2), 0.5 * np.log(2)]]
    )
    found = np.array([exp_negative(value) for value in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-14)


def test_exponential_of_very_negative_numbers_is_next_to_nothing() -> None:
    assert 0.0 <= exp_negative(-1e300) < 1e-300
    assert 0.0 <= exp_negative(-np.inf) < 1e-300


def test_formula_in_exact_fractions() -> None:
    likelihoods = [[1, 2, 4], [8, 1, 1], [1, 1, 2], [4, 4, 1]]
    exact, weights = [Fraction(1, 3)] * 3, np.full(3, 1 / 3)
    for t, row in enumerate(likelihoods, start=1):
        alpha = Fraction(1, t + 1)
        evidence = sum(w * rho for w, rho in zip(exact, row, strict=True))
        exact = [
            alpha / 2 + (1 - alpha - alpha / 2) * w * rho / evidence
            for w, rho in zip(exact, row, strict=True)
        ]
        switch(weights, t, np.array(row, float))
        np.testing.assert_allclose(weights, [float(w) for w in exact], rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_densities_up_to_a_common_factor(dtype: type) -> None:
    rng = np.random.default_rng(0)
    energy, scale = 30.0 * rng.uniform(size=9), rng.uniform(0.1, 5.0, size=9)
    found, plain = np.empty(9, dtype), scale * np.exp(-energy)
    densities(energy + 1e4, scale, found)  # e^-10000 itself is no number
    rtol = 1e-6 if dtype is np.float32 else 1e-11  # energies of 1e4 have an absolute error of 1e-12
    np.testing.assert_allclose(found / found.sum(), plain / plain.sum(), rtol=rtol)


def test_faint_densities_stay_normal_numbers() -> None:
    found = np.empty(2, np.float32)
    densities(np.array([0.0, 1e9]), np.array([1.0, 1e-2]), found)
    assert found[0] == 1.0
    assert 0.0 < np.finfo(np.float32).tiny < found[1] < 1e-30


@given(
    models=st.integers(1, 40), steps=st.integers(1, 30), spread=st.floats(0, 1e6), seed=st.integers(0, 10**6)
)
def test_weights_stay_a_distribution(models: int, steps: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.full(models, 1 / models)
    for t in range(1, steps + 1):
        density = np.empty(models)
        densities(spread * rng.uniform(size=models), rng.uniform(1e-3, 1e3, size=models), density)
        switch(weights, t, density)
        assert np.all(weights >= 0)
        np.testing.assert_allclose(weights.sum(), 1, rtol=1e-14)
    least = 1 / ((steps + 1) * (models - 1)) if models > 1 else 1.0
    assert np.all(weights >= least * (1 - 1e-12)), "every model keeps the share alpha / (m - 1)"


def test_better_model_wins() -> None:
    weights = np.full(4, 0.25)
    for t in range(1, 200):
        switch(weights, t, np.exp([-1.0, -1.0, 0.0, -1.0]))
    assert weights[2] > 0.98


def test_networks_are_switched_between_as_neurons_are() -> None:
    rng = np.random.default_rng(0)
    evidence = rng.normal(scale=3.0, size=(4, 30)) - 500.0  # densities that would underflow
    shares, history, expected = np.full(4, 0.25), np.empty((30, 4)), np.full(4, 0.25)
    switch_networks(shares, 1, evidence, history)
    for t in range(30):
        np.testing.assert_allclose(history[t], expected, rtol=1e-12)
        switch(expected, 1 + t, np.exp(evidence[:, t] - evidence[:, t].max()))
    np.testing.assert_allclose(shares, expected, rtol=1e-12)


def test_the_cut_of_rows_does_not_matter_to_shares() -> None:
    evidence = np.random.default_rng(0).normal(scale=3.0, size=(19, 30))
    shares, cut = np.full(19, 1 / 19), np.full(19, 1 / 19)
    switch_networks(shares, 1, evidence, np.empty((30, 19)))
    for start, stop in [(0, 1), (1, 13), (13, 14), (14, 30)]:
        part = np.ascontiguousarray(evidence[:, start:stop])
        switch_networks(cut, 1 + start, part, np.empty((0, 19)))
    np.testing.assert_array_equal(cut, shares)
