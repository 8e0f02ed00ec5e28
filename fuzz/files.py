"""Edit model files at random, in a process that may crash."""

import tempfile
import time
from collections import deque
from pathlib import Path

from fuzz.models import MODELS, ask, teach
from fuzz.process import Worker
from fuzz.tally import Tally

FINE = {"refused", "loaded", "refused later", "unwritten", "nothing"}


def run(edits: int, seconds: float, seed: int, names: list[str]) -> Tally:
    """Edit so many times, or for so long; the kinds of models in turn."""
    tally = Tally("edits of model files", FINE)
    with tempfile.TemporaryDirectory() as name:
        sources = _saved(Path(name), names)
        worker, begun, lately = (
            Worker("fuzz.worker", str(Path(name) / "edited.ggln")),
            time.monotonic(),
            deque[str](maxlen=8),
        )
        for number in range(edits):
            if time.monotonic() - begun > seconds:
                break
            source = sources[number % len(sources)]
            found = worker.run({"source": str(source), "seed": seed + number})
            about = f"{source.stem}, seed {seed + number}: {found['done']}"
            tally.add(found["outcome"], about)
            if found["outcome"].startswith("crash"):  # what was broken may have been so before
                print("\n".join(["before that:", *lately]), flush=True)
            if found["outcome"] in ("loaded", "refused later"):
                lately.append(f"    {about}")
        worker.stop()
    return tally


def _saved(folder: Path, names: list[str]) -> list[Path]:
    """Return files of models; whatever is asked of them is compiled here, where compiling is waited for."""
    files = []
    for name in names:
        files.append(folder / f"{name}.ggln")
        model = MODELS[name]()
        model.save(files[-1])
        ask(model)
        teach(model)
    return files
