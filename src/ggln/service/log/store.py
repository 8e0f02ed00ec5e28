"""A place where the log is kept: transactions that write, one at a time, and readers beside them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Statements(Protocol):
    """A connection that runs statements; values stand where `?` is."""

    def run(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement and return its rows."""

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""


class Files(Protocol):
    """Where model files are kept, under names."""

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file that is written to a path; when this returns, it is on disk."""

    def open(self, name: str) -> AbstractContextManager[Path]:
        """Give the path of a file; FileNotFoundError where there is none."""

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""


class Store(Protocol):
    """A log's place."""

    shared: bool  # whether several machines write to it
    files: Files

    def writing(self) -> AbstractContextManager[Statements]:
        """Give a transaction: on disk when it ends, not there if an exception leaves it; one at a time."""

    def reading(self) -> AbstractContextManager[Statements]:
        """Give this thread's reader, which sees what is committed."""

    def busy(self) -> bool:
        """Return whether somebody is writing just now."""

    def tidy(self) -> None:
        """Do what keeps the place small, now and then, in a thread that nobody waits for."""

    def close(self) -> None:
        """Close all connections."""
