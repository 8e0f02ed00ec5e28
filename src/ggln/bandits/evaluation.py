"""What any policy would earn, from a log alone."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.bandits import logs
from ggln.bandits.glcb import GLCB
from ggln.bandits.offpolicy import PolicyValues, policy_values
from ggln.bandits.policies import chances_of

FloatArray = NDArray[np.float64]

FOLDS = 2
"""Halves of the log, each of which is judged by a model of the other."""


def evaluate(
    policy: Any,
    contexts: ArrayLike,
    arms: Sequence[Any],
    rewards: ArrayLike,
    propensities: ArrayLike,
    model: Callable[[FloatArray], FloatArray] | None = None,
    names: Sequence[Any] | None = None,
) -> PolicyValues:
    """Estimate from logged decisions what any policy would earn per decision, with errors and intervals.

    Parameters
    ----------
    policy :
        A function of one context that gives an arm, or the probabilities of all arms; an object with
        `propensities` or `predict`, a policy of another library for example; or an array of the arms that it
        plays, or of their probabilities (n, n_arms). It must not have learnt this log.
    contexts, arms, rewards, propensities :
        The log, as `GLCB.partial_fit` takes it: propensities are the probabilities with which those arms were
        played.
    model : function, optional
        Gives the expected rewards (n, n_arms) of contexts (n, features), for the direct and the doubly
        robust estimate. By default, a `GLCB` that has learnt one half of the log judges the other half.
    names : sequence, optional
        All arms, in the order of probabilities; by default those of the log, sorted.

    Returns
    -------
    PolicyValues
        `logged`, `direct`, `ips`, `snips` and `doubly_robust`, each with `value`, `error` and
        `interval(level)`.

    Examples
    --------
    >>> import numpy as np
    >>> from ggln.bandits import evaluate
    >>> random = np.random.default_rng(0)
    >>> contexts, arms = random.normal(size=(400, 1)), random.integers(2, size=400)
    >>> rewards = np.where(arms == 1, 1.0, -1.0) * contexts[:, 0] + 0.1 * random.normal(size=400)
    >>> values = evaluate(lambda x: int(x[0] > 0), contexts, arms, rewards, np.full(400, 0.5))
    >>> low, high = values.doubly_robust.interval(0.95)
    >>> bool(low < np.abs(contexts).mean() < high), round(values.doubly_robust.value, 1)
    (True, 0.8)
    """
    rows = logs.context_rows(contexts, None)
    count = rows.shape[0]
    known = logs.labels(np.unique(arms).tolist() if names is None else list(names))
    numbers = logs.arm_numbers(known, arms, count)
    paid, chances = logs.numbers("rewards", rewards, count), logs.probabilities(propensities, count)
    played = chances_of(policy, contexts, known)
    expected = _crossed(rows, numbers, paid, len(known)) if model is None else np.asarray(model(rows), float)
    if expected.shape != (count, len(known)):
        raise ValueError(f"model must give {(count, len(known))} expected rewards, got {expected.shape}")
    return policy_values(expected, played, numbers, paid, chances)


def _crossed(contexts: FloatArray, arms: NDArray[np.int64], rewards: FloatArray, count: int) -> FloatArray:
    """Return what is expected of all arms in each context, by a model that has not learnt it: [n, A]."""
    found = np.zeros((len(arms), count))
    folds = np.arange(len(arms)) % FOLDS
    for fold in range(FOLDS):
        out = folds == fold
        if out.all() or not out.any():
            continue
        model = GLCB(n_arms=count, random_state=0)
        model.partial_fit(contexts[~out], arms[~out].tolist(), rewards[~out])
        found[out] = model.predict_expectations(contexts[out])
    return found
