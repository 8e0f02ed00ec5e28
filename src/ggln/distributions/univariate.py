"""The predictive distribution of one output."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ggln.distributions import formulas
from ggln.distributions.formulas import Float
from ggln.distributions.mixture import (
    Index,
    Int,
    Mixture,
    RandomState,
    blocks,
    check,
    check_y,
    finite,
    floating,
    generator,
)

Kernel: TypeAlias = Callable[..., Float]

SCORE_TOL = 1e-10  # of Phi^-1(F(x)), before a last step of Newton's method


class GaussianMixture(Mixture):
    """Distribution of one output: row i has the density sum_j w_ij N(y; m_ij, s_ij^2).

    Parameters
    ----------
    weights : (M,) shared by all rows, or (n, M)
        Non-negative, summing to one in each row.
    means : (n, M)
    stds : (n, M)
        Positive.

    Examples
    --------
    >>> dist = GaussianMixture([0.75, 0.25], means=[[0.0, 4.0]], stds=[[1.0, 0.5]])
    >>> dist.mean, dist.quantile(0.5), dist.log_prob(4.0)
    (array([1.]), array([0.430]), array([-1.611]))
    """

    def __init__(self, weights: ArrayLike, means: ArrayLike, stds: ArrayLike) -> None:
        means, self.stds = floating(means), floating(stds)
        shapes = f"means has shape {means.shape} and stds {self.stds.shape}, expected (n, M) twice"
        check(means.ndim == 2 and self.stds.shape == means.shape, shapes)
        super().__init__(weights, means)
        check(finite(self.stds) and self.stds.min(initial=1.0) > 0.0, "stds must be positive and finite")

    def __repr__(self) -> str:
        return f"GaussianMixture(rows={len(self)}, components={self.means.shape[1]})"

    def __getitem__(self, index: Index) -> GaussianMixture:
        """Rows of the distribution; an integer gives a distribution of one row."""
        weights, rows = self._select(index)
        return GaussianMixture(weights, self.means[rows], self.stds[rows])

    def scaled(self, shift: float, scale: float) -> GaussianMixture:
        """Distribution of shift + scale * Y, scale > 0, in float64."""
        check(scale > 0.0, f"scale must be positive, got {scale}")
        means, stds = self.means.astype(np.float64), self.stds.astype(np.float64)
        return GaussianMixture(self.weights, shift + scale * means, scale * stds)

    def _map(self, kernel: Kernel, *columns: Float, index: Int | None = None, nodes: int = 1) -> Float:
        """kernel(w, m, s, *columns) over blocks of the rows index (b,), all by default; columns are (b,)."""
        parts = []
        for block in blocks(len(self) if index is None else len(index), nodes * self.means.shape[1]):
            rows = block if index is None else index[block]
            m, s = self.means[rows].astype(np.float64), self.stds[rows].astype(np.float64)
            w = np.broadcast_to(self._normalised(rows), m.shape)
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # log 0, far tails
                parts.append(kernel(w, m, s, *(column[block, None] for column in columns)))
        return np.concatenate(parts)

    def _map_standard(self, kernel: Kernel, index: Int, *columns: Float, nodes: int = 1) -> Float:
        """Like _map for (Y - mean) / std, which knows neither the offset nor the unit of Y."""

        def standard(w: Float, m: Float, s: Float, mean: Float, std: Float, *rest: Float) -> Float:
            return kernel(w, (m - mean) / std, s / std, *rest)

        return self._map(standard, self.mean[index], self.std[index], *columns, index=index, nodes=nodes)

    def _y(self, y: ArrayLike) -> Float:
        return check_y(np.full(len(self), y) if np.ndim(y) == 0 else y, (len(self),))

    @cached_property
    def mean(self) -> Float:
        """sum_j w_j m_j, (n,)."""
        return self._map(formulas.mean)

    @cached_property
    def var(self) -> Float:
        """sum_j w_j (s_j^2 + (m_j - mean)^2), (n,)."""
        return self._map(lambda w, m, s, mean: formulas.dot(w, s**2 + (m - mean) ** 2), self.mean)

    @cached_property
    def std(self) -> Float:
        """Square root of ``var``, (n,)."""
        return np.sqrt(self.var)

    def log_prob(self, y: ArrayLike) -> Float:
        """log(sum_j w_j N(y; m_j, s_j^2)): y (n,) or scalar -> (n,)."""
        return self._map(formulas.log_density, self._y(y))

    def cdf(self, y: ArrayLike) -> Float:
        """F(y) = sum_j w_j Phi((y - m_j) / s_j): y (n,) or scalar -> (n,)."""
        return self._map(formulas.cdf, self._y(y))

    def sf(self, y: ArrayLike) -> Float:
        """1 - F(y), accurate where it is next to nothing: y (n,) or scalar -> (n,)."""
        return self._map(formulas.sf, self._y(y))

    def log_cdf(self, y: ArrayLike) -> Float:
        """Logarithm of F(y), accurate in both tails: y (n,) or scalar -> (n,)."""
        return self._map(formulas.log_cdf, self._y(y))

    def log_sf(self, y: ArrayLike) -> Float:
        """log(1 - F(y)), accurate in both tails: y (n,) or scalar -> (n,)."""
        return self._map(formulas.log_sf, self._y(y))

    def quantile(self, q: ArrayLike) -> Float:
        """F^-1(q), 0 < q < 1: scalar q -> (n,), q (k,) -> (k, n)."""
        levels = np.asarray(q, dtype=np.float64)
        inside = levels.ndim <= 1 and np.all((levels > 0.0) & (levels < 1.0))
        check(inside, f"q must be a scalar or 1-D with values strictly between 0 and 1, got {q!r}")
        everyone = np.arange(len(self))
        found = [self.quantile_of(everyone, np.full(len(self), level)) for level in levels.flat]
        return np.reshape(found, (*levels.shape, len(self)))

    def quantile_of(self, rows: Int, q: Float) -> Float:
        """Quantiles of rows (k,), which may repeat, at a level 0 < q < 1 each, (k,) -> (k,).

        Newton's method for Phi^-1(F(x)) = Phi^-1(q), linear in x if the mixture is Gaussian, in a bracket
        that starts as the range of the components' quantiles. Where steps do not halve, the bracket is
        halved. All is in the units of Y: counted from the mean, a component that is narrow and far off would
        lie between two neighbouring numbers. Each step aims a number past the root, so that the bracket
        closes from both sides where numbers are too coarse for the tolerance.
        """
        sign = np.where(q <= 0.5, 1.0, -1.0)
        goal = sign * ndtri(np.minimum(q, 1.0 - q))
        lower, upper = self._map(lambda w, m, s, goal: formulas.spanned(w, m + goal * s), goal, index=rows).T
        x: Float = np.clip(self.mean[rows] + goal * self.std[rows], lower, upper)
        active = np.flatnonzero(lower < upper)
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)  # they are rounded
        last = upper - lower
        while active.size:
            at, lo, hi = x[active], lower[active], upper[active]
            score, slope = self._map(formulas.score, at, sign[active], index=rows[active]).T
            residual = score - goal[active]
            lo, hi = np.where(residual <= 0.0, at, lo), np.where(residual >= 0.0, at, hi)
            middle = lo + 0.5 * (hi - lo)
            with np.errstate(all="ignore"):  # F = 0 or 1 to rounding has no slope
                newton = at - residual / slope
            newton = np.where(np.isfinite(newton), newton, middle)
            aim = newton - np.copysign(np.spacing(np.abs(newton)), residual)
            good = (lo < aim) & (aim < hi) & (np.abs(aim - at) <= 0.5 * last[active])
            coarse = hi - lo <= 4.0 * np.spacing(np.maximum(np.abs(lo), np.abs(hi)))
            unsolved = ~(coarse | (np.abs(residual) <= SCORE_TOL))
            x[active] = np.where(unsolved, np.where(good, aim, middle), np.clip(newton, lo, hi))
            lower[active], upper[active], last[active] = lo, hi, np.abs(x[active] - at)
            active = active[unsolved]
        return x

    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows)."""
        rng = generator(random_state)
        at = self._draw_components(n, rng)
        draws: Float = self.means[at] + self.stds[at] * rng.standard_normal((n, len(self)))
        return draws

    def crps(self, y: ArrayLike) -> Float:
        """E|Y - y| - E|Y - Y'| / 2 = integral of (F(x) - 1{y <= x})^2 dx: y (n,) or scalar -> (n,).

        Closed forms (Grimit et al. 2006), except that for many components E|Y - Y'| may be a quadrature with
        an error below 1e-5 standard deviations.
        """
        distance = self._map(lambda w, m, s, y: formulas.dot(w, formulas.mean_abs(y - m, s)), self._y(y))
        return distance - self.std * self._standard_spread

    @cached_property
    def _standard_spread(self) -> Float:
        """E|Y - Y'| / 2 of the standardised rows, (n,)."""
        return self._map_standard(formulas.spread, np.arange(len(self)), nodes=formulas.NODES)
