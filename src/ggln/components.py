"""From what all neurons predict to a distribution for each row, in the user's units."""

import numpy as np
from numpy.typing import NDArray

from ggln.core.learner import Predictions
from ggln.distributions import GaussianMixture, MultivariateGaussianMixture

FloatArray = NDArray[np.float64]
Distribution = GaussianMixture | MultivariateGaussianMixture


def gaussians(predictions: Predictions, outputs: int) -> tuple[FloatArray, FloatArray]:
    """Return all components' means [n, E, N, D] and variances [n, E, N, D] or covariances [n, E, N, D, D]."""
    values = predictions.components.outputs.astype(np.float64)
    shape = (-1, 1, 1, outputs)
    scales = predictions.scales.reshape(shape)
    means = predictions.shifts.reshape(shape) + scales * values[..., :outputs]
    precisions = values[..., outputs:]
    spreads = predictions.components.spreads[:, None, None]
    if precisions.shape[-1] in (1, outputs):
        return means, spreads * scales**2 / precisions
    matrices = np.linalg.inv(precisions.reshape(*precisions.shape[:-1], outputs, outputs))
    return means, spreads[..., None] * matrices * scales[..., None] * scales[..., None, :]


def mixture(predictions: list[Predictions], outputs: int) -> Distribution:
    """Join what all neurons of all networks predict into one mixture for each row."""
    parts = [gaussians(some, outputs) for some in predictions]
    means = np.concatenate([mean for mean, _ in parts])
    covariances = np.concatenate([covariance for _, covariance in parts])
    rows, networks, neurons = means.shape[:3]
    all_weights = [some.components.weights for some in predictions]
    # one vector of weights for all rows, unless the rows were learnt in between
    weights = np.concatenate(all_weights) if all_weights[0].ndim == 3 else all_weights[0]
    weights = weights.reshape(*weights.shape[:-2], networks * neurons) / networks
    means = means.reshape(rows, networks * neurons, outputs)
    covariances = covariances.reshape(rows, networks * neurons, *covariances.shape[3:])
    if weights.ndim == 1 and not weights.all():
        believed = weights > 0
        weights, means, covariances = weights[believed], means[:, believed], covariances[:, believed]
    if outputs == 1:
        return GaussianMixture(weights, means[..., 0], np.sqrt(covariances[..., 0]))
    return MultivariateGaussianMixture(weights, means, covariances)
