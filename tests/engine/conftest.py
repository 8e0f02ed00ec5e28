"""Settings and rows for tests of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ggln.engine.gradient.build import Settings

Array = NDArray[Any]

DEFAULTS: dict[str, Any] = {
    "layer_sizes": (5, 3),
    "context_dim": 2,
    "n_estimators": 1,
    "gating": "mixed",
    "gating_bias": 0.5,
    "base_model": "feature",
    "base_variance": 1.0,
    "bias_range": 5.0,
    "bias_variance": 1.0,
    "learning_rate": 0.05,
    "step": "capped",
    "projection": "clip",
    "barrier": 1e-3,
    "weight_range": (0.0, 1e3),
    "min_variance": 1e-2,
    "max_variance": 1e2,
    "aggregation": "switching",
    "covariance": "isotropic",
    "standardize": False,
    "features": 3,
    "outputs": 1,
    "seed": 0,
    "dtype": np.float64,
}


# Plain functions of the session, so that tests may use them together with Hypothesis.


@pytest.fixture(scope="session")
def make_settings() -> Callable[..., Settings]:
    return lambda **changes: Settings(**{**DEFAULTS, **changes})


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., tuple[Array, Array]]:
    """(settings, count, scale, seed) -> side information [n, d] and targets [n, D] that depend on it."""

    def make(settings: Settings, count: int, scale: float = 1.0, seed: int = 0) -> tuple[Array, Array]:
        rng = np.random.default_rng(seed)
        side = rng.normal(size=(count, settings.features))
        slopes = rng.normal(size=(settings.features, settings.outputs))
        targets = scale * (np.sin(side @ slopes) + 0.3 * rng.normal(size=(count, settings.outputs)))
        return side, targets.astype(settings.dtype)

    return make
