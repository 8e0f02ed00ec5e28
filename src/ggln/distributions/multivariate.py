"""The predictive distribution of several outputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.distributions import formulas
from ggln.distributions.formulas import Float
from ggln.distributions.joint import Joint
from ggln.distributions.mixture import (
    Index,
    Mixture,
    RandomState,
    blocks,
    check,
    finite,
    floating,
    generator,
)
from ggln.distributions.univariate import GaussianMixture


class MultivariateGaussianMixture(Mixture, Joint):
    """Joint distribution of D outputs: row i has the density sum_j w_ij N(y; m_ij, C_ij).

    ``cdf``, ``quantile``, ``interval`` and ``crps`` are those of the D marginal distributions.

    Parameters
    ----------
    weights : (M,) shared by all rows, or (n, M)
        Non-negative, summing to one in each row.
    means : (n, M, D)
    covariances : (n, M), (n, M, D) or (n, M, D, D)
        One variance for all outputs, a variance for each, or matrices; a matrix that is not positive definite
        raises ``numpy.linalg.LinAlgError`` in ``log_prob`` and ``sample``.
    """

    def __init__(self, weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> None:
        means, self.covariances = floating(means), floating(covariances)
        check(
            means.ndim == 3
            and means.shape[2] > 0
            and self.covariances.shape in {means.shape[:2], means.shape, means.shape + means.shape[2:]},
            f"means has shape {means.shape} and covariances {self.covariances.shape}, "
            "expected (n, M, D) and (n, M), (n, M, D) or (n, M, D, D)",
        )
        super().__init__(weights, means)
        check(
            finite(self.covariances) and self._variances.min(initial=1.0) > 0.0,
            "covariances must be finite, variances positive",
        )

    def __repr__(self) -> str:
        n, components, outputs = self.means.shape
        kind = {2: "isotropic", 3: "diagonal", 4: "full"}[self.covariances.ndim]
        return f"MultivariateGaussianMixture(rows={n}, components={components}, outputs={outputs}, {kind})"

    def __getitem__(self, index: Index) -> MultivariateGaussianMixture:
        """Rows of the distribution; an integer gives a distribution of one row."""
        weights, rows = self._select(index)
        return MultivariateGaussianMixture(weights, self.means[rows], self.covariances[rows])

    def scaled(self, shift: ArrayLike, scale: ArrayLike) -> MultivariateGaussianMixture:
        """Distribution of shift + scale * Y, shift and scale > 0 (D,) or scalar, in float64."""
        shift, scale = np.asarray(shift, dtype=np.float64), np.asarray(scale, dtype=np.float64)
        self._check_units(shift, scale)
        scale = np.broadcast_to(scale, self.outputs)
        if self.covariances.ndim == 4:
            covariances = self.covariances * np.outer(scale, scale)
        else:
            covariances = self._variances * scale**2
        return MultivariateGaussianMixture(self.weights, shift + scale * self.means, covariances)

    @property
    def _variances(self) -> NDArray[Any]:
        """Variances of the components, a view (n, M, D)."""
        if self.covariances.ndim == 4:
            return np.diagonal(self.covariances, axis1=2, axis2=3)
        variances = self.covariances if self.covariances.ndim == 3 else self.covariances[:, :, None]
        return np.broadcast_to(variances, self.means.shape)

    @property
    def outputs(self) -> int:
        """D."""
        return int(self.means.shape[2])

    def _blocks(self) -> Iterator[slice]:
        n, components, outputs = self.means.shape
        return blocks(n, components * outputs ** max(1, self.covariances.ndim - 2))

    def marginal(self, d: int) -> GaussianMixture:
        """Distribution of output d."""
        self._check_output(d)
        return GaussianMixture(self.weights, self.means[:, :, d], np.sqrt(self._variances[:, :, d]))

    @cached_property
    def cov(self) -> Float:
        """sum_j w_j (C_j + (m_j - mean) (m_j - mean)^T), (n, D, D)."""
        cov = np.empty((*self.mean.shape, self.means.shape[2]))
        for rows in self._blocks():
            deviation = self.means[rows] - self.mean[rows, None]
            w = np.broadcast_to(self._normalised(rows), deviation.shape[:2])
            cov[rows] = np.swapaxes(w[:, :, None] * deviation, 1, 2) @ deviation
            if self.covariances.ndim == 4:
                cov[rows] += np.einsum("nm,nmde->nde", w, self.covariances[rows])
            else:
                np.einsum("ndd->nd", cov[rows])[...] += np.einsum("nm,nmd->nd", w, self._variances[rows])
        return cov

    def log_prob(self, y: ArrayLike) -> Float:
        """log(sum_j w_j N(y; m_j, C_j)), the joint density: y (n, D) -> (n,)."""
        y = self._y(y)
        result = np.empty(len(self))
        for rows in self._blocks():
            z = y[rows, None] - self.means[rows]  # (b, M, D)
            if self.covariances.ndim == 4:
                root = np.linalg.cholesky(self.covariances[rows].astype(np.float64))
                scale = np.diagonal(root, axis1=2, axis2=3)
                z = np.linalg.solve(root, z[..., None])[..., 0]
            else:
                scale = np.sqrt(self._variances[rows].astype(np.float64))
                z = z / scale
            with np.errstate(over="ignore", divide="ignore"):  # log 0
                density = formulas.log_normal(z, scale).sum(axis=2)
                result[rows] = formulas.log_mix(self._normalised(rows), density)
        return result

    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows, D)."""
        rng = generator(random_state)
        at = self._draw_components(n, rng)
        noise = rng.standard_normal((n, len(self), self.means.shape[2]))
        if self.covariances.ndim == 4:
            noise = (np.linalg.cholesky(self.covariances[at].astype(np.float64)) @ noise[..., None])[..., 0]
        else:
            noise = np.sqrt(self._variances[at]) * noise
        draws: Float = self.means[at] + noise
        return draws

    def region_level(self, y: ArrayLike, n_samples: int = 1000, random_state: RandomState = None) -> Float:
        """Estimate of P(f(Y) > f(y)), the level of the smallest region of highest density that holds y.

        From n_samples >= 1 draws: y (n, D) -> (n,).
        """
        check(n_samples >= 1, f"n_samples must be at least 1, got {n_samples}")
        density, rng = self.log_prob(self._y(y)), generator(random_state)
        denser = np.zeros(len(self))
        for rows in blocks(len(self), n_samples * self.outputs):
            some = self[rows]
            for draw in some.sample(n_samples, rng):
                denser[rows] += some.log_prob(draw) > density[rows]
        return np.where(np.isnan(density), np.nan, denser / n_samples)
