"""The joint regression of layer 0 against its twin, which solves the normal equations anew for each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ggln.engine.bases.reference_regression import JointRegression
from ggln.engine.bases.triangle import sweep
from ggln.engine.gradient import inspect
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.threads import Threads


@settings(max_examples=25)
@given(
    features=st.integers(1, 4),
    outputs=st.integers(1, 2),
    slope=st.sampled_from([0.0, 1.0, 30.0]),
    repeated=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_predictions_are_those_of_the_twin(
    features: int,
    outputs: int,
    slope: float,
    repeated: bool,
    seed: int,
    make_settings: Callable[..., Settings],
) -> None:
    rng = np.random.default_rng(seed)
    side = (
        np.repeat(rng.normal(size=(1, features)), 12, axis=0) if repeated else rng.normal(size=(12, features))
    )
    targets = slope * side[:, :1] + 0.1 * rng.normal(size=(12, outputs))
    chosen = make_settings(
        base_model="linear", base_variance=2.0, features=features, outputs=outputs, bias_range=4.0
    )
    ensemble = build(chosen, draw_gates(chosen, side))
    twin = JointRegression(features, outputs, chosen.min_variance)
    for t in range(12):
        means, variances = inspect.base_row(ensemble, 0, side[t : t + 1])
        mean, variance = twin.predict(side[t])
        np.testing.assert_allclose(means[:-1], np.repeat(np.clip(side[t], -4, 4)[:, None], outputs, axis=1))
        np.testing.assert_allclose(means[-1], np.clip(mean, -4, 4), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(variances, [*[2.0] * features, variance], rtol=1e-8)
        ensemble.learn(side[t : t + 1], targets[t : t + 1], Threads(1))
        twin.learn(side[t], targets[t])


def test_a_linear_target_is_found_at_once(make_settings: Callable[..., Settings]) -> None:
    """Features as vague as the base variance says hardly count: the network starts from the regression."""
    chosen = make_settings(base_model="linear", base_variance=1e4, bias_variance=1e4, features=4)
    rng = np.random.default_rng(0)
    side = rng.normal(size=(60, 4))
    targets = 0.5 * side @ rng.normal(size=(4, 1)) + 0.3
    ensemble = build(chosen, draw_gates(chosen, side))
    ensemble.learn(side[:40], targets[:40], Threads(1))
    mean, _ = ensemble.moments(side[40:], Threads(1))
    assert np.abs(mean - targets[40:]).max() < 0.1


def test_leverage_is_one_over_the_rows_that_tell_about_a_direction() -> None:
    triangle = np.diag([np.sqrt(100.0), np.sqrt(4.0)])
    lines, rests, leverages = np.eye(2), np.empty((2, 2)), np.empty(2)
    sweep(triangle, lines, rests, leverages, 2, False)
    np.testing.assert_allclose(leverages, [1 / 100, 1 / 4])
