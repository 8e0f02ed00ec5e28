"""Gates that are picked by residuals: the kernels against the plain choice, node by node."""

import numpy as np
import pytest

from ggln.engine.newton import constants
from ggln.engine.newton.gates import (
    contexts_of,
    draw_candidates,
    empty_gates,
    grow_gates,
    share_gates,
)

LEVELS = 3


def problem(rows=300, seed=0):
    """Return rows [n, d], residuals [n, 2] and weights [n]."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 4))
    residuals = np.stack([np.sign(X[:, 0]) * (X[:, 1] > 0.3), X[:, 2]], axis=1)
    return X, residuals + 0.1 * random.standard_normal((rows, 2)), random.uniform(0.5, 2.0, rows)


def choose(kernel, nodes, rows=300, seed=0):
    """Return the gates that a kernel chooses for one neuron, and what it chose from."""
    X, residuals, counts = problem(rows, seed)
    candidates = draw_candidates(np.full(4, 0.25), nodes, "residual", np.random.default_rng(seed))
    gates = empty_gates(1, LEVELS)
    told = np.ascontiguousarray((counts[:, None] * residuals).T)
    kernel(np.ascontiguousarray(X.T), told, counts, candidates, gates, 0)
    return gates, candidates


def values_of(X, candidates, node, c):
    """Return the values [n] that a candidate gives to rows."""
    return X[:, candidates.features[node, c]] @ candidates.weights[node, c]


def gain(parts, residuals, counts):
    """Return the gain of a division into parts, each a mask of rows."""
    found = 0.0
    for own in parts:
        told = (counts[own, None] * residuals[own]).sum(axis=0)
        found += np.sum(told**2) / (counts[own].sum() + constants.GATE_PRIOR)
    return found


def test_a_node_takes_the_candidate_that_splits_its_own_rows_best():
    X, residuals, counts = problem()
    gates, candidates = choose(grow_gates, 7)
    inside_of = {0: np.ones(300, bool)}
    for node in range(7):
        own = np.flatnonzero(inside_of[node])
        best = []
        for c in range(candidates.picks.shape[1]):
            values = values_of(X, candidates, node, c)
            offset = values[own[int(candidates.picks[node, c] * own.size)]]
            sides = inside_of[node] & (values >= offset), inside_of[node] & (values < offset)
            if min(counts[side].sum() for side in sides) >= constants.LEAF_ROWS:
                best.append((gain(sides, residuals, counts), c, offset, sides))
        _, c, offset, (inside, outside) = max(best, key=lambda found: found[0])
        np.testing.assert_array_equal(gates.weights[0, node], candidates.weights[node, c])
        np.testing.assert_allclose(gates.offsets[0, node], offset)
        inside_of[2 * node + 1], inside_of[2 * node + 2] = outside, inside


def test_a_level_shares_the_candidate_that_splits_all_its_parts_best():
    X, residuals, counts = problem()
    gates, candidates = choose(share_gates, LEVELS)
    parts = [np.ones(300, bool)]
    for level in range(LEVELS):
        best = []
        for c in range(candidates.picks.shape[1]):
            values = values_of(X, candidates, level, c)
            offset = values[int(candidates.picks[level, c] * 300)]
            split = [part & side for part in parts for side in (values < offset, values >= offset)]
            best.append((gain(split, residuals, counts), c, offset, split))
        _, c, offset, parts = max(best, key=lambda found: found[0])
        node = (1 << level) - 1
        np.testing.assert_array_equal(gates.weights[0, node], candidates.weights[level, c])
        np.testing.assert_allclose(gates.offsets[0, node], offset)


@pytest.mark.parametrize("rows", [1, constants.SPLIT_ROWS - 1, 40])
def test_a_node_of_few_rows_is_not_cut(rows):
    gates, _ = choose(grow_gates, 7, rows)
    X, _, counts = problem(rows)
    contexts = np.empty(rows, np.int64)
    contexts_of(gates, 0, X, contexts)
    if rows < constants.SPLIT_ROWS:
        assert np.isinf(gates.offsets).all()
        assert not contexts.any()
    sizes = np.bincount(contexts, counts, 8)
    assert (sizes[sizes > 0] >= min(constants.LEAF_ROWS, counts.sum()) - 1e-9).all()


def test_contexts_are_the_leaves_of_the_tree():
    X, _, _ = problem()
    gates, _ = choose(grow_gates, 7)
    found = np.empty(300, np.int64)
    contexts_of(gates, 0, X, found)
    for x, context in zip(X, found, strict=True):
        node = 0
        for bit in f"{context:03b}":
            inside = gates.weights[0, node] @ x[gates.features[0, node]] >= gates.offsets[0, node]
            assert inside == (bit == "1")
            node = 2 * node + 1 + inside
    assert len(np.unique(found)) == 8


def test_no_gates_make_one_context():
    found = np.empty(5, np.int64)
    contexts_of(empty_gates(1, 0), 0, np.zeros((5, 2)), found)
    assert not found.any()
