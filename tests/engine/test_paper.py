"""The engine against the paper's Algorithm 1 as `ggln.paper` writes it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.threads import Threads
from ggln.paper import algorithm as paper


def half_spaces(gates: Any, features: int, sizes: tuple[int, ...]) -> list[list[paper.HalfSpaces]]:
    """Return the engine's gates as the paper's, layer by layer; a code below `features` is an axis."""
    directions = np.vstack([np.eye(features), gates.normals.reshape(-1, features)])
    everyone = [
        paper.HalfSpaces(directions[codes], offsets)
        for codes, offsets in zip(gates.codes, gates.offsets, strict=True)
    ]
    ends = np.cumsum(sizes)
    return [everyone[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_engine_is_algorithm_one(
    outputs: int, make_settings: Callable[..., Settings], make_rows: Callable[..., Any]
) -> None:
    settings = make_settings(
        layer_sizes=(6, 4, 1),
        gating="sphere",
        gating_bias=1.0,
        step="ogd",
        learning_rate=1e-3,
        weight_range=(0.0, 1e3),
        min_variance=1e-3,
        max_variance=1e3,
        aggregation="last",
        outputs=outputs,
        base_model="coordinate" if outputs > 1 else "feature",
        features=outputs if outputs > 1 else 3,
    )
    side, targets = make_rows(settings, 40)
    gates = draw_gates(settings, side)
    recorded = build(settings, gates).learn(side, targets, Threads(1), record=True)
    network = paper.Network(
        half_spaces(gates, settings.features, settings.layer_sizes), settings.features, outputs
    )
    for t in range(40):
        means = 2.0 * np.diag(side[t]) if outputs > 1 else side[t][:, None]
        base = paper.gaussians(means, np.ones(settings.features))
        layers = network.pass_through(base, side[t], targets[t], settings.learning_rate)
        means = np.concatenate([layer.means for layer in layers])
        np.testing.assert_allclose(recorded.outputs[t, 0, :, :outputs], means, rtol=1e-9, atol=1e-12)
