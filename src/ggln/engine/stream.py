"""Streams: rows in their order, in parts that end where everything is begun anew from the rows so far.

A young stream knows neither units nor gates. So its first rows are kept, and at numbers of rows that are
fixed all is drawn or solved afresh from them. What is learnt then depends on the rows alone, not on the calls
that brought them.
"""

from collections.abc import Iterator
from typing import Protocol


class Beginning(Protocol):
    """Whatever learns a stream."""

    @property
    def rows(self) -> int:
        """Rows learnt so far."""

    @property
    def due(self) -> int:
        """Rows at which all is begun anew; 0: never."""


def next_power(rows: int) -> int:
    """Return the next of the numbers of rows 1, 2, 4, 8, ..., at which gradient networks are drawn afresh."""
    return 1 << rows.bit_length()


def next_half(rows: int) -> int:
    """Return the next of 1, 2, 3, 4, 6, 8, 12, 16, ..., at which exact ones are solved afresh."""
    power = 1 << max(rows.bit_length() - 1, 0)
    return 1 if rows == 0 else 2 * power if rows >= power + power // 2 or power < 2 else power + power // 2


def spans(stream: Beginning, rows: int, longest: int | None = None) -> Iterator[slice]:
    """Yield so many new rows in parts, of which none goes beyond where the stream is begun anew.

    The stream has to have learnt a part before it asks for the next one.
    """
    start = 0
    while start < rows:
        stop = rows if longest is None else min(start + longest, rows)
        if stream.due:
            stop = min(stop, start + stream.due - stream.rows)
        yield slice(start, stop)
        start = stop


def begins_within(stream: Beginning, rows: int) -> bool:
    """Return whether so many further rows bring a stream to where it is begun anew."""
    return 0 < stream.due <= stream.rows + rows
