"""Checks of decisions, made or to be made, and the weights that propensities give logged ones."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.engine import constants
from ggln.engine.scaling import within
from ggln.estimators.numeric import about_size, refuse_kinds
from ggln.estimators.ranges import is_real

FloatArray = NDArray[np.float64]
HEAVIEST = 5.0
"""An inverse propensity multiplies a step by at most this: 5 times the capped step's kappa is 1, half of what
a quadratic model allows, and a rare decision must not outweigh all others."""


def refuse_bad(name: str, values: FloatArray) -> None:
    """Raise ValueError naming the first number that is not finite, or too large to be squared."""
    bad = ~(np.abs(values) <= constants.MAX_MAGNITUDE)
    if not bad.any():
        return
    place = np.argwhere(bad)[0]
    value = values[tuple(place)]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}, which is too large"
    where = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), place, strict=False))
    raise ValueError(
        f"{name} contains {what}: {where}. Numbers must be finite, at most {constants.MAX_MAGNITUDE:g} in "
        "size; the policy is unchanged"
    )


def context_rows(contexts: ArrayLike, features: int | None) -> FloatArray:
    """Return contexts [n, features], one of them as [1, features]; None is any number of features."""
    refuse_kinds("contexts", contexts)
    try:
        rows = np.array(contexts, np.float64, ndmin=2)
    except OverflowError as error:
        raise ValueError(about_size("contexts")) from error
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"contexts must be numbers, as many in each row: {error}. Categories become columns of 0 and 1, "
            "by pandas.get_dummies for example; the policy is unchanged"
        ) from error
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"contexts must be of shape (n, features), got {np.shape(contexts)}")
    if features not in (None, rows.shape[1]):
        raise ValueError(
            f"contexts have {rows.shape[1]} features, but this policy has learnt from {features}"
        )
    if not within(rows, constants.MAX_MAGNITUDE):
        refuse_bad("contexts", rows)
    return rows


def context_row(context: ArrayLike, features: int | None) -> FloatArray:
    """Return a single context as [1, features]."""
    if np.ndim(context) != 1 or np.size(context) == 0:
        raise ValueError(f"context must be a 1-D array of features, got shape {np.shape(context)}")
    return context_rows(context, features)


def arm_number(arms: list[Any], arm: Any) -> int:
    """Return the position of an arm among `arms`."""
    if np.ndim(arm) == 0:  # an array would not be equal or unequal to a name
        for number, label in enumerate(arms):
            if label == arm:
                return number
    raise ValueError(f"arm must be one of {arms}, got {arm!r}; add_arm adds one")


def arm_numbers(arms: list[Any], played: Sequence[Any], count: int) -> NDArray[np.int64]:
    """Return the positions of as many arms as there are contexts."""
    return np.array([arm_number(arms, arm) for arm in sized("arms", played, count)], np.int64)


def sized(name: str, values: Sequence[Any], count: int) -> list[Any]:
    """Return a list of as many values as there are contexts."""
    found = list(values) if np.ndim(values) == 1 else []
    if len(found) != count:
        raise ValueError(
            f"{name} must be a sequence of {count} values, one for each context, got shape {np.shape(values)}"
        )
    return found


def numbers(name: str, values: ArrayLike, count: int) -> FloatArray:
    """Return as many finite numbers as there are contexts."""
    refuse_kinds(name, values)
    try:
        found = np.array(values, np.float64)
    except OverflowError as error:
        raise ValueError(about_size(name)) from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, got {values!r}") from error
    if found.shape != (count,):
        raise ValueError(f"{name} must be of shape ({count},), a number for each context, got {found.shape}")
    refuse_bad(name, found)
    return found


def probabilities(values: ArrayLike, count: int) -> FloatArray:
    """Return propensities: numbers in (0, 1]."""
    found = numbers("propensities", values, count)
    if not ((found > 0.0) & (found <= 1.0)).all():
        worst = found[~((found > 0.0) & (found <= 1.0))][0]
        raise ValueError(f"propensities must be probabilities in (0, 1] of what was played, got {worst:g}")
    return found


def weights(propensities: FloatArray, arms: int) -> FloatArray:
    """Return how much each decision counts: as if arms had been played evenly, within bounds."""
    return np.clip(1.0 / (arms * propensities), 1.0 / HEAVIEST, HEAVIEST)


def check_range(span: Any) -> tuple[float, float]:
    """Return (low, high), or raise ValueError where that is not what `span` is."""
    given = list(span)
    known = all(is_real(bound) and abs(bound) <= constants.MAX_MAGNITUDE for bound in given)
    if len(given) != 2 or not known or not given[0] < given[1]:
        raise ValueError(f"reward_range must be (low, high) with low < high, or None, got {span!r}")
    return float(given[0]), float(given[1])


def refuse_outside(rewards: FloatArray, low: float, high: float, kind: str) -> None:
    """Raise ValueError naming the first reward outside its range."""
    outside = ~((rewards >= low) & (rewards <= high))
    if outside.any():
        raise ValueError(
            f"with reward={kind!r}, rewards must be in [{low:g}, {high:g}], got {rewards[outside][0]:g}; "
            'the policy is unchanged. reward="gaussian" takes any number'
        )


def labels(names: list[Any]) -> list[str | int]:
    """Return the names of arms as they are kept, checked."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in names]
    for label in plain:
        if not isinstance(label, str | int) or isinstance(label, bool):
            raise ValueError(f"arms must be strings or integers, got {label!r}")
    if not plain:
        raise ValueError("arms must name at least one arm, got none")
    twice = sorted(repr(label) for label, times in Counter(plain).items() if times > 1)
    if twice:
        raise ValueError(f"arms must differ from each other, got {', '.join(twice)} twice")
    return plain
