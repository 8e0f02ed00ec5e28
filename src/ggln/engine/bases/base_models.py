"""Layer 0: the base predictions (section 6, "Bias and Base Predictions", and Appendix C).

A base model turns the features of a row into Gaussians, before its target is known, and may then learn
from the target. Each network of an ensemble sees its own order of rows and so keeps its own statistics.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import BLR_PRIOR_PRECISION
from ggln.engine.jit import Protocol, inner_exact
from ggln.engine.neurons.projection import clip

FloatArray = NDArray[np.float64]


class NoBase(NamedTuple):
    """No base predictions: the biases alone span the targets."""

    limit: Any


class FeatureBase(NamedTuple):
    """One Gaussian for each feature, centred on its value, in every output coordinate."""

    limit: Any  # means are clipped to [-limit, limit], as those of every neuron are
    precision: Any


class CoordinateBase(NamedTuple):
    """Feature i times the i-th basis vector times D: for inputs and outputs of the same space.

    Equal weights then give the identity. These inputs are one-hot; see `neuron.Layer`.
    """

    limit: Any
    precision: Any


class AxesBase(NamedTuple):
    """Every feature along every output: D Gaussians for each of them, one-hot as those of `CoordinateBase`.

    Features then tell the outputs apart, which one mean for all of them cannot.
    """

    limit: Any
    features: Any
    outputs: Any
    precision: Any


class LogitBase(NamedTuple):
    """The logit of one probability for each feature, its value: the same for all classes."""

    limit: Any


class LinearBase(NamedTuple):
    """Bayesian linear regression of the target on each feature alone (Appendix C)."""

    limit: Any
    estimate: Any  # whether the noise precision tau is set by type-II maximum likelihood
    counts: Any  # [E, 2]  rows, and the sum of |y|^2
    targets: Any  # [E, D]  sum of y
    features: Any  # [E, 2, d]  sums of x and x^2
    products: Any  # [E, d, D]  sum of x y
    noise: Any  # [E, d]  tau


@singledispatch
def along_axes(_base: Any) -> bool:
    """Return whether input j has a mean along output j % D alone."""
    return False


@along_axes.register(CoordinateBase | AxesBase)
def _are_along_axes(_base: Any) -> bool:
    return True


@singledispatch
def coordinates(base: Any, outputs: int) -> int:
    """Return how many numbers the mean of an input has."""
    return 1 if along_axes(base) else outputs


@coordinates.register(LogitBase)
def _one_logit(_base: LogitBase, _outputs: int) -> int:
    return 1


@singledispatch
def slopes(
    base: Any, _network: int, _side: FloatArray, means: FloatArray, precisions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how features [T, d] move their own Gaussians: means [T, d, D] and precisions [T, d]."""
    return (np.abs(means) < base.limit) * 1.0, np.zeros_like(precisions)


@slopes.register(CoordinateBase)
def _coordinate_slopes(
    base: CoordinateBase, _network: int, side: FloatArray, _means: FloatArray, precisions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    free, size = np.abs(side) < base.limit, side.shape[1]
    return free[..., None] * size * np.eye(size), np.zeros_like(precisions)


@slopes.register(LinearBase)
def _linear_slopes(
    base: LinearBase, network: int, side: FloatArray, means: FloatArray, precisions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    noise, squares = base.noise[network], base.features[network, 1]
    slope_precision = BLR_PRIOR_PRECISION + noise * squares
    slope = noise[:, None] * base.products[network] / slope_precision[:, None]
    inside = np.abs(means) < base.limit
    return inside * slope, -(precisions**2) * 2.0 * side / slope_precision


def predict_base(base, network, side, columns, targets, learning, means, precisions):
    """Write the base predictions of a block into means and precisions # OUT; then learn, if asked.

    side: [n, d]; columns: [T], the rows of `side` in the block; targets: [T, D]; means: [T, inputs, D];
    precisions: [T, inputs].
    """


PredictBase = Protocol(predict_base)


@PredictBase.register(NoBase)
def _none(base, network, side, columns, targets, learning, means, precisions):
    pass


@PredictBase.register(FeatureBase)
def _feature(base, network, side, columns, targets, learning, means, precisions):
    for t in range(columns.size):
        for j in range(side.shape[1]):
            for d in range(means.shape[2]):
                means[t, j, d] = clip(side[columns[t], j], -base.limit, base.limit)
            precisions[t, j] = base.precision


@PredictBase.register(CoordinateBase)
def _coordinate(base, network, side, columns, targets, learning, means, precisions):
    for t in range(columns.size):
        for j in range(side.shape[1]):
            means[t, j, 0] = clip(side[columns[t], j], -base.limit, base.limit) * side.shape[1]
            precisions[t, j] = base.precision


@PredictBase.register(AxesBase)
def _axes(base, network, side, columns, targets, learning, means, precisions):
    for t in range(columns.size):
        for j in range(base.features):
            for d in range(base.outputs):
                means[t, j * base.outputs + d, 0] = clip(side[columns[t], j], -base.limit, base.limit)
                precisions[t, j * base.outputs + d] = base.precision


@PredictBase.register(LogitBase)
def _logit(base, network, side, columns, targets, learning, means, precisions):
    for t in range(columns.size):
        for j in range(side.shape[1]):
            means[t, j, 0] = clip(side[columns[t], j], -base.limit, base.limit)


@PredictBase.register(LinearBase)
def _linear(base, network, side, columns, targets, learning, means, precisions):
    outputs, prior = means.shape[2], BLR_PRIOR_PRECISION
    count, sum_y = base.counts[network], base.targets[network]
    sum_x, sum_xx = base.features[network, 0], base.features[network, 1]
    products, noise = base.products[network], base.noise[network]
    features = noise.size
    for t in range(columns.size):
        for j in range(features):
            x = side[columns[t], j]
            slope_precision = prior + noise[j] * sum_xx[j]
            offset_precision = prior + noise[j] * count[0]
            for d in range(outputs):
                slope = noise[j] * products[j, d] / slope_precision
                offset = noise[j] * sum_y[d] / offset_precision
                means[t, j, d] = clip(slope * x + offset, -base.limit, base.limit)
            variance = x * x / slope_precision + 1.0 / offset_precision + 1.0 / noise[j]
            precisions[t, j] = 1.0 / variance
        if not learning:
            continue
        count[0] += 1.0
        for d in range(outputs):
            count[1] += targets[t, d] * targets[t, d]
            sum_y[d] += targets[t, d]
        for j in range(features):
            x = side[columns[t], j]
            sum_x[j] += x
            sum_xx[j] += x * x
            for d in range(outputs):
                products[j, d] += x * targets[t, d]
            if base.estimate and count[0] > 2.0:
                noise[j] = evidence_step(
                    noise[j], count, sum_x[j], sum_xx[j], products[j], sum_y, 1.0 / base.limit**2
                )


@inner_exact
def evidence_step(noise, count, sum_x, sum_xx, products, sum_y, least):
    """One fixed-point step of type-II maximum likelihood for tau: (N - gamma) / residual sum of squares.

    gamma counts the parameters that the data determine (Bishop, equations 3.91 and 3.95). The result is kept
    between `least` and its inverse, so that a perfect fit stays finite.
    """
    slope_precision = BLR_PRIOR_PRECISION + noise * sum_xx
    offset_precision = BLR_PRIOR_PRECISION + noise * count[0]
    determined = noise * sum_xx / slope_precision + noise * count[0] / offset_precision
    residuals = count[1]
    for d in range(sum_y.size):
        slope, offset = noise * products[d] / slope_precision, noise * sum_y[d] / offset_precision
        residuals -= 2.0 * (slope * products[d] + offset * sum_y[d] - slope * offset * sum_x)
        residuals += slope * slope * sum_xx + offset * offset * count[0]
    freedom = sum_y.size * (count[0] - determined)
    return clip(freedom / max(residuals, freedom * least), least, 1.0 / least)


def empty_linear_base(
    networks: int, features: int, outputs: int, limit: float, noise: float | None
) -> LinearBase:
    """Return the regression before any row; noise=None asks for the estimate of tau, from 1 on."""
    return LinearBase(
        limit=limit,
        estimate=noise is None,
        counts=np.zeros((networks, 2)),
        targets=np.zeros((networks, outputs)),
        features=np.zeros((networks, 2, features)),
        products=np.zeros((networks, features, outputs)),
        noise=np.full((networks, features), 1.0 if noise is None else noise),
    )
