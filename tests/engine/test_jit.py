"""How kernels are compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggln.engine import jit
from ggln.engine.jit import exact_kernel, fast_kernel

ROUNDER = 1.5 * 2.0**52


def nearest(x: float) -> float:
    return (x + ROUNDER) - ROUNDER


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba's cache would not notice a change of the flags, which are set in another file."""
    monkeypatch.setitem(jit.COMMON, "cache", False)


def test_exact_kernels_stay_exact_inside_fast_ones() -> None:
    """A called function inherits the caller's flags unless it sets its own, and is compiled but once."""
    exact = exact_kernel(nearest)

    @fast_kernel
    def caller(x: float) -> float:
        return exact(x)

    assert caller(0.3) == 0.0
    assert exact(0.3) == 0.0


def test_fast_kernels_do_not_assume_finite_numbers() -> None:
    @fast_kernel
    def guarded(x: float) -> float:
        return -1.0 if np.isnan(x) or np.isinf(x) else x

    assert guarded(math.nan) == guarded(math.inf) == -1.0
    assert guarded(2.0) == 2.0
