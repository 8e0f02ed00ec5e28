"""Half-spaces that are picked by residuals.

A gate looks at up to three features. Gates form a tree: the first one cuts the rows in two, and each part is
cut by a gate of its own, or by one that all parts of a level share. Every gate is the best of some random
half-spaces: the one that splits the residuals of the layer below best. Layer after layer, gates go where the
error is.

The gates of a neuron are nodes 0 to 2**S - 2 of a tree of S levels; below node i are 2 i + 1, outside, and
2 i + 2, inside. Contexts are its leaves. A level that shares a gate has it at its first node.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import exact_kernel, inner_exact
from ggln.engine.newton import constants

FloatArray = NDArray[np.float64]


OFFSET, FEATURES, LACKING, RECORD = 3, 4, 7, 8
"""Where a gate's record has its offset, its features and the side of gaps; weights come first. Eight numbers
are a line of the cache: a row that comes alone finds most of a tree's nodes in slow memory."""


class Gates(NamedTuple):
    """Gates of some neurons, one for each node: the half-space is sum_g weights_g x[features_g] >= offset.

    A row that lacks a feature of a gate has no sum, and goes to the side that its like went best with.
    """

    records: Any  # [N, nodes, 8]
    grown: Any  # [N]  1 if each node has its own gate, 0 if levels share them

    @property
    def weights(self) -> FloatArray:
        """Weights [N, nodes, G]."""
        found: FloatArray = self.records[..., :OFFSET]
        return found

    @property
    def offsets(self) -> FloatArray:
        """Offsets [N, nodes]."""
        found: FloatArray = self.records[..., OFFSET]
        return found

    @property
    def features(self) -> NDArray[np.int64]:
        """Features [N, nodes, G]; a place of weight 0 names the first one again."""
        found: NDArray[np.int64] = self.records[..., FEATURES:LACKING].astype(np.int64)
        return found

    @property
    def lacking(self) -> FloatArray:
        """The side of rows that lack a feature, 0 or 1, [N, nodes]."""
        found: FloatArray = self.records[..., LACKING]
        return found


class Candidates(NamedTuple):
    """Half-spaces without offsets, C for each of some nodes."""

    features: Any  # [nodes, C, G]
    weights: Any  # [nodes, C, G]
    picks: Any  # [nodes, C]  the rows where half-spaces end, as fractions of the node's


def empty_gates(neurons: int, levels: int) -> Gates:
    """Return gates that no row passes."""
    records = np.zeros((neurons, (1 << levels) - 1, RECORD))
    records[..., OFFSET] = np.inf
    return Gates(records, np.zeros(neurons, np.int64))


@inner_exact
def lacks_values(X, t):
    """Return whether row t of X lacks a value."""
    some = False
    for j in range(X.shape[1]):
        some = some or X[t, j] != X[t, j]
    return some


@inner_exact
def is_inside(records, neuron, node, X, t, gaps):
    """Return 1 if row t of X is in the half-space of a node, else 0; gaps: whether it may lack values.

    All features of a gate are looked at, those of weight 0 too: a branch would take longer.
    """
    total = 0.0
    for g in range(constants.GATE_FEATURES):
        total += records[neuron, node, g] * X[t, np.uintp(int(records[neuron, node, FEATURES + g]))]
    inside = 1 if total >= records[neuron, node, OFFSET] else 0
    return int(records[neuron, node, LACKING]) if gaps and total != total else inside


@inner_exact
def descend(records, grown, X, t, contexts):
    """Write the contexts of row t of X in all neurons # OUT [N]; the first gate is the highest bit.

    All neurons go down a level together: they do not wait for each other.
    """
    contexts[:] = 0
    start, gaps = 0, lacks_values(X, t)  # start: of a level's nodes
    while start < records.shape[1]:
        for neuron in range(contexts.size):
            node = start + contexts[neuron] * grown[neuron]
            inside = is_inside(records, neuron, node, X, t, gaps)
            contexts[neuron] = 2 * contexts[neuron] + inside
        start = 2 * start + 1


@inner_exact
def descend_rows(records, grown, neuron, X, first, contexts):
    """Write the contexts of the rows of X [n, d] from `first` on in one neuron # OUT.

    All rows go down a level together: they do not wait for each other, and the gates stay in the cache.
    """
    start, gaps = 0, False  # start: of a level's nodes
    for i in range(contexts.size):
        contexts[i] = 0
        gaps = gaps or lacks_values(X, first + i)
    while start < records.shape[1]:
        for i in range(contexts.size):
            node = start + contexts[i] * grown[neuron]
            inside = is_inside(records, neuron, node, X, first + i, gaps)
            contexts[i] = 2 * contexts[i] + inside
        start = 2 * start + 1


@exact_kernel
def contexts_of(gates, neuron, X, contexts):
    """Write the context of every row in one neuron # OUT [n]."""
    for first in range(0, X.shape[0], constants.BLOCK_ROWS):
        last = min(first + constants.BLOCK_ROWS, X.shape[0])
        descend_rows(gates.records, gates.grown, neuron, X, first, contexts[first:last])


@inner_exact
def project(features, weights, columns, rows, values):
    """Write the sums over the features of one gate, in their order, for some rows # OUT [n].

    columns: [d, all rows]; rows: [n]. A row that lacks one of these features has no sum.
    """
    values[: rows.size] = 0.0
    for g in range(features.size):
        weight, column = weights[g], columns[features[g]]
        if weight != 0.0:
            for i in range(rows.size):
                values[i] += weight * column[rows[i]]


@inner_exact
def keep_gate(gates, neuron, node, features, weights, offset, side):
    """Write one gate # OUT; side: where rows go that lack one of its features."""
    for g in range(features.size):
        gates.records[neuron, node, g] = weights[g]
        gates.records[neuron, node, FEATURES + g] = features[g]
    gates.records[neuron, node, OFFSET] = offset
    gates.records[neuron, node, LACKING] = side


@inner_exact
def end_at(value):
    """Return the offset of a half-space that ends at a row of this sum, and the mean's side of it.

    One that ends at a row without its features tells such rows from all others.
    """
    side = 1 if value <= 0.0 else 0
    return (value if value == value else -np.inf), side


@inner_exact
def send(values, offset, side, leaves, children):
    """Write where rows of these sums go within their leaves # OUT [n]; return whether any has no sum.

    side: of rows without a sum, 0 or 1.
    """
    some = False
    for t in range(leaves.size):
        inside = 1 if values[t] >= offset else 0
        if values[t] != values[t]:
            inside, some = side, True
        children[t] = 2 * leaves[t] + inside
    return some


@inner_exact
def gain_of(children, rows, counts, told, weights, sums):
    """Return by how much the means of all children, shrunk towards 0, lessen the squares of residuals.

    children: [n], where each of the rows [n] belongs; counts: weights of all rows; told: [D, all rows], their
    residuals times these; weights, sums: buffers of a number for each child.
    """
    gain = 0.0
    weights[:] = 0.0
    for i in range(rows.size):
        weights[children[i]] += counts[rows[i]]
    for d in range(told.shape[0]):
        sums[:] = 0.0
        for i in range(rows.size):
            sums[children[i]] += told[d, rows[i]]
        for child in range(sums.size):
            gain += sums[child] ** 2 / (weights[child] + constants.GATE_PRIOR)
    return gain


@exact_kernel
def share_gates(columns, told, counts, candidates, gates, neuron):
    """Choose the gates of one neuron # OUT, level after level: all nodes of a level share the best candidate.

    Rows that lack a feature of a candidate are tried on the mean's side and on the other; where none does,
    it is the mean's side.

    columns: [d, n], the rows that judge; told: [D, n], their residuals times their weights; counts: [n],
    these weights; candidates: for each level.
    """
    features, slopes, picks = candidates.features, candidates.weights, candidates.picks
    judges = np.arange(0, counts.size, max(1, counts.size // constants.GATE_ROWS))
    rows, levels = judges.size, picks.shape[0]
    leaves = np.zeros(rows, np.int64)
    children, best_children = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    values, weights, sums = np.empty(rows), np.empty(2 << levels), np.empty(2 << levels)
    for s in range(levels):
        best, choice, offset, gap = -1.0, 0, np.inf, 0
        for c in range(picks.shape[1]):
            project(features[s, c], slopes[s, c], columns, judges, values)
            edge, side = end_at(values[int(picks[s, c] * rows)])
            for _ in range(2):
                some = send(values, edge, side, leaves, children)
                gain = gain_of(children, judges, counts, told, weights[: 2 << s], sums[: 2 << s])
                if gain > best:
                    best, choice, offset, gap = gain, c, edge, side
                    best_children[:] = children
                if not some:
                    break
                side = 1 - side
        leaves[:] = best_children
        keep_gate(gates, neuron, (1 << s) - 1, features[s, choice], slopes[s, choice], offset, gap)


@exact_kernel
def grow_gates(columns, told, counts, candidates, gates, neuron):
    """Choose the gates of one neuron # OUT, node after node: each is the best candidate for its own rows.

    As `share_gates`, with candidates for each node. A node of few rows keeps a gate that no row passes, and
    so does one without a candidate that leaves enough rows on both sides.
    """
    features, slopes, picks = candidates.features, candidates.weights, candidates.picks
    gates.grown[neuron] = 1
    nodes, rows = picks.shape[0], counts.size
    starts, stops = np.zeros(2 * nodes + 1, np.int64), np.zeros(2 * nodes + 1, np.int64)
    order, spare, stops[0] = np.arange(rows), np.empty(rows, np.int64), rows
    values, weights, sums = np.empty(rows), np.empty(2), np.empty(2)
    one, children = np.zeros(rows, np.int64), np.empty(rows, np.int64)
    for node in range(nodes):
        start, stop = starts[node], stops[node]
        own, split = order[start:stop], stop
        if own.size >= constants.SPLIT_ROWS:
            judges = own[:: max(1, own.size // constants.GATE_ROWS)]
            best, choice, offset, gap = -1.0, 0, np.inf, 0
            least = constants.LEAF_ROWS * judges.size / own.size
            for c in range(picks.shape[1]):
                project(features[node, c], slopes[node, c], columns, judges, values)
                edge, side = end_at(values[int(picks[node, c] * judges.size)])
                for _ in range(2):
                    some = send(values, edge, side, one[: judges.size], children)
                    gain = gain_of(children, judges, counts, told, weights, sums)
                    if gain > best and min(weights[0], weights[1]) >= least:
                        best, choice, offset, gap = gain, c, edge, side
                    if not some:
                        break
                    side = 1 - side
            if offset < np.inf:
                keep_gate(gates, neuron, node, features[node, choice], slopes[node, choice], offset, gap)
                project(features[node, choice], slopes[node, choice], columns, own, values)
                send(values, offset, gap, one[: own.size], children)
                split = start + part(own, children, spare)
        starts[2 * node + 1], stops[2 * node + 1] = start, split
        starts[2 * node + 2], stops[2 * node + 2] = split, stop


@inner_exact
def part(rows, inside, spare):
    """Bring rows # OUT that are not inside to the front, all in their order; return their number."""
    front, kept = 0, 0
    for i in range(rows.size):
        if inside[i] == 1:
            spare[kept] = rows[i]
            kept += 1
        else:
            rows[front] = rows[i]
            front += 1
    for i in range(kept):
        rows[front + i] = spare[i]
    return front


def feature_odds(X: FloatArray, residuals: FloatArray) -> FloatArray:
    """Return how often candidates look at each feature [d]: half evenly, half by what it tells of residuals.

    X: [n, d], standardised; residuals: [n, D]. A feature tells something by its correlation with the
    residuals, or with their size; or that of being missing.
    """
    missing = np.isnan(X)
    told = _correlations(np.where(missing, 0.0, X), residuals)
    if missing.any():
        told = np.maximum(told, _correlations(missing.astype(np.float64), residuals))
    return odds_of(told)


def odds_of(told: FloatArray) -> FloatArray:
    """Return how often candidates look at each feature [d], by what each tells [d]."""
    total, features = told.sum(), told.size
    even = np.full(features, 1.0 / features)
    return even if total <= 0.0 else 0.5 * even + 0.5 * told / total


def _correlations(X: FloatArray, residuals: FloatArray) -> FloatArray:
    """Return how well each column [d] goes along with the residuals, and with their size."""
    centred = X - X.mean(axis=0)
    centred /= np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12)
    told = np.zeros(X.shape[1])
    for values in (residuals, np.abs(residuals)):
        goals = values - values.mean(axis=0)
        goals /= np.maximum(np.sqrt((goals**2).sum(axis=0)), 1e-12)
        told += (centred.T @ goals).__abs__().max(axis=1)
    return told


def draw_candidates(odds: FloatArray, nodes: int, gating: str, random: np.random.Generator) -> Candidates:
    """Return random half-spaces for some nodes of a neuron.

    Where gates are not picked by residuals there is one candidate, and features are drawn evenly.
    """
    picked = gating == "residual"
    shape = nodes, constants.CANDIDATES if picked else 1, constants.GATE_FEATURES
    features = random.choice(odds.size, shape, p=odds if picked else None).astype(np.int32)
    weights = random.standard_normal(shape)
    used = 1 + random.integers(0, constants.GATE_FEATURES, shape[:2])
    used[random.random(shape[:2]) < (1.0 if gating == "axis" else constants.AXIS_SHARE)] = 1
    weights[np.arange(constants.GATE_FEATURES) >= used[:, :, None]] = 0.0
    weights[:, :, 0][used == 1] = 1.0
    features = np.where(weights == 0.0, features[:, :, :1], features)  # others may be missing
    return Candidates(features, weights, random.random(shape[:2]))
