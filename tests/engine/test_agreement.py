"""The engine against its plain twin: every prediction, weight and switching weight, in double precision.

Numba compiles one engine for each kind of neuron and projection (and a short function for each base model):
these are parameters. Everything else is a number or a shape to it, and is drawn by Hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggln.engine.gating import Gates
from ggln.engine.gradient import inspect, reference
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.gradient.reference import Constraints, Gaussians, ReferenceNetwork
from ggln.engine.threads import Threads

Array = NDArray[Any]
KINDS = ["univariate", "isotropic", "diagonal", "full"]
PROJECTIONS = ["clip", "exact", "log_barrier"]
PAIRS = [
    *(("univariate", projection) for projection in PROJECTIONS),
    ("full", "clip"),
    *(pytest.param(kind, "clip", marks=pytest.mark.nightly) for kind in ("isotropic", "diagonal")),
    pytest.param("isotropic", "log_barrier", marks=pytest.mark.nightly),
    pytest.param("full", "exact", marks=pytest.mark.nightly),
]
"""Every kind and every projection, and two that meet matrices: each pair takes half a minute to compile."""
ROWS = 16
TIE = 1e-9
"""Relative distance from a discontinuity below which two orders of summation may fall on different sides."""


@contextmanager
def watch_ties(structure: str) -> Iterator[list[str]]:
    """List the discontinuities that the twin comes close to: there, rounding decides, and rightly so.

    * A mean whose precision vanishes is zero divided by zero.
    * A constraint that is just met, or whose row nearly depends on others, is counted or not.
    * A full matrix with equal eigenvalues has no particular eigenvectors to project along.
    """
    found: list[str] = []
    product, exact, in_turn = reference.product, reference.project_exact, reference.project_in_turn

    def watched_product(weights: Array, inputs: Gaussians) -> tuple[Array, Array]:
        mean, precision = product(weights, inputs)
        if np.abs(np.linalg.eigvalsh(precision)).min() < TIE * np.abs(inputs.precisions).max():
            found.append("vanishing precision")
        return mean, precision

    def check(weights: Array, limits: Constraints) -> None:
        slacks = limits.slacks(weights)
        if np.any(np.abs(slacks) < TIE * np.linalg.norm(limits.rows, axis=1) * (1 + np.abs(weights).max())):
            found.append("constraint just met")
        if structure == "full":
            beyond = np.any(slacks.reshape(-1, 2) < 0, axis=1)
            values = np.sort((limits.rows @ weights)[::2][beyond])
            if np.any(np.diff(values) < 1e-6 * np.abs(values).max(initial=0)):
                found.append("equal eigenvalues")

    def watched_exact(weights: Array, limits: Constraints, low: float, high: float) -> Array:
        check(weights, limits)
        every = reference.join(reference.box(weights.size, low, high), limits)
        violated = every.rows[every.slacks(weights) < 0]
        values = np.linalg.svd(violated / np.linalg.norm(violated, axis=1, keepdims=True), compute_uv=False)
        if np.any((values < 0.05) & (values > TIE)):
            found.append("rows nearly dependent")
        return exact(weights, limits, low, high)

    def watched_in_turn(weights: Array, limits: Constraints, low: float, high: float) -> Array:
        check(weights, limits)
        return in_turn(weights, limits, low, high)

    with (
        mock.patch.object(reference, "product", watched_product),
        mock.patch.object(reference, "project_exact", watched_exact),
        mock.patch.object(reference, "project_in_turn", watched_in_turn),
    ):
        yield found


def stack(layers: list[Gaussians]) -> tuple[Array, Array]:
    return np.concatenate([layer.means for layer in layers]), np.concatenate(
        [layer.precisions for layer in layers]
    )


def matrices(outputs: Array, settings: Settings) -> tuple[Array, Array]:
    """Means [..., D] and precision matrices [..., D, D] of the engine's outputs [..., P]."""
    size = settings.outputs
    means, precisions = outputs[..., :size], outputs[..., size:]
    if size > 1 and settings.covariance == "full":
        return means, precisions.reshape(*precisions.shape[:-1], size, size)
    return means, precisions[..., None] * np.eye(size)


def rows_without_ties(settings: Settings, gates: Gates, side: Array, targets: Array) -> int:
    """How many rows the twin learns before rounding decides something."""
    twin = ReferenceNetwork(settings, gates)
    for t in range(len(side)):
        with watch_ties(twin.structure) as found:
            twin.learn(side[t], targets[t])
        if found:
            event(found[0])
            return t
    return len(side)


def compare(settings: Settings, side: Array, targets: Array, rtol: float) -> int:
    """Let both learn the rows, and compare all there is. Return how many rows could be compared."""
    gates = draw_gates(settings, side)
    count = rows_without_ties(settings, gates, side, targets)
    close = {"rtol": rtol, "atol": rtol}
    twin, ensemble = ReferenceNetwork(settings, gates), build(settings, gates)
    recorded = ensemble.learn(side[:count], targets[:count], Threads(1), record=True) if count else None
    for t in range(count):
        assert recorded is not None
        believed = recorded.weights[t, 0] if recorded.weights.ndim == 3 else recorded.weights[0]
        np.testing.assert_allclose(believed, twin.mixture(), err_msg=f"switching before row {t}", **close)
        means, precisions = stack(twin.learn(side[t], targets[t]))
        found = matrices(recorded.outputs[t, 0], settings)
        np.testing.assert_allclose(found[0], means, err_msg=f"means of row {t}", **close)
        np.testing.assert_allclose(found[1], precisions, err_msg=f"precisions of row {t}", **close)
    np.testing.assert_allclose(ensemble.weights[0], twin.mixture(), err_msg="switching", **close)
    after = ensemble.components(side, Threads(1)).outputs[:, 0]
    for t in range(len(side)):
        for mine, plain in zip(
            inspect.active_weights(ensemble, 0, side[t : t + 1]), twin.active_weights(side[t]), strict=True
        ):
            np.testing.assert_allclose(mine, plain, err_msg=f"weights of row {t}", **close)
        with watch_ties(twin.structure) as found_ties:
            means, precisions = stack(twin.predict(side[t]))
        if not found_ties:
            found = matrices(after[t], settings)
            np.testing.assert_allclose(found[0], means, err_msg=f"means of row {t}, after", **close)
            np.testing.assert_allclose(found[1], precisions, err_msg=f"precisions of row {t}, after", **close)
    return count


@pytest.mark.parametrize(("kind", "projection"), PAIRS)
def test_engine_equals_twin(
    kind: str, projection: str, make_settings: Callable[..., Settings], make_rows: Callable[..., Any]
) -> None:
    """Calm learning, with variances that often leave their range: no tie may cut the comparison short."""
    outputs = 1 if kind == "univariate" else 3
    chosen = make_settings(
        layer_sizes=(9, 6, 1),
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        projection=projection,
        base_model="blr",
        base_variance=None,
        bias_variance=3.0,
        min_variance=0.5,
        max_variance=2.0,
    )
    assert compare(chosen, *make_rows(chosen, 40), rtol=1e-11) == 40


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_negative_precision_violates_both_bounds_of_the_mean(
    projection: str, make_settings: Callable[..., Settings], make_rows: Callable[..., Any]
) -> None:
    chosen = make_settings(
        layer_sizes=(1,),
        context_dim=0,
        base_variance=0.3,
        bias_range=1.0,
        bias_variance=0.5,
        learning_rate=1e-2,
        step="ogd",
        projection=projection,
        barrier=1e-4,
        weight_range=(-0.2, 2.0),
        max_variance=2.0,
        features=1,
    )
    assert compare(chosen, *make_rows(chosen, 16, 3.0, 130), rtol=1e-8) > 13


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "projection"), PAIRS)
def test_engine_equals_twin_whatever_the_settings(
    kind: str, projection: str, make_settings: Callable[..., Settings], make_rows: Callable[..., Any]
) -> None:
    @settings(max_examples=6)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        draw = data.draw
        outputs = 1 if kind == "univariate" else draw(st.integers(2, 3), "outputs")
        base_model = draw(
            st.sampled_from(["none", "feature", "axes", "blr", "linear", "coordinate"]), "base_model"
        )
        variances = [0.3, 2.0] + [None] * (base_model == "blr")
        changes = {
            "layer_sizes": st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple),
            "context_dim": st.integers(0, 5),
            "gating": st.sampled_from(["sphere", "axis", "mixed"]),
            "gating_bias": st.sampled_from([0.05, 1.0, "data"]),
            "base_variance": st.sampled_from(variances),
            "bias_range": st.sampled_from([1.0, 5.0]),
            "bias_variance": st.sampled_from([0.5, 3.0]),
            "learning_rate": st.sampled_from([1e-3, 1e-2, 5e-2]),
            "step": st.sampled_from(["ogd", "capped"]),
            "barrier": st.sampled_from([1e-4, 1e-2]),
            "weight_range": st.sampled_from([(0.0, 1e3), (0.0, 1.0), (-0.2, 2.0), (-1e5, 1e5)]),
            "min_variance": st.sampled_from([1e-2, 0.5]),
            "max_variance": st.sampled_from([2.0, 1e2]),
            "aggregation": st.sampled_from(["switching", "last"]),
            "features": st.just(outputs) if base_model == "coordinate" else st.integers(1, 5),
            "seed": st.integers(0, 10**6),
        }
        chosen = make_settings(
            outputs=outputs,
            covariance=kind if outputs > 1 else "isotropic",
            projection=projection,
            base_model=base_model,
            **{name: draw(strategy, name) for name, strategy in changes.items()},
        )
        scale, seed = draw(st.sampled_from([0.5, 3.0]), "scale"), draw(st.integers(0, 10**6), "rows")
        # Rounding grows with each step that overshoots, and an ill-conditioned projection adds to it.
        compare(chosen, *make_rows(chosen, ROWS, scale, seed), rtol=1e-8 if projection != "exact" else 1e-6)

    check()
