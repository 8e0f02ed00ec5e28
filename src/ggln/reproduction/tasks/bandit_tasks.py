"""The bandits of Table 3, how their rewards are scaled here, and what the paper reports."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ggln import datasets
from ggln.bandits.environments import STEPS, Classes, Environment, Mushrooms, Portfolios, Ratings, Wheel
from ggln.bandits.scaling import Clip

PERCENTILE = 20.0
"""Where continuous rewards are clipped, and at 100 less this: `ggln reproduce bandit-rewards` is why."""


class Task(NamedTuple):
    """One bandit."""

    kind: str  # wheel, or the data set's name
    column: str = ""  # of the paper's table
    percentile: float | None = PERCENTILE  # None: rewards are 0 or 1 by nature
    delta: float = 0.0  # of the wheel

    @property
    def binary(self) -> bool:
        """Return whether rewards are 0 or 1."""
        return self.percentile is None


TASKS = {
    "financial": Task("financial", "financial"),
    "jester": Task("jester", "jester"),
    "wheel": Task("wheel", "wheel", delta=0.5),
    "wheel-0.9": Task("wheel", delta=0.9),
    "wheel-0.95": Task("wheel", delta=0.95),
    "wheel-0.99": Task("wheel", delta=0.99),
    # The benchmark's own delta, and the percentile with which LinFullPost then earns what it should.
    "wheel-0.95-clip-11": Task("wheel", "wheel", 11.0, 0.95),
    "adult": Task("adult", "adult", None),
    "census": Task("census", "census", None),
    "covertype": Task("covertype", "covertype", None),
    "statlog": Task("statlog", "statlog", None),
    "mushroom": Task("mushroom", percentile=0.0),
}
CONTINUOUS = ("financial", "jester", "wheel")
"""Tasks whose ranks Table 2 averages."""

PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "adult": {
        "B-GLN": (678, 5),
        "BBAlphaDiv": (18, 2),
        "BBB": (399, 8),
        "BootRMS": (676, 3),
        "Dropout": (652, 5),
        "LinFullPost": (463, 2),
        "NeuralGreedy": (598, 5),
        "NeuralLinear": (391, 2),
        "ParamNoise": (273, 3),
        "constSGD": (107, 3),
    },
    "census": {
        "B-GLN": (2718, 3),
        "BBAlphaDiv": (932, 12),
        "BBB": (2258, 12),
        "BootRMS": (2693, 3),
        "Dropout": (2644, 8),
        "LinFullPost": (1898, 2),
        "NeuralGreedy": (2604, 14),
        "NeuralLinear": (2418, 2),
        "ParamNoise": (2284, 5),
        "constSGD": (1399, 22),
    },
    "covertype": {
        "B-GLN": (2715, 12),
        "BBAlphaDiv": (1838, 9),
        "BBB": (2983, 11),
        "BootRMS": (3002, 7),
        "Dropout": (2899, 7),
        "LinFullPost": (2821, 6),
        "NeuralGreedy": (2923, 8),
        "NeuralLinear": (2791, 6),
        "ParamNoise": (2493, 5),
        "constSGD": (1991, 9),
    },
    "statlog": {
        "B-GLN": (4863, 1),
        "BBAlphaDiv": (2731, 15),
        "BBB": (4576, 10),
        "BootRMS": (4583, 11),
        "Dropout": (4403, 15),
        "LinFullPost": (4457, 2),
        "NeuralGreedy": (4392, 17),
        "NeuralLinear": (4762, 2),
        "ParamNoise": (4098, 10),
        "constSGD": (3896, 18),
    },
    "financial": {
        "G-GLN": (3018, 3),
        "B-GLN": (3038, 3),
        "BBAlphaDiv": (1860, 1),
        "BBB": (2172, 18),
        "BootRMS": (2898, 4),
        "Dropout": (2769, 4),
        "LinFullPost": (3122, 1),
        "NeuralGreedy": (2857, 5),
        "NeuralLinear": (3059, 2),
        "ParamNoise": (2224, 2),
        "constSGD": (1862, 1),
    },
    "jester": {
        "G-GLN": (3301, 4),
        "B-GLN": (3298, 3),
        "BBAlphaDiv": (3112, 4),
        "BBB": (3199, 4),
        "BootRMS": (3269, 4),
        "Dropout": (3268, 4),
        "LinFullPost": (3193, 4),
        "NeuralGreedy": (3266, 8),
        "NeuralLinear": (3169, 4),
        "ParamNoise": (3084, 4),
        "constSGD": (3136, 4),
    },
    "wheel": {
        "G-GLN": (4386, 11),
        "B-GLN": (4432, 11),
        "BBAlphaDiv": (1776, 11),
        "BBB": (2265, 44),
        "BootRMS": (1933, 44),
        "Dropout": (2383, 48),
        "LinFullPost": (4491, 15),
        "NeuralGreedy": (1863, 44),
        "NeuralLinear": (4285, 18),
        "ParamNoise": (3443, 20),
        "constSGD": (2265, 31),
    },
}
"""Table 3: mean and standard error of the cumulative reward over 500 seeds."""


def check_names(names: Any, known: Any, what: str) -> None:
    """Raise ValueError if some of the names are not known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"there is no {what} {unknown[0]!r}; known are {', '.join(known)}")


def build(task: Task, steps: int | None = None, data_dir: Path | None = None) -> Environment:
    """Return the environment of a task, with episodes of another length if `steps` says so."""
    clip = None if task.percentile is None else Clip(task.percentile)
    if task.kind == "wheel":
        return Wheel(task.delta, steps or STEPS, clip)
    table = _load(task.kind, data_dir)
    if task.kind == "financial":
        return Portfolios(table.X, steps=steps, clip=clip)
    if task.kind == "jester":
        return Ratings(table.X, steps=steps, clip=clip)
    assert table.y is not None
    if task.kind == "mushroom":
        return Mushrooms(table.X, table.y == 1, steps or STEPS, clip)
    return Classes(table.X, table.y, steps=steps)


@lru_cache(maxsize=2)
def _load(name: str, data_dir: Path | None) -> datasets.BanditTable:
    """Return a table; a worker gets many jobs with the same one."""
    return datasets.load_bandit(name, data_dir)
