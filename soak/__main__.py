"""`python -m soak --seconds 3600`: a service under load, killed at random moments, and then looked at.

After each kill the server comes back on the same log, whose last page is torn every second time. In the end,
everything that was acknowledged has to be in the log once, and every model has to be, bit for bit, what an
estimator makes of that log. With `--full-disk`, the log is on a disk that is full again and again.
"""

import argparse
import contextlib
import json
import math
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ggln.service import Client
from soak.disk import MORE_KB, PLENTY_KB, SmallDisk, small_disk, tear
from soak.load import PATIENCE, Load
from soak.verify import check

LIVES = (0.05, 1.2)
"""Seconds that a server lives, at least and at most."""
EARLY = 0.2
"""The part of servers whose life counts from their start; that of the others, from their first answer to a
client: on a busy machine, that may take longer than most lives."""
LONG_LIFE, LONG_LIVES = 20.0, 25
"""Seconds of a long life, which one in so many is, where it is the time that counts and not the kills."""
SUSPICIOUS = 20.0
"""Seconds without any answer after which a server has to say what it is doing."""
PORTS = (10_000, 30_000)
"""Below those that systems give to connections: one of these could take the port while no server has it."""


def free_port(draw: random.Random) -> int:
    """Return a port that is free, and that nobody takes by chance."""
    while True:
        port = draw.randrange(*PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Servers:
    """Starts servers on one log, one after the other."""

    def __init__(self, folder: Path, port: int) -> None:
        command = [sys.executable, "-m", "soak.server", str(folder), str(port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process that forks servers has ended")
        return line

    def start(self) -> int:
        """Start a server and return its process."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self._line())

    def close(self) -> None:
        """End the process that forks servers."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def run(folder: Path, seconds: float, kills: int | None, seed: int, disk: SmallDisk | None) -> dict[str, Any]:
    """Let clients work for so long, or until so many kills; return what was found."""
    draw, port = random.Random(seed), free_port(random.Random())
    servers = Servers(folder, port)
    url, begin = f"http://127.0.0.1:{port}", time.monotonic()
    end = begin + seconds
    counts = {"kills": 0, "torn pages": 0, "kills with a full disk": 0}
    process = servers.start()
    load = Load(url, seed, clients=4)
    load.start()
    while not load.errors and (time.monotonic() < end if kills is None else counts["kills"] < kills):
        long = kills is None and draw.randrange(LONG_LIVES) == 0
        life = LONG_LIFE if long else draw.uniform(*LIVES)
        if draw.random() > EARLY:
            wait_for_answer(load, process)
        time.sleep(max(min(life, end - time.monotonic()), LIVES[0]) if kills is None else life)
        end_of(process, signal.SIGKILL)
        counts["kills"] += 1
        if draw.random() < 0.5:
            tear(folder, draw)
            counts["torn pages"] += 1
        if disk is not None and disk.full():
            counts["kills with a full disk"] += 1
            if draw.random() < 0.5:
                disk.grow(disk.size + MORE_KB)
        process = servers.start()
    if disk is not None:
        disk.grow(PLENTY_KB)
    load.stop()
    lasted = {
        "seconds": round(time.monotonic() - begin),
        "of which the machine stood still": round(load.pulse.lost),
        "longest wait in seconds": round(load.longest, 1),
        "longest wait for one server": round(load.longest_try, 1),
    }
    files = exported(folder, url, load)
    end_of(process, signal.SIGTERM)
    servers.close()
    told = {name: own for name, own in load.told.items() if own}
    refused = {} if disk is None else {"refused for want of room": load.refused}
    errors = [repr(error) for error in load.errors]
    return lasted | counts | refused | {"errors": errors, "models": check(folder, told, files)}


def wait_for_answer(load: Load, process: int) -> None:
    """Wait until a client is answered; a server that keeps all of them waiting says what its threads do."""
    done, until = load.done, load.pulse.now() + SUSPICIOUS
    while load.done == done and not load.errors and is_there(process):
        time.sleep(0.005)
        if load.pulse.now() > until:
            until = math.inf
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGUSR1)


def exported(folder: Path, url: str, load: Load) -> dict[str, bytes]:
    """Return the models' files when they have learnt everything."""
    files = {}
    with Client(url, patience=PATIENCE) as client:
        for name, told in load.told.items():
            while client.model(name)["version"] < last_of(folder, name):
                time.sleep(0.05)
            files[name] = client.export(name) if told else b""
    return files


def end_of(process: int, how: int) -> None:
    """End a server, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):  # on a full disk it may not have begun
        os.kill(process, how)
    while is_there(process):
        time.sleep(0.01)


def is_there(process: int) -> bool:
    """Return whether a process has not ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def last_of(folder: Path, name: str) -> int:
    """Return the number of the last entry of a model."""
    log = sqlite3.connect(folder / "log.db")
    query = "SELECT coalesce(max(seq), 0) FROM log JOIN models ON models.id = model WHERE name = ?"
    found: int = log.execute(query, (name,)).fetchone()[0]
    log.close()
    return found


def main() -> None:
    """Run it, say what was found, and fail if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long, unless --kills says so")
    parser.add_argument("--kills", type=int, default=None, help="how many kills instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None, help="a file for what was found, as JSON")
    parser.add_argument("--full-disk", action="store_true", help="on a disk that is soon full; needs root")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        disk = stack.enter_context(small_disk(Path(place))) if given.full_disk else None
        found = run(Path(place), given.seconds, given.kills, given.seed, disk)
    text = json.dumps(found, indent=2)
    print(text)
    if given.output is not None:
        given.output.write_text(text + "\n")
    good = [
        not own["lost"] and not own["learnt twice"] and own["same bits"] for own in found["models"].values()
    ]
    sys.exit(0 if all(good) and not found["errors"] else 1)


main()
