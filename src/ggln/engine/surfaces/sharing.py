"""What arms have in common: how far their planes and their levels are alike, by the evidence of all.

Slopes of arm a are c + d_a with c common to all arms. With W the width of lines, s_a^2 the noise of arm a and
s^2 the mean of these, c ~ N(0, K), K = rho W^2 s^2, and d_a ~ N(0, T_a), T_a = (1 - rho) W^2 s_a^2. Centred
rows of arm a, with precision G of its slopes and pull u, tell of c

  Lambda_a = G (I + T_a G)^-1,   eta_a = (I + T_a G)^-1 u.

Arms other than a then say that c ~ N(V h, V), V = (I / K + sum Lambda_b)^-1, h = sum eta_b. This is done for
several rho, which are weighted by the evidence of all rows. Mean and covariance of the mixture are what arm a
expects of its line before its own rows. So arms that are alike learn from each other's rewards, and an arm
that was never played begins with what the others taught. Where arms have nothing in common, nothing changes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.surfaces import constants, solve
from ggln.engine.surfaces.kernels import Surface, inputs_of
from ggln.engine.surfaces.rows import Rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Common(NamedTuple):
    """What A arms expect of their lines before their own rows."""

    means: FloatArray  # [A, d]  of the weights of lines
    spreads: FloatArray  # [A, d, d]  their covariance over the noise's variance
    level: FloatArray  # [1]  deviation of levels, over that of lines

    @classmethod
    def none(cls, arms: int, features: int) -> "Common":
        """Return what arms expect that have nothing in common."""
        return cls(np.zeros((arms, features)), np.tile(np.eye(features), (arms, 1, 1)), np.ones(1))

    def prior(self, arm: int) -> solve.Prior:
        """Return what an arm expects."""
        return solve.Prior(self.means[arm], self.spreads[arm])

    def joined(self, other: "Common") -> "Common":
        """Return what these arms expect, and some others."""
        means, spreads = (np.concatenate(pair) for pair in zip(self[:2], other[:2], strict=True))
        return Common(means, spreads, self.level)


OF_ARMS = ("common.means", "common.spreads")
"""Arrays with a line for each arm."""


class Slopes(NamedTuple):
    """What the rows of B arms say of slopes, along the eigenvectors of their precisions."""

    values: FloatArray  # [B, d]
    vectors: FloatArray  # [B, d, d]
    pulls: FloatArray  # [B, d]
    noises: FloatArray  # [B]


def share(
    units: solve.Units, width: float, lines: list[Surface], rows: list[Rows], arms: IntArray, count: int
) -> Common:
    """Return what arms expect, so many, of which some [B] have rows and lines that were solved on them."""
    features = units.features.shape[1]
    common = Common.none(count, features)
    if not arms.size:
        return common
    unit = solve.blank("line", units, np.ones(3), np.ones(features), np.empty((features, 0)))
    common = common._replace(level=np.array([level_of(unit, lines, width)]))
    if not 1 < features <= constants.MOST_SHARED:
        return common
    told = [slopes_of(unit, *pair) for pair in zip(lines, rows, strict=True)]
    means, spreads = mixed(Slopes(*(np.array(part) for part in zip(*told, strict=True))), arms, count, width)
    return common._replace(means=means, spreads=spreads)


def noise_of(line: Surface, unit: Surface) -> float:
    """Return the variance of the noise around a line, in the units of another."""
    return float(line.noise[1] / line.noise[0] * (line.paid[1] / unit.paid[1]) ** 2)


def slopes_of(unit: Surface, line: Surface, rows: Rows) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return what an arm's rows say of slopes, as in `Slopes`; unit: a line with widths of 1."""
    noise = noise_of(line, unit)
    weights = rows.weights / noise
    shares = weights / weights.sum()
    inputs = inputs_of(unit, rows.contexts)[:, 1:]
    goals = (rows.rewards - unit.paid[0]) / unit.paid[1]
    inputs, goals = inputs - shares @ inputs, goals - shares @ goals
    weighted = inputs * weights[:, None]
    values, vectors = np.linalg.eigh(weighted.T @ inputs)
    return np.maximum(values, 0.0), vectors, vectors.T @ (weighted.T @ goals), noise


def mixed(told: Slopes, arms: IntArray, count: int, width: float) -> tuple[FloatArray, FloatArray]:
    """Return mean [A, d] and relative covariance [A, d, d] of the weights of lines, over all rho."""
    noises = np.full(count, told.noises.mean())
    noises[arms] = told.noises
    parts = [known_of(rho, told, arms, noises, width) for rho in constants.SHARED]
    scores, means, spreads = (np.array(part) for part in zip(*parts, strict=True))
    shares = constants.SHARED_FIRST * np.exp(scores - scores.max())
    shares /= shares.sum()
    mean = np.einsum("r,rai->ai", shares, means)
    away = (means - mean) / np.sqrt(noises)[:, None]
    spread = np.einsum("r,raij->aij", shares, spreads) + np.einsum("r,rai,raj->aij", shares, away, away)
    return mean, 0.5 * (spread + spread.transpose(0, 2, 1))


def known_of(
    rho: float, told: Slopes, arms: IntArray, noises: FloatArray, width: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return the log evidence of a rho, and the mean [A, d] and covariance [A, d, d] that it gives.

    noises: [A]. Without the part of the evidence that is the same for all rho.
    """
    shape, features = (noises.size, told.values.shape[1]), told.values.shape[1]
    alone, common = (1.0 - rho) * width**2 * told.noises[:, None], rho * width**2 * told.noises.mean()
    shrunk = 1.0 / (1.0 + alone * told.values)
    precisions, pulls = np.zeros((*shape, features)), np.zeros(shape)
    precisions[arms] = (told.vectors * (told.values * shrunk)[:, None]) @ told.vectors.transpose(0, 2, 1)
    pulls[arms] = np.einsum("bij,bj->bi", told.vectors, told.pulls * shrunk)
    matrix, pull = np.eye(features) + common * precisions.sum(axis=0), pulls.sum(axis=0)
    score = np.sum(alone * told.pulls**2 * shrunk + np.log(shrunk)) - np.linalg.slogdet(matrix)[1]
    score += common * pull @ np.linalg.solve(matrix, pull)
    known = common * np.linalg.inv(matrix - common * precisions)
    mean = np.einsum("aij,aj->ai", known, pull - pulls) / width
    spread = known / (width**2 * noises)[:, None, None] + (1.0 - rho) * np.eye(features)
    return 0.5 * float(score), mean, spread


def level_of(unit: Surface, lines: list[Surface], width: float) -> float:
    """Return the deviation of arms' levels over the width of lines: the root of its mean square.

    A line's posterior of its level, divided by its prior, is what the rows say of the level.
    """
    noises = np.array([noise_of(line, unit) for line in lines])
    scales = np.array([line.widths[0] * line.paid[1] / unit.paid[1] for line in lines])
    shifts = np.array([(line.paid[0] - unit.paid[0]) / unit.paid[1] for line in lines])
    after = np.array([line.spread[0, 0] for line in lines])
    rows = np.maximum(1.0 / after - 1.0, constants.FEWEST_TOLD)
    levels = np.array([line.mean[0] for line in lines]) / (after * rows)
    levels = np.sqrt(unit.units.shape[1]) * shifts + scales * levels
    tried = constants.LEVELS[:, None] * width
    variances = noises * (scales**2 / rows + tried**2)
    scores = np.sum(np.log(variances) + levels**2 / variances, axis=1)
    scores += (np.log(constants.LEVELS) / constants.LEVEL_SPREAD) ** 2
    shares = np.exp(-0.5 * (scores - scores.min()))
    return float(np.sqrt(shares @ constants.LEVELS**2 / shares.sum()))
