"""From what all neurons predict to a distribution for each row, in the user's units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import CopulaMixture, GaussianMixture, MultivariateGaussianMixture
from ggln.engine.gradient.learner import Predictions
from ggln.engine.newton.copula import JointBlend
from ggln.engine.newton.mixture import Blend

FloatArray = NDArray[np.float64]
Part = tuple[FloatArray, FloatArray, FloatArray]
Distribution = GaussianMixture | MultivariateGaussianMixture | CopulaMixture


def gaussians(predictions: Predictions, outputs: int) -> tuple[FloatArray, FloatArray]:
    """Return all neurons' means [n, E, N, D] and variances [n, E, N, D] or covariances [n, E, N, D, D]."""
    components = predictions.components
    values, spreads = components.outputs.astype(np.float64), components.spreads[:, None, None]
    shape = -1, 1, 1, outputs
    scales = predictions.scales.reshape(shape)
    means = predictions.shifts.reshape(shape) + scales * values[..., :outputs]
    precisions = values[..., outputs:]
    if precisions.shape[-1] in (1, outputs):
        return means, spreads * scales**2 / precisions
    matrices = np.linalg.inv(precisions.reshape(*precisions.shape[:-1], outputs, outputs))
    return means, spreads[..., None] * matrices * scales[..., None] * scales[..., None, :]


def _flat(predictions: Predictions, outputs: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means and covariances of all components one after the other, [n, M, ..], and their weights."""
    components = predictions.components
    rows, networks, neurons = components.outputs.shape[:3]
    means, covariances = (
        own.reshape(rows, networks * neurons, *own.shape[3:]) for own in gaussians(predictions, outputs)
    )
    weights = components.weights.reshape(*components.weights.shape[:-2], networks * neurons)
    return means, covariances, weights / networks


def _parts(predictions: Predictions | Blend, outputs: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means and covariances of all components, [n, M, ..], and their weights."""
    if isinstance(predictions, Blend):
        return predictions.means, predictions.covariances, predictions.weights
    return _flat(predictions, outputs)


def _as_many(parts: list[Part], least: int) -> list[Part]:
    """Return parts of as many components each, at least so many, the last ones without weight.

    The first rows of a stream are predicted before there are networks.
    """
    most = max(least, *(means.shape[1] for means, _, _ in parts))
    found = []
    for means, covariances, weights in parts:
        missing = most - means.shape[1]
        if missing:
            means, covariances = (
                np.concatenate([some, np.repeat(some[:, :1], missing, axis=1)], axis=1)
                for some in (means, covariances)
            )
            weights = np.pad(weights, ((0, 0), (0, missing)))
        found.append((means, covariances, weights))
    return found


def mixture(predictions: list[Any], outputs: int, least: int = 0) -> Distribution:
    """Join what all components predict, neurons or kinds of networks, into one mixture for each row.

    least: components that a row has at least. Sums over more of them may round otherwise: rows of a stream
    have as many in all calls.
    """
    if isinstance(predictions[0], JointBlend):
        return _joined(predictions, least)
    parts = _as_many([_parts(some, outputs) for some in predictions], least)
    means = np.concatenate([mean for mean, _, _ in parts])
    covariances = np.concatenate([covariance for _, covariance, _ in parts])
    # one vector of weights for all rows, unless the rows were learnt in between
    all_weights = [weights for _, _, weights in parts]
    weights = np.concatenate(all_weights) if all_weights[0].ndim == 2 else all_weights[0]
    if weights.ndim == 1 and not weights.all():
        believed = weights > 0
        weights, means, covariances = weights[believed], means[:, believed], covariances[:, believed]
    if outputs == 1:
        return GaussianMixture(weights, means[..., 0], np.sqrt(covariances[..., 0]))
    return MultivariateGaussianMixture(weights, means, covariances)


def _joined(predictions: list[JointBlend], least: int) -> CopulaMixture:
    """Join what is predicted of each output alone."""
    outputs = zip(*(some.marginals for some in predictions), strict=True)
    alone: list[Any] = [mixture(list(blends), 1, least) for blends in outputs]
    if predictions[0].correlations.ndim == 2:  # all rows are predicted by what is known now
        return CopulaMixture(alone, predictions[0].correlations, predictions[0].freedoms)
    # rows that were only asked about, between others that were learnt, share what was known then
    each = [(len(some.marginals[0].means), some.correlations, some.freedoms) for some in predictions]
    correlations = [np.broadcast_to(own, (rows, *own.shape[-2:])) for rows, own, _ in each]
    freedoms = [np.broadcast_to(own, rows) for rows, _, own in each]
    return CopulaMixture(alone, np.concatenate(correlations), np.concatenate(freedoms))
