"""End commands that learn by signals at random moments: their files are whole, and hold what they should."""

import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from fuzz.cells import Random
from fuzz.children import Ended
from fuzz.children import run as run_command
from fuzz.commands import said_as, warm_up
from fuzz.tables import clean
from fuzz.tally import Tally
from ggln import load

FINE = {"went on", "was through"}
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
ROWS, MOST_ENDS, PATIENCE = 4000, 3, 120.0
SETTINGS = {
    "step": "capped", "gating": "mixed", "base_model": "feature", "layer_sizes": (4, 4), "context_dim": 2,
    "n_estimators": 2, "epochs": 1, "folds": 0,
}  # fmt: skip
"""Networks that learn thousands of rows in no time, so that there are many moments to end them at."""
QUICK = said_as(SETTINGS)
FIT = ["fit", "t.csv", "-t", "y", "--in-memory", "200", "--checkpoint", "0", "--n-jobs", "1", *QUICK]
STREAM = ["stream", "-t", "y", "-m", "live.ggln", "--save-every", "0.1", "--n-jobs", "1"]


class Killer:
    """Runs commands in a folder, and ends them; knows what they would have come to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.head, *self.rows = clean(ROWS).splitlines(keepends=True)
        self.fitted, self.fit_time = self._whole(FIT, "model.ggln", b"")
        self.streamed, self.stream_time = self._whole([*STREAM, *QUICK], "live.ggln", self._lines(0, ROWS))

    def _lines(self, start: int, stop: int) -> bytes:
        return "".join([self.head, *self.rows[start:stop]]).encode()

    def _fresh(self) -> None:
        """Begin with nothing but the table."""
        for path in self.folder.iterdir():
            path.unlink()
        (self.folder / "t.csv").write_bytes(self._lines(0, ROWS))

    def _whole(self, words: list[str], name: str, given: bytes) -> tuple[bytes, float]:
        """Return the file that a command leaves that nobody ends, and how long it takes."""
        self._fresh()
        ended = run_command(words, given, self.folder, PATIENCE)
        assert ended.code == 0, ended.errors
        return (self.folder / name).read_bytes(), ended.seconds

    def _end(self, longest: float, random: Random) -> tuple[signal.Signals, float]:
        return SIGNALS[int(random.integers(len(SIGNALS)))], float(random.uniform(0.0, longest))

    def fit(self, random: Random) -> tuple[str, str]:
        """End a fit some times, then let it go on to its end."""
        self._fresh()
        model, kept = self.folder / "model.ggln", self.folder / "model.ggln.checkpoint"
        ends = [self._end(self.fit_time, random) for _ in range(int(random.integers(1, MOST_ENDS + 1)))]
        about = f"fit, ended by {[(number.name, round(after, 4)) for number, after in ends]}"
        came = []
        for number, after in ends:
            ended = run_command(FIT, b"", self.folder, PATIENCE, (number, after))
            came.append(ended.code != 0)
            if ended.code not in (0, -number, 128 + number):
                return f"code {ended.code}", f"{about}: {ended.errors[-300:]}"
            if model.exists() and model.read_bytes() != self.fitted:
                return "another model", about
            if kept.exists() and not load(kept).regressor_.learner_.rows:
                return "an empty checkpoint", about
        ended = run_command(FIT, b"", self.folder, PATIENCE)
        if ended.code != 0 or model.read_bytes() != self.fitted:
            return "another end", f"{about}: {ended.code}, {ended.errors[-300:]}"
        return self._judged({"t.csv", "model.ggln"}, any(came), about)

    def stream(self, random: Random) -> tuple[str, str]:
        """End a stream some times, each time going on behind the last row that its model has learnt."""
        self._fresh()
        model, learnt, came = self.folder / "live.ggln", 0, []
        ends = [self._end(self.stream_time, random) for _ in range(int(random.integers(1, MOST_ENDS + 1)))]
        about = f"stream, ended by {[(number.name, round(after, 4)) for number, after in ends]}"
        for number, after in ends:
            if learnt == ROWS:
                break
            ended = self._go_on(learnt, (number, after))
            before, learnt = learnt, load(model).regressor_.learner_.rows if model.exists() else 0
            came.append(learnt < ROWS)
            answered = max(0, ended.output.count(b"\n") - 1)
            if ended.code not in (0, -number, 128 + number):
                return f"code {ended.code}", f"{about}: {ended.errors[-300:]}"
            if number != signal.SIGKILL and learnt != before + answered:
                return "rows were lost", f"{about}: {answered} rows answered, {learnt - before} learnt"
            if learnt and not self._is_that_of(learnt, model):
                return "another model", f"{about}, after row {learnt}"
        wanted = {"t.csv", "live.ggln"}
        if learnt < ROWS:
            ended = self._go_on(learnt)
        else:  # the last one was killed after its last row, perhaps: the next would remove its lock
            ended, wanted = ended._replace(code=0), wanted | {".live.ggln.lock"}
        if ended.code != 0 or model.read_bytes() != self.streamed:
            return "another end", f"{about}: {ended.code}, {ended.errors[-300:]}"
        return self._judged(wanted, any(came), about)

    def _go_on(self, learnt: int, end: tuple[signal.Signals, float] | None = None) -> Ended:
        """Stream the rows that are not learnt yet; a model that is there keeps its settings."""
        words = STREAM if learnt else [*STREAM, *QUICK]
        return run_command(words, self._lines(learnt, ROWS), self.folder, PATIENCE, end)

    def _is_that_of(self, rows: int, model: Path) -> bool:
        """Return whether a model is exactly the one of so many first rows."""
        twin = [word.replace("live.ggln", "twin.ggln") for word in (*STREAM, *QUICK)]
        run_command(twin, self._lines(0, rows), self.folder, PATIENCE)
        found = (self.folder / "twin.ggln").read_bytes()
        (self.folder / "twin.ggln").unlink()
        return found == model.read_bytes()

    def _judged(self, wanted: set[str], came: bool, about: str) -> tuple[str, str]:
        """Return how it went, if no other file was left."""
        left = {path.name for path in self.folder.iterdir()} - wanted
        if left:
            return "files were left", f"{about}: {sorted(left)}"
        return "went on" if came else "was through", about


def run(attempts: int, seconds: float, seed: int) -> Tally:
    """End so many commands, or as many as there is time for; fits and streams in turn."""
    tally = Tally("ended commands", FINE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        warm_up(folder, SETTINGS)
        killer, begun = Killer(folder), time.monotonic()
        for number in range(attempts):
            if time.monotonic() - begun > seconds:
                break
            act = killer.fit if number % 2 else killer.stream
            ended, about = act(np.random.default_rng([seed, number]))
            tally.add(ended, f"seed {seed}, number {number}: {about}")
    return tally
