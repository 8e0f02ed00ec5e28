"""Regressors as members of a stream's mixture, beside the networks that they are base inputs of.

A network has to learn, context by context, how far to believe its base inputs. Until then the best of these
may predict better than what is made of them, so that they have shares in the mixture of their own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core.jit import exact_kernel, inner_exact
from ggln.core.projection import clip

FloatArray = NDArray[np.float64]


class Advisers(NamedTuple):
    """Where a row's side information has the regressors' predictions, as `base_models.join` writes them."""

    size: int  # how many there are
    features: int  # columns before them
    limit: float  # means are clipped to [-limit, limit], as those of every neuron are

    def read(self, side: FloatArray, outputs: int) -> tuple[FloatArray, FloatArray]:
        """Return the means [n, A, D] and precisions [n, A]."""
        end = self.features + self.size * outputs
        means = side[:, self.features : end].reshape(len(side), self.size, outputs)
        return np.clip(means, -self.limit, self.limit), side[:, end : end + self.size]


NOBODY = Advisers(0, 0, 0.0)


@inner_exact
def mean_of(advisers: Any, row: Any, a: Any, d: Any, outputs: Any) -> Any:
    """Return what adviser a predicts of output d."""
    return clip(row[advisers.features + a * outputs + d], -advisers.limit, advisers.limit)


@exact_kernel
def judge_advice(advisers: Any, side: Any, targets: Any, evidence: Any) -> None:
    """Write the log-density of each adviser at the targets, up to the constant that neurons leave out.

    side: [n, columns]; targets: [n, D]; evidence: [members, n] # OUT, its last rows.
    """
    outputs, first = targets.shape[1], evidence.shape[0] - advisers.size
    for t in range(side.shape[0]):
        row = side[t]
        for a in range(advisers.size):
            precision = row[advisers.features + advisers.size * outputs + a]
            distance = 0.0
            for d in range(outputs):
                error = targets[t, d] - mean_of(advisers, row, a, d, outputs)
                distance += error * error
            evidence[first + a, t] = 0.5 * (outputs * np.log(precision) - precision * distance)


@exact_kernel
def add_advice(advisers: Any, side: Any, shares: Any, networks: Any, mean: Any, second: Any) -> None:
    """Add the advisers' moments to sums over the networks # OUT mean, second: [n, D] each.

    side: [n, columns]; shares: [members], of which the last ones are the advisers'.
    """
    outputs, first = mean.shape[1], shares.size - advisers.size
    for t in range(side.shape[0]):
        row = side[t]
        for a in range(advisers.size):
            share = networks * shares[first + a]
            variance = 1.0 / row[advisers.features + advisers.size * outputs + a]
            for d in range(outputs):
                value = mean_of(advisers, row, a, d, outputs)
                mean[t, d] += share * value
                second[t, d] += share * (variance + value * value)
