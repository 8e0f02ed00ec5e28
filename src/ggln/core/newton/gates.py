"""Half-spaces that are picked by residuals.

A gate looks at up to three features. A neuron draws random half-spaces for each of its gates in turn and
keeps the one that splits the residuals of the layer below best, given the gates before it: layer after layer,
gates go where the error is.
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
def context_of(features, weights, offsets, neuron, x):
    """Return the context of row x [d], without missing values: the first gate decides its highest bit.

    All features of a gate are looked at, those of weight 0 too: a branch would take longer.
    """
    context = 0
    for s in range(offsets.shape[1]):
        total = 0.0
        for g in range(constants.GATE_FEATURES):
            total += weights[neuron, s, g] * x[features[neuron, s, g]]
        context = 2 * context + (1 if total >= offsets[neuron, s] else 0)
    return context


@inner_exact
def fill_missing(X, t, x):
    """Write row t of X with 0, the mean, for missing values # OUT [d]."""
    for j in range(x.size):
        x[j] = X[t, j] if X[t, j] == X[t, j] else 0.0


@exact_kernel
def contexts_of(gates, neuron, X, contexts):
    """Write the context of every row # OUT [n]."""
    features, weights, offsets = gates.features, gates.weights, gates.offsets
    x = np.empty(X.shape[1])
    for t in range(X.shape[0]):
        fill_missing(X, t, x)
        contexts[t] = context_of(features, weights, offsets, neuron, x)


@inner_exact
def project(features, weights, s, c, columns, values):
    """Write the sums over the features of gate c of neuron s, in their order, for all rows # OUT [n].

    columns: [d, n], without missing values.
    """
    values[:] = 0.0
    for g in range(features.shape[2]):
        weight, column = weights[s, c, g], columns[features[s, c, g]]
        if weight != 0.0:
            for t in range(values.size):
                values[t] += weight * column[t]


@inner_exact
def gain_of(children, counts, told, weights, sums):
    """Return by how much the means of all children, shrunk towards 0, lessen the squares of residuals.

    children: [n], where each row belongs; counts: [n], weights of rows; told: [D, n], their residuals times
    these; weights, sums: buffers of a number for each child.
    """
    gain = 0.0
    weights[:] = 0.0
    for t in range(children.size):
        weights[children[t]] += counts[t]
    for d in range(told.shape[0]):
        sums[:] = 0.0
        for t in range(children.size):
            sums[children[t]] += told[d, t]
        for child in range(sums.size):
            gain += sums[child] ** 2 / (weights[child] + constants.GATE_PRIOR)
    return gain


@exact_kernel
def choose_gates(columns, told, counts, candidates, picks, gates, neuron):
    """Choose the gates of one neuron # OUT, level after level, each as the best of its candidates.

    columns: [d, n], the rows that judge; told: [D, n], their residuals times their weights; counts: [n],
    these weights; candidates: Gates [S, C, G] without offsets; picks: [S, C], the rows where half-spaces end.
    """
    rows, levels = counts.size, picks.shape[0]
    leaves = np.zeros(rows, np.int64)
    children, best_children = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    values, weights, sums = np.empty(rows), np.empty(2 << levels), np.empty(2 << levels)
    features, slopes = candidates.features, candidates.weights
    for s in range(levels):
        best = -1.0
        for c in range(picks.shape[1]):
            project(features, slopes, s, c, columns, values)
            offset = values[picks[s, c]]
            for t in range(rows):
                children[t] = 2 * leaves[t] + (1 if values[t] >= offset else 0)
            gain = gain_of(children, counts, told, weights[: 2 << s], sums[: 2 << s])
            if gain > best:
                best = gain
                gates.features[neuron, s] = features[s, c]
                gates.weights[neuron, s] = slopes[s, c]
                gates.offsets[neuron, s] = offset
                best_children[:] = children
        leaves[:] = best_children


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
    odds: FloatArray, levels: int, rows: int, gating: str, random: np.random.Generator
) -> tuple[Gates, NDArray[np.int64]]:
    """Return random half-spaces for each gate of a neuron, and the row that each one ends at.

    Where gates are not picked by residuals there is one candidate, and features are drawn evenly.
    """
    picked = gating == "residual"
    shape = levels, constants.CANDIDATES if picked else 1, constants.GATE_FEATURES
    features = random.choice(odds.size, shape, p=odds if picked else None).astype(np.int32)
    weights = random.standard_normal(shape)
    used = 1 + random.integers(0, constants.GATE_FEATURES, shape[:2])
    used[random.random(shape[:2]) < (1.0 if gating == "axis" else constants.AXIS_SHARE)] = 1
    weights[np.arange(constants.GATE_FEATURES) >= used[:, :, None]] = 0.0
    weights[:, :, 0][used == 1] = 1.0
    return Gates(features, weights, np.zeros(shape[:2])), random.integers(0, rows, shape[:2])
