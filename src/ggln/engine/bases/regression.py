"""Bayesian linear regression on all features together, as one more base prediction.

Appendix C regresses the target on each feature alone. Where targets are linear in all features at once, as
a portfolio's return is, the joint regression says it from few rows, and the network above it has only to
correct what is not linear.

`triangle` has the mathematics; the noise has an inverse gamma prior. A row costs d^2 operations.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.bases.base_models import PredictBase
from ggln.engine.bases.triangle import sweep
from ggln.engine.constants import BLR_PRIOR_PRECISION, JOINT_PRIOR_ROWS
from ggln.engine.neurons.projection import clip


class JointBase(NamedTuple):
    """The features' Gaussians, as `FeatureBase` has them, and one of the regression on all of them."""

    limit: Any  # means are clipped to [-limit, limit]
    least: Any  # the noise's variance is kept between this and its inverse
    precision: Any  # of the features' Gaussians
    triangle: Any  # [E, d + 1, d + 1 + D]  R and z
    noise: Any  # [E, 2]  rows of prior and data, and the sum of squared residuals, per output


def empty_joint_base(
    networks: int, features: int, outputs: int, limit: float, least: float, precision: float | None
) -> JointBase:
    """Return the regressions before any row."""
    size = features + 1
    triangle = np.zeros((networks, size, size + outputs))
    triangle[:, np.arange(size), np.arange(size)] = np.sqrt(BLR_PRIOR_PRECISION)
    noise = np.full((networks, 2), JOINT_PRIOR_ROWS)
    return JointBase(limit, least, precision, triangle, noise)


@PredictBase.register(JointBase)
def _joint(base, network, side, columns, targets, learning, means, precisions):
    triangle, noise = base.triangle[network], base.noise[network]
    features, outputs, most = side.shape[1], means.shape[2], 1.0 / base.least
    lines, rests, told = np.empty((1, triangle.shape[1])), np.empty((1, triangle.shape[1])), np.empty(1)
    line, rest = lines[0], rests[0]
    for t in range(columns.size):
        x = side[columns[t]]
        for j in range(features):
            for d in range(outputs):
                means[t, j, d] = clip(x[j], -base.limit, base.limit)
            precisions[t, j] = base.precision
            line[j] = x[j]
        line[features] = 1.0
        for d in range(outputs):
            line[features + 1 + d] = targets[t, d] if learning else 0.0
        sweep(triangle, lines, rests, told, 1, learning)
        variance, leverage = clip(noise[1] / noise[0], base.least, most), told[0]
        precisions[t, features] = 1.0 / (variance * (1.0 + min(leverage, most)))
        for d in range(outputs):
            mean = -rest[features + 1 + d]
            means[t, features, d] = clip(mean, -base.limit, base.limit)
            if learning:
                error = targets[t, d] - mean
                noise[1] += error * error / ((1.0 + leverage) * outputs)
        if learning:
            noise[0] += 1.0
