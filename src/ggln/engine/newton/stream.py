"""What all exact learners share that take rows in their order."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants
from ggln.engine.newton.settings import Settings
from ggln.engine.stream import begins_within, spans
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Progress = Callable[[int], object]


class Stream:
    """A learner of rows in their order, which may begin as a stream."""

    settings: Settings
    rows: Any  # learnt so far, a number
    due: Any  # how many there are when all is solved afresh; 0: never
    first_rows: Any  # [(rows, targets, weights)], to be solved afresh with

    def take(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows none of which is beyond `due`; return what was predicted before, if to `record`."""
        raise NotImplementedError

    def partial_fit(
        self,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray,
        threads: Threads | None,
        record: bool,
        progress: Progress = lambda _: None,
    ) -> list[Any]:
        """Learn rows in their order; return what was predicted before each, if asked to `record`."""
        found = []
        for own in spans(self, X.shape[0]):
            said = self.take(X[own], Y[own], weights[own], threads, record)
            if record:
                found.append(said)
            progress(own.stop - own.start)
        return found

    def learn_one(self, x: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        """Learn a single row [1, d] with its target [1, D]."""
        self.take(x, y, weight, None, False)

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring it to where all are solved afresh."""
        return begins_within(self, rows)

    def release(self) -> None:
        """Keep no rows to be solved afresh with, if this is a table: from now on, it goes on row by row."""

    @property
    def young(self) -> bool:
        """Whether this is a stream that is still to be solved afresh, with all features that came."""
        return bool(self.settings.online and self.rows < constants.WARM_ROWS)

    @property
    def features(self) -> int:
        """How many features networks know of; further ones of rows wait until a young stream is solved."""
        return self.settings.features

    @property
    def columns(self) -> int:
        """How many columns rows have that are kept, those that wait among them."""
        return max([self.features, *(int(rows.shape[1]) for rows, _, _ in self.first_rows)])


def join_rows(parts: list[tuple[FloatArray, FloatArray, FloatArray]]) -> tuple[FloatArray, ...]:
    """Return rows, targets and weights of all parts; features that earlier rows did not have are missing."""
    rows, *others = zip(*parts, strict=True)
    width = max(part.shape[1] for part in rows)
    wide = [np.pad(X, ((0, 0), (0, width - X.shape[1])), constant_values=np.nan) for X in rows]
    return np.concatenate(wide), *map(np.concatenate, others)
