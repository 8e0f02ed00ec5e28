"""The split step of isotropic neurons, and biases with initial weights of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggln.engine import constants
from ggln.engine.gradient import inspect, reference
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.gradient.reference import Gaussians, ReferenceNetwork
from ggln.engine.threads import Threads


def rows_of(settings: Settings, count: int) -> Any:
    rng = np.random.default_rng(3)
    clean = rng.uniform(-1.0, 1.0, (count, settings.outputs))
    return clean + 0.2 * rng.standard_normal(clean.shape), clean.astype(settings.dtype)


@pytest.mark.parametrize(
    ("bias_weight", "base_model"), [(0.0, "coordinate"), (0.3, "coordinate"), (0.3, "axes")]
)
def test_engine_equals_twin(
    bias_weight: float, base_model: str, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(
        layer_sizes=(5, 6, 1),  # pairs, and one neuron alone
        outputs=3,
        features=3,
        base_model=base_model,
        step="split",
        learning_rate=0.3,
        bias_range=2.0,
        bias_variance=3.0,
        bias_weight=bias_weight,
        aggregation="last",
    )
    side, targets = rows_of(settings, 30)
    gates = draw_gates(settings, side)
    twin, ensemble = ReferenceNetwork(settings, gates), build(settings, gates)
    recorded = ensemble.learn(side, targets, Threads(1), record=True)
    assert recorded is not None
    for t in range(len(side)):
        layers = twin.learn(side[t], targets[t])
        means = np.concatenate([layer.means for layer in layers])
        np.testing.assert_allclose(recorded.outputs[t, 0, :, :3], means, rtol=1e-9, atol=1e-9)
    for mine, plain in zip(
        inspect.active_weights(ensemble, 0, side[:1]), twin.active_weights(side[0]), strict=True
    ):
        np.testing.assert_allclose(mine, plain, rtol=1e-9, atol=1e-12)


def test_no_bias_weight_makes_the_identity(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(
        layer_sizes=(3, 1),
        outputs=4,
        features=4,
        base_model="coordinate",
        bias_weight=0.0,
        aggregation="last",
    )
    side = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 4))
    ensemble = build(settings, draw_gates(settings, side))
    np.testing.assert_allclose(ensemble.moments(side, Threads(1))[0], side, rtol=1e-12)


@pytest.mark.parametrize("dense", [0, 7])
def test_the_bound_is_one_of_the_largest_eigenvalue(dense: int) -> None:
    """Neither part of the step moves its term of the Hessian by more than `cap`, whatever the inputs."""
    rng = np.random.default_rng(dense)
    for size in (2, 5, 40):
        biases = np.kron(np.eye(size), [[-1.0], [1.0]]) * 2 * size
        base = np.eye(size) * rng.uniform(-1, 1, size) * size
        means = np.concatenate([rng.normal(size=(dense, size)), base, biases])
        p = np.concatenate([rng.uniform(0.5, 20.0, dense), np.full(size, 2.0), np.full(2 * size, 0.5)])
        inputs = Gaussians(means, p[:, None, None] * np.eye(size))
        weights = rng.uniform(0, 1, len(p))
        mean, precision = reference.product(weights, inputs)
        L, U = precision[0, 0], p[:, None] * (means - mean)
        y = mean + 0.1 * rng.standard_normal(size)
        step = reference.split_step(y, mean, precision, inputs, 3 * size, 1.0)
        # the part along U: cap L / (2 bound), found from the steps with and without residual along the mean
        direction = -2 * U @ (y - mean)
        rate = ((step - p * (step @ p) / (p @ p)) @ direction) / (
            (direction - p * (direction @ p) / (p @ p)) @ direction
        )
        assert rate * 2 / L * np.linalg.norm(U, 2) ** 2 <= 1 + 1e-9
        trace = 2 / L * (U**2).sum()
        assert dense or rate * trace > size / 8  # what the trace would allow is far less


def test_a_far_target_does_not_kill_a_neuron(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(
        layer_sizes=(2, 1),
        outputs=2,
        features=2,
        base_model="coordinate",
        step="split",
        learning_rate=1.0,
        context_dim=0,
        bias_weight=0.01,
        aggregation="last",
    )
    side = np.zeros((50, 2))
    targets = np.tile([[4.0, -4.0], [-4.0, 4.0]], (25, 1))
    ensemble = build(settings, draw_gates(settings, side))
    ensemble.learn(side, targets, Threads(1))
    mean, variance = ensemble.moments(side[:1], Threads(1))
    assert np.isfinite(mean).all()
    assert (variance > 1.0).all()
    assert constants.PRECISION_PACE < 1
