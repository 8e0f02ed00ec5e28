"""Half-spaces that are picked by residuals.

A gate looks at up to three features. A neuron draws random half-spaces for each of its gates in turn and keeps
the one that splits the residuals of the layer below best, given the gates before it: layer after layer, gates go
where the error is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core.jit import exact_kernel, inner_exact
from ggln.core.newton import constants

FloatArray = NDArray[np.float64]


class Gates(NamedTuple):
    """Gates of some neurons, S each: the half-space is sum_g weights_g x[features_g] >= offset."""

    features: Any  # [N, S, G]
    weights: Any  # [N, S, G]
    offsets: Any  # [N, S]


def empty_gates(neurons: int, gates: int) -> Gates:
    """Return gates that no row passes."""
    shape = neurons, gates, constants.GATE_FEATURES
    offsets = np.full(shape[:2], np.inf)
    return Gates(np.zeros(shape, np.int32), np.zeros(shape), offsets)


@inner_exact
def project(features, weights, n, s, X, t):
    """Return the sum over the features of gate s of neuron n, in their order, for row t of X.

    A missing value counts as 0, the mean.
    """
    total = 0.0
    for g in range(features.shape[2]):
        weight = weights[n, s, g]
        if weight == 0.0:
            break
        value = X[t, features[n, s, g]]
        if value == value:
            total += weight * value
    return total


@inner_exact
def context_of(features, weights, offsets, neuron, X, t):
    """Return the context of row t: the first gate decides its highest bit."""
    context = 0
    for s in range(offsets.shape[1]):
        passed = project(features, weights, neuron, s, X, t) >= offsets[neuron, s]
        context = 2 * context + (1 if passed else 0)
    return context


@exact_kernel
def contexts_of(gates, neuron, X, contexts):
    """Write the context of every row # OUT [n]."""
    features, weights, offsets = gates.features, gates.weights, gates.offsets
    for t in range(X.shape[0]):
        contexts[t] = context_of(features, weights, offsets, neuron, X, t)


@exact_kernel
def choose_gates(X, residuals, counts, candidates, picks, gates, neuron):
    """Choose the gates of one neuron # OUT, level after level, each as the best of its candidates.

    X: [n, d], the rows that judge; residuals: [n, D]; counts: [n], their weights; candidates: Gates [S, C, G]
    without offsets; picks: [S, C], the rows that the candidates' half-spaces end at.
    """
    rows, outputs = residuals.shape
    levels, tried = picks.shape
    leaf, child, best_child = np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    weights, sums = np.zeros(2 << levels), np.zeros((2 << levels, outputs))
    features, slopes = candidates.features, candidates.weights
    for s in range(levels):
        best = -1.0
        for c in range(tried):
            offset = project(features, slopes, s, c, X, picks[s, c])
            weights[: 2 << s] = 0.0
            sums[: 2 << s] = 0.0
            for t in range(rows):
                child[t] = 2 * leaf[t] + (1 if project(features, slopes, s, c, X, t) >= offset else 0)
                weights[child[t]] += counts[t]
                for d in range(outputs):
                    sums[child[t], d] += counts[t] * residuals[t, d]
            gain = 0.0
            for leaf_of in range(2 << s):
                for d in range(outputs):
                    gain += sums[leaf_of, d] ** 2 / (weights[leaf_of] + constants.GATE_PRIOR)
            if gain > best:
                best = gain
                gates.features[neuron, s] = features[s, c]
                gates.weights[neuron, s] = slopes[s, c]
                gates.offsets[neuron, s] = offset
                best_child[:] = child
        leaf[:] = best_child


def feature_odds(X: FloatArray, residuals: FloatArray) -> FloatArray:
    """Return how often candidates look at each feature [d]: half evenly, half by what it tells of residuals.

    X: [n, d], standardised, 0 for missing values; residuals: [n, D]. A feature tells something by its
    correlation with the residuals, or with their size.
    """
    features = X.shape[1]
    centred = X - X.mean(axis=0)
    lengths = np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12)
    told = np.zeros(features)
    for values in (residuals, np.abs(residuals)):
        goals = values - values.mean(axis=0)
        goals /= np.maximum(np.sqrt((goals**2).sum(axis=0)), 1e-12)
        told += ((centred / lengths).T @ goals).__abs__().max(axis=1)
    total = told.sum()
    even = np.full(features, 1.0 / features)
    return even if total <= 0.0 else 0.5 * even + 0.5 * told / total


def draw_candidates(
    odds: FloatArray, levels: int, rows: int, random: np.random.Generator
) -> tuple[Gates, NDArray[np.int64]]:
    """Return random half-spaces for each gate of a neuron, and the row that each one ends at."""
    shape = levels, constants.CANDIDATES, constants.GATE_FEATURES
    features = random.choice(odds.size, shape, p=odds).astype(np.int32)
    weights = random.standard_normal(shape)
    # a feature that was drawn twice would look at itself
    used = 1 + random.integers(0, constants.GATE_FEATURES, shape[:2])
    used[random.random(shape[:2]) < constants.AXIS_SHARE] = 1
    weights[np.arange(constants.GATE_FEATURES) >= used[:, :, None]] = 0.0
    weights[:, :, 0][used == 1] = 1.0
    return Gates(features, weights, np.zeros(shape[:2])), random.integers(0, rows, shape[:2])
