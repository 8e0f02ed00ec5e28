"""Which features count: how far predictions move when a feature is what it is on average."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.service.kinds import Kind

FloatArray = NDArray[np.float64]
FEWEST = 4
"""Rows of which a mean says something."""


def importance(kind: Kind, estimator: Any, rows: FloatArray, names: Sequence[str]) -> dict[str, float] | None:
    """Return the mean size of the change for each feature; None as long as nothing is known.

    rows: [n, d], the latest ones.
    """
    whole = kind.outputs(estimator, rows) if len(rows) >= FEWEST else None
    if whole is None:
        return None
    found = {}
    for i, name in enumerate(names):
        column = rows[:, i]
        known = column[~np.isnan(column)]
        typical = rows.copy()
        typical[:, i] = known.mean() if known.size else np.nan
        moved = kind.outputs(estimator, typical)
        found[name] = 0.0 if moved is None else float(np.abs(moved - whole).mean())
    return found
