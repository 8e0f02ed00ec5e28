"""Layer 0: the engine's base predictions, row after row, against the twin's (Appendix C)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggln.engine.gradient import inspect
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.gradient.reference import LinearRegression, ReferenceNetwork
from ggln.engine.threads import Threads


@given(
    noise=st.sampled_from([None, 0.5, 3.0]),
    features=st.integers(1, 3),
    outputs=st.integers(1, 3),
    slope=st.sampled_from([0.0, 1.0, 50.0]),
    seed=st.integers(0, 10**6),
)
def test_linear_regression(
    noise: float | None,
    features: int,
    outputs: int,
    slope: float,
    seed: int,
    make_settings: Callable[..., Settings],
) -> None:
    """The twin keeps all rows and sums anew; the engine keeps sums. slope = 50: the bounds of tau are met."""
    rng = np.random.default_rng(seed)
    side = rng.normal(size=(12, features))
    targets = slope * side[:, :1] + 0.1 * rng.normal(size=(12, outputs))
    variance = None if noise is None else 1 / noise
    settings = make_settings(
        base_model="blr", base_variance=variance, features=features, outputs=outputs, bias_range=4.0
    )
    ensemble = build(settings, draw_gates(settings, side))
    twin = LinearRegression(features, outputs, noise, limit=4.0)
    for t in range(12):
        found = inspect.base_row(ensemble, 0, side[t : t + 1])
        means, variances = twin.predict(side[t])
        np.testing.assert_allclose(found[0], np.clip(means, -4, 4), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found[1], variances, rtol=1e-7)
        ensemble.learn(side[t : t + 1], targets[t : t + 1], Threads(1))
        twin.learn(side[t], targets[t])
    np.testing.assert_allclose(ensemble.base.noise[0], twin.noise, rtol=1e-7)
    assert noise is None or np.all(ensemble.base.noise[0] == noise)


def test_noise_is_found() -> None:
    """Type-II maximum likelihood: the precision of the noise, after many rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    twin = LinearRegression(1, 1, None, limit=5.0)
    for z, y in zip(x, 1.5 * x + 0.5 * rng.normal(size=(400, 1)), strict=True):
        twin.learn(z, y)
    np.testing.assert_allclose(twin.noise, 4.0, rtol=0.15)


@pytest.mark.parametrize(
    ("base_model", "outputs"), [("feature", 2), ("coordinate", 1), ("coordinate", 3), ("axes", 3)]
)
def test_base_rows_are_written_out(
    base_model: str, outputs: int, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(base_model=base_model, outputs=outputs, features=outputs, base_variance=0.3)
    side = np.array([[0.5, -9.0, 2.0][:outputs]])
    gates = draw_gates(settings, side)
    means, variances = inspect.base_row(build(settings, gates), 0, side)
    twin = ReferenceNetwork(settings, gates).base(side[0])
    np.testing.assert_allclose(means, twin.means)
    np.testing.assert_allclose(variances, 1 / twin.precisions[:, 0, 0])


def test_equal_weights_of_coordinates_give_the_identity(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(base_model="coordinate", outputs=3, features=3, bias_variance=1e12)
    side = np.array([[0.5, -1.0, 2.0]])
    gates = draw_gates(settings, side)
    np.testing.assert_allclose(ReferenceNetwork(settings, gates).predict(side[0])[0].means[0], side[0])
