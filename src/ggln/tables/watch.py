"""Who looks on while a table is learnt."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from ggln.tables.names import Answer, Question
from ggln.tables.read import Bad

Advance = Callable[[int, float | None], None]
"""Told how many rows were done since the last call, and the running loss if there is a new one."""


ONE_BY_ONE = 5
"""Rows that cannot be read, of which each is spoken of: a thousand lines would hide all others."""


def fault(bad: Bad) -> str:
    """Return what is wrong with a row, without what differs from one to the next.

    >>> fault(Bad(7, "it has 1 cell, not 2")) == fault(Bad(9, "it has 3 cell, not 2"))
    True
    """
    return re.sub(r"'[^']*'$|'[^']*',|\d+", "", bad.reason)


def left_out(bad: Bad, count: int) -> str | None:
    """Return what to say of the row that is the `count`-th of its kind to be left out; None if only counted.

    >>> left_out(Bad(7, "it has 1 cell, not 2"), 1)
    'row 7: it has 1 cell, not 2: left out'
    >>> left_out(Bad(80, "it has 1 cell, not 2"), 10)
    'row 80: it has 1 cell, not 2: left out, the 10th row'
    """
    if count < ONE_BY_ONE:
        return f"{bad}: left out"
    if count == ONE_BY_ONE:
        return f"{bad}: left out; from now on only the 10th, 100th, ... such row is spoken of"
    return f"{bad}: left out, the {count:,}th row" if str(count).rstrip("0") == "1" else None


class Watch(Protocol):
    """What learning says of itself."""

    def say(self, remark: str) -> None:
        """Say something that is worth a line."""

    def ask(self, question: Question) -> Answer:
        """Return what a person answers; where nobody can, say what would be asked, and keep the column."""

    def stage(
        self, what: str, total: int | None, unit: str = "rows", done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Begin a stage of so many rows or of something else, or of nobody knows how many.

        done: how many of them were done by an earlier run.
        """

    def loss_due(self) -> bool:
        """Return whether it is time for a new running loss."""


class Silent:
    """Nobody."""

    def say(self, remark: str) -> None:
        """Keep quiet."""

    def ask(self, question: Question) -> Answer:  # noqa: ARG002
        """Ask nobody."""
        return "keep"

    @contextmanager
    def stage(
        self,
        what: str,  # noqa: ARG002
        total: int | None,  # noqa: ARG002
        unit: str = "rows",  # noqa: ARG002
        done: int = 0,  # noqa: ARG002
    ) -> Iterator[Advance]:
        """Show nothing."""
        yield lambda _rows, _loss: None

    def loss_due(self) -> bool:
        """Never."""
        return False
