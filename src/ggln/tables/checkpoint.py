"""A model half learnt, in a file: after a crash, the same command goes on from there."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ggln import persistence
from ggln.tables.model import TableRegressor

Piece = TypeVar("Piece")


class Pieces(Protocol):
    """Hands over pieces of work; learning may be told to end between two of them, and nowhere else."""

    between: bool

    def __call__(self, pieces: Iterator[Piece]) -> Generator[Piece, None, None]:
        """Give the pieces one by one."""


class Unstoppable:
    """Nobody tells learning to end."""

    between = False

    def __call__(self, pieces: Iterator[Piece]) -> Generator[Piece, None, None]:
        """Give the pieces one by one."""
        yield from pieces


class Progress(NamedTuple):
    """How far learning has come. All of it is what JSON knows."""

    done: int  # the number of the last row that was learnt, held out or left out
    rows: int | None  # of the table, where they have been counted
    threshold: float | None  # the greatest lot of the rows that were fitted together; None: they came first
    held_out: dict[str, Any]
    unreadable: int
    unlabelled: int


class Checkpoint:
    """The file, and how often it is written.

    model: the file that it stands beside, and whose permissions it has, since it holds rows as well; every:
    seconds, at the least; identity: of the command that it belongs to; pieces: how learning is told to end,
    for a last one.
    """

    def __init__(
        self, model: Path, every: float, identity: dict[str, Any], pieces: Pieces | None = None
    ) -> None:
        self.model, self.path = model, model.with_name(model.name + ".checkpoint")
        self.every, self.identity = every, identity
        self.pieces: Pieces = pieces or Unstoppable()
        self.written = time.monotonic()

    def due(self) -> bool:
        """Return whether it is time to write again."""
        return time.monotonic() - self.written >= self.every

    def write(self, model: TableRegressor, progress: Progress) -> None:
        """Replace what was there before; a crash in between leaves that."""
        header, arrays = model.state()
        state = {"identity": self.identity, "progress": progress._asdict()}
        persistence.write(self.path, {**header, "checkpoint": state}, arrays, self.model)
        self.written = time.monotonic()

    def read(self) -> tuple[TableRegressor, Progress] | None:
        """Return what was kept, if anything was."""
        if not self.path.exists():
            return None
        header, arrays = persistence.read(self.path)
        state = header.get("checkpoint", {})
        if state.get("identity") != self.identity:
            other = _first_difference(state.get("identity") or {}, self.identity)
            raise ValueError(
                f"{self.path} belongs to a command with another {other}: run that one again to go on, or "
                "delete the file to begin anew"
            )
        with persistence.naming(self.path):
            return TableRegressor._from_state(header, arrays), Progress(**state["progress"])

    def remove(self) -> None:
        """Forget it: the model is complete."""
        self.path.unlink(missing_ok=True)


def _first_difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    return next((name for name in other if one.get(name) != other[name]), "content")
