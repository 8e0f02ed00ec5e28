"""Threads that work on one block together, and wait for each other inside the compiled code.

A block passes two dozen stages, each of which needs what all threads did in the one before. Going back to
Python between them costs 100 to 200 us, a tenth or more of a stage; a meeting in the kernel costs about one.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ggln.engine.jit import inner_exact

GIVEN_UP = 2**62
"""More arrivals than there will ever be: nobody waits for a member that failed."""
GIVE_WAY = "SwitchToThread" if sys.platform == "win32" else "sched_yield"


class Team(NamedTuple):
    """A member of a team of threads that run the same kernel on the same block."""

    member: int
    size: int
    arrivals: Any  # [1]  how often members arrived at meetings, all together


def team_of(size: int) -> list[Team]:
    """Return the members of a new team."""
    arrivals = np.zeros(1, np.int64)
    return [Team(member, size, arrivals) for member in range(size)]


def give_up(team: list[Team]) -> None:
    """Let go all who wait for a member that failed. What they were working on is lost."""
    team[0].arrivals[0] = GIVEN_UP


ALONE = team_of(1)[0]


@intrinsic  # type: ignore[untyped-decorator]
def arrive(_typing_context: Any, arrivals: Any) -> Any:
    """Count one more arrival # OUT; what the thread wrote before is seen by whoever sees the count."""
    signature = types.void(arrivals)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.atomic_rmw("add", count, ir.Constant(ir.IntType(64), 1), "acq_rel")
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def arrived(_typing_context: Any, arrivals: Any) -> Any:
    """Return the number of arrivals so far."""
    signature = types.int64(arrivals)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(count, ordering="acquire", align=8)

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def give_way(_typing_context: Any) -> Any:
    """Let another thread have the core, if one wants it: there may be more threads than cores."""

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, GIVE_WAY), [])
        return context.get_dummy_value()

    return types.void(), generate


@inner_exact
def meet(team: Any, meeting: Any) -> None:
    """Wait until all members have come to this meeting; meetings are numbered from 1."""
    if team.size > 1:
        arrive(team.arrivals)
        while arrived(team.arrivals) < meeting * team.size:
            give_way()


@inner_exact
def share(count: Any, unit: Any, team: Any) -> Any:
    """Return the part [start, stop) of 0 to count, cut at multiples of `unit`, that falls to a member."""
    units = (count + unit - 1) // unit
    start, stop = units * team.member // team.size, units * (team.member + 1) // team.size
    return start * unit, min(stop * unit, count)
