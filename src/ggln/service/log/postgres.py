"""The log in PostgreSQL, which several machines share, and the lease of the one that learns."""

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from psycopg import conninfo

from ggln.service import constants
from ggln.service.errors import RefusedError, storage_full, unavailable
from ggln.service.log import schema
from ggln.service.log.store import Files, Statements

TYPES = {"long": "BIGINT", "real": "DOUBLE PRECISION", "bytes": "BYTEA", "packed": ""}
WRITERS = 0x67676C6E
"""The number of the lock that writers hold: with one at a time, numbers grow in the order of commits."""
PATIENCE: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Seconds, and milliseconds, after which a database that is silent counts as away: by itself a system waits
for a quarter of an hour. What the URL says comes first."""
FULL = ("53100", "54000")
"""Codes of a disk that is full, and of a limit that is reached."""


class Connection:
    """A connection to PostgreSQL."""

    def __init__(self, url: str) -> None:
        patient = conninfo.make_conninfo(**{**PATIENCE, **conninfo.conninfo_to_dict(url)})
        self.connection = psycopg.connect(patient, autocommit=True)

    def run(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement and return its rows."""
        cursor = self.connection.execute(sql.replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row of values."""
        with self.connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), list(rows))

    def close(self) -> None:
        """Close it."""
        self.connection.close()


class Table:
    """Model files in a table."""

    def __init__(self, store: "PostgresStore") -> None:
        self.store = store

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.ggln"
            write(path)
            content = path.read_bytes()
        with self.store.writing() as statements:
            statements.run("INSERT INTO files VALUES (?, ?) ON CONFLICT DO NOTHING", name, content)

    @contextmanager
    def open(self, name: str) -> Iterator[Path]:
        """Give the path of a copy of a file."""
        with self.store.reading() as statements:
            found = statements.run("SELECT content FROM files WHERE name = ?", name)
        if not found:
            raise FileNotFoundError(f"there is no model file {name!r} in the database")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.ggln"
            path.write_bytes(found[0][0])
            yield path

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        with self.store.writing() as statements:
            statements.run("DELETE FROM files WHERE name = ?", name)


class PostgresStore:
    """A log in a database."""

    shared = True

    def __init__(self, url: str) -> None:
        self.url = url
        self.files: Files = Table(self)
        self._writing = threading.Lock()
        self._own = threading.local()
        self._readers: list[Connection] = []
        self._writer: Connection | None = None
        try:
            self._prepare()
        except (psycopg.Error, RefusedError) as error:
            text = " ".join(str(error).split())
            raise ValueError(f"the database cannot be used as a log: {text}") from error

    def _prepare(self) -> None:
        with self.writing() as statements:
            for text in (schema.TABLES, schema.SHARED):
                for statement in schema.statements(text, **TYPES):
                    statements.run(statement)
            for name, value in (("schema", schema.VERSION), ("seq", 0), ("models", 0)):
                statements.run("INSERT INTO counters VALUES (?, ?) ON CONFLICT DO NOTHING", name, value)
            version = statements.run("SELECT value FROM counters WHERE name = 'schema'")[0][0]
        if version > schema.VERSION:
            raise ValueError(
                f"the database holds a log of version {version}, this ggln reads up to {schema.VERSION}"
            )

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        """Give a transaction; a database that is away or full is a refusal, and nothing has changed."""
        with self._writing:
            try:
                if self._writer is None:
                    self._writer = Connection(self.url)
                with self._writer.connection.transaction():
                    self._writer.run("SELECT pg_advisory_xact_lock(?)", WRITERS)
                    yield self._writer
            except psycopg.Error as error:
                text = " ".join(str(error).split())
                if error.sqlstate in FULL:
                    raise storage_full(f"the log cannot be written: {text}; nothing was changed") from error
                if isinstance(error, psycopg.OperationalError):
                    self._drop_writer()
                    raise unavailable(f"the database cannot be reached: {text}") from error
                raise

    def _drop_writer(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(psycopg.Error):
                self._writer.close()
        self._writer = None

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        """Give this thread's reader."""
        try:
            reader = getattr(self._own, "reader", None)
            if reader is None:
                reader = self._own.reader = Connection(self.url)
                self._readers.append(reader)
            yield reader
        except psycopg.OperationalError as error:
            reader = self._own.__dict__.pop("reader", None)
            if reader is not None:
                self._readers.remove(reader)
                reader.close()
            text = " ".join(str(error).split())
            raise unavailable(f"the database cannot be reached: {text}") from error

    def busy(self) -> bool:
        """Return whether this process is writing just now."""
        return self._writing.locked()

    def tidy(self) -> None:
        """Do nothing: the database tidies up itself."""

    def close(self) -> None:
        """Close all connections."""
        for reader in self._readers:
            reader.close()
        self._drop_writer()


class PostgresLease:
    """Who learns: a row with an end, which the holder moves on; when that is past, another may take it.

    Time is that of the database. Two that both believe to hold the lease for a moment do no harm: what they
    learn is the same, and only the one that does hold it can publish.
    """

    def __init__(self, store: PostgresStore, seconds: float = constants.LEASE_SECONDS) -> None:
        self.store, self.seconds = store, seconds
        self.holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.epoch: int | None = None
        self.until = 0.0
        self.stopping = threading.Event()
        self._renew()
        self.thread = threading.Thread(target=self._work, name="ggln-lease", daemon=True)
        self.thread.start()

    def held(self) -> bool:
        """Return whether this process learns."""
        return self.epoch is not None and time.monotonic() < self.until

    def check(self, statements: Statements) -> bool:
        """Return whether it still does, within a transaction that publishes."""
        found = statements.run(
            "SELECT epoch FROM lease WHERE name = 'learner' AND holder = ? FOR UPDATE", self.holder
        )
        return bool(found) and found[0][0] == self.epoch

    def release(self) -> None:
        """Let another learn at once."""
        self.stopping.set()
        self.thread.join()
        with contextlib.suppress(RefusedError), self.store.writing() as statements:  # it ends by itself, too
            statements.run("UPDATE lease SET until = 0 WHERE name = 'learner' AND holder = ?", self.holder)
        self.epoch = None

    def _work(self) -> None:
        while not self.stopping.wait(self.seconds / 4):
            # a database that is away keeps nobody from trying again; without it, the lease ends
            with contextlib.suppress(Exception):
                self._renew()

    def _renew(self) -> None:
        """Take the lease if it is free, or move its end on if it is ours."""
        asked = time.monotonic()
        with self.store.writing() as statements:
            now = statements.run("SELECT extract(epoch FROM clock_timestamp())::double precision")[0][0]
            found = statements.run("SELECT holder, until, epoch FROM lease WHERE name = 'learner' FOR UPDATE")
            holder, until, epoch = found[0] if found else ("", 0.0, 0)
            if holder != self.holder and until > now:
                self.epoch = None
                return
            own = epoch if holder == self.holder and until > now else epoch + 1
            statements.run(
                "INSERT INTO lease VALUES ('learner', ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
                "holder = excluded.holder, until = excluded.until, epoch = excluded.epoch",
                *(self.holder, now + self.seconds, own),
            )
        self.epoch, self.until = own, asked + self.seconds
