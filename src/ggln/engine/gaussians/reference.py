"""What the kernels compute, a row at a time, in plain NumPy."""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gaussians.model import Gaussians

FloatArray = NDArray[np.float64]


def condition(
    model: Gaussians, row: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log shares times densities [K] of what is known of a row, E_k[x | y] [K, D] and Cov_k [K, D, D].

    noise: [D], variances of the noise of each value.
    """
    known = np.flatnonzero(~np.isnan(row))
    logs, expected, rest = [], [], []
    for share, mean, covariance in zip(*model, strict=True):
        inner = covariance[np.ix_(known, known)] + np.diag(noise[known])
        across = covariance[:, known]
        apart = row[known] - mean[known]
        _, log_determinant = np.linalg.slogdet(2.0 * np.pi * inner)
        logs.append(np.log(share) - 0.5 * (apart @ np.linalg.solve(inner, apart) + log_determinant))
        expected.append(mean + across @ np.linalg.solve(inner, apart))
        rest.append(covariance - across @ np.linalg.solve(inner, across.T))
    return np.array(logs), np.array(expected), np.array(rest)


def gates_of(logs: FloatArray) -> FloatArray:
    """Return the share of each Gaussian in a row."""
    opened = np.exp(logs - logs.max())
    gates: FloatArray = opened / opened.sum()
    return gates
