"""Measures of predictive distributions."""

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import GaussianMixture, MultivariateGaussianMixture
from ggln.experiments.record import Results

FloatArray = NDArray[np.float64]
Distribution = GaussianMixture | MultivariateGaussianMixture

LEVELS = (0.5, 0.9, 0.95)
"""Central intervals whose coverage is measured."""


def scores(distribution: Distribution, y: FloatArray, crps: bool = True) -> Results:
    """Return the usual measures of a predictive distribution for y [n] or [n, D].

    nll: in nats, with its constant, of all outputs jointly. mse, rmse, crps, coverage_50, ...: averaged over
    the outputs; rmse is the root of mse. The crps of a mixture of thousands takes longer than all the rest.
    """
    mse = np.mean((distribution.mean - y) ** 2)
    # y lies in the central interval of a level if F(y) is within level / 2 of one half
    off_centre = 2.0 * np.abs(distribution.cdf(y) - 0.5)
    results = {"mse": mse, "rmse": np.sqrt(mse), "nll": -distribution.log_prob(y).mean()}
    if crps:
        results["crps"] = distribution.crps(y).mean()
    return results | {f"coverage_{100 * level:.0f}": np.mean(off_centre <= level) for level in LEVELS}


def gaussian(mean: FloatArray, std: FloatArray) -> Distribution:
    """Return one Gaussian for each row, or for each row and output, of means and stds [n] or [n, D]."""
    if mean.ndim == 1:
        return GaussianMixture(np.ones(1), mean[:, None], std[:, None])
    return MultivariateGaussianMixture(np.ones(1), mean[:, None], std[:, None] ** 2)
