"""Records of arrays that stay in their places, handed to kernels by one address.

A kernel that is called from Python asks each array of a record for its address and its shape, which takes
0.1 us: of eight networks together, as long as to predict a row. Here these are written down once, as numbers;
kernels read those that they need.
"""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.types.containers import BaseTuple
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numba.np import arrayobj

WORD = ir.IntType(64)


class Pinned:
    """Records of one type: named tuples of contiguous arrays, numbers and further records.

    Arrays may be written to, but a record has to be pinned anew when it is given others.
    """

    def __init__(self, records: Sequence[Any]) -> None:
        self.records = list(records)  # which keeps their arrays where they are
        kinds = {numba.typeof(record) for record in self.records}
        if len(kinds) != 1:
            raise TypeError(f"records of one type are needed, got {len(kinds)}")
        self.kind = PinnedType(kinds.pop())
        self.words = np.array([_words(record) for record in self.records], np.int64)
        self.address = self.words.ctypes.data

    def put(self, place: int, record: Any) -> None:
        """Replace a record by another of the same type."""
        if PinnedType(numba.typeof(record)) != self.kind:
            raise TypeError("the record is of another type than those it is put beside")
        self.records[place] = record
        self.words[place] = _words(record)


def _words(value: Any) -> list[int]:
    """Return what is written down of a record: addresses and shapes of arrays, and numbers."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("arrays of pinned records must be contiguous")
        return [value.ctypes.data, *value.shape]
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.int64))]
    return [int(value)]


class PinnedType(types.Type):
    """The type of pinned records, for Numba."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(name=f"Pinned({record})")


@typeof_impl.register(Pinned)  # type: ignore[untyped-decorator]
def _kind_of(pinned: Pinned, _context: Any) -> PinnedType:
    return pinned.kind


@register_model(PinnedType)
class PinnedModel(models.PrimitiveModel):
    """An address is all that a kernel is given."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD)


@unbox(PinnedType)  # type: ignore[untyped-decorator]
def _unbox(_kind: Any, pinned: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(pinned, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value)


def _size(kind: Any) -> int:
    """Return how many words are written down of a value."""
    if isinstance(kind, BaseTuple):
        return sum(map(_size, kind))
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


def _read(context: Any, builder: Any, kind: Any, words: Any, first: int) -> Any:
    """Return the value whose words begin at `first`. Nobody counts who uses its arrays: Python holds them."""
    if isinstance(kind, BaseTuple):
        parts = []
        for own in kind:
            parts.append(_read(context, builder, own, words, first))
            first += _size(own)
        return context.make_tuple(builder, kind, parts)
    word, *shape = (
        builder.load(builder.gep(words, [WORD(first + i)])) for i in range(1 + getattr(kind, "ndim", 0))
    )
    if isinstance(kind, types.Array):
        itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [WORD(itemsize)]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        array = arrayobj.make_array(kind)(context, builder)
        data = builder.inttoptr(word, context.get_data_type(kind.dtype).as_pointer())
        arrayobj.populate_array(array, data, shape, strides, WORD(itemsize), None)
        return array._getvalue()
    if isinstance(kind, types.Boolean):
        return builder.icmp_unsigned("!=", word, WORD(0))
    return builder.bitcast(word, ir.DoubleType()) if isinstance(kind, types.Float) else word


@intrinsic  # type: ignore[untyped-decorator]
def record_at(_typing_context: Any, pinned: Any, index: Any) -> Any:
    """Return one of the records. Numbers of it are as they were when it was pinned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        record = signature.args[0].record
        words = builder.inttoptr(arguments[0], WORD.as_pointer())
        start = builder.gep(words, [builder.mul(arguments[1], WORD(_size(record)))])
        return _read(context, builder, record, start, 0)

    return pinned.record(pinned, types.int64), generate
