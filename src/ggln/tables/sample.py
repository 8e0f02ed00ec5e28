"""Which rows are held out, and which are fitted together: decided row by row, in bounded memory.

Of every few rows, as many as the share to hold out says are held out, at random: so there are as many of them
as were asked for, from all parts of a table, sorted or not. Every row also draws a number from [0, 1), in the
order of the table. Rows with the least numbers are a uniform sample of any size that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ggln.tables.read import Chunk, Row

FloatArray = NDArray[np.float64]
DRAWS, ASIDE = 7, 8
"""Name the streams of random numbers that are drawn from, among all those of a seed."""
LONGEST_BLOCK = 10_000
"""Rows of a block, of which only one in so many is held out: blocks are kept in memory, one at a time."""


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


class Aside:
    """Which rows are held out, asked for in the order of the table.

    Rows come in blocks, short ones in which about one row is held out (or, of a large share, learnt). Which
    of a block is drawn at random, so that no rhythm of the table can matter.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.random = share, np.random.default_rng([seed, ASIDE])
        self.length = min(round(1.0 / min(share, 1.0 - share)), LONGEST_BLOCK) if share else 1
        self.blocks = self.first = 0  # blocks drawn; rows before those in `ahead`
        self.ahead = np.zeros(0, bool)

    def of(self, numbers: list[int]) -> NDArray[np.bool_]:
        """Return which rows are held out, by their numbers, of which the first is 1."""
        if not numbers or not self.share:
            return np.zeros(len(numbers), bool)
        wanted = -(-numbers[-1] // self.length)
        self.ahead = np.concatenate([self.ahead, self._draw(wanted - self.blocks)])
        out: NDArray[np.bool_] = self.ahead[np.asarray(numbers) - self.first - 1]
        self.ahead, self.first = self.ahead[numbers[-1] - self.first :], numbers[-1]
        return out

    def _draw(self, count: int) -> NDArray[np.bool_]:
        """Return which rows of the next blocks are held out: after each, the share of all rows so far."""
        if count <= 0:
            return np.zeros(0, bool)
        ends = np.arange(self.blocks, self.blocks + count + 1)
        sizes = np.diff(np.floor(ends * (self.length * self.share) + 0.5))
        self.blocks += count
        order = self.random.random((count, self.length)).argsort(axis=1).argsort(axis=1)
        out: NDArray[np.bool_] = order < sizes[:, None]
        return out.ravel()


@dataclass
class Sample:
    """Up to `size` rows with the least lots."""

    size: int
    lots: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    complete: bool = True  # whether no row was dropped
    most: float = field(default=float("inf"), init=False)  # a lot that is not among the least any more

    def add(self, lots: FloatArray, numbers: list[int], rows: list[Row]) -> None:
        """Take in further rows."""
        if self.most < np.inf:  # of a long table, hardly any row has a chance
            numbers, rows, _ = take(Chunk(numbers, rows, []), lots < self.most)
            lots = lots[lots < self.most]
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
        self.complete, self.most = False, max(self.lots, default=-np.inf)

    def chunk(self) -> Chunk:
        """Return the rows as a piece of the table."""
        return Chunk(self.numbers, self.rows, [])


def take(chunk: Chunk, which: NDArray[np.bool_]) -> Chunk:
    """Return some of the rows of a piece, without those that cannot be read."""
    places = np.flatnonzero(which).tolist()
    return Chunk([chunk.numbers[i] for i in places], [chunk.rows[i] for i in places], [])
