"""Measures of predictive distributions."""

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import GaussianMixture, MultivariateGaussianMixture
from ggln.distributions.assembly import Distribution
from ggln.reproduction.shared.record import Results

FloatArray = NDArray[np.float64]

LEVELS = (0.5, 0.9, 0.95)
"""Central intervals whose coverage is measured."""


def scores(distribution: Distribution, y: FloatArray, crps: bool = True) -> Results:
    """Return the usual measures of a predictive distribution for y [n] or [n, D].

    nll: in nats, with its constant, of all outputs jointly. mse, rmse, crps, coverage_50, ...: averaged over
    the outputs; rmse is the root of mse. The crps of a mixture of thousands takes longer than all the rest.
    """
    results = summarize(by_row(distribution, y))
    if crps:
        results["crps"] = distribution.crps(y).mean()
    return results


def by_row(distribution: Distribution, y: FloatArray) -> dict[str, FloatArray]:
    """Return what `summarize` averages: squared errors, negative log-densities and ranks, row by row.

    Rows of a long stream can be scored block by block and joined.
    """
    return {
        "squared": (distribution.mean - y) ** 2,
        "nll": -distribution.log_prob(y),
        # y lies in the central interval of a level if F(y) is within level / 2 of one half
        "off_centre": 2.0 * np.abs(distribution.cdf(y) - 0.5),
    }


def summarize(rows: dict[str, FloatArray]) -> Results:
    """Return the averages of what `by_row` gave."""
    mse = rows["squared"].mean()
    results: Results = {"mse": mse, "rmse": np.sqrt(mse), "nll": rows["nll"].mean()}
    return results | {f"coverage_{100 * level:.0f}": np.mean(rows["off_centre"] <= level) for level in LEVELS}


def gaussian(mean: FloatArray, std: FloatArray) -> Distribution:
    """Return one Gaussian for each row, or for each row and output, of means and stds [n] or [n, D]."""
    if mean.ndim == 1:
        return GaussianMixture(np.ones(1), mean[:, None], std[:, None])
    return MultivariateGaussianMixture(np.ones(1), mean[:, None], std[:, None] ** 2)
