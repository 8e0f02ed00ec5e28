"""Data sets as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.datasets import splits
from ggln.datasets.images import load_mnist
from ggln.datasets.library import Folder, read
from ggln.datasets.registry import SARCOS_PARTIAL, SARCOS_TEST, SARCOS_TRAIN, entry

FloatArray = NDArray[np.float64]

TEST_STRIDE = 10
"""Row k of SARCOS' test file is row 10 k of its training file, for all 4449 rows."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table in its own units, and its splits into training and test rows."""

    name: str
    X: FloatArray  #: [n, d]
    y: FloatArray  #: [n], or [n, D] for several outputs
    splits: Sequence[splits.Split]  #: pairs of row indices: training, test


@dataclass(frozen=True, eq=False)
class Sarcos:
    """The SARCOS arm: inputs are 7 positions, velocities and accelerations, outputs 7 torques."""

    X_train: FloatArray  #: [n, 21]
    Y_train: FloatArray  #: [n, 7]
    X_test: FloatArray  #: [4449, 21]
    Y_test: FloatArray  #: [4449, 7]
    index: NDArray[np.intp]  #: [n], rows of the official training file, ascending
    complete: bool  #: whether all 44484 rows of that file were at hand


def load(name: str, data_dir: Folder | None = None) -> Dataset:
    """Return a data set with its standard splits; `sarcos` and `mnist` have one, the official halves.

    Parameters
    ----------
    name : str
        One of `names()` that is not a contextual bandit.
    data_dir : path, optional
        A folder to look in before all others.
    """
    known = entry(name)
    if not known.splits:
        raise ValueError(
            f"{name} is a contextual bandit without splits: load_bandit({name!r}) returns its table"
        )
    if name == "sarcos":
        arm = load_sarcos(data_dir)
        return _join(name, (arm.X_train, arm.X_test), (arm.Y_train, arm.Y_test))
    if name == "mnist":
        digits = load_mnist(data_dir)
        images = [half.reshape(len(half), -1) for half in (digits.train_images, digits.test_images)]
        return _join(name, images, (digits.train_labels, digits.test_labels))
    (alternatives,) = known.files
    _, arrays = read(alternatives, data_dir)
    drawn = splits.stored(arrays) or splits.standard(known.rows, known.splits)
    return Dataset(name, arrays["X"], arrays["y"], drawn)


def _join(name: str, X: Sequence[NDArray[Any]], y: Sequence[NDArray[Any]]) -> Dataset:
    """Return training and test rows as one table with one split."""
    rows = np.arange(len(X[0]) + len(X[1]))
    split = (rows[: len(X[0])], rows[len(X[0]) :])
    inputs, targets = (np.concatenate(halves, dtype=np.float64) for halves in (X, y))
    return Dataset(name, inputs, targets, (split,))


def load_sarcos(data_dir: Folder | None = None, leak_free: bool = False) -> Sarcos:
    """Return the SARCOS arm.

    All test rows are among the official training rows. `leak_free` drops them from the training rows: results
    are then comparable with each other, but not with published ones. The training file may be a partial one,
    pieced together from published subsets (see docs/datasets.md); `complete` tells.

    Parameters
    ----------
    data_dir : path, optional
        A folder to look in before all others.
    leak_free : bool, default=False
        Drop the training rows that the test file repeats.
    """
    _, test = read((SARCOS_TEST,), data_dir)
    _, train = read((SARCOS_TRAIN, SARCOS_PARTIAL), data_dir)
    complete = "sarcos_inv" in train
    if complete:
        X, Y = train["sarcos_inv"][:, :21], train["sarcos_inv"][:, 21:]
        index = np.arange(len(X))
    else:
        X, Y, index = train["X"], train["Y"], train["index"].astype(np.intp)
    keep = index % TEST_STRIDE != 0 if leak_free else np.full(len(index), True)
    return Sarcos(X[keep], Y[keep], test["X"], test["Y"], index[keep], complete)
