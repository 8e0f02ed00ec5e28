"""Run all of it and write results/serve.json: ``python -m benchmarks.serve`` (``make bench-serve``)."""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.serve import many
from benchmarks.serve.load import row
from ggln import GGLNRegressor
from ggln.reproduction.shared import record
from ggln.service import Client

RESULTS = Path("results/serve.json")
ROUNDS, SECONDS = 5, 3.0
"""Rounds of echo and service in turn, and the length of each."""
CONNECTIONS = (16, 64)
WARM = 2_200
"""Rows that are learnt before anything is measured: from then on networks are not solved afresh."""
BATCHES = 5


class Server:
    """A process that serves."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.url = ""

    @classmethod
    def service(cls, folder: Path) -> "Server":
        """Start the service on a folder, and wait until it answers."""
        command = [sys.executable, "-c", "from ggln.cli import run; run()", "serve", "--data", str(folder)]
        server = cls([*command, "--port", "0", "--keep-log"])
        assert server.process.stderr is not None
        found = re.search(r"http://\S+:\d+", server.process.stderr.readline())
        assert found is not None
        server.url = found.group()
        return server

    @classmethod
    def echo(cls) -> "Server":
        """Start the application that echoes."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
        server = cls([sys.executable, "-m", "benchmarks.serve.echo", str(port)])
        server.url = f"http://127.0.0.1:{port}"
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        return server

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def client(self) -> Client:
        """Return a client of it."""
        return Client(self.url, patience=60)

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


def load(server: Server, kind: str, **more: Any) -> dict[str, float]:
    """Let clients of a process of their own call a server."""
    given = json.dumps({"port": server.port, "kind": kind, **more})
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.serve.load", given], check=True, capture_output=True
    )
    found: dict[str, float] = json.loads(output.stdout)
    return found


def rows(first: int, count: int) -> list[dict[str, Any]]:
    """Return rows to learn."""
    return [row(number) for number in range(first, first + count)]


def wait_for(client: Client, name: str, count: int) -> None:
    """Wait until a model has learnt so many rows."""
    while client.model(name)["rows"] < count:
        time.sleep(0.01)


def singles(server: Server, echo: Server) -> dict[str, Any]:
    """Return requests a second of single predictions and of the echo, in turn, and their ratio."""
    found: dict[str, Any] = {}
    for connections in CONNECTIONS:
        pairs = []
        for _ in range(ROUNDS):
            one = load(echo, "echo", connections=connections, seconds=SECONDS)["requests_per_second"]
            other = load(server, "predict", connections=connections, seconds=SECONDS)["requests_per_second"]
            pairs.append((one, other))
        found[f"{connections} connections"] = {
            "echo_per_second": statistics.median(pair[0] for pair in pairs),
            "predictions_per_second": statistics.median(pair[1] for pair in pairs),
            "ratio": statistics.median(pair[1] / pair[0] for pair in pairs),
        }
    return found


def steady(server: Server, echo: Server) -> dict[str, Any]:
    """Return the time until answers at 300 requests a second, half of them learnt; the echo's beside."""
    pairs = [
        (load(echo, "echo", rate=300, seconds=SECONDS), load(server, "mixed", rate=300, seconds=SECONDS))
        for _ in range(ROUNDS)
    ]
    return {
        "echo_p99_ms": statistics.median(pair[0]["p99_ms"] for pair in pairs),
        **{
            name: statistics.median(pair[1][name] for pair in pairs)
            for name in ("p50_ms", "p90_ms", "p99_ms")
        },
        "p99_ms of each round": [round(pair[1]["p99_ms"], 1) for pair in pairs],
    }


def disk(folder: Path) -> dict[str, float]:
    """Return how long this disk takes to keep a page: no answer that is durable can be faster."""
    times = []
    with (folder / "page").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(1000 * (time.perf_counter() - start))
    return {f"p{level}_ms": float(np.percentile(times, level)) for level in (50, 90, 99)}


def batches(server: Server) -> dict[str, float]:
    """Return rows a second of batches of 1,000, sent and learnt, beside those of `prequential`, in turn."""
    client, model, ratios, speeds = server.client(), GGLNRegressor(random_state=0), [], []
    names, known, table = list(row(0)["features"]), WARM, rows(0, WARM)
    model.partial_fit(*arrays(table, names))
    client.create("batches", "regressor")
    client.learn_rows("batches", table)
    wait_for(client, "batches", known)
    for turn in range(3):
        tables = [rows(100_000 * (turn + 1) + 1000 * batch, 1000) for batch in range(BATCHES)]
        start = time.perf_counter()
        for table in tables:
            model.prequential(*arrays(table, names))
        alone = time.perf_counter() - start
        start = time.perf_counter()
        for table in tables:
            client.learn_rows("batches", table)
        known += 1000 * BATCHES
        wait_for(client, "batches", known)
        served = time.perf_counter() - start
        speeds.append(1000 * BATCHES / served)
        ratios.append(alone / served)
    client.close()
    return {"rows_per_second": statistics.median(speeds), "ratio_to_prequential": statistics.median(ratios)}


def arrays(table: list[dict[str, Any]], names: list[str]) -> tuple[Any, Any]:
    """Return rows as arrays."""
    X = np.array([[one["features"][name] for name in names] for one in table])
    return X, np.array([one["target"] for one in table])


def speeds(place: Path) -> record.Results:
    """Return what is measured of a server that serves one model or two."""
    server, echo = Server.service(place), Server.echo()
    with server.client() as client:
        client.create("bench", "regressor")
        client.learn_rows("bench", rows(0, WARM))
        wait_for(client, "bench", WARM)
    found: record.Results = {
        "fdatasync of a page": disk(place),
        "single predictions": singles(server, echo),
        "300 requests a second, predict and learn in turn": steady(server, echo),
        "batches of 1,000 rows": batches(server),
    }
    server.stop()
    echo.stop()
    return found


def sizes(place: Path) -> record.Results:
    """Return what is measured of a server that has many models and a long log."""
    many.fill(place)
    return {"1,000 models, 1,000,000 events in the log": many.measure(place, Server.service)}


def main() -> None:
    """Measure, print and write."""
    parts = {"speeds": speeds, "sizes": sizes}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--only", choices=parts, help="measure this, and keep what is known of the other")
    only = parser.parse_args().only
    results: record.Results = {}
    if only is not None and RESULTS.exists():
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    results["machine"] = record.machine()
    for name in parts if only is None else [only]:
        with tempfile.TemporaryDirectory() as place:
            found = parts[name](Path(place))
        Console().print(found)
        results |= found
        record.write(RESULTS, results)


if __name__ == "__main__":
    main()
