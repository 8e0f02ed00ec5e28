"""`ggln serve`: models behind HTTP that learn."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln.cli import lock
from ggln.cli.app import App
from ggln.extras import require
from ggln.terminal import plain

if TYPE_CHECKING:
    from ggln.service.service import Service

app = App()
PURPOSE = "ggln serve"


@app.command()
def serve(
    data: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the log and the models are kept.")
    ] = Path("ggln-data"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8080,
    host: Annotated[
        str, typer.Option(help="The address to listen to; others than this machine's need --tokens.")
    ] = "127.0.0.1",
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Lines with a role (read, learn or admin) and a token.", show_default=False
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Keep the log in PostgreSQL, which several machines may share: postgresql://...",
            show_default=False,
        ),
    ] = None,
    snapshot_every: Annotated[int, typer.Option(min=1, help="Events after which a model is saved.")] = 5000,
    keep_log: Annotated[
        bool, typer.Option("--keep-log", help="Keep events after they are learnt and saved.")
    ] = False,
    remember_days: Annotated[
        float, typer.Option(min=0.0, help="How long answers are remembered for whoever asks again.")
    ] = 7.0,
    max_models: Annotated[int, typer.Option(min=1, help="Models that there may be.")] = 10_000,
    in_memory: Annotated[int, typer.Option(min=1, help="Models that are in memory at a time.")] = 64,
    max_body: Annotated[int, typer.Option(min=1024, help="Bytes that a request may have.")] = 8 * 2**20,
) -> None:
    """Serve models over HTTP that predict, decide, and learn from what is observed later.

    An event is on disk before it is acknowledged, and a model is a function of its events: after a crash it
    is what it was, to the last bit. The page at the address shows how models do.

    Example: ggln serve --data models --port 8080
    """
    for library in ("starlette", "uvicorn", "prometheus_client"):
        require(library, PURPOSE)
    from ggln.service.auth import read_tokens
    from ggln.service.learner import Habits
    from ggln.service.run import is_loopback, listen
    from ggln.service.service import Limits

    if tokens is None and not is_loopback(host):
        raise ValueError(f"--host {host} lets others call this service: name a file of --tokens")
    known = None if tokens is None else read_tokens(tokens)
    data.mkdir(parents=True, exist_ok=True)
    habits = Habits(snapshot_every, None, keep_log, remember_days * 86400)
    limits = Limits(body_bytes=max_body, models=max_models, loaded=in_memory)
    with listen(host, port) as listening:
        if database is None:
            with lock.locked(data / "log.db"):
                _serve(_own_log(data, habits, limits), known, listening, host)
        else:
            _serve(_shared_log(database, habits, limits), known, listening, host)


def _own_log(data: Path, habits: Any, limits: Any) -> "Service":
    """Return a service whose log is in a folder."""
    from ggln.service.log.sqlite import SQLiteStore
    from ggln.service.service import Service

    return Service(SQLiteStore(data), habits=habits, limits=limits)


def _shared_log(database: str, habits: Any, limits: Any) -> "Service":
    """Return a service whose log is in PostgreSQL."""
    require("psycopg", "ggln serve --database")
    from ggln.service import constants
    from ggln.service.log.postgres import PostgresLease, PostgresStore
    from ggln.service.service import Service

    store = PostgresStore(database)
    patient = habits._replace(snapshot_seconds=constants.SNAPSHOT_SECONDS)
    return Service(store, PostgresLease(store), patient, limits)


def _serve(service: "Service", tokens: Any, listening: Any, host: str) -> None:
    from ggln.service.run import serve as run

    shown = f"[{host}]" if ":" in host else host

    def said(port: int) -> None:
        text = f"Serving on http://{shown}:{port}; Ctrl-C ends it (process {os.getpid()})"
        print(plain(text), file=sys.stderr, flush=True)

    run(service, tokens, listening, host, said)
