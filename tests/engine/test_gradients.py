"""The engine's gradient step, taken from one row learnt at a tiny rate, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggln.engine.constants import STEP_CAP
from ggln.engine.gradient import inspect, reference
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.gradient.reference import Gaussians, ReferenceNetwork
from ggln.engine.threads import Threads

KINDS = ["univariate", "isotropic", "diagonal", "full"]


def inputs_of_layers(network: ReferenceNetwork, side: Any) -> list[Gaussians]:
    below = [network.base(side), *network.predict(side)[:-1]]
    return [Gaussians(*map(np.concatenate, zip(some, network.biases, strict=True))) for some in below]


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_of_every_neuron(kind: str, make_settings: Callable[..., Settings], make_rows: Any) -> None:
    outputs, rate = (1 if kind == "univariate" else 3), 1e-6
    settings = make_settings(
        layer_sizes=(6, 5),  # a tile and a rest in each layer
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        learning_rate=rate,
        step="ogd",
        weight_range=(-1e3, 1e3),
    )
    side, targets = make_rows(settings, 1)
    gates = draw_gates(settings, side)
    ensemble, twin = build(settings, gates), ReferenceNetwork(settings, gates)
    before = inspect.active_weights(ensemble, 0, side)
    ensemble.learn(side, targets, Threads(1))
    after = inspect.active_weights(ensemble, 0, side)
    for inputs, old, new in zip(inputs_of_layers(twin, side[0]), before, after, strict=True):
        steps = 1e-5 * np.eye(old.shape[1])
        for k in range(old.shape[0]):
            loss = [
                [reference.loss(targets[0], *reference.product(old[k] + s * step, inputs)) for s in (1, -1)]
                for step in steps
            ]
            slopes = (np.array(loss) @ [1, -1]) / 2e-5
            np.testing.assert_allclose((old[k] - new[k]) / rate, slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_capped_step_is_the_cap_over_the_trace(
    kind: str, make_settings: Callable[..., Settings], make_rows: Any
) -> None:
    """At a huge rate, the step is STEP_CAP / trace times the gradient; a bound on the trace for "full"."""
    outputs = 1 if kind == "univariate" else 2
    settings = make_settings(
        layer_sizes=(5,),
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        learning_rate=1e6,
        weight_range=(-1e3, 1e3),
    )
    side, targets = make_rows(settings, 1)
    gates = draw_gates(settings, side)
    ensemble, twin = build(settings, gates), ReferenceNetwork(settings, gates)
    (inputs,), (old,) = inputs_of_layers(twin, side[0]), inspect.active_weights(ensemble, 0, side)
    ensemble.learn(side, targets, Threads(1))
    (new,) = inspect.active_weights(ensemble, 0, side)
    output = reference.product(old[0], inputs)
    trace = reference.hessian_trace_bound if kind == "full" else reference.hessian_trace
    step = STEP_CAP / trace(*output, inputs) * reference.gradient(targets[0], *output, inputs)
    np.testing.assert_allclose(old[0] - new[0], step, rtol=1e-9)
