"""Edit model files at random, and interrupt learning at random: ``python -m fuzz`` (``make fuzz``)."""

import argparse
import json
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from fuzz import interrupts
from fuzz.models import MODELS, ask, teach

PATIENCE = 60.0
"""Seconds after which a file counts as one that hangs; the first ones of a kind are compiled for."""
FINE = {"refused", "loaded", "refused later", "unwritten", "nothing"}


class Worker:
    """A process that can be started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start()

    def start(self) -> None:
        """Start anew."""
        command = [sys.executable, "-m", "fuzz.worker", str(self.folder / "edited.ggln")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def run(self, source: Path, seed: int) -> dict[str, Any]:
        """Let the process do one job; return what it says, or how it ended."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"source": str(source), "seed": seed}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
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


def main() -> int:
    """Return how many edits went wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=300.0, help="of edits, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--interrupts", type=int, default=100)
    options = parser.parse_args()
    ended = {"torn": 0}
    if options.interrupts:
        ended = interrupts.run(options.interrupts, options.models, options.seed)
        print(f"{sum(ended.values())} interruptions, {ended['torn']} left a torn model: {ended}", flush=True)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = []
        for model in options.models:
            sources.append(folder / f"{model}.ggln")
            fitted = MODELS[model]()
            fitted.save(sources[-1])
            ask(fitted)  # here, where compiling is waited for
            teach(fitted)
        worker, begun, lately = Worker(folder), time.monotonic(), deque[str](maxlen=8)
        for number in range(options.edits):
            if time.monotonic() - begun > options.seconds:
                break
            source = sources[number % len(sources)]
            found = worker.run(source, options.seed + number)
            counts[found["outcome"]] += 1
            place = f"{source.stem}, seed {options.seed + number}"
            if found["outcome"] not in FINE:
                print(f"{place}: {found['outcome']}: {found['done']}", flush=True)
            if found["outcome"].startswith("crash"):  # what was broken may have been so before
                print("\n".join(["before that:", *lately]), flush=True)
            if found["outcome"] in ("loaded", "refused later"):
                lately.append(f"    {place}: {found['done']}")
        worker.stop()
    bad = sum(count for outcome, count in counts.items() if outcome not in FINE)
    print(f"{sum(counts.values())} edits, {bad} went wrong: {dict(counts.most_common())}")
    return min(bad + ended["torn"], 100)


if __name__ == "__main__":
    sys.exit(main())
