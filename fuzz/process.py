"""A process that may crash or hang, and is then started again."""

import json
import select
import subprocess
import sys
from typing import Any

PATIENCE = 60.0
"""Seconds after which an attempt counts as one that hangs: some have to compile first."""


class Worker:
    """Runs a module that answers each line of JSON with another one."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.command = [sys.executable, "-m", module, *arguments]
        self.start()

    def start(self) -> None:
        """Start anew."""
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def run(self, job: dict[str, Any], patience: float | None = PATIENCE) -> dict[str, Any]:
        """Let the process do one job; return what it says, or how it ended."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        line = self.process.stdout.readline() if ready else ""
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        self.process.kill()
        code = self.process.wait()
        self.start()
        return {"outcome": f"crash {code}" if ready else "hang", "done": ""}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
