"""Arms of a bandit, each with posteriors in closed form that share what they can.

An arm has up to three Bayesian regressions of its reward: on a plane, on products of features, on bumps. Each
learns every reward of the arm in closed form. How much each is believed is told by what it predicted before
it learnt, of this arm and of all arms together. Arms share the units, the widths of priors, and this belief.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ggln.core.jit import Specialized
from ggln.core.newton.learner import schedule
from ggln.core.pinned import Pinned
from ggln.core.surfaces import constants, kernels, solve
from ggln.core.surfaces.kernels import Surface

FloatArray = NDArray[np.float64]


class Rows(NamedTuple):
    """Decisions of one arm."""

    contexts: FloatArray  # [n, d]
    rewards: FloatArray  # [n]
    weights: FloatArray  # [n]


class Forecast(NamedTuple):
    """What is known of each arm in some contexts, in the user's units."""

    shares: FloatArray  # [A, K]  how much each regression is believed
    means: FloatArray  # [n, A, K]
    variances: FloatArray  # [n, A, K]  of the means
    noises: FloatArray  # [n, A, K]  variances of the rewards around them


class SurfaceLearner:
    """Arms that learn decisions in the user's units."""

    def __init__(self, features: int, arms: int, seed: int) -> None:
        self.features, self.seed = features, seed
        self.kinds = solve.kinds_for(features)
        self.rows = [self._nothing() for _ in range(arms)]
        self.counts = np.zeros(arms, np.int64)
        self.told = np.zeros((arms, len(self.kinds)))  # log weights of regressions, by arm
        self.pooled = np.zeros(len(self.kinds))
        self.tables = [np.zeros((arms, width.size)) for width in self._grids()]
        self.moments = np.zeros((3, features + 1))
        self.due = 1
        self.surfaces: list[Surface] = []
        self.surfaces = [surface for arm in range(arms) for surface in self._solve(arm)]
        self._ready()

    def _nothing(self) -> Rows:
        return Rows(np.empty((0, self.features)), np.empty(0), np.empty(0))

    def _grids(self) -> list[FloatArray]:
        return [constants.LINE_WIDTHS if kind == "line" else constants.CURVE_WIDTHS for kind in self.kinds]

    def _ready(self) -> None:
        self._pinned, self._kernels = Pinned(self.surfaces), Specialized()

    # Learning ------------------------------------------------------------------------------------------

    def learn(self, context: FloatArray, arm: int, reward: float, weight: float) -> None:
        """Learn a reward."""
        count = len(self.kinds)
        told = np.empty(count)
        self._kernels.call(
            kernels.learn, (self._pinned, arm * count, context, float(reward), float(weight), told)
        )
        if self.counts[arm] >= constants.FEWEST_ROWS:
            for scores in (self.told[arm], self.pooled):
                scores += told
                scores -= scores.max()
                shares = np.exp(scores)
                shares /= shares.sum()
                scores[:] = np.log((1.0 - constants.SWITCHING) * shares + constants.SWITCHING / count)
        news = np.append(context, reward)
        self.moments[0] += 1.0
        step = news - self.moments[1]
        self.moments[1] += step / self.moments[0]
        self.moments[2] += step * (news - self.moments[1])
        self.counts[arm] += 1
        if self.counts[arm] <= constants.KEPT_ROWS:
            old = self.rows[arm]
            self.rows[arm] = Rows(
                np.concatenate([old.contexts, context[None]]),
                np.append(old.rewards, reward),
                np.append(old.weights, weight),
            )
            if self.counts[arm] == schedule(int(self.counts[arm]) - 1):
                self.surfaces[arm * count : (arm + 1) * count] = self._solve(arm)
                self._ready()
        total = int(self.counts.sum())
        if total >= self.due:
            self.due = total + 1 + int(total * constants.GROWTH)
            for other in range(len(self.counts)):
                if self.counts[other] <= constants.KEPT_ROWS:
                    few = self.counts[other] < constants.FEWEST_ROWS
                    self.surfaces[other * count : other * count + (count if few else 1)] = self._solve(other, not few)
            self._ready()

    def _units(self) -> solve.Units:
        count, mean, squares = self.moments
        scale = np.sqrt(squares / np.maximum(count, 1.0))
        scale = np.where(scale <= 1e-9 * np.abs(mean), np.where(mean == 0, 1.0, np.abs(mean)), scale)
        paid = np.array([mean[-1], scale[-1]])
        played = self.counts > 0
        if self.surfaces and played.any():
            lines = [surface for surface in self.surfaces[:: len(self.kinds)]]
            levels = [s.paid[0] + s.paid[1] * s.mean[0] * s.widths[0] / np.sqrt(self.features) for s in lines]
            paid[0] = np.mean(np.array(levels)[played])
            paid[1] = np.sqrt(scale[-1] ** 2 + (paid[0] - mean[-1]) ** 2)
        return solve.Units(np.stack([mean[:-1], scale[:-1]]), paid)

    def _solve(self, arm: int, line_only: bool = False) -> list[Surface]:
        """Return the regressions of an arm, solved on all its rows."""
        units, (contexts, rewards, weights) = self._units(), self.rows[arm]
        goals = (rewards - units.paid[0]) / units.paid[1]
        found, line = [], 1.0
        few = len(rewards) < constants.FEWEST_ROWS
        with threadpool_limits(1):
            for number, kind in enumerate(self.kinds[:1] if line_only else self.kinds):
                scales, centres = np.ones(self.features), np.empty((self.features, 0))
                if kind == "bumps" and not few:
                    random = np.random.default_rng([self.seed, arm, len(rewards)])
                    scales, centres = solve.find_bumps(contexts, goals, units.features, random)
                own = "line" if few else kind

                def make(widths: FloatArray, own=own, scales=scales, centres=centres) -> Surface:
                    return solve.blank(own, units, widths, scales, centres)

                tried = solve.widths_tried(kind, line)
                if len(rewards) and not (few and kind != "line"):
                    self.tables[number][arm] = solve.weigh(kind, make, tried, contexts, goals, weights)
                known = -0.5 * (np.log(self._grids()[number]) / constants.WIDTH_SPREAD) ** 2
                best = tried[int(np.argmax(known + self.tables[number].sum(axis=0)))]
                if kind == "line":
                    line = best[1]
                if few:
                    best = np.array([line, line, 0.0])
                surface = make(best)
                if len(rewards):
                    solve.condition(surface, contexts, rewards, weights)
                found.append(surface)
        return found

    # Predicting ----------------------------------------------------------------------------------------

    def shares(self) -> FloatArray:
        """Return how much each regression of each arm is believed, [A, K]."""
        pooled = self.pooled - self.pooled.max()
        scores = self.told + np.maximum(pooled, -constants.MOST_POOLED)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[shares < constants.LEAST_SHARE] = 0.0
        return shares / shares.sum(axis=1, keepdims=True)

    def forecast(self, contexts: FloatArray) -> Forecast:
        """Return what is known of all arms in contexts [n, d]."""
        shares = self.shares()
        found = np.zeros((len(contexts), shares.size, 3))
        self._kernels.call(kernels.ask, (self._pinned, (shares > 0.0).ravel(), contexts, found))
        found = found.reshape(len(contexts), *shares.shape, 3)
        return Forecast(shares, found[..., 0], found[..., 1], found[..., 2])
