"""Eight doubles at once, for the kernels that most of learning is spent in.

A layer has some 20 inputs. What LLVM makes of loops of that length by itself is mostly scalar remainder. Here
the kernel says what a vector is: a local variable of eight doubles, which LLVM cuts to what the processor
has. Rows of arrays are padded to whole vectors (`padded`), so that there is no remainder; each lane rounds by
itself, and sums are taken in one fixed order.

Positions count elements from the beginning of a contiguous array.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 8
"""One vector of AVX-512, two of AVX2, four of NEON."""


def padded(count: int) -> int:
    """Return the least whole number of vectors that holds so many elements, in elements."""
    return -(-count // LANES) * LANES


class LanesType(types.Type):
    """The type of a vector, for Numba."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


DOUBLES = LanesType()
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A vector is held in registers."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, position: Any, element: Any) -> Any:
    """Return the address of array[position], as one of LANES elements."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), ir.VectorType(element, LANES).as_pointer())


def _element(kind: Any) -> tuple[Any, int]:
    """Return an array's element and its bytes: single or double precision."""
    return (ir.FloatType(), 4) if kind.dtype == types.float32 else (ir.DoubleType(), 8)


def _spread(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), lanes)


@intrinsic  # type: ignore[untyped-decorator]
def load(_typing_context: Any, array: Any, position: Any) -> Any:
    """Return array[position:position + 8], in double precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element, size = _element(signature.args[0])
        address = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], element)
        value = builder.load(address, align=size)
        return value if size == 8 else builder.fpext(value, VECTOR)

    return DOUBLES(array, position), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_typing_context: Any, array: Any, position: Any, value: Any) -> Any:
    """Write array[position:position + 8] # OUT, in the array's precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element, size = _element(signature.args[0])
        address = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], element)
        value = arguments[2]
        if size == 4:
            value = builder.fptrunc(value, ir.VectorType(element, LANES))
        builder.store(value, address, align=size)
        return context.get_dummy_value()

    return types.void(array, position, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def spread(_typing_context: Any, value: Any) -> Any:
    """Return eight times the same value."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _spread(builder, arguments[0])

    return DOUBLES(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def repeat(_typing_context: Any, array: Any, position: Any) -> Any:
    """Return eight times array[position], of doubles."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return _spread(builder, builder.load(builder.gep(data, [arguments[1]])))

    return DOUBLES(array, position), generate


@intrinsic  # type: ignore[untyped-decorator]
def times(_typing_context: Any, x: Any, y: Any) -> Any:
    """Return x * y."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return DOUBLES(DOUBLES, DOUBLES), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_add(_typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z, rounded once."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        name = f"llvm.fma.v{LANES}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return DOUBLES(DOUBLES, DOUBLES, DOUBLES), generate


@intrinsic  # type: ignore[untyped-decorator]
def total(_typing_context: Any, x: Any) -> Any:
    """Return the sum of all lanes: halves are added until one is left."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        value, count = arguments[0], LANES
        while count > 1:
            count //= 2
            halves = [
                builder.shuffle_vector(
                    value,
                    value,
                    ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, first + count))),
                )
                for first in (0, count)
            ]
            value = builder.fadd(*halves)
        return builder.extract_element(value, ir.IntType(32)(0))

    return types.float64(DOUBLES), generate
