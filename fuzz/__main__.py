"""Do at random what goes wrong: ``python -m fuzz`` (``make fuzz``)."""

import argparse
import sys
from collections.abc import Callable

from fuzz import commands, files, interrupts, kills, parameters
from fuzz.models import MODELS
from fuzz.tally import Tally

SHARES = {"files": 0.4, "tables": 0.2, "parameters": 0.15, "interrupts": 0.15, "kills": 0.1}
"""Parts of the time; what is left of one goes to no other."""


def main() -> int:
    """Return how much went wrong, 100 at most."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--seconds", type=float, default=300.0, help="in all, besides compiling")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--models", nargs="*", default=list(MODELS), help="of which files are edited")
    parser.add_argument("--most", type=int, default=10_000, help="attempts of each kind")
    asked = parser.parse_args()
    kinds: dict[str, Callable[[float], Tally]] = {
        "parameters": lambda seconds: parameters.run(asked.most, seconds, asked.seed),
        "tables": lambda seconds: commands.run(asked.most, seconds, asked.seed),
        "kills": lambda seconds: kills.run(asked.most, seconds, asked.seed),
        "interrupts": lambda seconds: interrupts.run(asked.most, seconds, asked.seed, asked.models),
        "files": lambda seconds: files.run(asked.most, seconds, asked.seed, asked.models),
    }
    share, wrong = sum(SHARES[kind] for kind in asked.only), 0
    for kind in kinds:
        if kind in asked.only:
            tally = kinds[kind](asked.seconds * SHARES[kind] / share)
            wrong += tally.wrong
            print(tally, flush=True)
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
