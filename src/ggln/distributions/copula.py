"""The predictive distribution of several outputs that keep their own shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.distributions import student
from ggln.distributions.formulas import Float
from ggln.distributions.joint import Joint
from ggln.distributions.mixture import Index, Int, RandomState, check, generator
from ggln.distributions.univariate import GaussianMixture
from ggln.engine.student import distances, log_copula, scores


class CopulaMixture(Joint):
    """Joint distribution of D outputs: each has a Gaussian mixture of its own, and a t copula joins them.

    With the score z_d = T^-1(F_d(Y_d)) of each output, where T is the t distribution of so many degrees of
    freedom, z has the multivariate t distribution with these degrees and correlations. An infinite number of
    them makes it the Gaussian copula. ``cdf``, ``quantile``, ``interval``, ``crps``, ``mean`` and ``std`` are
    those of the D marginal distributions.

    Parameters
    ----------
    marginals : D mixtures of n rows
    correlations : (D, D) shared by all rows, or (n, D, D)
        A matrix that is not positive definite raises ``numpy.linalg.LinAlgError`` where it is used.
    freedoms : scalar or (n,)
        Degrees of freedom, positive.

    Examples
    --------
    >>> normal = GaussianMixture([1.0], means=[[0.0]], stds=[[1.0]])
    >>> dist = CopulaMixture([normal, normal], [[1.0, 0.8], [0.8, 1.0]])
    >>> dist.region_level([[1.0, 1.0]]), dist.region_level([[1.0, -1.0]])
    (array([0.426]), array([0.993]))
    """

    def __init__(
        self,
        marginals: Sequence[GaussianMixture],
        correlations: ArrayLike,
        freedoms: ArrayLike = math.inf,
    ) -> None:
        self.marginals = tuple(marginals)
        self.correlations = np.asarray(correlations, dtype=np.float64)
        self.freedoms = np.asarray(freedoms, dtype=np.float64)
        rows, square = {len(own) for own in self.marginals}, (self.outputs, self.outputs)
        check(len(rows) == 1, f"marginals must have as many rows each, got {sorted(rows)}")
        check(
            self.correlations.shape in {square, (len(self), *square)},
            f"correlations has shape {self.correlations.shape}, expected {square} or {(len(self), *square)}",
        )
        unit = np.einsum("...dd->...d", self.correlations)
        check(np.all(np.abs(unit - 1.0) <= 1e-9), "correlations must have ones on the diagonal")
        shapes = f"freedoms has shape {self.freedoms.shape}, expected () or {(len(self),)}"
        check(self.freedoms.shape in {(), (len(self),)}, shapes)
        check(np.all(self.freedoms > 0.0), "freedoms must be positive")

    def __len__(self) -> int:
        return len(self.marginals[0])

    def __repr__(self) -> str:
        return f"CopulaMixture(rows={len(self)}, outputs={self.outputs})"

    def __getitem__(self, index: Index) -> CopulaMixture:
        """Rows of the distribution; an integer gives a distribution of one row."""
        rows = [index] if isinstance(index, (int, np.integer)) else index
        correlations = self.correlations if self.correlations.ndim == 2 else self.correlations[rows]
        freedoms = self.freedoms if self.freedoms.ndim == 0 else self.freedoms[rows]
        return CopulaMixture([own[rows] for own in self.marginals], correlations, freedoms)

    @property
    def outputs(self) -> int:
        """D."""
        return len(self.marginals)

    def marginal(self, d: int) -> GaussianMixture:
        """Distribution of output d."""
        self._check_output(d)
        return self.marginals[d]

    def scaled(self, shift: ArrayLike, scale: ArrayLike) -> CopulaMixture:
        """Distribution of shift + scale * Y, shift and scale > 0 (D,) or scalar, in float64."""
        shift, scale = np.asarray(shift, dtype=np.float64), np.asarray(scale, dtype=np.float64)
        self._check_units(shift, scale)
        units = np.broadcast_to(shift, self.outputs), np.broadcast_to(scale, self.outputs)
        moved = [own.scaled(*unit) for own, *unit in zip(self.marginals, *units, strict=True)]
        return CopulaMixture(moved, self.correlations, self.freedoms)

    def _groups(self) -> Iterator[tuple[float, slice | NDArray[np.bool_]]]:
        """Rows by their degrees of freedom, which are few numbers."""
        if self.freedoms.ndim == 0:
            yield float(self.freedoms), slice(None)
            return
        for freedom in np.unique(self.freedoms):
            yield float(freedom), self.freedoms == freedom

    def _by_freedom(self, formula: Callable[..., Float], lower: Float, upper: Float) -> Float:
        """formula(scores, roots, freedom) for rows with levels (n, D) from both sides, (n,)."""
        found, roots = np.empty(len(self)), np.linalg.cholesky(self.correlations)
        for freedom, rows in self._groups():
            own = roots if roots.ndim == 2 else roots[rows]
            found[rows] = formula(scores(lower[rows], upper[rows], freedom), own, freedom)
        return found

    def log_prob(self, y: ArrayLike) -> Float:
        """Log of the joint density, the marginals' times the copula's: y (n, D) -> (n,)."""
        y = self._y(y)
        alone = sum(own.log_prob(y[:, d]) for d, own in enumerate(self.marginals))
        return alone + self._by_freedom(log_copula, self.cdf(y), self.sf(y))

    def region_level(self, y: ArrayLike) -> Float:
        """Probability of the smallest central region that holds y: y (n, D) -> (n,).

        Central regions are ellipsoids z' R^-1 z <= c of the scores: for one output, they are the central
        intervals. The 90 % region holds the targets whose level is at most 0.9; if the distribution is
        right, levels are uniform between 0 and 1.
        """
        y = self._y(y)

        def level(scored: Float, roots: Float, freedom: float) -> Float:
            return student.region(distances(scored, roots), self.outputs, freedom)

        return self._by_freedom(level, self.cdf(y), self.sf(y))

    @cached_property
    def cov(self) -> Float:
        """Covariances, right to a thousandth of the product of deviations, (n, D, D)."""
        quantiles = np.moveaxis(self.quantile(student.KNOT_LEVELS), 0, 2)  # (n, D, knots)
        found = np.empty((len(self), self.outputs, self.outputs))
        for freedom, rows in self._groups():
            own = self.correlations if self.correlations.ndim == 2 else self.correlations[rows]
            found[rows] = student.correlations(quantiles[rows], own, freedom)
        np.einsum("ndd->nd", found)[...] = 1.0
        found *= self.std[:, :, None] * self.std[:, None]
        return found

    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows, D)."""
        check(n >= 0, f"n must be at least 0, got {n}")
        rng, size = generator(random_state), (n, len(self))
        noise = rng.standard_normal((*size, self.outputs))
        normal = (np.linalg.cholesky(self.correlations) @ noise[..., None])[..., 0]
        uniform = rng.random(size)
        levels = np.empty_like(normal)
        for freedom, rows in self._groups():
            levels[:, rows] = student.sampled(normal[:, rows], uniform[:, rows], freedom)
        each: Int = np.tile(np.arange(len(self)), n)
        draws = [own.quantile_of(each, levels[..., d].ravel()) for d, own in enumerate(self.marginals)]
        return np.stack(draws, axis=-1).reshape(levels.shape)
