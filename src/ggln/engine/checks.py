"""What a model file has to hold: names, types, shapes and ranges of its values and arrays.

A checksum guards against damage, not against a person: whoever edits a file can compute it again. Compiled
code does not look whether an index is inside an array, and a loop over a schedule ends only if the schedule
goes on. So all that is read from a file is compared with a layout before anything uses it. Layouts stand
beside the code that writes what they describe.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import MAX_MAGNITUDE

Arrays = Mapping[str, NDArray[Any]]
MOST = 1e50
"""Numbers in standardised units, at most. Predictions in the user's units are squares of these times 1e200,
the square of the largest unit, and have to be finite."""
WEIGHT = 1e120
"""Sums of the weights of rows, at most: each may be up to `MAX_MAGNITUDE`."""
SQUARES = 1e300
"""Sums of squares in the user's units, at most."""
COUNT = 2**53
"""Numbers of rows, at most: further ones are not told apart in double precision."""
LEAST = 5e-324
"""The smallest positive number: units may be as small as numbers are."""
SUM = 1e-3
"""How far shares may be off one, all together: rounding is far below."""


class Array(NamedTuple):
    """What an array has to be."""

    dtype: Any
    shape: tuple[int | str, ...]  # a name stands for a length that is the same wherever it occurs
    low: float
    high: float
    gaps: bool  # whether NaN is a missing value
    ends: bool  # whether numbers may be infinite


def real(
    *shape: int | str,
    low: float = -MOST,
    high: float = MOST,
    gaps: bool = False,
    ends: bool = False,
    dtype: Any = np.float64,
) -> Array:
    """Return the layout of an array of finite numbers."""
    return Array(dtype, shape, low, high, gaps, ends)


def user(*shape: int | str, gaps: bool = False, ends: bool = False) -> Array:
    """Return the layout of an array of numbers in the user's units."""
    return real(*shape, low=-MAX_MAGNITUDE, high=MAX_MAGNITUDE, gaps=gaps, ends=ends)


def amount(*shape: int | str, high: float = MOST) -> Array:
    """Return the layout of an array of numbers that are not negative."""
    return real(*shape, low=0.0, high=high)


def positive(*shape: int | str, high: float = MOST, low: float = 1e-100) -> Array:
    """Return the layout of an array of positive numbers."""
    return real(*shape, low=low, high=high)


def whole(*shape: int | str, low: int = 0, below: int = COUNT, dtype: Any = np.int64) -> Array:
    """Return the layout of an array of indices or counts from `low` on that are below a number."""
    return Array(dtype, shape, low, below - 1, False, False)


def require(condition: Any, what: str) -> None:
    """Raise ValueError unless a condition holds."""
    if not condition:
        raise ValueError(what)


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): own for name, own in arrays.items() if name.startswith(prefix)}


def numbered(arrays: Arrays, prefix: str) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of each thing that is numbered behind a prefix: 0, 1, 2, ..."""
    numbers = {name.split(".")[1] for name in arrays if name.startswith(prefix)}
    known = {str(number) for number in range(len(numbers))}
    require(numbers == known, f"{prefix} is not numbered from 0 on")
    return [part(arrays, f"{prefix}{number}.") for number in range(len(numbers))]


def check_arrays(arrays: Arrays, layout: Mapping[str, Array], **sizes: int) -> dict[str, int]:
    """Raise ValueError unless arrays are those of a layout; return the lengths that its names stand for."""
    check_names(arrays, layout)
    for name, wanted in layout.items():
        array = arrays[name]
        require(array.dtype == wanted.dtype, f"{name} is of type {array.dtype}, not {np.dtype(wanted.dtype)}")
        fits = array.ndim == len(wanted.shape)
        for length, size in zip(array.shape, wanted.shape, strict=False):
            fits = fits and length == (size if isinstance(size, int) else sizes.setdefault(size, length))
        shape = tuple(size if isinstance(size, int) else sizes.get(size, size) for size in wanted.shape)
        require(fits, f"{name} has the shape {array.shape}, not {shape}")
        check_range(name, array, wanted)
    return sizes


def check_names(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise ValueError unless names are those that are wanted."""
    for name in sorted(wanted.keys() ^ found.keys()):
        raise ValueError(f"{name} is {'missing' if name in wanted else 'nothing that it should hold'}")


def check_range(name: str, array: NDArray[Any], wanted: Array) -> None:
    """Raise ValueError unless all numbers are in the range that is wanted."""
    if array.dtype == np.bool_:
        return
    low, high = wanted.low, wanted.high
    if array.dtype.kind == "f":
        low, high = max(low, float(np.finfo(array.dtype).min)), min(high, float(np.finfo(array.dtype).max))
    inside = (array >= low) & (array <= high)
    if wanted.gaps:
        inside |= np.isnan(array)
    if wanted.ends:
        inside |= np.isinf(array)
    require(
        inside.all(), f"{name} holds numbers that it cannot hold, outside {wanted.low:g} to {wanted.high:g}"
    )


def check_shares(name: str, shares: NDArray[Any]) -> None:
    """Raise ValueError unless shares add up to one along the last axis."""
    totals = shares.sum(axis=-1)
    require((np.abs(totals - 1.0) <= SUM).all(), f"{name} holds shares that do not add up to one")


def check_positive_definite(name: str, matrices: NDArray[Any]) -> None:
    """Raise ValueError unless matrices [.., D, D] are covariances."""
    try:
        found = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        found = np.array(np.nan)
    require(np.isfinite(found).all(), f"{name} holds a matrix that is no covariance")


def like(arrays: Arrays, **others: Array) -> dict[str, Array]:
    """Return the layout of arrays of known shapes, such as those of a learner that knows nothing."""
    return {
        name: others.get(name) or Array(array.dtype, array.shape, -MOST, MOST, False, False)
        for name, array in arrays.items()
    }


# Plain values --------------------------------------------------------------------------------------------

Test = Callable[[Any], bool]


def integer(low: int = 0, high: int = COUNT) -> Test:
    """Return a test for whole numbers in a range."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def number(low: float = -MOST, high: float = MOST) -> Test:
    """Return a test for finite numbers in a range; whole ones are not beyond those that a float holds."""
    return lambda value: (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and low <= value <= high
        and (isinstance(value, float) or abs(value) <= COUNT)
    )


def one_of(*options: Any) -> Test:
    """Return a test for some values, of the same type as well: 1 is not True."""
    return lambda value: any(type(value) is type(option) and value == option for option in options)


def either(*tests: Test) -> Test:
    """Return a test that some other one passes."""
    return lambda value: any(test(value) for test in tests)


def several(test: Test, least: int = 0) -> Test:
    """Return a test for lists of values that each pass another one."""
    return lambda values: isinstance(values, list | tuple) and len(values) >= least and all(map(test, values))


def anything(_: Any) -> bool:
    """Pass whatever it is: somebody else looks at it."""
    return True


FLAG = one_of(True, False)
NOTHING = one_of(None)
TEXT: Test = lambda value: isinstance(value, str)  # noqa: E731
SCALE = number(1e-15, 1e9)
LAYERS = several(integer(1, 2**31), 1)


def check_values(values: Any, layout: Mapping[str, Test]) -> None:
    """Raise ValueError unless plain values are those of a layout."""
    require(isinstance(values, dict), f"it holds {type(values).__name__} where values by name should be")
    check_names(values, layout)
    for name, test in layout.items():
        require(test(values[name]), f"{name} cannot be {str(values[name])[:80]!r}")
