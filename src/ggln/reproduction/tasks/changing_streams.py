"""Streams that change, and one that does not."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.extras import require

FloatArray = NDArray[np.float64]
FEATURES, NOISE = 5, 0.3
DEVIATION = 1.4
"""Of the targets of `_first`, in whose units levels shift."""
TURN = 500
"""Rows of each regime where two of them alternate."""
SCALE = 1e6


class Changing(NamedTuple):
    """Rows in their order."""

    X: FloatArray  # [n, features]
    y: FloatArray  # [n]
    scales: FloatArray  # [n]  the scale in force
    changes: list[int]  # rows at which something changes at once


def _first(X: FloatArray) -> FloatArray:
    found: FloatArray = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + np.sin(2.0 * X[:, 3])
    return found


def _second(X: FloatArray) -> FloatArray:
    found: FloatArray = -X[:, 0] + np.abs(X[:, 1]) + 0.5 * X[:, 2] * X[:, 4]
    return found


def _third(X: FloatArray) -> FloatArray:
    found: FloatArray = np.tanh(2.0 * X[:, 4]) + X[:, 2] - 0.5 * X[:, 0] * X[:, 3]
    return found


def _regimes(
    X: FloatArray, length: int, functions: tuple[Callable[[FloatArray], FloatArray], ...]
) -> Changing:
    """Return rows of several functions in turn, each for so many rows; no noise yet."""
    turn = np.arange(len(X)) // length % len(functions)
    y = np.choose(turn, [function(X) for function in functions])
    return Changing(X, y, np.ones(len(X)), list(range(length, len(X), length)))


def _level(deviations: float) -> Callable[[FloatArray], Changing]:
    def shifted(X: FloatArray) -> Changing:
        half = len(X) // 2
        late = np.arange(len(X)) >= half
        return Changing(X, _first(X) + deviations * DEVIATION * late, np.ones(len(X)), [half])

    return shifted


def _gradual(X: FloatArray) -> Changing:
    """The weights of a linear function turn, once in all rows or twice."""
    angle = 2.0 * np.pi * np.arange(len(X)) / len(X)
    weights = [np.cos(angle), np.sin(angle), np.cos(2.0 * angle), np.sin(2.0 * angle), np.ones(len(X))]
    return Changing(X, np.sum(np.stack(weights, axis=1) * X, axis=1), np.ones(len(X)), [])


def _scaled(X: FloatArray) -> Changing:
    quarter = len(X) // 4
    large = (np.arange(len(X)) >= quarter) & (np.arange(len(X)) < 2 * quarter)
    return Changing(X, _first(X), np.where(large, SCALE, 1.0), [quarter, 2 * quarter])


STREAMS: dict[str, Callable[[FloatArray], Changing]] = {
    "no change": lambda X: Changing(X, _first(X), np.ones(len(X)), []),
    "level + 5": _level(5.0),
    "level + 20": _level(20.0),
    "level + 50": _level(50.0),
    "gradual": _gradual,
    "alternating": lambda X: _regimes(X, TURN, (_first, _second)),
    "recurring": lambda X: _regimes(X, len(X) // 8, (_first, _second, _third)),
    "scale x 1e6": _scaled,
}
FRIEDMAN = {"Friedman GRA": (2, 3), "Friedman LEA": (1, 2, 3), "Friedman GSG": (2, 3)}
"""Streams of River and the quarters of the rows after which they change."""
NAMES = (*STREAMS, *FRIEDMAN)


def sample(name: str, rows: int, seed: int) -> Changing:
    """Return so many rows of one of `NAMES`."""
    if name in FRIEDMAN:
        return _friedman(name, rows, seed)
    random = np.random.default_rng(seed)
    found = STREAMS[name](random.standard_normal((rows, FEATURES)))
    noisy = found.y + NOISE * random.standard_normal(rows)
    return found._replace(y=found.scales * noisy)


def _friedman(name: str, rows: int, seed: int) -> Changing:
    kind, quarters = name.split()[1].lower(), FRIEDMAN[name]
    position = tuple(quarter * rows // 4 for quarter in quarters)
    window = rows // 10 if kind == "gsg" else 0
    stream = require("river.datasets.synth").FriedmanDrift(kind, position, window, seed=seed)
    pairs = [(list(x.values()), y) for x, y in stream.take(rows)]
    X, y = (np.array(own, np.float64) for own in zip(*pairs, strict=True))
    return Changing(X, y, np.ones(rows), list(position) if kind == "gra" else [])
