"""Facts about neurons that hold for every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggln.engine.gradient import inspect
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.threads import Threads

KINDS = ["univariate", "isotropic", "diagonal", "full"]
PROJECTIONS = "clip", "exact", "log_barrier"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_neuron_without_weights_predicts_zero(
    kind: str, dtype: Any, make_settings: Callable[..., Settings], make_rows: Any
) -> None:
    """All weights at zero leave no precision, and then rounding must not make up a mean (constants.py)."""
    outputs = 1 if kind == "univariate" else 2
    settings = make_settings(
        layer_sizes=(5,),
        context_dim=0,
        features=6,
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        dtype=dtype,
    )
    side, targets = make_rows(settings, 30)
    networks = build(settings, draw_gates(settings, side))
    networks.learn(side[:1], targets[:1], Threads(1))
    networks.pool.numbers[networks.pool.visited()[2][0]] = -networks.shape.priors[0]
    assert not np.any(inspect.active_weights(networks, 0, side[:1])[0])
    found = networks.components(side, Threads(1)).outputs[..., :outputs]
    np.testing.assert_allclose(found, 0.0, atol=0.05 * settings.bias_range)


@pytest.mark.parametrize(
    ("kind", "projection"),
    [
        *(("univariate", projection) for projection in PROJECTIONS),
        # each takes a quarter of a minute to compile
        *(
            pytest.param(kind, projection, marks=pytest.mark.nightly)
            for kind in KINDS
            for projection in PROJECTIONS
            if kind != "univariate"
        ),
    ],
)
def test_outputs_stay_in_their_ranges(
    kind: str, projection: str, make_settings: Callable[..., Settings], make_rows: Any
) -> None:
    """Whatever comes: huge targets, steps that overshoot, inputs far out."""
    outputs = 1 if kind == "univariate" else 2
    settings = make_settings(
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        projection=projection,
        step="ogd",
        learning_rate=1.0,
        weight_range=(-0.1, 2.0),
    )
    side, targets = make_rows(settings, 30, 100.0)
    networks = build(settings, draw_gates(settings, side))
    networks.learn(1e3 * side, targets, Threads(1))
    components = networks.components(1e3 * side, Threads(1))
    means, precisions = np.split(components.outputs[:, 0], [outputs], axis=-1)
    assert np.all(np.abs(means) <= 5.0)
    if kind == "full":
        precisions = np.linalg.eigvalsh(precisions.reshape(30, -1, 2, 2))
    assert np.all((precisions >= 0.01 * (1 - 1e-9)) & (precisions <= 100.0 * (1 + 1e-9)))
    np.testing.assert_allclose(components.weights.sum(), 1.0)
    for weights in inspect.active_weights(networks, 0, 1e3 * side[:1]):
        assert np.all((weights >= -0.1 - 1e-12) & (weights <= 2.0 + 1e-12))
