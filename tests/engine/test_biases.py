"""The bias inputs: what is written out equals what the engine adds to every layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ggln.engine.gradient import reference
from ggln.engine.gradient.build import Settings, make_rules
from ggln.engine.gradient.reference import Gaussians
from ggln.engine.neurons.description import biases


@pytest.mark.parametrize(("outputs", "covariance", "count"), [
    (1, "isotropic", 2), (3, "isotropic", 6), (3, "diagonal", 6), (2, "full", 8), (3, "full", 18),
])  # fmt: skip
def test_hull_spans_the_targets(
    outputs: int, covariance: str, count: int, make_settings: Callable[..., Settings]
) -> None:
    """+-rD along every axis (section 3): all of [-r, r]^D is inside."""
    settings = make_settings(outputs=outputs, covariance=covariance, bias_range=2.0, bias_variance=4.0)
    means, precisions = biases(make_rules(settings).kind)
    assert len(means) == count
    axes = np.concatenate([-np.eye(outputs), np.eye(outputs)]) * 2.0 * outputs
    for axis in axes:
        assert np.any(np.all(np.isclose(means, axis), axis=1))
    matrices: Any = (
        precisions if covariance == "full" and outputs > 1 else precisions[:, :, None] * np.eye(outputs)
    )
    assert np.all(np.linalg.eigvalsh(matrices) > 0)
    along = np.einsum("jd,jde,je->j", means, matrices, means) / np.sum(means**2, axis=1)
    np.testing.assert_allclose(along, 0.25, rtol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_biases_give_each_direction_its_own_variance(
    covariance: str, make_settings: Callable[..., Settings]
) -> None:
    """Isotropic inputs alone could not; the full kind reaches correlations, too."""
    settings = make_settings(outputs=2, covariance=covariance)
    means, precisions = biases(make_rules(settings).kind)
    inputs = Gaussians(means, precisions if covariance == "full" else precisions[:, :, None] * np.eye(2))
    weights = np.full(len(means), 1e-3)
    weights[:2] = 1.0
    matrix = reference.product(weights, inputs)[1]
    assert matrix[0, 0] > 10 * matrix[1, 1]
    if covariance == "full":
        weights = np.full(len(means), 1e-3)
        weights[4:6] = 1.0
        matrix = reference.product(weights, inputs)[1]
        assert matrix[0, 1] > 0.9 * matrix[0, 0]
