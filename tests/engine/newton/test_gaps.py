"""Gates and rows that lack a feature: which side they take, and who decides."""

import numpy as np
import pytest

from ggln.engine.newton import constants
from ggln.engine.newton.gates import (
    Candidates,
    contexts_of,
    draw_candidates,
    empty_gates,
    feature_odds,
    share_gates,
)


def candidates_on(feature, pick, rows):
    """Return one candidate for one gate: the half-space of a feature that ends at a row."""
    shape = 1, 1, constants.GATE_FEATURES
    features, weights = np.full(shape, feature, np.int32), np.zeros(shape)
    weights[..., 0] = 1.0
    return Candidates(features, weights, np.array([[pick / rows]]))


def choose(X, residuals, feature, pick):
    """Return the gate of a neuron of one candidate, and the sides of all rows."""
    gates = empty_gates(1, 1)
    columns, told = np.ascontiguousarray(X.T), np.ascontiguousarray(residuals[None])
    share_gates(columns, told, np.ones(len(X)), candidates_on(feature, pick, len(X)), gates, 0)
    contexts = np.empty(len(X), np.int64)
    contexts_of(gates, 0, X, contexts)
    return gates, contexts


@pytest.mark.parametrize("like", [0, 1])
def test_rows_without_a_value_go_where_their_like_are(like):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [np.nan], [np.nan]])
    residuals = np.array([-1.0, -1.0, 1.0, 1.0, 2.0 * like - 1.0, 2.0 * like - 1.0])
    gates, contexts = choose(X, residuals, feature=0, pick=2)
    np.testing.assert_array_equal(contexts, [0, 0, 1, 1, like, like])
    assert gates.lacking[0, 0] == like


def test_a_gate_that_ends_at_a_gap_tells_gaps_from_values():
    X = np.array([[-2.0], [5.0], [np.nan], [np.nan]])
    gates, contexts = choose(X, np.array([1.0, 1.0, -1.0, -1.0]), feature=0, pick=3)
    np.testing.assert_array_equal(contexts, [1, 1, 0, 0])
    assert gates.offsets[0, 0] == -np.inf


@pytest.mark.parametrize(("pick", "side"), [(0, 1), (3, 0)])
def test_where_nothing_was_missing_a_gap_goes_with_the_mean(pick, side):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    gates, _ = choose(X, np.arange(4.0), feature=0, pick=pick)
    found = np.empty(2, np.int64)
    contexts_of(gates, 0, np.array([[np.nan], [0.0]]), found)
    np.testing.assert_array_equal(found, side)


def test_a_gate_does_not_mind_gaps_in_features_that_it_does_not_look_at():
    random = np.random.default_rng(0)
    drawn = draw_candidates(np.full(5, 0.2), 6, "residual", random)
    unused = drawn.weights == 0.0
    assert unused.any()
    first = np.broadcast_to(drawn.features[:, :, :1], drawn.features.shape)
    np.testing.assert_array_equal(drawn.features[unused], first[unused])


def test_being_missing_makes_a_feature_worth_a_look():
    random = np.random.default_rng(0)
    X, residuals = random.standard_normal((300, 4)), random.standard_normal((300, 1))
    X[residuals[:, 0] > 0.5, 2] = np.nan
    odds = feature_odds(X, residuals)
    assert odds.argmax() == 2
    assert odds.sum() == pytest.approx(1.0)
