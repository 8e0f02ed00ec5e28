"""How much memory there is, asked before a lot of it is taken; and arrays whose rows suit the cache."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONTROL_GROUP = Path("/sys/fs/cgroup")
UNASKED = 64 * 2**20
"""Requests below this are not checked: asking takes longer than learning a row."""
ALIGNMENT = 64
"""Bytes in a line of the cache. Large arrays of NumPy begin 16 bytes into one, so that every other vector of
32 bytes lies across two lines: 256 x 258 weights are learnt a fifth slower then."""


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros that begin with a line of the cache; pages that are never written to cost nothing."""
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    extra = ALIGNMENT // np.dtype(dtype).itemsize
    flat = np.zeros(size + extra, dtype)
    first = -flat.ctypes.data % ALIGNMENT // flat.itemsize
    return flat[first : first + size].reshape(shape)


def writeable(value: Any) -> Any:
    """Return an array, or a tuple or record of arrays, that can be written to."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="W")
    if isinstance(value, tuple):
        parts = map(writeable, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def available() -> int | None:
    """Return the bytes that can still be had, as the system and its control group tell; None if unknown."""
    limits = []
    if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        limits.append(meminfo() or os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text().strip()
        if limit != "max":
            limits.append(int(limit) - int((CONTROL_GROUP / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return min(limits) if limits else None


def meminfo() -> int | None:
    """Return Linux's own estimate, which counts the caches that it would give up."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def require(needed: int, purpose: str) -> None:
    """Raise MemoryError where `purpose` needs more than there is."""
    if needed < UNASKED:
        return
    there = available()
    if there is not None and needed > there:
        raise MemoryError(
            f"{purpose} can need {readable(needed)} of memory, but {readable(there)} are available; "
            "use a smaller context_dim, smaller layer_sizes or a smaller n_estimators"
        )


def readable(size: int) -> str:
    """Return a number of bytes as a person would say it."""
    unit = "GiB" if size >= 2**30 else "MiB"
    return f"{size / (2**30 if unit == 'GiB' else 2**20):.1f} {unit}"
