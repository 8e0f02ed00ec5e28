"""Bayesian linear regression on all features together, as one more base prediction.

Appendix C regresses the target on each feature alone. Where targets are linear in all features at once, as
a portfolio's return is, the joint regression says it from few rows, and the network above it has only to
correct what is not linear.

With x the features and a constant, prior N(0, I / tau_0) on the coefficients and an inverse gamma prior on
the noise, the posterior needs R with R'R = tau_0 I + sum x x', and z = R^-T sum x y. Both are kept as one
triangle [R | z], into which Givens rotations turn each new row; what the rotations leave of y is the residual
whose square adds to the noise. That costs d^2 operations a row, and no covariance can lose its positive
definiteness.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.core.base_models import PredictBase
from ggln.core.constants import BLR_PRIOR_PRECISION, JOINT_PRIOR_ROWS
from ggln.core.jit import exact_kernel
from ggln.core.projection import clip


class JointBase(NamedTuple):
    """The features' Gaussians, as `FeatureBase` has them, and one of the regression on all of them."""

    limit: Any  # means are clipped to [-limit, limit]
    least: Any  # the noise's variance is kept between this and its inverse
    precision: Any  # of the features' Gaussians
    triangle: Any  # [E, d + 1, d + 1 + D]  R and z
    coefficients: Any  # [E, d + 1, D]  R^-1 z
    noise: Any  # [E, 2]  rows of prior and data, and the sum of squared residuals, per output


def empty_joint_base(
    networks: int, features: int, outputs: int, limit: float, least: float, precision: float | None
) -> JointBase:
    """Return the regressions before any row."""
    size = features + 1
    triangle = np.zeros((networks, size, size + outputs))
    triangle[:, np.arange(size), np.arange(size)] = np.sqrt(BLR_PRIOR_PRECISION)
    noise = np.full((networks, 2), JOINT_PRIOR_ROWS)
    return JointBase(limit, least, precision, triangle, np.zeros((networks, size, outputs)), noise)


@exact_kernel
def leverage(triangle: Any, x: Any, solved: Any) -> Any:
    """Return x' (R'R)^-1 x for x: [d] and a constant: the inverse of the rows that tell about x.

    triangle: [d + 1, ...]; solved: [d + 1] # OUT, R^-T x.
    """
    total = 0.0
    for i in range(solved.size):
        value = x[i] if i < x.size else 1.0
        for j in range(i):
            value -= triangle[j, i] * solved[j]
        solved[i] = value / triangle[i, i]
        total += solved[i] * solved[i]
    return total


@exact_kernel
def rotate(triangle: Any, line: Any) -> Any:
    """Turn a row into the triangle [R | z] # OUT; return the sum of squares that is left of its targets.

    line: [d + 1 + D] # OUT, the features, the constant and the targets.
    """
    size = triangle.shape[0]
    for i in range(size):
        if line[i] == 0.0:
            continue
        length = np.sqrt(triangle[i, i] * triangle[i, i] + line[i] * line[i])
        cosine, sine = triangle[i, i] / length, line[i] / length
        for j in range(i, line.size):
            upper, lower = triangle[i, j], line[j]
            triangle[i, j] = cosine * upper + sine * lower
            line[j] = cosine * lower - sine * upper
    left = 0.0
    for j in range(size, line.size):
        left += line[j] * line[j]
    return left


@exact_kernel
def solve(triangle: Any, coefficients: Any) -> None:
    """Write R^-1 z into `coefficients` # OUT [d + 1, D]."""
    size, outputs = coefficients.shape
    for d in range(outputs):
        for i in range(size - 1, -1, -1):
            value = triangle[i, size + d]
            for j in range(i + 1, size):
                value -= triangle[i, j] * coefficients[j, d]
            coefficients[i, d] = value / triangle[i, i]


@PredictBase.register(JointBase)
def _joint(base, network, side, columns, targets, learning, means, precisions):
    triangle, coefficients = base.triangle[network], base.coefficients[network]
    noise, features, outputs = base.noise[network], side.shape[1], means.shape[2]
    solved, line = np.empty(features + 1), np.empty(features + 1 + outputs)
    for t in range(columns.size):
        x = side[columns[t]]
        for j in range(features):
            for d in range(outputs):
                means[t, j, d] = clip(x[j], -base.limit, base.limit)
            precisions[t, j] = base.precision
        for d in range(outputs):
            mean = coefficients[features, d]
            for j in range(features):
                mean += coefficients[j, d] * x[j]
            means[t, features, d] = clip(mean, -base.limit, base.limit)
        most = 1.0 / base.least
        variance = clip(noise[1] / noise[0], base.least, most)
        precisions[t, features] = 1.0 / (variance * (1.0 + min(leverage(triangle, x, solved), most)))
        if learning:
            line[:features], line[features] = x, 1.0
            for d in range(outputs):
                line[features + 1 + d] = targets[t, d]
            noise[1] += rotate(triangle, line) / outputs
            noise[0] += 1.0
            solve(triangle, coefficients)
