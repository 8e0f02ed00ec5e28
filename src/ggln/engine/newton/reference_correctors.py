"""Correctors and their mixture, written out in NumPy: the plain twin of `correctors`.

Sums over rows are taken afresh for each row, with weights exp(-age / memory), instead of being carried along.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from ggln.engine.newton import constants

FloatArray = NDArray[np.float64]


class Mixture(NamedTuple):
    """A row's prediction: weights, means and deviations [P]."""

    weights: FloatArray
    means: FloatArray
    deviations: FloatArray

    def moments(self) -> tuple[float, float]:
        """Return mean and deviation."""
        mean = float(self.weights @ self.means)
        variance = self.weights @ (self.deviations**2 + (self.means - mean) ** 2)
        return mean, float(np.sqrt(variance))

    def log_density(self, y: float) -> float:
        """Return the log density at y."""
        z = (y - self.means) / self.deviations
        logs = -0.5 * z**2 - np.log(self.deviations) - 0.5 * np.log(2.0 * np.pi)
        return float(logsumexp(logs, b=self.weights))

    def moved(self, mean: float, deviation: float) -> "Mixture":
        """Return the mixture of another mean and deviation."""
        centre, own = self.moments()
        factor = deviation / own
        return Mixture(self.weights, mean + factor * (self.means - centre), factor * self.deviations)


class Corrector:
    """One memory: d and v (`correctors`) from all rows since it began."""

    def __init__(self, memory: float, level_only: bool, rows: float) -> None:
        self.memory, self.level_only, self.rows = memory, level_only, rows
        self.inputs: list[FloatArray] = []
        self.residuals: list[float] = []
        self.spread, self.spread_count = 1.0, constants.SPREAD_ROWS
        self.far, self.last = False, 0.0

    def _ages(self) -> FloatArray:
        found: FloatArray = np.exp(-np.arange(len(self.residuals) - 1, -1, -1.0) / self.memory)
        return found

    def shift(self, inputs: FloatArray) -> float:
        """Return d."""
        if not self.residuals:
            return 0.0
        counts, residuals = self._ages(), np.array(self.residuals)
        level = counts @ residuals / counts.sum()
        if self.level_only:
            return float(level)
        rows = np.array(self.inputs)
        centre = counts @ rows / counts.sum()
        scatter = (counts[:, None] * (rows - centre)).T @ (rows - centre)
        varied = np.diag(scatter) > 1e-20 * np.sum(rows**2, axis=0)  # all but rounding
        scatter = scatter * np.outer(varied, varied)
        ridge = scatter + np.diag(np.diag(scatter)) * self.rows / counts.sum()
        slopes = np.linalg.pinv(ridge, hermitian=True) @ ((counts * (residuals - level)) @ (rows - centre))
        reach = constants.INPUT_REACH * np.sqrt(np.diag(scatter) / counts.sum())
        return float(level + slopes @ np.clip(inputs - centre, -reach, reach))

    def learn(self, inputs: FloatArray, residual: float, deviation: float) -> None:
        """Learn a row."""
        square = ((residual - self.shift(inputs)) / deviation) ** 2
        most = constants.FAR_OFF * self.spread
        far = square > most
        if far and self.far:
            self.spread, self.spread_count = 1.0 + 0.5 * ((residual - self.last) / deviation) ** 2, 2.0
            # the row before, at the inputs of this one: two rows tell a level and no slope
            self.inputs, self.residuals, square, far = [inputs], [self.last], self.spread, False
        self.far, self.last = far, residual
        self.inputs.append(inputs)
        self.residuals.append(residual)
        before = np.exp(-1.0 / self.memory) * self.spread_count
        self.spread = (before * self.spread + min(square, most)) / (before + 1.0)
        self.spread_count = before + 1.0


class Stream:
    """One learner's experts and nobody's, their shares, and the factor that keeps the coverage."""

    def __init__(self) -> None:
        self.correctors, self.bare = (
            [
                Corrector(memory, place < constants.LEVEL_MEMORIES, rows)
                for place, memory in enumerate(constants.MEMORIES)
            ]
            for rows in (constants.SLOPE_ROWS, constants.BARE_ROWS)
        )
        forgetting = len(self.correctors) + len(self.bare)
        self.prior = np.array([0.5, *[0.5 / forgetting] * forgetting])
        self.shares = self.prior.copy()
        self.log_factor = 0.0

    def follow(self, x: FloatArray, y: float, mixture: Mixture) -> Mixture:
        """Return the final prediction of a row, then learn it."""
        centre, deviation = mixture.moments()
        corrected, bare = np.append(x, centre), np.append(x, 0.0)
        shifts = [centre + own.shift(corrected) for own in self.correctors]
        centres = np.array([centre, *shifts, *(own.shift(bare) for own in self.bare)])
        everyone = [*self.correctors, *self.bare]
        scales = deviation * np.sqrt([1.0, *(own.spread for own in everyone)])
        mean = float(self.shares @ centres)
        wide = np.sqrt(self.shares @ (scales**2 + (centres - mean) ** 2))
        found = mixture.moved(mean, np.exp(self.log_factor) * wide)
        below = found.weights @ ndtr((y - found.means) / found.deviations)
        missed = abs(below - 0.5) > 0.5 * constants.COVERAGE
        moved = self.log_factor + constants.COVERAGE_PACE * (missed - (1.0 - constants.COVERAGE))
        self.log_factor = float(np.clip(moved, -constants.MOST_FACTOR, constants.MOST_FACTOR))
        logs = np.array([mixture.moved(c, s).log_density(y) for c, s in zip(centres, scales, strict=True)])
        joint = self.shares * np.exp(logs - logs.max())
        rate = constants.SWITCH_RATE
        self.shares = (1.0 - rate) * joint / joint.sum() + rate * self.prior
        for own in self.correctors:
            own.learn(corrected, y - centre, deviation)
        for own in self.bare:
            own.learn(bare, y, deviation)
        return found
