"""Asking for memory before taking it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from ggln.engine import memory
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.gradient.network import staggered

GIB = 2**30


def test_too_much_is_refused_with_the_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2 * GIB)
    with pytest.raises(MemoryError, match=re.escape("the table can need 3.5 GiB of memory, but 2.0 GiB are")):
        memory.require(7 * GIB // 2, "the table")
    memory.require(2 * GIB, "the table")


def test_unknown_memory_and_small_requests_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.require(2**60, "anything")
    monkeypatch.setattr(memory, "available", lambda: 0)
    memory.require(memory.UNASKED - 1, "a little")


def test_available_is_plausible() -> None:
    there = memory.available()
    assert there is None or 2**20 < there < 2**50


def test_ensemble_refuses_what_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(layer_sizes=(200, 200), context_dim=10)
    ensemble = build(settings, draw_gates(settings, np.empty((0, settings.features))))
    monkeypatch.setattr(memory, "available", lambda: GIB // 4)
    ensemble.require(1)
    with pytest.raises(MemoryError, match=r"context_dim of 10 .* can need 3\d\d\.\d MiB"):
        ensemble.require(10**6)  # 1024 contexts of 200 x (8 + 208) weights of 8 bytes
    ensemble.require(100)


@pytest.mark.parametrize("shape", [1, 7, 10**6, (3, 2, 264)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_aligned_zeros_begin_with_a_line_of_the_cache(shape: int | tuple[int, ...], dtype: type) -> None:
    found = memory.aligned_zeros(shape, dtype)
    assert found.ctypes.data % memory.ALIGNMENT == 0
    assert found.shape == np.zeros(shape).shape
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    assert not found.any()


@pytest.mark.parametrize("neurons", [1, 33, 256, 3072, 3080])
@pytest.mark.parametrize("numbers", [1, 2, 3, 6])
def test_rows_of_outputs_are_an_odd_number_of_lines_apart(neurons: int, numbers: int) -> None:
    room = staggered(neurons, numbers, np.float32)
    lines, rest = divmod(room * numbers * 4, memory.ALIGNMENT)
    assert neurons <= room < neurons + 2 * memory.ALIGNMENT
    assert rest == 0
    assert lines % 2 == 1 or numbers == 6  # six lines hold whole neurons
