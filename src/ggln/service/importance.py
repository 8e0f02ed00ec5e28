"""Which features count: how far predictions move when a feature is what it is on average."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
FEWEST = 4
"""Rows of which a mean says something."""


def importance(
    outputs: Callable[[FloatArray], FloatArray | None], rows: FloatArray, names: Sequence[str]
) -> dict[str, float] | None:
    """Return the mean size of the change for each feature; None as long as nothing is known.

    outputs: gives what is expected for rows, by the model as it is at that moment; rows: [n, d], the latest.
    """
    if len(rows) < FEWEST or outputs(rows) is None:
        return None
    found = {}
    for i, name in enumerate(names):
        column = rows[:, i]
        known = column[~np.isnan(column)]
        typical = rows.copy()
        typical[:, i] = known.mean() if known.size else np.nan
        both = outputs(np.concatenate([rows, typical]))  # at once: the model may learn in between
        assert both is not None
        whole, moved = np.split(both, 2)
        found[name] = float(np.abs(moved - whole).mean())
    return found
