"""Promises, bit for bit: results depend neither on how rows are cut into calls nor on threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.gradient import ensemble
from ggln.engine.gradient.build import Settings, bernoulli_settings, build, draw_gates
from ggln.engine.gradient.ensemble import Ensemble
from ggln.engine.threads import Threads

Array = NDArray[Any]
ROWS = 24
CASES = [
    *(("univariate", projection) for projection in ("clip", "exact", "log_barrier")),
    ("full", "clip"),
    ("bernoulli", "clip"),
    *(
        pytest.param(pair, marks=pytest.mark.nightly)
        for pair in (
            ("isotropic", "clip"),
            ("diagonal", "clip"),
            ("diagonal", "log_barrier"),
            ("full", "exact"),
        )
    ),
]
"""Every kind and every projection, in pairs that other tests compile as well: each takes ten seconds."""


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(
    request: pytest.FixtureRequest, make_settings: Callable[..., Settings], make_rows: Any
) -> tuple[Settings, Array, Array]:
    """Settings, side information and targets, in the engine's own single precision."""
    kind, projection = request.param
    if kind == "bernoulli":
        settings = bernoulli_settings(
            layer_sizes=(17, 6, 1), context_dim=2, features=5, outputs=3, seed=0, n_estimators=2, decay=10.0
        )
        side, values = make_rows(settings, ROWS)
        return settings, side, (values > 0).astype(settings.dtype)
    outputs = 1 if kind == "univariate" else 2
    settings = make_settings(
        layer_sizes=(17, 6, 1),  # tiles of four and a rest
        n_estimators=2,
        features=5,
        outputs=outputs,
        covariance=kind if outputs > 1 else "isotropic",
        projection=projection,
        base_model="blr",
        base_variance=None,
        min_variance=0.5,
        max_variance=2.0,
        dtype=constants.WEIGHT,
    )
    return settings, *make_rows(settings, ROWS)


def untrained(case: tuple[Settings, Array, Array]) -> Ensemble:
    settings, side, _ = case
    return build(settings, draw_gates(settings, side))


def assert_equal(one: Ensemble, other: Ensemble) -> None:
    """Everything the networks know, to the last bit."""
    assert one.time == other.time
    expected, found = one.state(), other.state()
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.fixture
def whole(case: tuple[Settings, Array, Array]) -> tuple[Ensemble, Any]:
    """Networks that learnt all rows as one block, and what they predicted before."""
    networks = untrained(case)
    return networks, networks.learn(*case[1:], Threads(1), record=True)


def test_cuts_do_not_matter(case: tuple[Settings, Array, Array], whole: tuple[Ensemble, Any]) -> None:
    _, side, targets = case
    expected, recorded = whole
    for cuts in ([1], [7, 8, 20], list(range(1, ROWS))):
        networks, start, outputs, weights = untrained(case), 0, [], []
        for stop in [*cuts, ROWS]:
            part = networks.learn(side[start:stop], targets[start:stop], Threads(1), record=True)
            assert part is not None
            outputs.append(part.outputs)
            weights.append(part.weights)
            start = stop
        assert_equal(expected, networks)
        np.testing.assert_array_equal(np.concatenate(outputs), recorded.outputs)
        np.testing.assert_array_equal(np.concatenate(weights), recorded.weights)


def test_single_rows_learn_the_same(case: tuple[Settings, Array, Array], whole: tuple[Ensemble, Any]) -> None:
    _, side, targets = case
    networks = untrained(case)
    for t in range(ROWS):
        networks.learn_row(side[t : t + 1], targets[t : t + 1])
    assert_equal(whole[0], networks)


@pytest.mark.parametrize("count", [2, 7])
@pytest.mark.parametrize("networks", [1, 2])
def test_threads_do_not_matter(
    case: tuple[Settings, Array, Array], count: int, networks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One network spreads its neurons over the threads; several run side by side."""
    settings, side, targets = case
    case = (Settings(**{**vars(settings), "n_estimators": networks}), side, targets)
    expected = untrained(case)
    recorded = expected.learn(side, targets, Threads(1), record=True)
    used, kernel = set(), ensemble.learn_span

    def learn_span(*arguments: Any) -> None:
        used.add(threading.current_thread().name)
        time.sleep(
            2e-2
        )  # the caller's thread works along, and could do all there is before another one starts
        kernel(*arguments)

    monkeypatch.setattr(constants, "PARALLEL_WEIGHTS", 1)
    monkeypatch.setattr(ensemble, "learn_span", learn_span)
    other = untrained(case)
    if networks == 1:
        assert other._team_size(ROWS, count) == count
    with Threads(count) as threads:
        found = other.learn(side, targets, threads, record=True)
    assert any(name.startswith("ggln") for name in used)
    assert_equal(expected, other)
    assert recorded is not None
    assert found is not None
    np.testing.assert_array_equal(found.outputs, recorded.outputs)
    np.testing.assert_array_equal(found.weights, recorded.weights)


def test_predictions_do_not_depend_on_cuts_or_threads(
    case: tuple[Settings, Array, Array], whole: tuple[Ensemble, Any]
) -> None:
    side, networks = case[1], whole[0]
    expected = networks.components(side, Threads(1)).outputs
    assert np.all(np.isfinite(expected))
    rows = [networks.components(side[t : t + 1], Threads(1)).outputs for t in range(ROWS)]
    np.testing.assert_array_equal(np.concatenate(rows), expected)
    for count in (2, 7):
        with Threads(count) as threads:
            np.testing.assert_array_equal(networks.components(side, threads).outputs, expected)


def test_learning_predicts_as_inference_does(case: tuple[Settings, Array, Array]) -> None:
    """What is recorded before an update is what would have been predicted."""
    _, side, targets = case
    networks = untrained(case)
    for t in range(6):
        expected = networks.components(side[t : t + 1], Threads(1))
        recorded = networks.learn(side[t : t + 1], targets[t : t + 1], Threads(1), record=True)
        assert recorded is not None
        np.testing.assert_array_equal(recorded.outputs, expected.outputs)
        np.testing.assert_array_equal(recorded.weights[0], expected.weights)


def test_state_is_all_there_is(case: tuple[Settings, Array, Array], whole: tuple[Ensemble, Any]) -> None:
    """Networks restored from a state in the middle go on as if nothing had happened."""
    _, side, targets = case
    first, restored = untrained(case), untrained(case)
    first.learn(side[:10], targets[:10], Threads(1))
    restored.restore(first.state(), first.time)
    restored.learn(side[10:], targets[10:], Threads(1))
    assert_equal(whole[0], restored)


def test_single_precision_is_close_to_double(
    case: tuple[Settings, Array, Array], whole: tuple[Ensemble, Any]
) -> None:
    settings, side, targets = case
    double = (Settings(**{**vars(settings), "dtype": np.float64}), side, targets)
    expected = untrained(double).learn(side, targets.astype(np.float64), Threads(1), record=True)
    assert expected is not None
    np.testing.assert_allclose(whole[1].outputs, expected.outputs, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(whole[1].weights, expected.weights, rtol=1e-2, atol=1e-5)
