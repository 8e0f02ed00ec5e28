"""Predictive distributions: one Gaussian mixture per row of ``X``.

``n`` rows, ``M`` components, ``D`` outputs. Parameters keep their dtype; the arithmetic is float64, in blocks
of rows so that temporaries do not grow with ``n``. NaN in ``y`` gives NaN in the results it enters.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf, ndtr, ndtri

__all__ = ["GaussianMixture", "MultivariateGaussianMixture"]

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.intp]
Index: TypeAlias = "int | slice | list[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]"
Kernel: TypeAlias = Callable[..., NDArray[np.float64]]
RandomState: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"

_BLOCK = 1 << 18  # elements of a float64 temporary (2 MB)
_WEIGHT_TOL = 1e-4  # float32 weights do not sum to one exactly; they are renormalised in float64
_QUANTILE_TOL = 1e-10  # width of the final bracket, in standard deviations of the mixture
_SPREAD_TOL = 1e-6  # bound on the error of the integral of F (1 - F), in standard deviations
_NODES = 16  # nodes of that integral treated at once
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def _blocks(n: int, width: int) -> Iterator[slice]:
    """Slices that cover range(n), at least one, of about _BLOCK / width elements."""
    step = max(1, _BLOCK // width)
    return (slice(start, start + step) for start in range(0, max(n, 1), step))


def _floating(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _finite(array: NDArray[Any]) -> bool:
    return math.isfinite(array.min(initial=0.0)) and math.isfinite(array.max(initial=0.0))


def _check(ok: bool | np.bool_, message: str) -> None:
    if not ok:
        raise ValueError(message)


def _check_y(y: ArrayLike, shape: tuple[int, ...]) -> Float:
    array = np.asarray(y, dtype=np.float64)
    _check(array.shape == shape, f"y has shape {array.shape}, expected {shape}")
    return array


def _generator(random_state: RandomState) -> np.random.Generator | np.random.RandomState:
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return random_state
    return np.random.default_rng(random_state)


# Formulas for a block of rows: w, m, s (b, M); y or x (b, 1) -> (b,) unless said otherwise.


def _dot(w: Float, values: Float) -> Float:
    """sum_j w_j values_j."""
    result: Float = np.einsum("nm,nm->n", w, values)
    return result


def _range(w: Float, values: Float) -> Float:
    """Least and greatest of the values_j with w_j > 0, (b, 2)."""
    low = values.min(axis=1, where=w > 0.0, initial=np.inf)
    return np.stack([low, values.max(axis=1, where=w > 0.0, initial=-np.inf)], axis=1)


def _log_mix(w: Float, log_density: Float) -> Float:
    """log(sum_j w_j exp(log_density_j)), -inf where every term is zero."""
    terms = np.log(w) + log_density
    top = terms.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    result: Float = np.log(np.exp(terms - top).sum(axis=1)) + top[:, 0]
    return result


def _log_normal(z: Float, s: Float) -> Float:
    """Log density of N(0, s^2) at s z, elementwise."""
    return -0.5 * z * z - np.log(s) - _LOG_SQRT_2PI


def _cdf(w: Float, m: Float, s: Float, x: Float) -> Float:
    """F(x) = sum_j w_j Phi((x - m_j) / s_j)."""
    return np.minimum(_dot(w, ndtr((x - m) / s)), 1.0)


def _mean_abs(mean: Float, std: Float) -> Float:
    """E|Z| of Z ~ N(mean, std^2), elementwise."""
    z = mean / std
    result: Float = mean * erf(z / math.sqrt(2.0)) + math.sqrt(2.0 / math.pi) * std * np.exp(-0.5 * z * z)
    return result


def _spread_pairwise(w: Float, m: Float, s: Float) -> Float:
    """E|Y - Y'| / 2 = sum_j w_j^2 s_j / sqrt(pi) + sum_{j<k} w_j w_k E|N(m_k - m_j, s_k^2 + s_j^2)|."""
    total = _dot(w * w, s) / math.sqrt(math.pi)
    for j in range(m.shape[1] - 1):
        distance = _mean_abs(m[:, j + 1 :] - m[:, j, None], np.hypot(s[:, j + 1 :], s[:, j, None]))
        total += w[:, j] * _dot(w[:, j + 1 :], distance)
    return total


def _spread(w: Float, m: Float, s: Float) -> Float:
    """E|Y - Y'| / 2 = integral of F (1 - F) dx.

    The midpoint rule in u, x = centre + scale sinh(u), converges exponentially once its local step h_j at
    each component resolves that component. Its error is about exp(-pi^2 / (2 step)), for the change of
    variable, plus sum_j w_j h_j exp(-(pi s_j / h_j)^2). Rows that would need more nodes than components are
    summed pairwise, which is then cheaper.
    """
    scale = 1.0 / np.sum(w / s, axis=1, keepdims=True)
    centre = scale * np.sum(w / s * m, axis=1, keepdims=True)
    m = m - centre
    start = np.arcsinh(_range(w, m - 6.0 * s)[:, :1] / scale)  # the tails beyond hold less than 2e-10
    stop = np.arcsinh(_range(w, m + 6.0 * s)[:, 1:] / scale)
    spread, rows, nodes = np.empty(len(m)), np.arange(len(m)), 4 * _NODES
    while rows.size and nodes <= m.shape[1]:
        step = (stop - start)[rows] / nodes
        h = step * np.hypot(scale[rows], m[rows])  # dx / du = hypot(scale, x - centre)
        error = _dot(w[rows], h * np.exp(-((math.pi * s[rows] / h) ** 2)))
        fine = error + np.exp(-0.5 * math.pi**2 / step[:, 0]) <= _SPREAD_TOL
        done, rows, step = rows[fine], rows[~fine], step[fine]
        total = np.zeros(len(done))
        for first in range(0, nodes, _NODES):
            u = start[done] + step * np.arange(first + 0.5, first + _NODES)  # (b, _NODES)
            z = (scale[done] * np.sinh(u))[:, :, None] - m[done, None]
            f = np.einsum("nm,nkm->nk", w[done], ndtr(z / s[done, None]))
            total += np.sum(f * (1.0 - f) * np.cosh(u), axis=1)
        spread[done] = total * (step * scale[done])[:, 0]
        nodes *= 2
    spread[rows] = _spread_pairwise(w[rows], m[rows], s[rows])
    return spread


def _score(sign: float, w: Float, m: Float, s: Float, x: Float) -> Float:
    """Phi^-1(F(x)) and its derivative, (b, 2); sign = -1 goes by 1 - F, accurate in the upper tail."""
    z = (x - m) / s
    score = ndtri(np.minimum(_dot(w, ndtr(sign * z)), 1.0))
    return np.stack([sign * score, _dot(w, np.exp(-0.5 * z * z) / s) * np.exp(0.5 * score * score)], axis=1)


class _Mixture(ABC):
    """What mixtures of one and of several outputs share."""

    def __init__(self, weights: ArrayLike, means: NDArray[Any]) -> None:
        self.weights, self.means = _floating(weights), means
        shape, full = self.weights.shape, means.shape[:2]
        expected = f"weights has shape {shape}, expected {full[1:]} or {full}"
        _check(full[1] > 0 and shape in {full[1:], full}, expected)
        total = self.weights.sum(axis=-1, dtype=np.float64)
        _check(
            self.weights.min(initial=0.0) >= 0.0 and np.all(np.abs(total - 1.0) <= _WEIGHT_TOL),
            "weights must be non-negative and sum to one in each row",
        )
        _check(_finite(means), "means must be finite")

    def __len__(self) -> int:
        return len(self.means)

    def _select(self, index: Index) -> tuple[NDArray[Any], Any]:
        """Weights of the rows, and the index with an integer turned into a list of one."""
        rows = [index] if isinstance(index, (int, np.integer)) else index
        return self.weights if self.weights.ndim == 1 else self.weights[rows], rows

    def _normalised(self, rows: slice | Int) -> Float:
        """Weights of the rows in float64, (b, M), or (1, M) if all rows share them."""
        w = np.atleast_2d(self._select(rows)[0]).astype(np.float64)
        w /= w.sum(axis=1, keepdims=True)
        return w

    def _draw_components(self, n: int, rng: np.random.Generator | np.random.RandomState) -> tuple[Int, Int]:
        """Index of n random components of each row: (rows,), (n, rows)."""
        u = rng.random((n, len(self)))
        picks = np.empty(u.shape, dtype=np.intp)
        for i, w in enumerate(np.broadcast_to(self.weights, self.means.shape[:2])):
            cumulative = np.cumsum(w, dtype=np.float64)
            picks[:, i] = np.searchsorted(cumulative / cumulative[-1], u[:, i], side="right")
        return np.arange(len(self)), picks

    @abstractmethod
    def quantile(self, q: ArrayLike) -> Float:
        """Inverse of the distribution function."""

    def interval(self, level: float) -> tuple[Float, Float]:
        """Central interval: the quantiles at (1 - level) / 2 and (1 + level) / 2, 0 < level < 1."""
        inside = isinstance(level, Real) and 0.0 < level < 1.0
        _check(inside, f"level must be a number strictly between 0 and 1, got {level!r}; see also quantile")
        lower, upper = self.quantile([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return lower, upper


class GaussianMixture(_Mixture):
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
        means, self.stds = _floating(means), _floating(stds)
        shapes = f"means has shape {means.shape} and stds {self.stds.shape}, expected (n, M) twice"
        _check(means.ndim == 2 and self.stds.shape == means.shape, shapes)
        super().__init__(weights, means)
        _check(_finite(self.stds) and self.stds.min(initial=1.0) > 0.0, "stds must be positive and finite")

    def __repr__(self) -> str:
        return f"GaussianMixture(rows={len(self)}, components={self.means.shape[1]})"

    def __getitem__(self, index: Index) -> GaussianMixture:
        """Rows of the distribution; an integer gives a distribution of one row."""
        weights, rows = self._select(index)
        return GaussianMixture(weights, self.means[rows], self.stds[rows])

    def scaled(self, shift: float, scale: float) -> GaussianMixture:
        """Distribution of shift + scale * Y, scale > 0, in float64."""
        _check(scale > 0.0, f"scale must be positive, got {scale}")
        means, stds = self.means.astype(np.float64), self.stds.astype(np.float64)
        return GaussianMixture(self.weights, shift + scale * means, scale * stds)

    def _map(self, kernel: Kernel, *columns: Float, index: Int | None = None, nodes: int = 1) -> Float:
        """kernel(w, m, s, *columns) over blocks of the rows index (b,), all by default; columns are (b,)."""
        parts = []
        for block in _blocks(len(self) if index is None else len(index), nodes * self.means.shape[1]):
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
        return _check_y(np.full(len(self), y) if np.ndim(y) == 0 else y, (len(self),))

    @cached_property
    def mean(self) -> Float:
        """sum_j w_j m_j, (n,)."""
        return self._map(lambda w, m, _: _dot(w, m))

    @cached_property
    def var(self) -> Float:
        """sum_j w_j (s_j^2 + (m_j - mean)^2), (n,)."""
        return self._map(lambda w, m, s, mean: _dot(w, s**2 + (m - mean) ** 2), self.mean)

    @cached_property
    def std(self) -> Float:
        """Square root of ``var``, (n,)."""
        return np.sqrt(self.var)

    def log_prob(self, y: ArrayLike) -> Float:
        """log(sum_j w_j N(y; m_j, s_j^2)): y (n,) or scalar -> (n,)."""
        return self._map(lambda w, m, s, y: _log_mix(w, _log_normal((y - m) / s, s)), self._y(y))

    def cdf(self, y: ArrayLike) -> Float:
        """F(y) = sum_j w_j Phi((y - m_j) / s_j): y (n,) or scalar -> (n,)."""
        return self._map(_cdf, self._y(y))

    def quantile(self, q: ArrayLike) -> Float:
        """F^-1(q), 0 < q < 1: scalar q -> (n,), q (k,) -> (k, n)."""
        levels = np.asarray(q, dtype=np.float64)
        inside = levels.ndim <= 1 and np.all((levels > 0.0) & (levels < 1.0))
        _check(inside, f"q must be a scalar or 1-D with values strictly between 0 and 1, got {q!r}")
        x = [self._standard_quantile(level) for level in levels.flat]
        return self.mean + self.std * np.reshape(x, (*levels.shape, len(self)))

    def _standard_quantile(self, q: float) -> Float:
        """Quantile of (Y - mean) / std, (n,).

        Newton's method for Phi^-1(F(x)) = Phi^-1(q), linear in x if the mixture is Gaussian, in a bracket
        that starts as the range of the components' quantiles. Each step aims a little past the root so that
        the bracket closes from both sides; where steps do not halve, the bracket is halved.
        """
        sign = 1.0 if q <= 0.5 else -1.0
        goal = sign * float(ndtri(min(q, 1.0 - q)))
        bracket = self._map_standard(lambda w, m, s: _range(w, m + goal * s), np.arange(len(self)))
        lower, upper = bracket.T
        x: Float = np.clip(goal, lower, upper)
        last = upper - lower
        active = np.flatnonzero(last > _QUANTILE_TOL)
        while active.size:
            at, lo, hi = x[active], lower[active], upper[active]
            score, slope = self._map_standard(lambda *block: _score(sign, *block), active, at).T
            residual = score - goal
            lo, hi = np.where(residual <= 0.0, at, lo), np.where(residual >= 0.0, at, hi)
            middle = 0.5 * (lo + hi)
            with np.errstate(all="ignore"):  # F = 0 or 1 to rounding has no slope
                newton = at - residual / slope
            newton = np.where(np.isfinite(newton), newton, middle)
            tol = _QUANTILE_TOL * (1.0 + np.abs(at))
            aim = newton - np.copysign(tol / 4.0, residual)
            good = (lo < aim) & (aim < hi) & (np.abs(aim - at) <= 0.5 * last[active])
            unsolved = hi - lo > tol
            x[active] = np.where(unsolved, np.where(good, aim, middle), np.clip(newton, lo, hi))
            lower[active], upper[active], last[active] = lo, hi, np.abs(x[active] - at)
            active = active[unsolved]
        return x

    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows)."""
        rng = _generator(random_state)
        at = self._draw_components(n, rng)
        draws: Float = self.means[at] + self.stds[at] * rng.standard_normal((n, len(self)))
        return draws

    def crps(self, y: ArrayLike) -> Float:
        """E|Y - y| - E|Y - Y'| / 2 = integral of (F(x) - 1{y <= x})^2 dx: y (n,) or scalar -> (n,).

        Closed forms (Grimit et al. 2006), except that for many components E|Y - Y'| may be a quadrature with
        an error below 1e-5 standard deviations.
        """
        distance = self._map(lambda w, m, s, y: _dot(w, _mean_abs(y - m, s)), self._y(y))
        return distance - self.std * self._standard_spread

    @cached_property
    def _standard_spread(self) -> Float:
        """E|Y - Y'| / 2 of the standardised rows, (n,)."""
        return self._map_standard(_spread, np.arange(len(self)), nodes=_NODES)


class MultivariateGaussianMixture(_Mixture):
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
        means, self.covariances = _floating(means), _floating(covariances)
        _check(
            means.ndim == 3
            and means.shape[2] > 0
            and self.covariances.shape in {means.shape[:2], means.shape, means.shape + means.shape[2:]},
            f"means has shape {means.shape} and covariances {self.covariances.shape}, "
            "expected (n, M, D) and (n, M), (n, M, D) or (n, M, D, D)",
        )
        super().__init__(weights, means)
        _check(
            _finite(self.covariances) and self._variances.min(initial=1.0) > 0.0,
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
        outputs = self.means.shape[2]
        shapes = f"shift has shape {shift.shape} and scale {scale.shape}, expected ({outputs},)"
        _check({shift.shape, scale.shape} <= {(), (outputs,)}, shapes)
        _check(np.all(scale > 0.0), f"scale must be positive, got {scale}")
        scale = np.broadcast_to(scale, outputs)
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

    def _blocks(self) -> Iterator[slice]:
        n, components, outputs = self.means.shape
        return _blocks(n, components * outputs ** max(1, self.covariances.ndim - 2))

    def marginal(self, d: int) -> GaussianMixture:
        """Distribution of output d."""
        return GaussianMixture(self.weights, self.means[:, :, d], np.sqrt(self._variances[:, :, d]))

    def _marginals(self) -> Iterator[GaussianMixture]:
        return map(self.marginal, range(self.means.shape[2]))

    def _y(self, y: ArrayLike) -> Float:
        return _check_y(y, (len(self), self.means.shape[2]))

    @cached_property
    def mean(self) -> Float:
        """sum_j w_j m_j, (n, D)."""
        return np.stack([marginal.mean for marginal in self._marginals()], axis=-1)

    @cached_property
    def std(self) -> Float:
        """Standard deviations of the outputs, (n, D)."""
        return np.stack([marginal.std for marginal in self._marginals()], axis=-1)

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
                result[rows] = _log_mix(self._normalised(rows), _log_normal(z, scale).sum(axis=2))
        return result

    def cdf(self, y: ArrayLike) -> Float:
        """F_d(y_d) of the marginals: y (n, D) -> (n, D)."""
        pairs = zip(self._marginals(), self._y(y).T, strict=True)
        return np.stack([marginal.cdf(values) for marginal, values in pairs], axis=-1)

    def quantile(self, q: ArrayLike) -> Float:
        """F_d^-1(q) of the marginals, 0 < q < 1: scalar q -> (n, D), q (k,) -> (k, n, D)."""
        return np.stack([marginal.quantile(q) for marginal in self._marginals()], axis=-1)

    def crps(self, y: ArrayLike) -> Float:
        """CRPS of the marginals: y (n, D) -> (n, D)."""
        pairs = zip(self._marginals(), self._y(y).T, strict=True)
        return np.stack([marginal.crps(values) for marginal, values in pairs], axis=-1)

    def sample(self, n: int = 1, random_state: RandomState = None) -> Float:
        """Draws, (n, rows, D)."""
        rng = _generator(random_state)
        at = self._draw_components(n, rng)
        noise = rng.standard_normal((n, len(self), self.means.shape[2]))
        if self.covariances.ndim == 4:
            noise = (np.linalg.cholesky(self.covariances[at].astype(np.float64)) @ noise[..., None])[..., 0]
        else:
            noise = np.sqrt(self._variances[at]) * noise
        draws: Float = self.means[at] + noise
        return draws

    def energy_score(self, y: ArrayLike, n_samples: int = 1000, random_state: RandomState = None) -> Float:
        """Unbiased estimate of E||Y - y|| - E||Y - Y'|| / 2 from n_samples >= 2 draws: y (n, D) -> (n,)."""
        _check(n_samples >= 2, f"n_samples must be at least 2, got {n_samples}")
        y, rng = self._y(y), _generator(random_state)
        score = np.empty(len(self))
        for rows in _blocks(len(self), n_samples * self.means.shape[2]):
            draws = self[rows].sample(n_samples, rng)
            neighbours = draws - np.roll(draws, 1, axis=0)  # independent
            distance = np.linalg.norm(draws - y[rows], axis=2) - 0.5 * np.linalg.norm(neighbours, axis=2)
            score[rows] = distance.mean(axis=0)
        return score
