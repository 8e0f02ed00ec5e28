"""Has a stream still the scale that it was standardised with? And if not: rows to begin again from.

What networks know is in the units that rows were standardised with. If these followed the running statistics,
what was learnt in old units would be read in new ones: a stream whose rows come sorted would forget its
first rows, though no weight of theirs was touched. So after the first rows units stand still, running
statistics are kept beside them, and only when these have gone far off, all is drawn and learnt afresh from
a sample of all rows so far.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core.constants import DRIFT_RATIO, DRIFT_SHIFT, WARMUP_ROWS
from ggln.core.scaling import Scaler

FloatArray = NDArray[np.float64]
Indices = NDArray[np.uint64]


def scatter(numbers: Indices) -> Indices:
    """Return a number for each number that looks random: the finaliser of the generator SplitMix64."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


class Sample:
    """Between one and two times `WARMUP_ROWS` of all rows so far, each as likely, in their order.

    Row t is kept while the first bits of `scatter(t)` are zero; whenever there are too many rows, one bit
    more has to be. What is kept is a function of the rows alone, not of the calls that brought them.
    """

    def __init__(self, X: FloatArray, Y: FloatArray) -> None:
        self.bits = 0
        self.numbers = np.arange(len(X), dtype=np.uint64)
        self.parts = [(X, Y)]

    def see(self, first: int, X: FloatArray, Y: FloatArray) -> None:
        """Take in rows, whose numbers begin with `first`."""
        numbers = np.arange(first, first + len(X), dtype=np.uint64)
        kept = self._kept(numbers)
        if kept.any():
            self.parts.append((X[kept], Y[kept]))
            self.numbers = np.concatenate([self.numbers, numbers[kept]])
        while self.numbers.size > 2 * WARMUP_ROWS:
            self.bits += 1
            kept = self._kept(self.numbers)
            X, Y = self.rows()
            self.parts, self.numbers = [(X[kept], Y[kept])], self.numbers[kept]

    def _kept(self, numbers: Indices) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = scatter(numbers) <= np.uint64(2 ** (64 - self.bits) - 1)
        return kept

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the rows kept, and their targets."""
        X, Y = (np.concatenate(arrays) for arrays in zip(*self.parts, strict=True))
        self.parts = [(X, Y)]
        return X, Y


class Watch:
    """The running statistics of a stream whose units stand still, and a sample of its rows.

    Parameters
    ----------
    inputs, targets
        With the statistics of all rows so far, which are those in use.
    X, Y
        All rows so far.
    """

    def __init__(self, inputs: Scaler, targets: Scaler, X: FloatArray, Y: FloatArray) -> None:
        self.inputs, self.targets = inputs.copy(), targets.copy()
        self.sample = Sample(X, Y)

    def see(self, first: int, X: FloatArray, Y: FloatArray) -> None:
        """Take in rows, whose numbers begin with `first`."""
        self.inputs.learn(X)
        self.targets.learn(Y)
        self.sample.see(first, X, Y)

    def moved(self, inputs: Scaler, targets: Scaler) -> bool:
        """Return whether the units in use have become others than the rows' own."""
        return any(map(_moved, (inputs, targets), (self.inputs, self.targets)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is known, as arrays by name."""
        X, Y = self.sample.rows()
        return {
            "watch.inputs": self.inputs.state,
            "watch.targets": self.targets.state,
            "watch.numbers": self.sample.numbers,
            "watch.bits": np.array([self.sample.bits]),
            "watch.X": X,
            "watch.Y": Y,
        }

    @classmethod
    def from_state(cls, inputs: Scaler, targets: Scaler, arrays: dict[str, NDArray[Any]]) -> "Watch":
        """Return what `state` described, beside the scalers in use."""
        watch = cls(inputs, targets, arrays["watch.X"], arrays["watch.Y"])
        watch.inputs.state[:], watch.targets.state[:] = arrays["watch.inputs"], arrays["watch.targets"]
        watch.sample.numbers, watch.sample.bits = arrays["watch.numbers"], int(arrays["watch.bits"][0])
        return watch


def _moved(used: Scaler, running: Scaler) -> bool:
    if not used.active:
        return False
    (centre, width), (mean, deviation) = used.shift_and_scale(), running.shift_and_scale()
    ratio = deviation / width
    off = np.abs(mean - centre) > DRIFT_SHIFT * np.maximum(width, deviation)
    return bool((off | (ratio > DRIFT_RATIO) | (ratio < 1.0 / DRIFT_RATIO)).any())
