"""The Bernoulli engine against its plain twin, in double precision, and the twin against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggln.engine.gradient import inspect
from ggln.engine.gradient import reference_bernoulli as twins
from ggln.engine.gradient.build import Settings, bernoulli_settings, build, draw_gates
from ggln.engine.gradient.reference_bernoulli import ReferenceBernoulli
from ggln.engine.threads import Threads

Array = NDArray[Any]


def make_rows(chosen: Settings, count: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    side = 2.0 * rng.normal(size=(count, chosen.features))
    chances = twins.sigmoid(side @ rng.normal(size=(chosen.features, chosen.outputs)))
    return side, (rng.random(chances.shape) < chances).astype(chosen.dtype)


def compare(chosen: Settings, side: Array, targets: Array, rtol: float) -> None:
    """Let both learn the rows, and compare all there is."""
    gates, close = draw_gates(chosen, side), {"rtol": rtol, "atol": rtol}
    twin, ensemble = ReferenceBernoulli(chosen, gates), build(chosen, gates)
    recorded = ensemble.learn(side, targets, Threads(1), record=True)
    assert recorded is not None
    for t in range(len(side)):
        believed = recorded.weights[t, 0] if recorded.weights.ndim == 3 else recorded.weights[0]
        np.testing.assert_allclose(believed, twin.mixture(), err_msg=f"switching before row {t}", **close)
        probabilities = np.concatenate(twin.learn(side[t], targets[t]))
        found = twins.sigmoid(recorded.outputs[t, 0])
        np.testing.assert_allclose(found, probabilities, err_msg=f"row {t}", **close)
    np.testing.assert_allclose(ensemble.weights[0], twin.mixture(), err_msg="switching", **close)
    mean, _ = ensemble.moments(side, Threads(1))
    for t in range(len(side)):
        weights = inspect.active_weights(ensemble, 0, side[t : t + 1])
        for mine, plain in zip(weights, twin.active_weights(side[t]), strict=True):
            np.testing.assert_allclose(mine, plain.reshape(mine.shape), err_msg=f"weights, row {t}", **close)
        expected = twin.mixture() @ np.concatenate(twin.predict(side[t]))
        np.testing.assert_allclose(mean[t], expected, err_msg=f"probability of row {t}", **close)


@settings(max_examples=25)
@given(data=st.data())
def test_engine_equals_twin(data: st.DataObject) -> None:
    changes = {
        "layer_sizes": st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple),
        "context_dim": st.integers(0, 5),
        "features": st.integers(1, 9),
        "outputs": st.integers(1, 4),
        "gating": st.sampled_from(["sphere", "axis", "mixed"]),
        "gating_bias": st.sampled_from([0.05, 1.0, "data"]),
        "learning_rate": st.sampled_from([1e-3, 1e-1, 1.5]),
        "step": st.sampled_from(["ogd", "normalised"]),
        "decay": st.sampled_from([None, 1.0, 7.0]),
        "weight_range": st.sampled_from([(-200.0, 200.0), (-0.1, 0.6), (0.0, 1.0)]),
        "min_probability": st.sampled_from([1e-4, 0.01, 0.2]),
        "aggregation": st.sampled_from(["switching", "last"]),
        "seed": st.integers(0, 10**6),
    }
    drawn = {name: data.draw(strategy, name) for name, strategy in changes.items()}
    chosen = bernoulli_settings(**drawn, standardize=False, dtype=np.float64)
    compare(chosen, *make_rows(chosen, 16, drawn["seed"]), rtol=1e-9)


@pytest.mark.parametrize("outputs", [1, 130])
def test_many_classes_do_not_underflow(outputs: int) -> None:
    chosen = bernoulli_settings(
        layer_sizes=(3, 2), context_dim=1, features=2, outputs=outputs, seed=1, dtype=np.float64
    )
    compare(chosen, *make_rows(chosen, 8, 0), rtol=1e-9)


def test_gradient_is_that_of_the_log_loss() -> None:
    rng = np.random.default_rng(0)
    for y in (0.0, 1.0, 0.3):
        w, inputs = rng.normal(size=6), rng.uniform(0.05, 0.95, size=6)
        slopes = twins.gradient(y, twins.mix(w, inputs), inputs)
        for j, step in enumerate(1e-6 * np.eye(6)):
            above, below = (twins.loss(y, twins.mix(w + s * step, inputs)) for s in (1, -1))
            assert slopes[j] == pytest.approx((above - below) / 2e-6, rel=1e-6)


def test_mixing_is_the_normalised_weighted_geometric_mean() -> None:
    rng = np.random.default_rng(1)
    w, p = rng.normal(size=5), rng.uniform(0.05, 0.95, size=5)
    yes, no = np.prod(p**w), np.prod((1 - p) ** w)
    assert twins.mix(w, p) == pytest.approx(yes / (yes + no))


def test_a_normalised_step_never_raises_a_rows_own_loss() -> None:
    """Below 2 over a bound of the curvature, the loss cannot come back to where it was."""
    rng = np.random.default_rng(2)
    chosen = bernoulli_settings(
        layer_sizes=(1,), context_dim=0, features=3, outputs=1, seed=0, learning_rate=1.9, standardize=False
    )
    network = build(chosen, draw_gates(chosen, np.zeros((1, 3))))
    for _ in range(50):
        side, target = 3.0 * rng.normal(size=(1, 3)), rng.integers(0, 2, (1, 1)).astype(np.float32)
        before = network.learn(side, target, Threads(1), record=True)
        assert before is not None
        after = network.components(side, Threads(1)).outputs
        sign = 2.0 * target[0, 0] - 1.0
        assert sign * after[0, 0, 0, 0] >= sign * before.outputs[0, 0, 0, 0]
