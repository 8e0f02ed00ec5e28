"""Some rows of a table, to look at closely."""

from __future__ import annotations

import numpy as np

from ggln.tables.model import TableRegressor
from ggln.tables.read import Table
from ggln.tables.schema import Encoded


def first_rows(model: TableRegressor, table: Table, count: int, targets: bool) -> Encoded:
    """Return up to `count` of the first rows, as numbers; with `targets`, only rows that have them."""
    with table:
        encoded = model.schema.bind(table, targets)(table.chunk(count, wait=True))
    if encoded.bad:
        raise ValueError(f"{table.name}, {encoded.bad[0]}: correct it, or leave it out")
    if not encoded.rows:
        raise ValueError(f"{table.name} has no rows")
    known = np.flatnonzero(~np.isnan(encoded.Y).any(axis=1))
    if not known.size:
        raise ValueError(f"{table.name} has no row with a value of {', '.join(model.targets)}")
    numbers, rows = [encoded.numbers[i] for i in known], [encoded.rows[i] for i in known]
    return Encoded(encoded.X[known], encoded.Y[known], numbers, rows, [])
