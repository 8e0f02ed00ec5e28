"""Who looks on while a table is learnt."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int, float | None], None]
"""Told how many rows were done since the last call, and the running loss if there is a new one."""


class Watch(Protocol):
    """What learning says of itself."""

    def say(self, remark: str) -> None:
        """Say something that is worth a line."""

    def stage(self, what: str, total: int | None, unit: str = "rows") -> AbstractContextManager[Advance]:
        """Begin a stage of so many rows or of something else, or of nobody knows how many."""

    def loss_due(self) -> bool:
        """Return whether it is time for a new running loss."""


class Silent:
    """Nobody."""

    def say(self, remark: str) -> None:
        """Keep quiet."""

    @contextmanager
    def stage(self, what: str, total: int | None, unit: str = "rows") -> Iterator[Advance]:  # noqa: ARG002
        """Show nothing."""
        yield lambda _rows, _loss: None

    def loss_due(self) -> bool:
        """Never."""
        return False
