"""Dask's arrays and data frames as lists of partitions, and arrays of what is found in each."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ggln.extras import require


def is_frame(collection: Any) -> bool:
    """Return whether this is a data frame, or a column of one."""
    return hasattr(collection, "divisions")


def check_collection(name: str, collection: Any) -> None:
    """Refuse what does not lie in partitions."""
    if not hasattr(collection, "__dask_graph__") or not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask array or data frame, got {type(collection).__name__}: "
            "use ggln.GGLNRegressor for rows in one place, or dask.array.from_array"
        )


def partitions_of(name: str, collection: Any) -> list[Any]:
    """Return delayed partitions, each with all columns of its rows."""
    check_collection(name, collection)
    if is_frame(collection):
        return list(collection.to_delayed())
    if collection.ndim > 1 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def lengths_of(collection: Any) -> list[float]:
    """Return the rows of each partition, NaN where nobody knows."""
    if is_frame(collection):
        return [float("nan")] * int(collection.npartitions)
    return list(collection.chunks[0])


def aligned(X: Any, **others: Any) -> list[list[Any]]:
    """Return the partitions of X, and those of others, which must be cut as X is."""
    found, rows = [partitions_of("X", X)], lengths_of(X)
    for name, other in others.items():
        check_collection(name, other)
        known = not np.isnan([*rows, *lengths_of(other)]).any()
        if known and sum(rows) != sum(lengths_of(other)):
            raise ValueError(f"X has {sum(rows)} rows, but {name} has {sum(lengths_of(other))}")
        if known and list(rows) != lengths_of(other):
            other = other.rechunk({0: tuple(rows)})
        own = partitions_of(name, other)
        if len(own) != len(found[0]):
            raise ValueError(
                f"X has {len(found[0])} partitions, but {name} has {len(own)}: cut both at the same rows"
            )
        found.append(own)
    return found


def joined(
    parts: Sequence[Any], rows: Sequence[float], axis: int, before: tuple[int, ...], after: tuple[int, ...]
) -> Any:
    """Return an array of delayed parts, with their rows along one axis."""
    da: Any = require("dask.array", "DaskGGLNRegressor")
    arrays = [
        da.from_delayed(part, (*before, count, *after), dtype=np.float64)
        for part, count in zip(parts, rows, strict=True)
    ]
    return da.concatenate(arrays, axis=axis, allow_unknown_chunksizes=True)


def delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is done later, where its partition is."""
    dask: Any = require("dask", "DaskGGLNRegressor")
    found: Callable[..., Any] = dask.delayed(function, pure=False)
    return found
