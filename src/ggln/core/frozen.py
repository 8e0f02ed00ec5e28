"""What is left of fitted regressors once they are frozen: trees as flat arrays, layers of weights, and bumps.

Each row is computed by itself, in a fixed order: a prediction cannot depend on the rows that come with it, as
those of a matrix product may.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.core.jit import exact_kernel, fused_multiply_add, inner_exact


class Trees(NamedTuple):
    """Trees whose leaves are added up. Rows go left where a feature, in single precision, is <= threshold."""

    roots: Any  # [trees]
    features: Any  # [nodes], -1 in leaves
    thresholds: Any  # [nodes]
    left: Any  # [nodes]
    right: Any  # [nodes]
    values: Any  # [nodes, D]


@exact_kernel
def add_trees(trees: Any, rows: Any, total: Any) -> None:
    """Add every tree's prediction for rows [n, d], of single precision, to total # OUT [n, D]."""
    for t in range(rows.shape[0]):
        for root in trees.roots:
            node = root
            while trees.features[node] >= 0:
                below = rows[t, trees.features[node]] <= trees.thresholds[node]
                node = trees.left[node] if below else trees.right[node]
            for d in range(total.shape[1]):
                total[t, d] += trees.values[node, d]


@exact_kernel
def apply_layer(weights: Any, offsets: Any, rectify: Any, rows: Any, result: Any) -> None:
    """Write rows @ weights + offsets, and its positive part if asked to `rectify`, into result # OUT.

    weights: [m, k]; offsets: [k]; rows: [n, m]; result: [n, k].
    """
    for t in range(rows.shape[0]):
        for j in range(offsets.size):
            result[t, j] = offsets[j]
        for i in range(rows.shape[1]):
            for j in range(offsets.size):
                result[t, j] = fused_multiply_add(rows[t, i], weights[i, j], result[t, j])
        if rectify:
            for j in range(offsets.size):
                result[t, j] = max(result[t, j], 0.0)


@inner_exact
def _distances(centres: Any, row: Any, found: Any) -> None:
    """Write sqrt(5) times the distance of a row [d] from each centre [d, m] into found # OUT [m]."""
    found[:] = 0.0
    for i in range(row.size):
        for j in range(found.size):
            step = row[i] - centres[i, j]
            found[j] = fused_multiply_add(step, step, found[j])
    for j in range(found.size):
        found[j] = np.sqrt(5.0 * found[j])


@exact_kernel
def add_bumps(centres: Any, weights: Any, rows: Any, total: Any) -> None:
    """Add Matern bumps (nu = 5/2) at the centres [d, m], times weights [m, D], to total # OUT [n, D].

    rows: [n, d], in units of the length scales, as the centres are.
    """
    distances = np.empty(centres.shape[1])
    for t in range(rows.shape[0]):
        _distances(centres, rows[t], distances)
        for j in range(distances.size):
            a = distances[j]
            height = (1.0 + a + a * a / 3.0) * np.exp(-a)
            for d in range(total.shape[1]):
                total[t, d] += height * weights[j, d]


@exact_kernel
def add_slopes(centres: Any, weights: Any, rows: Any, total: Any) -> None:
    """Add the bumps' derivatives by the coordinates of the rows to total # OUT [n, D, d]."""
    distances = np.empty(centres.shape[1])
    for t in range(rows.shape[0]):
        _distances(centres, rows[t], distances)
        for j in range(distances.size):
            steepness = -5.0 / 3.0 * (1.0 + distances[j]) * np.exp(-distances[j])
            for i in range(rows.shape[1]):
                change = steepness * (rows[t, i] - centres[i, j])
                for d in range(total.shape[1]):
                    total[t, d, i] += change * weights[j, d]
