"""Beyond the rows that were learnt: how far off predictions are there, and how much of them is supported.

Where a feature leaves its range, nobody has seen how the target goes on. How far off a prediction is likely
to be there is measured by extrapolating inside: the outer rows of a feature are left out, on one side and
then on the other, a small regression predicts them from the rest, and its errors grow with the distance u
beyond the rest, in lengths of the feature's range. For each feature j the likeliest law of the form

  v_j(u) = a_j^2 u^(2 p_j)

is added to the variance of errors inside. The regression is the one on bumps (`bumps`) for a sample of rows,
as a Gaussian process: with G = (K + lambda I)^-1 and alpha = G (y - offset), the errors of rows S, had all
of S been left out, are G_SS^-1 alpha_S.

A row x outside has the further variance v(x) = M^2 sum_j v_j(u_j), and its support is s^2 / (s^2 + v(x)),
with s^2 the typical variance inside. Inside the range of all features v is 0, and nothing changes.

A value that is missing where values never were missing is outside as well. Its further variance g_j is the
mean square of what the regression's predictions change by when feature j is at its mean. Rows that lacked it
have taught networks what to do without: after m of them, g_j (1 - m / K) remains.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import lengths
from ggln.engine.constants import OUTLIER
from ggln.engine.jit import exact_kernel
from ggln.engine.newton import constants
from ggln.engine.newton.bumps import Bumps, choose_features, filled
from ggln.engine.threads import one_blas_thread

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]
"""Real, or complex where derivatives are carried along."""


class Edges(NamedTuple):
    """Where the rows that were learnt end, feature by feature, and what is known of errors beyond."""

    features: Any  # [f]  those looked at
    low: Any  # [f]  in the user's units
    high: Any  # [f]
    furthest: Any  # [f]  distance from which on errors grow no further
    factors: Any  # [f]  variance there, standardised
    powers: Any  # [f]  2 p
    needed: Any  # [f]  g, the variance that goes with a feature
    gaps: Any  # [f]  rows that lacked it, by weight
    typical: Any  # [1]  variance inside


def no_edges() -> Edges:
    """Return what is known of the world before there are rows: nothing is outside."""
    low, high, furthest, factors, powers, needed, gaps = np.empty((7, 0))
    return Edges(np.empty(0, np.int64), low, high, furthest, factors, powers, needed, gaps, np.ones(1))


# A row's figures ---------------------------------------------------------------------------------------


@exact_kernel
def follow_edges(edges: Any, rows: Any, weights: Any, extra: Any) -> Any:
    """Write the further variance of rows [n, d] into extra # OUT [n]; return whether there is any.

    weights: [n], of rows that are learnt one after the other, and move the edges # OUT; or none.
    """
    low, high = edges.low, edges.high
    learning, found = weights.size > 0, False
    for t in range(rows.shape[0]):
        total = 0.0
        for k in range(low.size):
            value = rows[t, edges.features[k]]
            distance = max(value - high[k], low[k] - value)
            if distance > 0.0:
                near = min(distance, edges.furthest[k]) / edges.furthest[k]
                total += edges.factors[k] * near ** edges.powers[k]
                if learning and weights[t] > 0.0:
                    low[k], high[k] = min(low[k], value), max(high[k], value)
            elif value != value:
                total += edges.needed[k] * max(1.0 - edges.gaps[k] / constants.GAP_ROWS, 0.0)
                if learning:
                    edges.gaps[k] += weights[t]
        extra[t] = total
        found = found or total > 0.0
    return found


def extra_variance(edges: Edges, rows: Numbers) -> Numbers:
    """Return the further variance [..] of rows [.., d]: the twin of `follow_edges`, for complex rows too."""
    values = rows[..., edges.features]
    side = np.where(values.real > edges.high, values - edges.high, edges.low - values)
    outside = side.real > 0.0
    near = outside & (side.real < edges.furthest)
    distance = np.where(near, side, np.where(outside, edges.furthest, 1.0))
    parts = np.where(outside, edges.factors * (distance / edges.furthest) ** edges.powers, 0.0)
    unknown = edges.needed * np.maximum(1.0 - edges.gaps / constants.GAP_ROWS, 0.0)
    found: Numbers = (parts + np.where(np.isnan(values), unknown, 0.0)).sum(axis=-1)
    return found


def widened(planes: Numbers, variances: Numbers, extra: Numbers) -> Numbers:
    """Return natural parameters [.., Q] of Gaussians with a further variance [..]; their means stay."""
    found: Numbers = planes / (1.0 + extra / variances)[..., None]
    return found


# Laws --------------------------------------------------------------------------------------------------


def ranges_of(rows: FloatArray) -> FloatArray:
    """Return the least and the largest value of each column of rows [n, d], [2, d]; inf, -inf without any."""
    there = ~np.isnan(rows)
    low = np.min(rows, axis=0, where=there, initial=np.inf)
    return np.stack([low, np.max(rows, axis=0, where=there, initial=-np.inf)])


def find_edges(
    X: FloatArray,  # [n, d]  in the user's units
    side: FloatArray,  # [n, d]  standardised
    Y: FloatArray,  # [n, D]
    weights: FloatArray,  # [n]
    bumps: Bumps | None,
    random: np.random.Generator,
    seen: FloatArray | None = None,  # [2, d]  least and largest values that came before these rows
) -> Edges:
    """Return the ranges of the rows that count, and how errors grow beyond them."""
    counted = np.flatnonzero(weights > 0.0)
    if counted.size < constants.FEWEST_SHELL_ROWS:
        return no_edges()
    sample = np.sort(random.permutation(counted)[: constants.SHELL_ROWS])
    chosen = features_of(side[sample], Y[sample], bumps)
    values = X[np.ix_(counted, chosen)]
    ranges, gaps = ranges_of(values), weights[counted] @ np.isnan(values)
    if seen is not None:
        ranges = np.stack([np.fmin(ranges[0], seen[0, chosen]), np.fmax(ranges[1], seen[1, chosen])])
    return edges_of(X[sample], side[sample], Y[sample], bumps, chosen, ranges, gaps)


def features_of(side: FloatArray, Y: FloatArray, bumps: Bumps | None) -> NDArray[np.int64]:
    """Return the features that are looked at: those of the regression, or those that a sample chooses."""
    return choose_features(filled(side), Y) if bumps is None else bumps.chosen


def edges_of(
    X: FloatArray,  # [k, d]  a sample of rows in the user's units
    side: FloatArray,  # [k, d]  standardised
    Y: FloatArray,  # [k, D]
    bumps: Bumps | None,
    chosen: NDArray[np.int64],  # [f]  features that are looked at
    ranges: FloatArray,  # [2, f]  of all rows
    gaps: FloatArray,  # [f]  rows that lacked each feature, by weight
) -> Edges:
    """Return how errors grow beyond the ranges of rows."""
    low, high = ranges
    moving = high > low
    if not moving.any():
        return no_edges()
    chosen, low, high, gaps = chosen[moving], low[moving], high[moving], gaps[moving]
    size = high - low
    with one_blas_thread():
        levels, powers, needed = find_laws(side[:, chosen], X[:, chosen] / size, Y, bumps, moving)
    factors = constants.SHELL_MARGIN**2 * levels * constants.FURTHEST**powers
    return Edges(chosen, low, high, constants.FURTHEST * size, factors, powers, needed, gaps, np.ones(1))


def find_laws(
    side: FloatArray,  # [n, f]  standardised
    X: FloatArray,  # [n, f]  in lengths of the features' ranges
    Y: FloatArray,  # [n, D]
    bumps: Bumps | None,
    moving: NDArray[np.bool_],  # which of the regression's features these are
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return levels a^2 and powers 2 p [f] that are likeliest for rows of shells left out, and g [f]."""
    table = np.clip(filled(side), -OUTLIER, OUTLIER)  # a wild row would tilt the plane alone
    if bumps is None:
        targets = Y - Y.mean(axis=0)
        scales, ridge = lengths.search(table, targets, constants.SHELL_STEPS)
    else:
        learnt = bumps.learnt
        targets, scales, ridge = Y - learnt.offset, learnt.lengths[: moving.size][moving], learnt.ridge[0]
    covariance = _covariance(table, scales)
    whole = lengths.with_noise(covariance, max(ridge, constants.SHELL_RIDGE))
    inverse = np.linalg.inv(whole).astype(np.float64)
    solved = inverse @ targets  # [n, D]
    alone = float(np.mean((solved / np.diag(inverse)[:, None]) ** 2))  # each row left out by itself
    found = np.empty((2, X.shape[1]))
    for j in range(X.shape[1]):
        found[:, j] = _likeliest(*shell_errors(X[:, j], inverse, solved), max(alone, 1e-12))
    needed = np.array([_needed(table, scales, solved, j) for j in range(X.shape[1])])
    return found[0], found[1], needed


def _covariance(table: FloatArray, scales: FloatArray) -> FloatArray:
    """Return the covariance of the regression's values at rows [n, f]: bumps, and a plane."""
    found: FloatArray = lengths.shapes_of(table / scales)[0] + (1.0 + table @ table.T / table.shape[1])
    return found


def _needed(table: FloatArray, scales: FloatArray, solved: FloatArray, feature: int) -> float:
    """Return the mean square of what predictions change by when a feature is at its mean."""
    rows, without = len(table), table.copy()
    without[:, feature] = 0.0
    both = _covariance(np.concatenate([table, without]), scales)[:, :rows]
    return float(np.mean(((both[:rows] - both[rows:]) @ solved) ** 2))


def shell_errors(
    values: FloatArray, inverse: FloatArray, solved: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return distances [k] of left-out outer rows from the rest, and their squared errors [k].

    values: [n], of one feature, in lengths of its range; inverse: G; solved: alpha, [n, D].
    """
    distances, squares = [np.empty(0)], [np.empty(0)]
    present = values[~np.isnan(values)]
    for side in (values, -values):
        for share in constants.SHELL_CUTS:
            cut = np.quantile(side[~np.isnan(side)], share) if present.size else 0.0
            shell = np.flatnonzero(side > cut)
            rest = side[side <= cut]
            if min(shell.size, rest.size) < constants.LEAST_SHELL:
                continue
            errors = np.linalg.solve(inverse[np.ix_(shell, shell)], solved[shell])
            distances.append(side[shell] - rest.max())
            squares.append(np.mean(errors**2, axis=1))
    return np.concatenate(distances), np.concatenate(squares)


def _likeliest(distances: FloatArray, squares: FloatArray, alone: float) -> tuple[float, float]:
    """Return the level a^2 and the power 2 p under which squared errors [k] at distances [k] are likeliest.

    alone: the variance of errors inside. A whole range away, errors have at least this variance more, even if
    those of all shells were as small as inside. Shells that are a small part of the range tell nothing of it.
    """
    levels = alone * constants.SHELL_LEVELS
    best, found = np.inf, (alone, constants.SHELL_POWERS[0])
    for power in constants.SHELL_POWERS if distances.max(initial=0.0) >= constants.SHELL_REACH else ():
        variances = alone + levels[:, None] * distances**power  # [levels, k]
        losses = np.mean(np.log(variances) + squares / variances, axis=1)
        place = int(np.argmin(losses))
        if losses[place] < best:
            best, found = float(losses[place]), (float(levels[place]), power)
    return found
