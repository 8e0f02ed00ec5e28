"""Ensembles of regression trees as flat arrays: what is left of a fitted model once it is frozen."""

from typing import Any, NamedTuple

from ggln.core.jit import exact_kernel


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
