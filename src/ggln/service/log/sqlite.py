"""The log in a file: SQLite, with a write-ahead log that is on disk before a transaction ends."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ggln.service.errors import RefusedError, storage_full
from ggln.service.log import schema
from ggln.service.log.store import Files, Statements

TYPES = {"long": "INTEGER", "real": "REAL", "bytes": "BLOB", "packed": "WITHOUT ROWID"}
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # the write-ahead log is brought to the disk at each commit
    "busy_timeout=10000",
    "cache_size=-16000",  # KB; the rest is the system's business
    "wal_autocheckpoint=0",  # `tidy` does so: no request waits for it
    "journal_size_limit=67108864",
)
LONG_LOG, MOST_LOG = 16 * 2**20, 256 * 2**20
"""Bytes of the write-ahead log from which on it is brought into the database, and from which on at once."""


class Folder:
    """Model files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file; whoever writes model files brings them to the disk, all of them or nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)  # somebody may have removed it
        write(self.folder / name)

    @contextmanager
    def open(self, name: str) -> Iterator[Path]:
        """Give the path of a file."""
        path = self.folder / name
        if not path.is_file():
            raise FileNotFoundError(f"there is no model file {str(path)!r}")
        yield path

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        (self.folder / name).unlink(missing_ok=True)


class Connection:
    """A connection to SQLite."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in PRAGMAS:
            self.connection.execute(f"PRAGMA {pragma}")

    def run(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement and return its rows."""
        return self.connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""
        self.connection.executemany(sql, rows)

    def close(self) -> None:
        """Close it."""
        self.connection.close()


class SQLiteStore:
    """A log in a folder, which one process serves."""

    shared = False

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.db"
        self.files: Files = Folder(folder / "models")
        self._writing = threading.Lock()
        self._own = threading.local()
        self._readers: list[Connection] = []
        try:
            self.writer = Connection(self.path)
            self._prepare()
        except (sqlite3.Error, RefusedError) as error:
            raise ValueError(f"{str(self.path)!r} cannot be used as a log: {error}") from error

    def _prepare(self) -> None:
        version = self._version()
        if version is None:  # nothing is written to a log that is there: the disk may be full
            with self.writing() as statements:
                for statement in schema.statements(schema.TABLES, **TYPES):
                    statements.run(statement)
                statements.run("INSERT INTO counters VALUES ('schema', ?)", schema.VERSION)
            version = schema.VERSION
        if version > schema.VERSION:
            raise ValueError(
                f"{str(self.path)!r} is a log of version {version}, this ggln reads up to {schema.VERSION}"
            )

    def _version(self) -> int | None:
        """Return the version of the tables that are there, if there are some."""
        if not self.writer.run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'counters'"):
            return None
        found = self.writer.run("SELECT value FROM counters WHERE name = 'schema'")
        return int(found[0][0]) if found else None

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        """Give a transaction; a disk that is full is a refusal, and everything is as it was before."""
        with self._writing:
            try:
                self.writer.run("BEGIN IMMEDIATE")
                yield self.writer
                self.writer.run("COMMIT")
            except BaseException as error:
                with contextlib.suppress(sqlite3.Error):  # SQLite may have done so itself
                    self.writer.run("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise storage_full(f"the log cannot be written: {error}; nothing was changed") from error
                raise

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        """Give this thread's reader."""
        reader = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = Connection(self.path)
            self._readers.append(reader)
        yield reader

    def busy(self) -> bool:
        """Return whether somebody is writing just now."""
        return self._writing.locked()

    def tidy(self) -> None:
        """Bring the write-ahead log into the database where it has grown; readers and writers go on."""
        log = self.path.with_name(f"{self.path.name}-wal")
        size = log.stat().st_size if log.exists() else 0
        if size > MOST_LOG:  # it has grown faster than that: now writers wait
            with self._writing:
                self.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
        elif size > LONG_LOG:
            with self.reading() as statements:
                statements.run("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Close all connections."""
        for reader in self._readers:
            reader.close()
        self.writer.close()
