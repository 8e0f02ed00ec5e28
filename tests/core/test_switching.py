"""Switching aggregation (Appendix D) and the exponential it uses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ggln.core.switching import exp_negative, switch


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
    """Densities are powers of two: energy 0, and the whole density as scale."""
    densities = [[1, 2, 4], [8, 1, 1], [1, 1, 2], [4, 4, 1]]
    exact, weights = [Fraction(1, 3)] * 3, np.full(3, 1 / 3)
    for t, row in enumerate(densities, start=1):
        alpha = Fraction(1, t + 1)
        evidence = sum(w * rho for w, rho in zip(exact, row, strict=True))
        exact = [
            alpha / 2 + (1 - alpha - alpha / 2) * w * rho / evidence
            for w, rho in zip(exact, row, strict=True)
        ]
        switch(weights, t, np.zeros(3), np.array(row, float))
        np.testing.assert_allclose(weights, [float(w) for w in exact], rtol=1e-14)


def test_energies_and_scales_say_the_same() -> None:
    rng = np.random.default_rng(0)
    energy, scale = 30.0 * rng.uniform(size=9), rng.uniform(0.1, 5.0, size=9)
    one, other = rng.dirichlet(np.ones(9)), np.empty(9)
    other[:] = one
    switch(one, 5, energy + 1e4, scale.copy())  # a common factor e^-10000 must not matter
    switch(other, 5, np.zeros(9), scale * np.exp(-energy))
    np.testing.assert_allclose(one, other, rtol=1e-10)


@given(
    models=st.integers(1, 40), steps=st.integers(1, 30), spread=st.floats(0, 1e6), seed=st.integers(0, 10**6)
)
def test_weights_stay_a_distribution(models: int, steps: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.full(models, 1 / models)
    for t in range(1, steps + 1):
        switch(weights, t, spread * rng.uniform(size=models), rng.uniform(1e-3, 1e3, size=models))
        assert np.all(weights >= 0)
        np.testing.assert_allclose(weights.sum(), 1, rtol=1e-14)
    least = 1 / ((steps + 1) * (models - 1)) if models > 1 else 1.0
    assert np.all(weights >= least * (1 - 1e-12)), "every model keeps the share alpha / (m - 1)"


def test_better_model_wins() -> None:
    weights = np.full(4, 0.25)
    for t in range(1, 200):
        switch(weights, t, np.array([1.0, 1.0, 0.0, 1.0]), np.ones(4))
    assert weights[2] > 0.98
