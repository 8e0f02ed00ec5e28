"""A small data set, a server for its mirrors, and the full data sets where they are at hand."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ggln.datasets import download, files, mirrors, registry

Table = NDArray[np.float64]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def table() -> Table:
    """Return a table with two inputs and a target."""
    return np.array(
        [[0.125, 2.0, 1.5], [0.1, 3.0, -2.25], [7.0, -4.5, 0.1], [1e-3, 0.0, 4.0], [5.0, 6.0, 3.0]]
    )


@pytest.fixture
def rows(table: Table) -> list[str]:
    """Return its rows as text."""
    return [",".join(map(repr, row)) for row in table.tolist()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return what the server has."""
    path = tmp_path / "public"
    path.mkdir()
    return path


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of a server on this machine, which needs no https."""
    monkeypatch.setattr(download, "SCHEMES", ("https://", "http://127.0.0.1:"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache; nothing else is looked into."""
    monkeypatch.delenv("GGLN_DATA", raising=False)
    monkeypatch.setenv("GGLN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small(table: Table, server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> files.File:
    """Return the file of a data set "small" with five rows, which the server may have as small.csv."""
    mirror = mirrors.Text(server + "small.csv", range(2), 2, delimiter=",")
    file = files.File(
        "toys/small.npz", "sha256:none", files.content([table[:, :2], table[:, 2]]), mirrors=(mirror,)
    )
    entry = registry.Entry("small", 5, 2, 1, "Made up.", ((file,),), splits=3)
    monkeypatch.setitem(registry.ENTRIES, "small", entry)
    return file


@pytest.fixture
def full_data() -> Path:
    """Return the folder of the full data sets."""
    if not os.environ.get("GGLN_DATA"):
        pytest.skip("needs the full data sets: set GGLN_DATA to their folder")
    return Path(os.environ["GGLN_DATA"])
