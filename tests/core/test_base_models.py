"""Layer 0: the engine's base predictions, row after row, against the twin's (Appendix C)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.core.base_models import empty_linear_base
from ggln.core.build import Settings, build, draw_gates
from ggln.core.network import start_block
from ggln.core.reference import LinearRegression, ReferenceNetwork


class Buffers(NamedTuple):
    """The part of `network.Work` that base models write."""

    means: Any
    precisions: Any


@given(
    noise=st.sampled_from([None, 0.5, 3.0]),
    features=st.integers(1, 3),
    outputs=st.integers(1, 3),
    slope=st.sampled_from([0.0, 1.0, 50.0]),
    seed=st.integers(0, 10**6),
)
def test_linear_regression(noise: float | None, features: int, outputs: int, slope: float, seed: int) -> None:
    """The twin keeps all rows and sums anew; the engine keeps sums. slope = 50: the bounds of tau are met."""
    rng = np.random.default_rng(seed)
    side = rng.normal(size=(12, features))
    targets = slope * side[:, :1] + 0.1 * rng.normal(size=(12, outputs))
    twin = LinearRegression(features, outputs, noise, limit=4.0)
    base = empty_linear_base(1, features, outputs, 4.0, noise)
    work = Buffers(np.empty((1, features, outputs)), np.empty((1, features)))
    for t in range(12):
        start_block(base, 0, side, np.array([t]), targets[t : t + 1], True, work)
        means, variances = twin.predict(side[t])
        twin.learn(side[t], targets[t])
        np.testing.assert_allclose(work.means[0], np.clip(means, -4, 4), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(1 / work.precisions[0], variances, rtol=1e-7)
    np.testing.assert_allclose(base.noise[0], twin.noise, rtol=1e-7)
    assert noise is None or np.all(base.noise[0] == noise)


def test_noise_is_found(make_settings: Callable[..., Settings]) -> None:
    """Type-II maximum likelihood: the precision of the noise, after many rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    twin = LinearRegression(1, 1, None, limit=5.0)
    for z, y in zip(x, 1.5 * x + 0.5 * rng.normal(size=(400, 1)), strict=True):
        twin.learn(z, y)
    np.testing.assert_allclose(twin.noise, 4.0, rtol=0.15)


@pytest.mark.parametrize(("base_model", "outputs"), [("feature", 2), ("coordinate", 1), ("coordinate", 3)])
def test_base_rows_are_written_out(
    base_model: str, outputs: int, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(base_model=base_model, outputs=outputs, features=outputs, base_variance=0.3)
    side = np.array([[0.5, -9.0, 2.0][:outputs]])
    gates = draw_gates(settings, side)
    means, variances = build(settings, gates).base_row(0, side)
    twin = ReferenceNetwork(settings, gates).base(side[0])
    np.testing.assert_allclose(means, twin.means)
    np.testing.assert_allclose(variances, 1 / twin.precisions[:, 0, 0])


def test_equal_weights_of_coordinates_give_the_identity(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(base_model="coordinate", outputs=3, features=3, bias_variance=1e12)
    side = np.array([[0.5, -1.0, 2.0]])
    gates = draw_gates(settings, side)
    np.testing.assert_allclose(ReferenceNetwork(settings, gates).predict(side[0])[0].means[0], side[0])
