"""What a structure says of itself beyond its lengths: defaults, which the structure's own file overrides."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@singledispatch
def weight_rows(_kind: Any) -> int:
    """Return how many rows of weights a context has."""
    return 1


@singledispatch
def inputs_first(_kind: Any) -> bool:
    """Return whether messages are laid out input by input, and not number by number."""
    return False


@singledispatch
def has_matrices(_kind: Any) -> bool:
    """Return whether precisions are matrices, and not a number for each output."""
    return False


@singledispatch
def directions(kind: Any) -> FloatArray:
    """Return the directions that biases lie along on both sides, [B / 2, D]."""
    return np.eye(int(kind.outputs))


@singledispatch
def spread(_kind: Any, units: FloatArray) -> FloatArray:
    """Return the precisions of biases along directions [B, D], in units of `bias_precision`."""
    return np.ones_like(units)


def biases(kind: Any) -> tuple[FloatArray, FloatArray]:
    """Return all biases: means [B, D] and precisions, [B, D] diagonals or [B, D, D] matrices."""
    units = np.repeat(directions(kind), 2, axis=0)
    signs = np.tile([-1.0, 1.0], len(units) // 2)[:, None]
    return float(kind.bias_mean) * signs * units, float(kind.bias_precision) * spread(kind, units)
