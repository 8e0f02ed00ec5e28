"""What any policy would do, as probabilities of arms: a function, a library's object, or its choices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.bandits import logs

FloatArray = NDArray[np.float64]

CLOSE = 1e-6
"""Probabilities have to add up to 1 within this."""


def chances_of(policy: Any, contexts: Any, arms: list[Any]) -> FloatArray:
    """Return the probability [n, A] with which a policy plays each arm in contexts [n, d].

    policy: an object with `propensities` (and `arms_`, if in another order) or `predict`; a function of one
    context that gives an arm or the probabilities of all; or these for all contexts at once.

    Examples
    --------
    >>> chances_of(lambda context: "b" if context[0] > 0 else "a", [[-1.0], [1.0]], ["a", "b"])
    array([[1., 0.],
           [0., 1.]])
    """
    count = len(contexts)
    if hasattr(policy, "propensities"):
        found = np.asarray(policy.propensities(contexts), np.float64)
        order = list(getattr(policy, "arms_", arms))
        return _checked(found[:, [logs.arm_number(order, arm) for arm in arms]], count, arms)
    if hasattr(policy, "predict"):
        return _chosen(policy.predict(contexts), arms)
    if callable(policy):
        policy = [policy(context) for context in np.asarray(contexts)]
    choices = list(policy)
    if len(choices) != count:
        raise ValueError(f"policy must give an arm for each of {count} contexts, got {len(choices)}")
    if np.ndim(choices[0]) == 0:
        return _chosen(choices, arms)
    return _checked(np.array(choices, np.float64), count, arms)


def _chosen(choices: Any, arms: list[Any]) -> FloatArray:
    """Return probabilities of 0 and 1 for the arms that are played."""
    numbers = [logs.arm_number(arms, arm) for arm in np.atleast_1d(np.asarray(choices, object))]
    found: FloatArray = np.eye(len(arms))[numbers]
    return found


def _checked(found: FloatArray, count: int, arms: list[Any]) -> FloatArray:
    if found.shape != (count, len(arms)):
        raise ValueError(
            f"policy must give {len(arms)} probabilities for each of {count} contexts, got {found.shape}"
        )
    if not (found >= 0.0).all() or np.abs(found.sum(axis=1) - 1.0).max() > CLOSE:
        raise ValueError("policy must give probabilities that are at least 0 and add up to 1")
    return found
