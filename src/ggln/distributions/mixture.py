"""What mixtures of one and of several outputs share: weights, checks, and the cutting of rows into blocks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.distributions.formulas import Float

Int: TypeAlias = NDArray[np.intp]
Index: TypeAlias = "int | slice | list[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]"
RandomState: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"

BLOCK = 1 << 18  # elements of a float64 temporary (2 MB)
WEIGHT_TOL = 1e-4  # float32 weights do not sum to one exactly; they are renormalised in float64


def blocks(n: int, width: int) -> Iterator[slice]:
    """Slices that cover range(n), at least one, of about BLOCK / width elements."""
    step = max(1, BLOCK // width)
    return (slice(start, start + step) for start in range(0, max(n, 1), step))


def floating(values: ArrayLike) -> NDArray[Any]:
    """Return values as an array of floating-point numbers, in their own precision if they have one."""
    array = np.asarray(values)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def finite(array: NDArray[Any]) -> bool:
    """Return whether all numbers are finite, without an array of answers."""
    return math.isfinite(array.min(initial=0.0)) and math.isfinite(array.max(initial=0.0))


def check(ok: bool | np.bool_, message: str) -> None:
    """Raise ValueError with a message unless all is well."""
    if not ok:
        raise ValueError(message)


def check_y(y: ArrayLike, shape: tuple[int, ...]) -> Float:
    """Return targets as an array, which must have the given shape."""
    array = np.asarray(y, dtype=np.float64)
    check(array.shape == shape, f"y has shape {array.shape}, expected {shape}")
    return array


def generator(random_state: RandomState) -> np.random.Generator | np.random.RandomState:
    """Return the generator itself, or one from a seed."""
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return random_state
    return np.random.default_rng(random_state)


class Quantiles(ABC):
    """What has quantiles has intervals."""

    @abstractmethod
    def quantile(self, q: ArrayLike) -> Float:
        """Inverse of the distribution function."""

    def interval(self, level: float) -> tuple[Float, Float]:
        """Central interval: the quantiles at (1 - level) / 2 and (1 + level) / 2, 0 < level < 1."""
        inside = isinstance(level, Real) and 0.0 < level < 1.0
        check(inside, f"level must be a number strictly between 0 and 1, got {level!r}; see also quantile")
        lower, upper = self.quantile([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return lower, upper


class Mixture(Quantiles):
    """What mixtures of one and of several outputs share."""

    def __init__(self, weights: ArrayLike, means: NDArray[Any]) -> None:
        self.weights, self.means = floating(weights), means
        shape, full = self.weights.shape, means.shape[:2]
        expected = f"weights has shape {shape}, expected {full[1:]} or {full}"
        check(full[1] > 0 and shape in {full[1:], full}, expected)
        total = self.weights.sum(axis=-1, dtype=np.float64)
        check(
            self.weights.min(initial=0.0) >= 0.0 and np.all(np.abs(total - 1.0) <= WEIGHT_TOL),
            "weights must be non-negative and sum to one in each row",
        )
        check(finite(means), "means must be finite")

    def __len__(self) -> int:
        return len(self.means)

    def _select(self, index: Index) -> tuple[NDArray[Any], Any]:
        """Weights of the rows, and the index with an integer turned into a list of one."""
        rows = [index] if isinstance(index, (int, np.integer)) else index
        return self.weights if self.weights.ndim == 1 else self.weights[rows], rows

    def _normalised(self, rows: slice | Int) -> Float:
        """Weights of the rows in float64, (b, M), or (1, M) if all rows share them."""
        w = np.atleast_2d(self._select(rows)[0]).astype(np.float64)
        w /= w.sum(axis=1, keepdims=True)
        return w

    def _draw_components(self, n: int, rng: np.random.Generator | np.random.RandomState) -> tuple[Int, Int]:
        """Index of n random components of each row: (rows,), (n, rows)."""
        check(n >= 0, f"n must be at least 0, got {n}")
        u = rng.random((n, len(self)))
        picks = np.empty(u.shape, dtype=np.intp)
        for i, w in enumerate(np.broadcast_to(self.weights, self.means.shape[:2])):
            cumulative = np.cumsum(w, dtype=np.float64)
            picks[:, i] = np.searchsorted(cumulative / cumulative[-1], u[:, i], side="right")
        return np.arange(len(self)), picks
