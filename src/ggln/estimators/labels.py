"""Labels of classes: what may be one, what networks learn of them, and probabilities that sum to one."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.estimators.base import refuse_bad

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]


def check(classes: Labels, name: str) -> Labels:
    """Return classes, or raise ValueError where they are not two or more."""
    if classes.dtype.kind == "f":
        refuse_bad(name, classes, None)
    if classes.size < 2:
        raise ValueError(
            f"{name} must have at least two classes, got {classes.size} class: {classes.tolist()}"
        )
    return classes


def named(classes: ArrayLike | None) -> Labels:
    """Return the classes that a stream names at its beginning."""
    if classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit: all labels there can be")
    return check(np.unique(np.asarray(classes)), "classes")


def unchanged(classes: ArrayLike | None, known: Labels) -> Labels:
    """Return the classes of a stream that has begun, or raise ValueError where others are named now."""
    if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
        raise ValueError(
            f"classes must be those of the first call, {known.tolist()}, got "
            f"{np.asarray(classes).tolist()}; the model is unchanged"
        )
    return known


def refuse_unknown(labels: Labels, known: Labels) -> None:
    """Raise ValueError naming the labels that are not among the known classes, if there are any."""
    unknown = np.setdiff1d(labels, known)
    if unknown.size:
        raise ValueError(
            f"y has the labels {unknown.tolist()}, which are not among the classes {known.tolist()}: name "
            "them all in the first call to partial_fit; the model is unchanged"
        )


def check_storable(classes: Labels) -> None:
    """Raise ValueError if a model file cannot hold the classes."""
    plain = all(isinstance(label, bool | int | float | str) for label in classes.tolist())
    if classes.dtype.kind not in "biufUO" or not plain:
        raise ValueError(f"a model file holds labels that are numbers, strings or booleans, not {classes!r}")


def targets(labels: Labels, classes: Labels) -> FloatArray:
    """Return [n, classes] ones and zeros; of two classes [n, 1], one for the second."""
    places = np.searchsorted(classes, labels)
    if classes.size == 2:
        return np.ascontiguousarray(places[:, None], dtype=np.float64)
    return np.eye(classes.size)[places]


def normalise(chances: FloatArray) -> FloatArray:
    """Return probabilities that sum to one, from those of each class against all others."""
    if chances.shape[1] == 1:
        return np.hstack([1.0 - chances, chances])
    normalised: FloatArray = chances / chances.sum(axis=1, keepdims=True)
    return normalised
