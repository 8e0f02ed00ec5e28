"""Refusing arguments of a density's methods, with words that say what to do."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_counts(least: int, **counts: Any) -> None:
    """Raise ValueError unless each argument is an integer of at least `least`, 0 or 1."""
    kind = "positive" if least else "non-negative"
    for name, value in counts.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a {kind} integer, got {value!r}")


def check_length(length: Any) -> None:
    """Raise ValueError unless a step goes part of the way or all of it."""
    if not (isinstance(length, Real) and 0 < float(length) <= 1):
        raise ValueError(f"step_length must be in (0, 1], got {length!r}")


def check_size(size: Any) -> None:
    """Raise ValueError unless the size of a step is a positive number."""
    if not (isinstance(size, Real) and 0 < float(size) < np.inf):
        raise ValueError(f"step_size must be a positive number, got {size!r}")


def check_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the mask in the shape of the rows."""
    missing = np.asarray(mask)
    if missing.dtype != np.bool_:
        raise ValueError(f"mask must be boolean, True where a value is missing, got {missing.dtype}")
    if missing.shape not in (shape, shape[1:]):
        raise ValueError(f"mask must have the shape of X, {shape}, or of one row, got {missing.shape}")
    return np.broadcast_to(missing, shape)


def refuse_hidden(missing: NDArray[np.bool_]) -> None:
    """Raise ValueError where nothing is known of a row: there is nothing to walk from."""
    if missing.ndim == 2 and missing.all(axis=1).any():
        row = int(np.flatnonzero(missing.all(axis=1))[0])
        raise ValueError(f"mask hides everything in row {row}: nothing is known to fill in from; use sample")
