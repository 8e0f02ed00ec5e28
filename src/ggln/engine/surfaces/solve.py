"""Solving an arm's regressions on all its rows: weights, noise, and how wide priors are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import gammaln

from ggln.engine import lengths
from ggln.engine.newton.bump_kernels import covariance
from ggln.engine.surfaces import constants
from ggln.engine.surfaces.kernels import Surface, inputs_of
from ggln.engine.surfaces.rows import Rows

FloatArray = NDArray[np.float64]
KINDS = ("line", "products", "bumps")
WIDTH_PRIOR = -0.5 * (np.log(constants.WIDTHS) / constants.WIDTH_SPREAD) ** 2
"""Log density in advance of the widths that are tried."""


class Units(NamedTuple):
    """Shift and scale, of features [2, d] and of rewards [2]."""

    features: FloatArray
    paid: FloatArray


def inputs_count(kind: str, features: int, bumps: int) -> int:
    """Return how many inputs a regression has."""
    more = features * (features + 1) // 2 if kind == "products" else bumps if kind == "bumps" else 0
    return 1 + features + more


def kinds_for(features: int) -> tuple[str, ...]:
    """Return the kinds of regressions that arms have."""
    few = inputs_count("products", features, 0) <= constants.MOST_INPUTS
    return KINDS if few else ("line", "bumps")


def blank(kind: str, units: Units, widths: FloatArray, scales: FloatArray, centres: FloatArray) -> Surface:
    """Return a regression that knows nothing but its prior."""
    features, bumps = units.features.shape[1], centres.shape[1]
    size = inputs_count(kind, features, bumps)
    whitening = np.zeros((bumps, bumps))
    if bumps:
        shapes = covariance(centres)
        shapes.flat[:: bumps + 1] += constants.JITTER
        factor, _ = lapack.dpotrf(shapes, lower=True, clean=True)
        whitening = np.ascontiguousarray(np.tril(lapack.dtrtri(factor, lower=True)[0]))
    return Surface(
        units.features.copy(),
        units.paid.copy(),
        widths.copy(),
        np.array([kind == "products"]),
        scales.copy(),
        np.ascontiguousarray(centres),
        whitening,
        np.zeros(size),
        np.eye(size),
        np.array([constants.FIRST_SHAPE, constants.FIRST_SHAPE * noise_of(widths)]),
    )


def noise_of(widths: FloatArray) -> float:
    """Return the noise's variance in advance: with what the regression explains, it makes up all of 1."""
    return float(1.0 / (1.0 + np.sum(widths[1:] ** 2)))


def evidence(inputs: FloatArray, rewards: FloatArray, weights: FloatArray, noise: float) -> float:
    """Return the log density of rewards [n] under the prior, the weights' and the noise's, without 2 pi.

    inputs: [n, P], of weights N(0, noise); weights: [n], factors on the precision of rows. The smaller of two
    matrices is factorised: I + X'WX, or I + W^1/2 XX' W^1/2.
    """
    root = np.sqrt(weights)
    lines, goals = inputs * root[:, None], rewards * root
    dual = len(goals) < inputs.shape[1]
    matrix = lines @ lines.T if dual else lines.T @ lines
    matrix.flat[:: len(matrix) + 1] += 1.0
    factor, _ = lapack.dpotrf(matrix, lower=True, clean=True)
    side = goals if dual else lines.T @ goals
    solved, _ = lapack.dtrtrs(factor, side, lower=True)
    explained = float(solved @ solved)
    rest = explained if dual else float(goals @ goals) - explained
    shape, scale = constants.FIRST_SHAPE, constants.FIRST_SHAPE * noise
    after = shape + 0.5 * float(weights.sum())
    ends = gammaln(after) - gammaln(shape) + shape * np.log(scale)
    return float(ends - after * np.log(scale + 0.5 * max(rest, 0.0)) - np.log(np.diag(factor)).sum())


def level_of(surface: Surface) -> float:
    """Return what a regression expects of the mean context, in the user's units."""
    shift, scale = surface.paid
    level = surface.mean[0] * surface.widths[0] / np.sqrt(surface.units.shape[1])
    return float(shift + scale * level)


def inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a covariance or of a precision."""
    factor, _ = lapack.dpotrf(matrix, lower=True, clean=True)
    lower, _ = lapack.dpotri(factor, lower=True)
    found: FloatArray = np.tril(lower) + np.tril(lower, -1).T
    return found


def condition(surface: Surface, rows: Rows) -> None:
    """Give a regression that knows nothing but its prior the posterior of an arm's rows # OUT."""
    inputs, weights = inputs_of(surface, rows.contexts), rows.weights
    lines = inputs * weights[:, None]
    errors = (rows.rewards - surface.paid[0]) / surface.paid[1] - inputs @ surface.mean
    surface.spread[:] = inverse(inverse(surface.spread) + lines.T @ inputs)
    change = surface.spread @ (lines.T @ errors)
    surface.mean[:] += change
    rest = float(weights @ errors**2) - float(change @ (lines.T @ errors))
    surface.noise[0] += 0.5 * weights.sum()
    surface.noise[1] += 0.5 * max(rest, 0.0)


def widths_tried(kind: str, line: float, level: float) -> list[FloatArray]:
    """Return the widths of priors that are tried for a kind; those of lines are known for other kinds.

    level: width of levels, over that of lines.
    """
    if kind == "line":
        return [np.array([level * width, width, 0.0]) for width in constants.WIDTHS]
    return [np.array([np.hypot(level * line, width), line, width]) for width in constants.WIDTHS]


def weigh(surface: Surface, tried: list[FloatArray], rows: Rows, goals: FloatArray) -> FloatArray:
    """Return the evidence of each of the widths tried, [W], for an arm's rows with standardised rewards.

    surface: with widths of 1.
    """
    inputs, features = inputs_of(surface, rows.contexts), rows.contexts.shape[1]
    found = np.empty(len(tried))
    for number, widths in enumerate(tried):
        scales = np.repeat(widths, [1, features, inputs.shape[1] - 1 - features])
        found[number] = evidence(inputs * scales, goals, rows.weights, noise_of(widths))
    return found


def find_bumps(
    rows: FloatArray, goals: FloatArray, units: FloatArray, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return length scales [d] and centres [d, M], in their units, of bumps at some of an arm's contexts."""
    order = random.permutation(len(goals))
    points = np.clip((rows - units[0]) / units[1], -constants.REACH, constants.REACH)
    few = order[: constants.SEARCH_ROWS]
    scales, _ = lengths.search(points[few], (goals - goals.mean())[few, None], constants.SEARCH_STEPS)
    return scales, np.ascontiguousarray((points[order[: constants.BUMPS]] / scales).T)
