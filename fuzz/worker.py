"""A process that loads edited files, one after the other, and says how each went; it may crash."""

import copy
import functools
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.edits import edit
from fuzz.models import ask, teach
from ggln import load, persistence


@functools.cache
def unedited(source: Path) -> tuple[dict[str, Any], persistence.Arrays]:
    """Return what a file holds."""
    return persistence.read(source)


def attempt(source: Path, seed: int, target: Path) -> tuple[str, str]:
    """Edit a file, load and use it; return how that went, and what was done."""
    header, arrays = copy.deepcopy(unedited(source))
    done = edit(header, arrays, np.random.default_rng([seed, len(source.name)]))
    try:
        persistence.write(target, header, arrays)
    except Exception as error:
        return "unwritten", f"{done}: {error!r}"
    try:
        model = load(target)
    except ValueError as error:
        return ("refused" if target.name in str(error) else "unnamed"), done
    except Exception as error:
        return "wrong error", f"{done}: {error!r}"
    try:
        found = ask(model)
        if any(np.isnan(np.asarray(some, float)).any() for some in found):
            return "NaN", done
        teach(model)
    except ValueError:
        return "refused later", done
    except Exception as error:
        return "wrong error later", f"{done}: {error!r}"
    return "loaded", done


def main() -> None:
    """Take jobs from standard input, a source and a seed a line, and answer each with a line."""
    warnings.simplefilter("ignore")
    os.fsync = lambda _: None  # nobody needs these files after a crash
    target, answers = Path(sys.argv[1]), sys.stdout
    sys.stdout = sys.stderr  # bars that show progress, where an edit asks for them
    for line in sys.stdin:
        job = json.loads(line)
        outcome, done = attempt(Path(job["source"]), job["seed"], target)
        print(json.dumps({"outcome": outcome, "done": done}), file=answers, flush=True)


if __name__ == "__main__":
    main()
