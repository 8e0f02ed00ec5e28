"""A mixture of Gaussians as arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Gaussians(NamedTuple):
    """Shares, means and covariances."""

    shares: FloatArray  # [K]
    means: FloatArray  # [K, D]
    covariances: FloatArray  # [K, D, D]


def join(models: list[Gaussians]) -> Gaussians:
    """Return the mixture of several mixtures, each with the same share."""
    shares, means, covariances = map(np.concatenate, zip(*models, strict=True))
    return Gaussians(shares / len(models), means, covariances)


def sample(model: Gaussians, count: int, random: np.random.Generator) -> FloatArray:
    """Return random rows [count, D]."""
    parts = random.choice(len(model.shares), count, p=model.shares / model.shares.sum())
    normal = random.standard_normal((count, model.means.shape[1]))
    drawn = np.empty_like(normal)
    for k in np.unique(parts):
        own = parts == k
        drawn[own] = model.means[k] + normal[own] @ np.linalg.cholesky(model.covariances[k]).T
    return drawn
