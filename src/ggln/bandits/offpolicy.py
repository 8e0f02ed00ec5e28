"""What a policy would earn, estimated from decisions that another one made.

The log holds, for each decision, the context x, the arm a that was played, what it paid r, and the
probability p with which it was played there. A new policy plays arm b with probability π(b | x); q(x, b) is
what some model expects of it. With ρ = π(a | x) / p:

* direct: mean of sum_b π(b | x) q(x, b). No variance from p, but as wrong as the model.
* ips: mean of ρ r, inverse propensity scoring. Right on average if all p are right, and noisy.
* snips: the same, divided by the mean of ρ, which would be 1. Less noise, little bias.
* doubly robust: direct + mean of ρ (r - q(x, a)). Right on average if p is, and only the model's errors are
  left to make noise.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean reward per decision, and its standard error."""

    value: float
    error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the mean reward with this probability, by the normal distribution.

        Examples
        --------
        >>> low, high = Estimate(1.0, 0.1).interval(0.95)
        >>> round(low, 3), round(high, 3)
        (0.804, 1.196)
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be in (0, 1), got {level!r}")
        reach = float(ndtri(0.5 + 0.5 * level)) * self.error
        return self.value - reach, self.value + reach


class PolicyValues(NamedTuple):
    """Estimates of a policy's mean reward; `logged` is what the policy of the log earned itself."""

    logged: Estimate
    direct: Estimate
    ips: Estimate
    snips: Estimate
    doubly_robust: Estimate
    matches: int  #: decisions of the log that the policy might have made, too
    effective: float  #: how many evenly weighted decisions tell as much as those


def _mean(values: FloatArray) -> Estimate:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return Estimate(float(values.mean()), float(error))


def policy_values(
    expected: FloatArray,
    chances: FloatArray,
    arms: NDArray[np.int64],
    rewards: FloatArray,
    propensities: FloatArray,
) -> PolicyValues:
    """Return all estimates for a policy.

    expected: [n, A], q; chances: [n, A], π; arms, rewards, propensities: [n], of the log.

    Examples
    --------
    >>> expected = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> arms, rewards = np.array([0, 0, 1, 1]), np.array([1.0, 0.0, 0.0, 1.0])
    >>> values = policy_values(expected, expected, arms, rewards, np.full(4, 0.5))
    >>> values.ips.value, values.doubly_robust.value, values.matches
    (1.0, 1.0, 2)
    """
    every = np.arange(arms.size)
    ratios = chances[every, arms] / propensities
    predicted = np.sum(chances * expected, axis=1)
    mean_ratio = ratios.mean()
    snips = Estimate(np.nan, np.nan)
    if mean_ratio > 0.0:
        value = float((ratios * rewards).mean() / mean_ratio)
        # the delta method: a ratio's error is that of its numerator's deviations from it
        snips = Estimate(value, _mean(ratios * (rewards - value)).error / float(mean_ratio))
    return PolicyValues(
        logged=_mean(rewards),
        direct=_mean(predicted),
        ips=_mean(ratios * rewards),
        snips=snips,
        doubly_robust=_mean(predicted + ratios * (rewards - expected[every, arms])),
        matches=int(np.count_nonzero(ratios)),
        effective=float(ratios.sum() ** 2 / max((ratios**2).sum(), np.finfo(float).tiny)),
    )
