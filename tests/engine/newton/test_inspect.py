"""Networks written out: what kernels compute, gates apart from values, and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from ggln import GGLNRegressor
from ggln.engine.newton import inspect
from ggln.engine.newton.online import ask
from ggln.engine.threads import Threads

KINDS = [
    (1, "isotropic"),
    (2, "full"),
    *(pytest.param(2, name, marks=pytest.mark.nightly) for name in ("isotropic", "diagonal")),
]
"""Each kind takes half a minute to compile."""
SMALL = {"layer_sizes": (5, 3), "context_dim": (3, 2), "n_estimators": 3, "random_state": 0}


@pytest.fixture
def learner():
    """(outputs, covariance, settings) -> a learner that knows 120 rows, and new rows."""

    def make(outputs=1, covariance="isotropic", **settings):
        random = np.random.default_rng(0)
        X = random.normal(size=(160, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0]
        smooth = np.stack([np.sin(2 * X[:, 0]) + np.abs(X[:, 1] - 5), X[:, 0] * X[:, 2]], axis=1)
        Y = (smooth + 0.1 * random.normal(size=smooth.shape))[:, :outputs]
        model = GGLNRegressor(**{**SMALL, **settings}, covariance=covariance).fit(X[:120], Y[:120])
        assert len(model.learner_.networks) == SMALL["n_estimators"]
        return model.learner_, X[120:]

    return make


def product(kind, network, view, gated_by):
    """What the last layer says together, by the twin."""
    layers = inspect.forward(kind, network, view.side[:, None], view.base[:, :, None], gated_by)
    assert [layer.shape[1] for layer in layers] == [5, 3]
    return layers[-1][:, :, 0].mean(axis=1)


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
@pytest.mark.parametrize("base_model", ["auto", "feature"])
def test_the_twin_is_the_kernel(learner, outputs, covariance, base_model):
    own, rows = learner(outputs, covariance, base_model=base_model)
    view = inspect.look(own, rows)
    view.side[3, 1] = np.nan  # a missing value
    for network in own.networks:
        base, nothing = np.ascontiguousarray(view.base), np.empty((0, outputs))
        found = ask(own.kind, network, view.side, base, nothing, np.empty(0))
        expected = product(own.kind, network, view, view.side)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limits", [{"max_variance": 0.02}, {"min_variance": 0.5}])
@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
def test_limits_of_the_twin_are_those_of_the_kernel(learner, outputs, covariance, limits):
    own, rows = learner(outputs, covariance, **limits)
    view = inspect.look(own, rows)
    for network in own.networks:
        base, nothing = np.ascontiguousarray(view.base), np.empty((0, outputs))
        found = ask(own.kind, network, view.side, base, nothing, np.empty(0))
        np.testing.assert_allclose(found, product(own.kind, network, view, view.side), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
def test_gates_may_be_at_other_rows(learner, outputs, covariance):
    own, rows = learner(outputs, covariance)
    view, other = inspect.look(own, rows), inspect.look(own, rows[::-1].copy())
    with Threads(1) as threads:
        plain, found = (inspect.mean(own, view, gates.side, threads) for gates in (view, other))
        expected = own.moments(rows, threads)[0]
    np.testing.assert_allclose(plain, expected, rtol=1e-13)
    assert np.abs(found - expected).max() > 1e-3
    networks = np.stack([product(own.kind, network, view, other.side) for network in own.networks])
    kinds = [*np.moveaxis(view.base, 1, 0), networks[::2].mean(axis=0), networks[1::2].mean(axis=0)]
    means = own.mixture.moments(np.stack(kinds, axis=1))[0]
    shift, scale = own.targets.shift_and_scale()
    np.testing.assert_allclose(found, shift + scale * means, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limits", [{}, {"max_variance": 0.02}, {"min_variance": 0.5}])
@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
def test_slopes_are_derivatives_at_all_limits(learner, outputs, covariance, limits):
    own, rows = learner(outputs, covariance, **limits)
    slopes, compared = inspect.slopes(own, rows), 0
    with Threads(1) as threads:
        for feature, reach in enumerate([1e-4, 1e-3, 1e-5]):
            step = np.zeros(3)
            step[feature] = reach
            sides = [inspect.look(own, rows + sign * step).side for sign in (-1, 1)]
            contexts = [[inspect.contexts(network, side) for network in own.networks] for side in sides]
            same = np.array(contexts[0]) == np.array(contexts[1])
            same = same.all(axis=(0, 2))
            rise = own.moments(rows + step, threads)[0] - own.moments(rows - step, threads)[0]
            scale = np.abs(slopes[:, feature]).max()
            np.testing.assert_allclose(
                slopes[same, feature], rise[same] / (2 * reach), rtol=1e-4, atol=1e-5 * scale
            )
            compared += same.sum()
    assert compared > 0.9 * rows.size


def test_rows_that_are_kept_were_learnt(learner):
    own, _ = learner()
    kept = inspect.kept_rows(own)
    assert kept.shape == (120, 3)
    assert (np.diff(own.bumps.predict(own.inputs.transform(kept))[:, 0]) > -1e-12).all()
    random = np.random.default_rng(0)
    X = (random.normal(size=(160, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 1.0])[:120]
    np.testing.assert_allclose(np.sort(kept[:, 0]), np.sort(X[:, 0]), atol=1e-12)
    assert inspect.kept_rows(learner(base_model="feature")[0]) is None


def test_many_rows_are_taken_in_blocks(learner, monkeypatch):
    own, rows = learner()
    slopes, layers = inspect.slopes(own, rows), inspect.neurons(own, rows)
    monkeypatch.setattr(inspect, "NUMBERS", 200)
    np.testing.assert_allclose(inspect.slopes(own, rows), slopes, rtol=1e-9, atol=1e-12)
    for (mean, variance), (expected, wide) in zip(inspect.neurons(own, rows), layers, strict=True):
        np.testing.assert_allclose(mean, expected, rtol=1e-12)
        np.testing.assert_allclose(variance, wide, rtol=1e-12)
