"""Records that kernels read by their address."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from ggln.engine.jit import exact_kernel
from ggln.engine.pinned import Pinned, record_at


class Inner(NamedTuple):
    """A record within another one."""

    few: Any  # [n], in single precision
    flag: Any


class Outer(NamedTuple):
    """A record of all that may be pinned."""

    table: Any  # [n, m, k]
    inner: Inner
    count: Any
    ratio: Any
    none: Any  # [0]


def draw(seed: int) -> Outer:
    """Return a record of its own sizes."""
    random = np.random.default_rng(seed)
    table, few = random.standard_normal((2 + seed, 3, 4)), random.standard_normal(5 + seed)
    inner = Inner(few.astype(np.float32), bool(seed % 2))
    return Outer(table, inner, -seed, 0.1 * seed - 1e-300, np.empty(0, np.int32))


@exact_kernel
def read(pinned, index, found):
    """Write the numbers of a record, and sums of its arrays."""
    record = record_at(pinned, index)
    table = record.table
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            for k in range(table.shape[2]):
                found[0] += (i + 10 * j + 100 * k) * table[i, j, k]
                table[i, j, k] += 1.0
    for i in range(record.inner.few.size):
        found[1] += i * record.inner.few[i]
    found[2] = 1.0 if record.inner.flag else 0.0
    found[3], found[4], found[5] = record.count, record.ratio, record.none.size


def test_kernels_read_and_write_the_records_themselves() -> None:
    records = [draw(seed) for seed in range(4)]
    pinned = Pinned(records)
    for index, record in enumerate(records):
        before, found = record.table.copy(), np.zeros(6)
        read(pinned, index, found)
        i, j, k = np.indices(before.shape)
        few = record.inner.few
        expected = np.sum((i + 10 * j + 100 * k) * before), few @ np.arange(few.size)
        np.testing.assert_allclose(found[:2], expected, rtol=1e-6)
        np.testing.assert_array_equal(found[2:], [record.inner.flag, record.count, record.ratio, 0])
        np.testing.assert_array_equal(record.table, before + 1.0)


def test_arrays_live_as_long_as_they_are_pinned() -> None:
    pinned, expected, found = Pinned([draw(1)]), np.zeros(6), np.zeros(6)
    read(Pinned([draw(1)]), 0, expected)
    others = [draw(1) for _ in range(50)]  # would take their places
    read(pinned, 0, found)
    np.testing.assert_array_equal(found, expected)
    assert len(others) == 50


def test_what_cannot_be_pinned_is_refused() -> None:
    with pytest.raises(TypeError, match="one type"):
        Pinned([draw(0), draw(0)._replace(table=np.zeros(3))])
    with pytest.raises(TypeError, match="contiguous"):
        Pinned([draw(0)._replace(table=np.zeros((4, 4, 4))[:, :, ::2])])
