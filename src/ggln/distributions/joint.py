"""What joint distributions of several outputs share: all that is asked of their marginal distributions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ggln.distributions.formulas import Float
from ggln.distributions.mixture import Index, Quantiles, RandomState, blocks, check, check_y, generator
from ggln.distributions.univariate import GaussianMixture


class Joint(Quantiles):
    """Joint distribution of D outputs for each of n rows."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """D."""

    @abstractmethod
    def __len__(self) -> int:
        """Return n."""

    @abstractmethod
    def __getitem__(self, index: Index) -> Self:
        """Rows of the distribution; an integer gives a distribution of one row."""

    @abstractmethod
    def marginal(self, d: int) -> GaussianMixture:
        """Distribution of output d."""

    @abstractmethod
    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows, D)."""

    def _check_output(self, d: int) -> None:
        known = -self.outputs <= d < self.outputs
        check(known, f"d must be below the number of outputs, {self.outputs}, got {d}")

    def _check_units(self, shift: Float, scale: Float) -> None:
        shapes = f"shift has shape {shift.shape} and scale {scale.shape}, expected ({self.outputs},)"
        check({shift.shape, scale.shape} <= {(), (self.outputs,)}, shapes)
        check(np.all(scale > 0.0), f"scale must be positive, got {scale}")

    def _marginals(self) -> Iterator[GaussianMixture]:
        return map(self.marginal, range(self.outputs))

    def _y(self, y: ArrayLike) -> Float:
        return check_y(y, (len(self), self.outputs))

    @cached_property
    def mean(self) -> Float:
        """Means of the outputs, (n, D)."""
        return np.stack([marginal.mean for marginal in self._marginals()], axis=-1)

    @cached_property
    def std(self) -> Float:
        """Standard deviations of the outputs, (n, D)."""
        return np.stack([marginal.std for marginal in self._marginals()], axis=-1)

    def _each(self, method: str, y: ArrayLike) -> Float:
        """Apply a method of the marginals to each column: y (n, D) -> (n, D)."""
        pairs = zip(self._marginals(), self._y(y).T, strict=True)
        return np.stack([getattr(marginal, method)(values) for marginal, values in pairs], axis=-1)

    def cdf(self, y: ArrayLike) -> Float:
        """F_d(y_d) of the marginals: y (n, D) -> (n, D)."""
        return self._each("cdf", y)

    def sf(self, y: ArrayLike) -> Float:
        """1 - F_d(y_d) of the marginals: y (n, D) -> (n, D)."""
        return self._each("sf", y)

    def log_cdf(self, y: ArrayLike) -> Float:
        """Logarithm of F_d(y_d) of the marginals, accurate in both tails: y (n, D) -> (n, D)."""
        return self._each("log_cdf", y)

    def log_sf(self, y: ArrayLike) -> Float:
        """log(1 - F_d(y_d)) of the marginals, accurate in both tails: y (n, D) -> (n, D)."""
        return self._each("log_sf", y)

    def quantile(self, q: ArrayLike) -> Float:
        """F_d^-1(q) of the marginals, 0 < q < 1: scalar q -> (n, D), q (k,) -> (k, n, D)."""
        return np.stack([marginal.quantile(q) for marginal in self._marginals()], axis=-1)

    def crps(self, y: ArrayLike) -> Float:
        """CRPS of the marginals: y (n, D) -> (n, D)."""
        return self._each("crps", y)

    def energy_score(self, y: ArrayLike, n_samples: int = 1000, random_state: RandomState = None) -> Float:
        """Unbiased estimate of E||Y - y|| - E||Y - Y'|| / 2 from n_samples >= 2 draws: y (n, D) -> (n,)."""
        check(n_samples >= 2, f"n_samples must be at least 2, got {n_samples}")
        y, rng = self._y(y), generator(random_state)
        score = np.empty(len(self))
        for rows in blocks(len(self), n_samples * self.outputs):
            draws = self[rows].sample(n_samples, rng)
            neighbours = draws - np.roll(draws, 1, axis=0)  # independent
            distance = np.linalg.norm(draws - y[rows], axis=2) - 0.5 * np.linalg.norm(neighbours, axis=2)
            score[rows] = distance.mean(axis=0)
        return score
