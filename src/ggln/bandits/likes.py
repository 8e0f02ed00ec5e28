"""Arms that are described by features of their own: a new one begins from those that are like it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

ROWS, MOST_ROWS = 8.0, 1e6
"""Rows that an arm borrows count as so many of its own, together: enough for a first opinion, and a few
rewards of its own outweigh them."""


def check(features: Mapping[Any, ArrayLike] | None, arms: list[Any]) -> dict[Any, FloatArray]:
    """Return what arms are like, by name, checked."""
    found: dict[Any, FloatArray] = {}
    for arm, values in (features or {}).items():
        if arm not in arms:
            raise ValueError(f"arm_features describes {arm!r}, which is no arm; arms are {arms}")
        found = described(found, arm, values)
    return found


def described(known: dict[Any, FloatArray], arm: Any, features: ArrayLike | None) -> dict[Any, FloatArray]:
    """Return descriptions with that of a further arm, if there is one."""
    if features is None:
        return known
    try:
        values = np.array(features, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"features of arm {arm!r} must be numbers, got {features!r}") from error
    lengths = {other.size for other in known.values()} | {values.size}
    if values.ndim != 1 or len(lengths) > 1 or not np.isfinite(values).all():
        raise ValueError(
            f"features of arm {arm!r} must be finite numbers, as many as others have, got {features!r}"
        )
    return {**known, arm: values}


def rows_lent(known: dict[Any, FloatArray], arms: list[Any], arm: Any) -> list[tuple[int, float]]:
    """Return the numbers of arms that are like one, and how many rows theirs count as for it.

    With z the features in units of the arms' deviations, each counts exp(-|z - z'|^2 / 2), and all together
    at most `ROWS`.

    Examples
    --------
    >>> known = {"a": np.array([0.0]), "b": np.array([10.0]), "new": np.array([1.0])}
    >>> [(number, round(rows, 1)) for number, rows in rows_lent(known, ["a", "b"], "new")]
    [(0, 7.0), (1, 1.0)]
    """
    if arm not in known:
        return []
    scale = np.std(list(known.values()), axis=0)
    scale[scale == 0.0] = 1.0
    numbers = [number for number, other in enumerate(arms) if other in known]
    away = [(known[arms[number]] - known[arm]) / scale for number in numbers]
    near = np.exp([-0.5 * float(step @ step) for step in away])
    rows = ROWS * near / max(float(near.sum()), 1.0)
    return list(zip(numbers, rows.tolist(), strict=True))
