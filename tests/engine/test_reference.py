"""The twin's own formulas: gradients against finite differences, and what the paper proves about the loss."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggln.engine.constants import BARRIER_FLOOR
from ggln.engine.gradient import reference
from ggln.engine.gradient.build import Settings, draw_gates
from ggln.engine.gradient.reference import Gaussians, ReferenceNetwork

Array = NDArray[Any]
STRUCTURES = ["isotropic", "diagonal", "full"]


def gaussians(structure: str, inputs: int, outputs: int, rng: np.random.Generator) -> Gaussians:
    roots = rng.normal(size=(inputs, outputs, outputs)) + np.eye(outputs)
    full = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(outputs)
    eye = np.eye(outputs)
    precisions = {"isotropic": full[:, :1, :1] * eye, "diagonal": full * eye, "full": full}[structure]
    return Gaussians(2.0 * rng.normal(size=(inputs, outputs)), precisions)


def differences(function: Callable[[Array], Any], at: Array, step: float = 1e-5) -> Array:
    """Central differences of a function of a vector, along its last axis."""
    moves = step * np.eye(at.size)
    return np.stack([(function(at + move) - function(at - move)) / (2 * step) for move in moves], axis=-1)


@pytest.fixture(params=[(s, d) for s in STRUCTURES for d in (1, 2, 3)], ids=lambda p: f"{p[0]}-{p[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Gaussians, Array, Array]:
    """Inputs, weights and a target."""
    structure, outputs = request.param
    rng = np.random.default_rng(outputs)
    return gaussians(structure, 5, outputs, rng), rng.uniform(0.1, 1.0, size=5), rng.normal(size=outputs)


def test_gradient(case: tuple[Gaussians, Array, Array]) -> None:
    inputs, w, y = case
    found = reference.gradient(y, *reference.product(w, inputs), inputs)
    expected = differences(lambda v: reference.loss(y, *reference.product(v, inputs)), w)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_hessian_trace(case: tuple[Gaussians, Array, Array]) -> None:
    inputs, w, y = case
    hessian = differences(lambda v: reference.gradient(y, *reference.product(v, inputs), inputs), w)
    output = reference.product(w, inputs)
    np.testing.assert_allclose(reference.hessian_trace(*output, inputs), np.trace(hessian), rtol=1e-7)
    assert reference.hessian_trace_bound(*output, inputs) >= np.trace(hessian) * (1 - 1e-7)


def test_trace_of_one_output_is_the_papers() -> None:
    """Eq. 15 with d omega_j = p_j d w_j, as design.md writes it."""
    rng = np.random.default_rng(0)
    p, mu, w = rng.uniform(0.1, 3.0, 6), rng.normal(size=6), rng.uniform(size=6)
    inputs = Gaussians(mu[:, None], p[:, None, None])
    L, m = w @ p, (w @ (p * mu)) / (w @ p)
    S1, S2, S3 = np.sum(p**2), np.sum(p**2 * mu), np.sum(p**2 * mu**2)
    expected = S1 / L**2 + 2 / L * (S3 - 2 * m * S2 + m**2 * S1)
    np.testing.assert_allclose(reference.hessian_trace(*reference.product(w, inputs), inputs), expected)


def test_bound_is_exact_for_isotropic_products() -> None:
    rng = np.random.default_rng(0)
    inputs, w = gaussians("isotropic", 4, 3, rng), rng.uniform(size=4)
    output = reference.product(w, inputs)
    np.testing.assert_allclose(
        reference.hessian_trace_bound(*output, inputs), reference.hessian_trace(*output, inputs)
    )


@pytest.mark.parametrize("structure", STRUCTURES)
def test_barrier_gradient(structure: str, make_settings: Callable[..., Settings]) -> None:
    rng = np.random.default_rng(1)
    settings = make_settings(outputs=2, covariance=structure, weight_range=(-0.5, 2.0))
    inputs, w = gaussians(structure, 5, 2, rng), rng.uniform(0.1, 1.0, size=5)
    box, P = reference.box(5, -0.5, 2.0), reference.product(w, inputs)[1]
    limits = reference.join(box, reference.constrain(P, inputs, structure, settings))
    assert np.all(limits.slacks(w) > 2 * BARRIER_FLOOR * limits.scales), "the floors would hide the formula"

    def barrier(v: Array) -> float:
        if structure != "full":
            return -np.log(limits.slacks(v)).sum()
        # The eigenvectors move with the weights: the barrier is that of the eigenvalues.
        values = np.linalg.eigvalsh(reference.product(v, inputs)[1])
        return -np.log(box.slacks(v)).sum() - np.log(100 - values).sum() - np.log(values - 0.01).sum()

    np.testing.assert_allclose(
        reference.barrier_gradient(w, limits), differences(barrier, w, 1e-6), rtol=1e-6, atol=1e-6
    )


def test_barrier_floor_keeps_the_push_finite() -> None:
    limits = reference.box(4, 0.0, 1.0)
    np.testing.assert_allclose(
        reference.barrier_gradient(np.array([0.0, -3.0, 1.0, 0.5]), limits),
        [1 - 4 / BARRIER_FLOOR, 1 / 4 - 4 / BARRIER_FLOOR, 4 / BARRIER_FLOOR - 1, 0.0],
    )


@given(
    structure=st.sampled_from(STRUCTURES),
    outputs=st.integers(1, 3),
    inputs=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_loss_is_convex(structure: str, outputs: int, inputs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    some, y = gaussians(structure, inputs, outputs, rng), 3.0 * rng.normal(size=outputs)
    start, stop = rng.uniform(0.05, 2.0, size=(2, inputs))
    along = [
        reference.loss(y, *reference.product(start + a * (stop - start), some)) for a in np.linspace(0, 1, 9)
    ]
    slopes = np.diff(along)
    assert all(left <= right + 1e-9 * (1 + abs(right)) for left, right in pairwise(slopes))


@given(structure=st.sampled_from(STRUCTURES[:2]), inputs=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_mean_is_in_the_hull_of_the_inputs(structure: str, inputs: int, seed: int) -> None:
    """A convex combination for isotropic inputs; for diagonal ones in each coordinate by itself."""
    rng = np.random.default_rng(seed)
    some, w = gaussians(structure, inputs, 2, rng), rng.uniform(size=inputs) + 1e-3
    mean = reference.product(w, some)[0]
    assert np.all(mean >= some.means.min(axis=0) - 1e-12)
    assert np.all(mean <= some.means.max(axis=0) + 1e-12)
    if structure == "isotropic":
        shares = w * some.precisions[:, 0, 0]
        np.testing.assert_allclose(mean, shares @ some.means / shares.sum(), rtol=1e-12, atol=1e-12)


def test_hull_fails_for_full_precisions() -> None:
    """The paper's remark (section 2.1) is about scalar weights: matrix weights can leave the hull."""
    inputs = Gaussians(
        np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[[1.0, 0.9], [0.9, 1.0]], [[0.1, 0.0], [0.0, 9.0]]])
    )
    mean = reference.product(np.ones(2), inputs)[0]
    assert mean[0] < 0.0, "between means 0 and 1, yet below both"


def test_product_without_precision_has_mean_zero() -> None:
    inputs = gaussians("full", 3, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(reference.product(np.zeros(3), inputs)[0], [0.0, 0.0])


def test_switching_in_exact_fractions() -> None:
    """Three models, four steps, with densities whose logarithms are exact enough."""
    densities = [[1, 2, 4], [8, 1, 1], [1, 1, 2], [4, 4, 1]]
    weights, plain = [Fraction(1, 3)] * 3, np.full(3, 1 / 3)
    for t, row in enumerate(densities, start=1):
        alpha = Fraction(1, t + 1)
        evidence = sum(w * rho for w, rho in zip(weights, row, strict=True))
        weights = [
            alpha / 2 + (1 - alpha - alpha / 2) * w * rho / evidence
            for w, rho in zip(weights, row, strict=True)
        ]
        assert sum(weights) == 1
        plain = reference.switch(plain, t, np.log(row))
    np.testing.assert_allclose(plain, [float(w) for w in weights], rtol=1e-14)


def test_learn_returns_what_predict_did(make_settings: Callable[..., Settings], make_rows: Any) -> None:
    settings = make_settings(outputs=2, covariance="full", base_model="blr", base_variance=None)
    side, targets = make_rows(settings, 5)
    network = ReferenceNetwork(settings, draw_gates(settings, side))
    for z, y in zip(side, targets, strict=True):
        before, learnt = network.predict(z), network.learn(z, y)
        for one, other in zip(before, learnt, strict=True):
            np.testing.assert_array_equal(one.means, other.means)
            np.testing.assert_array_equal(one.precisions, other.precisions)
        assert np.any(network.predict(z)[0].means != before[0].means)


def test_last_is_the_first_neuron_of_the_last_layer(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(layer_sizes=(2, 3), aggregation="last")
    network = ReferenceNetwork(settings, draw_gates(settings, np.zeros((0, 3))))
    np.testing.assert_array_equal(network.mixture(), [0, 0, 1, 0, 0])
