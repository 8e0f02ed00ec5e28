"""How several outputs go together: a t copula joins what is predicted of each alone.

Each output keeps its distribution F_d, with its shape. The levels F_d(y_d) of rows that were not learnt when
they were predicted tell how outputs go together: as scores T^-1(F_d(y_d)) they have a multivariate t
distribution (`engine.student`). For each of `constants.FREEDOMS`, its scatter matrix is the likeliest, by
expectation maximisation, and that number of degrees of freedom is believed whose copula is likeliest. In a
stream both go on by the same rule, row by row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.newton import constants
from ggln.engine.newton.error_kernels import find_levels, follow_copulas
from ggln.engine.newton.mixture import Blend
from ggln.engine.student import distances, log_constant, log_copula, scores

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
FREEDOMS = np.asarray(constants.FREEDOMS)
PREFIX = "copula."


class JointBlend(NamedTuple):
    """What is predicted of several outputs of some rows: each alone, and what joins them."""

    marginals: tuple[Blend, ...]
    correlations: FloatArray  # [D, D], or [n, D, D] where they change from row to row
    freedoms: FloatArray  # [], or [n]

    def moved(self, shift: FloatArray, scale: FloatArray) -> "JointBlend":
        """Return the prediction of shift + scale y, shift and scale: [D]."""
        units = zip(self.marginals, shift, scale, strict=True)
        return self._replace(marginals=tuple(own.moved(*unit) for own, *unit in units))


def levels_of(blend: Blend, goals: FloatArray) -> FloatArray:
    """Return the mass of mixtures of one output below and above targets [n], [2, n]."""
    means = np.ascontiguousarray(blend.means[..., 0])
    deviations = np.sqrt(blend.covariances[..., 0])
    weights = np.ascontiguousarray(np.broadcast_to(blend.weights, means.shape))
    levels = np.empty((2, len(goals)))
    find_levels(np.ascontiguousarray(goals), weights, means, deviations, levels)
    return levels


class Copula:
    """The correlations of the scores of D outputs, for each of `FREEDOMS`, and what speaks for each."""

    def __init__(self, outputs: int) -> None:
        # as if so many rows had told nothing
        self.prior = constants.SHARE_ROWS + outputs
        self.scatters = np.tile(np.eye(outputs), (FREEDOMS.size, 1, 1))
        self.evidence = np.zeros(FREEDOMS.size)  # log likelihood of the rows that they come from
        self.judged = np.full(1, self.prior)  # the weight of these rows
        self.constants = np.array([log_constant(outputs, freedom) for freedom in FREEDOMS])

    def _scores(self, levels: FloatArray) -> FloatArray:
        """Return scores [V, n, D] of levels [2, n, D]; a single wild row must not decide."""
        lower, upper = np.maximum(levels, constants.LEAST_LEVEL)
        return np.stack([scores(lower, upper, freedom) for freedom in FREEDOMS])

    def judge(self, levels: FloatArray, weights: FloatArray) -> None:
        """Find all from the levels [2, n, D] of rows of weights [n]."""
        known, outputs = float(weights.sum()), levels.shape[2]
        for v, (freedom, own) in enumerate(zip(FREEDOMS, self._scores(levels), strict=True)):
            scatter = np.eye(outputs)
            for _ in range(constants.COPULA_ROUNDS):
                root, wide = factor_of(scatter), weights
                if np.isfinite(freedom):
                    wide = weights * (freedom + outputs) / (freedom + distances(own, root))
                scatter = (self.prior * np.eye(outputs) + (wide * own.T) @ own) / (self.prior + known)
            root = factor_of(scatter)
            self.scatters[v] = scatter
            self.evidence[v] = np.dot(weights, log_copula(own, root, freedom))
        self.judged[0] = known + self.prior

    def follow(self, levels: FloatArray, weights: FloatArray, record: bool) -> tuple[FloatArray, FloatArray]:
        """Follow rows; return correlations [n, D, D] and degrees of freedom [n] before each, if asked to."""
        rows, outputs = levels.shape[1:]
        chosen, joined = np.empty(rows * record), np.empty((rows * record, outputs, outputs))
        state = self.scatters, self.evidence, float(self.judged[0])
        lesson = self._scores(levels), weights, FREEDOMS, self.constants
        self.judged[0] = follow_copulas(*lesson, *state, chosen, joined)
        return joined, chosen

    def now(self) -> tuple[FloatArray, FloatArray]:
        """Return the correlations [D, D] and the degrees of freedom that are believed."""
        best = int(np.argmax(self.evidence))
        return normalised(self.scatters[best]), FREEDOMS[best].copy()

    def state(self) -> Arrays:
        """Return the arrays of a model file."""
        return {PREFIX + name: getattr(self, name) for name in ("scatters", "evidence", "judged")}

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        for name in ("scatters", "evidence", "judged"):
            getattr(self, name)[:] = arrays[PREFIX + name]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})


def normalised(scatter: FloatArray) -> FloatArray:
    """Return the correlations [D, D] of a scatter matrix."""
    deviations = np.sqrt(np.diag(scatter))
    found: FloatArray = scatter / np.outer(deviations, deviations)
    np.fill_diagonal(found, 1.0)
    return found


def factor_of(scatter: FloatArray) -> FloatArray:
    """Return L of the correlations R = L L' of a scatter matrix."""
    found: FloatArray = np.linalg.cholesky(normalised(scatter)).astype(np.float64)
    return found


def nothing_known(rows: int, outputs: int) -> JointBlend:
    """Return what is predicted before anything is known."""
    alone = Blend(np.ones((rows, 1)), np.zeros((rows, 1, 1)), np.ones((rows, 1, 1)))
    return JointBlend((alone,) * outputs, np.tile(np.eye(outputs), (rows, 1, 1)), np.full(rows, np.inf))
