"""The standard splits of the UCI benchmarks (Hernandez-Lobato and Adams, 2015; Gal and Ghahramani, 2016)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def standard(rows: int, count: int) -> tuple[Split, ...]:
    """Return `count` pairs of training and test rows, as the published recipe draws them.

    One generator with seed 1 draws a permutation for each split; its first round(0.9 rows) rows are for
    training. This gives the published index files of all nine sets, in their order.
    """
    random = np.random.RandomState(1)  # the recipe's own generator, but not NumPy's global one
    cut = round(0.9 * rows)
    permutations = [random.permutation(rows) for _ in range(count)]
    return tuple((order[:cut].astype(np.intp), order[cut:].astype(np.intp)) for order in permutations)


def stored(arrays: Mapping[str, NDArray[Any]]) -> tuple[Split, ...]:
    """Return the splits that a file brings along as train_0, test_0, train_1, ...: none, if it has none."""
    count = sum(name.startswith("train_") for name in arrays)
    return tuple(
        (arrays[f"train_{i}"].astype(np.intp), arrays[f"test_{i}"].astype(np.intp)) for i in range(count)
    )
