"""The arms' posteriors in plain NumPy, as a twin of the kernels.

A regression sees z, the features in their units, bounded, and makes inputs phi [P] of it, each times the
deviation of its weight in advance in deviations of the noise, so that all weights are N(0, s^2) then:

  level / sqrt(d),   line z_i / sqrt(d),
  curve sqrt(2) z_i z_j / d and curve (z_i^2 - 1) / d, or curve L^-1 k(z)

with k the Matern bumps and L L' their own covariance. The noise's variance s^2 has an inverse gamma of
shape a and scale b. After rows Phi [n, P] with rewards r and weights W, in the unit of rewards,

  S = (I + Phi' W Phi)^-1,   m = S Phi' W r,   a + sum W / 2,   b + (r' W r - m' Phi' W r) / 2,

and what is expected of a context has the mean m' phi and the variance b / a phi' S phi.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.lengths import shapes_of
from ggln.engine.surfaces.constants import JITTER, PRODUCT_REACH, REACH
from ggln.engine.surfaces.kernels import Surface

FloatArray = NDArray[np.float64]


class Known(NamedTuple):
    """The posterior of a regression."""

    mean: FloatArray  # [P]
    spread: FloatArray  # [P, P]
    shape: float
    scale: float


def inputs(surface: Surface, rows: FloatArray) -> FloatArray:
    """Return phi of contexts [n, d]: [n, P]."""
    (level, line, curve), features = surface.widths, rows.shape[1]
    z = np.clip((rows - surface.units[0]) / surface.units[1], -REACH, REACH)
    parts = [np.full((len(rows), 1), level / np.sqrt(features)), line * z / np.sqrt(features)]
    if surface.products[0]:
        near = np.clip(z, -PRODUCT_REACH, PRODUCT_REACH)
        for i in range(features):
            parts.append(curve * np.sqrt(2.0) * near[:, [i]] * near[:, :i] / features)
            parts.append(curve * (near[:, [i]] ** 2 - 1.0) / features)
    centres = surface.centres.T
    if len(centres):
        everyone, _ = shapes_of(np.concatenate([centres, z / surface.lengths]))
        own = everyone[: len(centres), : len(centres)] + JITTER * np.eye(len(centres))
        heights = everyone[len(centres) :, : len(centres)]
        parts.append(curve * np.linalg.solve(np.linalg.cholesky(own), heights.T).T)
    return np.hstack(parts)


def posterior(phi: FloatArray, rewards: FloatArray, weights: FloatArray, shape: float, scale: float) -> Known:
    """Return the posterior of inputs [n, P] and rewards [n], in their unit."""
    spread = np.asarray(np.linalg.inv(np.eye(phi.shape[1]) + phi.T @ (weights[:, None] * phi)), np.float64)
    told = phi.T @ (weights * rewards)
    mean = spread @ told
    rest = weights @ rewards**2 - mean @ told
    return Known(mean, spread, shape + 0.5 * float(weights.sum()), float(scale + 0.5 * rest))
