"""A folder with many models and a long log: how long a start takes, and how much memory."""

import json
import struct
import time
from pathlib import Path
from typing import Any

from ggln.service.learner import Habits
from ggln.service.log.sqlite import SQLiteStore
from ggln.service.service import Limits, Service

MODELS, EVENTS, LEARNT = 1_000, 1_000_000, 5
SPEC = {"kind": "bandit", "arms": ["a", "b"], "features": ["x"]}


def fill(folder: Path) -> None:
    """Make the models and their log, which is kept; each model has learnt and saved its last events."""
    service = Service(SQLiteStore(folder), habits=Habits(keep_log=True), limits=Limits(loaded=MODELS))
    for number in range(MODELS):
        service.create(f"model-{number}", SPEC)
    old = EVENTS - MODELS * LEARNT
    body = json.dumps({"arm": "a", "reward": 1.0, "propensity": 0.5, "expectations": [0.0, 0.0]})
    with service.store.writing() as statements:
        rows = (
            (seq, 1 + seq % MODELS, "reward", f"{seq:028x}", 0.0, struct.pack("d", seq), body)
            for seq in range(1, EVENTS + 1)
        )
        statements.many("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        statements.run("UPDATE models SET since = ?", old)
        statements.run("UPDATE counters SET value = ? WHERE name = 'seq'", EVENTS)
    service.models.refresh()
    service.learner.round()
    for model in list(service.models.memory.values()):
        service.learner.save(model)
    service.close()


def memory_mb(process: int) -> float:
    """Return what a process has in memory, in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def measure(folder: Path, start: Any) -> dict[str, float]:
    """Return seconds until the service answers, and memory then, after some models, and after all of them."""
    begin = time.perf_counter()
    server = start(folder)
    client = server.client()
    client.model("model-0")
    found = {
        "start_seconds": time.perf_counter() - begin,
        "memory_mb_at_start": memory_mb(server.process.pid),
    }
    for number in range(MODELS):
        client.decide(f"model-{number}", {"x": 1.0})
        if number == 200:
            found["memory_mb_after_200_models"] = memory_mb(server.process.pid)
    found["memory_mb_after_1000_models"] = memory_mb(server.process.pid)
    found["log_mb"] = (folder / "log.db").stat().st_size / 2**20
    client.close()
    server.stop()
    return found
