"""Rows in partitions, wherever they lie, and the three things that a coordinator may ask of all of them.

What is known of a partition is a record of arrays, its state. `advance` puts a new state in place of each,
`total` adds up what is measured on all, and `each` asks for what is small. All are done by functions of a
state and a message alone, that change neither: a state that was lost can be made again.

Sums are added in the order of partitions, always in the same way: where rows lie changes no bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ggln.engine import memory

FAN_IN = 8
"""Neighbouring sums that are added in one go: a few storeys of additions instead of a long chain."""


class Stage(NamedTuple):
    """What a part of `fit` sent: bytes, but for the first two."""

    name: str
    rounds: int  # times that the coordinator waited for an answer
    messages: int  # what every worker is sent, once
    sums: int  # what every partition gives to a sum
    rows: int  # what all partitions sent of single rows


class Partitions(ABC):
    """All partitions of a table."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.traffic: list[Stage] = []

    def begin(self, stage: str) -> None:
        """Count what is sent from now on under a name."""
        self.traffic.append(Stage(stage, 0, 0, 0, 0))

    def _note(self, rounds: int, message: Any, sums: Any = None, rows: Any = None) -> None:
        name, *before = self.traffic[-1]
        news = rounds, size_of(message), size_of(sums), size_of(rows)
        self.traffic[-1] = Stage(name, *(old + new for old, new in zip(before, news, strict=True)))

    def advance(self, step: Callable[[Any, Any], Any], message: Any) -> None:
        """Put step(state, message) in place of every state."""
        self._note(0, message)
        self._advance(step, message)

    def total(self, measure: Callable[[Any, Any], Any], message: Any = None) -> Any:
        """Return the sum of measure(state, message), arrays or lists of arrays, over all partitions."""
        found = self._total(measure, message)
        self._note(1, message, sums=found)
        return found

    def each(self, look: Callable[[Any, Any], Any], message: Any = None) -> list[Any]:
        """Return look(state, message) of every partition, in their order."""
        found = self._each(look, message)
        self._note(1, message, rows=found)
        return found

    @abstractmethod
    def _advance(self, step: Callable[[Any, Any], Any], message: Any) -> None: ...

    @abstractmethod
    def _total(self, measure: Callable[[Any, Any], Any], message: Any) -> Any: ...

    @abstractmethod
    def _each(self, look: Callable[[Any, Any], Any], message: Any) -> list[Any]: ...


class Here(Partitions):
    """Partitions in this process."""

    def __init__(self, states: list[Any]) -> None:
        super().__init__(len(states))
        self.states = states

    def _advance(self, step: Callable[[Any, Any], Any], message: Any) -> None:
        self.states = [step(state, message) for state in self.states]

    def _total(self, measure: Callable[[Any, Any], Any], message: Any) -> Any:
        found = [measure(state, message) for state in self.states]
        while len(found) > 1:
            found = [added(found[first : first + FAN_IN]) for first in range(0, len(found), FAN_IN)]
        return found[0]

    def _each(self, look: Callable[[Any, Any], Any], message: Any) -> list[Any]:
        return [look(state, message) for state in self.states]


def added(values: list[Any]) -> Any:
    """Return the sum of arrays, or of lists of them, in their order; None adds nothing to None."""
    first = values[0]
    if first is None:
        return None
    if isinstance(first, list | tuple):
        return [added(list(own)) for own in zip(*values, strict=True)]
    found = np.array(first)
    for value in values[1:]:
        found = found + value
    return found


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a message; one that is there twice is sent once."""
    return sum(array.nbytes for array in {id(array): array for array in _arrays(value)}.values())


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [array for one in value for array in _arrays(one)]
    return [value] if isinstance(value, np.ndarray) else []


def owned(value: Any) -> Any:
    """Return a message whose arrays can be written to: kernels are compiled for these alone."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(owned, value))
    if isinstance(value, list | tuple):
        return type(value)(map(owned, value))
    return memory.writeable(value)
