"""What is left of fitted regressors once they are frozen: trees as flat arrays, and layers of weights.

Each row is computed by itself, in a fixed order: a prediction cannot depend on the rows that come with it, as
those of a matrix product may.
"""

from typing import Any, NamedTuple

from ggln.core.jit import exact_kernel, fused_multiply_add


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
