"""How kernels are compiled: the flags, the cache, and dispatch on the kind of neuron.

Two promises rest on this module:

* `exact_kernel` compiles with strict IEEE semantics. Each lane of a vectorised loop then rounds as the
  scalar loop does, so the result cannot depend on how a block of rows is cut.
* `fast_kernel` may reassociate sums and contract multiply-adds. It is used only where a loop always runs
  over the same, padded length. "No NaN" and "no infinity" are never assumed: the guards must survive.

A loop that writes is compiled twice, in vectors and one number at a time; which of the two runs is decided by
how far apart its arrays happen to lie. Where both may reorder, they may round differently. So sums that
write nothing are fast, and loops that write several products are exact, with `fused_multiply_add`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

Function = TypeVar("Function", bound=Callable[..., Any])

FAST_FLAGS = {"contract", "reassoc", "nsz", "arcp"}
COMMON = {"nogil": True, "cache": True, "error_model": "numpy"}
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For functions that only kernels call: compiling what Python would call them by takes as long as they do."""
COPIED = {"forceinline": True}
"""For functions that may reorder. One that stands alone is optimised where it is compiled, and again in every
kernel that calls it; the linker takes the version that happens to be loaded first. So a process that compiles
would round otherwise than one that finds its kernels in the cache."""


def exact_kernel(function: Callable[..., Any]) -> Any:
    """Compile with IEEE semantics: the result does not depend on vectorisation.

    The flag is given explicitly: a function without one takes over that of the kernel which calls it first.
    """
    return numba.njit(fastmath=False, **COMMON)(function)


def fast_kernel(function: Callable[..., Any]) -> Any:
    """Compile with reassociation and contraction, for loops of a fixed length."""
    return numba.njit(fastmath=FAST_FLAGS, **COMMON)(function)


def inner_exact(function: Callable[..., Any]) -> Any:
    """As `exact_kernel`, for functions that only kernels call."""
    return numba.njit(fastmath=False, **COMMON, **INNER)(function)


def inner_fast(function: Callable[..., Any]) -> Any:
    """As `fast_kernel`, for functions that only kernels call; these get a copy each."""
    return numba.njit(fastmath=FAST_FLAGS, **COMMON, **INNER, **COPIED)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Make the function's text part of the kernels that call it, with their flags.

    For functions of many arrays: to pass 20 of them takes as long as to learn a row.
    """
    return numba.njit(inline="always", **COMMON)(function)


class Specialized:
    """Kernels for arguments whose types never change, called without the look-up of these types.

    For records of many arrays that look-up takes 10 us, more than a small network needs for a row. The caller
    answers for the types: those of a kernel's first call.
    """

    def __init__(self) -> None:
        self.compiled: dict[Any, Any] = {}

    def call(self, kernel: Any, arguments: tuple[Any, ...]) -> Any:
        """Return kernel(*arguments)."""
        if kernel not in self.compiled:
            self.compiled[kernel] = kernel.compile(tuple(numba.typeof(argument) for argument in arguments))
        return self.compiled[kernel](*arguments)


class Protocol:
    """A function with one implementation for each class of its first argument, chosen at compile time.

    The first argument is a `NamedTuple` (a covariance structure, a projection); its class is part of the
    type that Numba compiles for, so that choosing costs nothing at run time. A class without its own
    implementation takes the `default`, if there is one.
    """

    def __init__(self, stub: Callable[..., Any], default: Callable[..., Any] | None = None) -> None:
        self.implementations: dict[type, Callable[..., Any]] = {}

        def choose(*args: Any) -> Callable[..., Any] | None:
            return self.implementations.get(getattr(args[0], "instance_class", type(None)), default)

        options = {"fastmath": FAST_FLAGS, "error_model": "numpy", **COPIED}
        overload(stub, strict=False, jit_options=options)(choose)

    def register(self, kind: type) -> Callable[[Function], Function]:
        """Make the decorated function the implementation for first arguments of class `kind`."""

        def keep(function: Function) -> Function:
            self.implementations[kind] = function
            return function

        return keep


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_typing_context: Any, array: Any, position: Any) -> Any:
    """Ask for array[position] to be brought into the cache, for writing; never faults."""
    signature = types.void(array, position)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        write, keep, data_cache = integer(1), integer(3), integer(1)
        builder.call(instruction, [address, write, keep, data_cache])
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def fused_multiply_add(_typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """X * y + z in double precision, rounded once: the same in vector and in scalar code."""
    double = types.float64

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return double(double, double, double), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_to_exponent(_typing_context: Any, x: Any, shifted: Any) -> Any:
    """X * 2^n, a normal number, for shifted = n + 1.5 * 2^52: an integer in the last bits of a double."""
    double = types.float64

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        integer = ir.IntType(64)
        bits, exponent = (builder.bitcast(argument, integer) for argument in arguments)
        moved = builder.shl(exponent, integer(52))
        return builder.bitcast(builder.add(bits, moved), ir.DoubleType())

    return double(double, double), generate
