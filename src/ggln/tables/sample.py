"""Which rows are held out, and which are fitted together: decided row by row, in bounded memory.

Every row draws a number from [0, 1), in the order of the table. Rows that draw less than the share to hold
out are held out. Of the others, those with the least numbers are a uniform sample of any size that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ggln.tables.read import Chunk, Row

FloatArray = NDArray[np.float64]
DRAWS = 7
"""Names the stream of random numbers that is drawn from, among all those of a seed."""


class Lots:
    """The numbers that rows draw, asked for in the order of the table."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng([seed, DRAWS])
        self.drawn = 0

    def of(self, numbers: list[int]) -> FloatArray:
        """Return the lots of some rows, by their numbers; rows in between have drawn, too."""
        if not numbers:
            return np.empty(0)
        lots: FloatArray = self.random.random(numbers[-1] - self.drawn)[np.asarray(numbers) - self.drawn - 1]
        self.drawn = numbers[-1]
        return lots


@dataclass
class Sample:
    """Up to `size` rows with the least lots."""

    size: int
    lots: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    complete: bool = True  # whether no row was dropped

    def add(self, lots: FloatArray, numbers: list[int], rows: list[Row]) -> None:
        """Take in further rows."""
        self.lots += lots.tolist()
        self.numbers += numbers
        self.rows += rows
        if len(self.rows) > self.size + self.size // 4:  # not at every row: pruning costs a sort
            self.prune()

    def prune(self) -> None:
        """Keep `size` rows, in the order of the table."""
        if len(self.rows) <= self.size:
            return
        kept = sorted(sorted(range(len(self.rows)), key=self.lots.__getitem__)[: self.size])
        self.lots = [self.lots[i] for i in kept]
        self.numbers = [self.numbers[i] for i in kept]
        self.rows = [self.rows[i] for i in kept]
        self.complete = False

    def chunk(self) -> Chunk:
        """Return the rows as a piece of the table."""
        return Chunk(self.numbers, self.rows, [])


def take(chunk: Chunk, which: NDArray[np.bool_]) -> Chunk:
    """Return some of the rows of a piece, without those that cannot be read."""
    places = np.flatnonzero(which).tolist()
    return Chunk([chunk.numbers[i] for i in places], [chunk.rows[i] for i in places], [])
