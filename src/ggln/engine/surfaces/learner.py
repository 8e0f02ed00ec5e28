"""Arms of a bandit, each with posteriors in closed form that share what they can.

An arm has up to three Bayesian regressions of its reward: on a plane, on products of features, on bumps. Each
learns every reward of the arm in closed form. How much each is believed is told by what it predicted before
it learnt, of this arm and of all arms together. Arms share the units, the widths of priors, and this belief.
What is known depends on the decisions alone, not on how they are cut into calls.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.constants import CONSTANT_RATIO, LEAST_SCALE
from ggln.engine.jit import Specialized
from ggln.engine.pinned import Pinned
from ggln.engine.stream import next_half
from ggln.engine.surfaces import constants, kernels, solve
from ggln.engine.surfaces.kernels import Surface
from ggln.engine.surfaces.layouts import check_surfaces
from ggln.engine.surfaces.levels import level_width
from ggln.engine.surfaces.posterior import Posterior
from ggln.engine.surfaces.rows import Rows, join
from ggln.engine.threads import one_blas_thread

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


class SurfaceLearner:
    """Arms that learn decisions in the user's units."""

    def __init__(self, features: int, arms: int, seed: int) -> None:
        self.features, self.seed = features, seed
        self.kinds = solve.kinds_for(features)
        count = len(self.kinds)
        self.names = list(range(arms))  # numbers that arms keep, whichever come and go
        self.rows = [Rows.none(features) for _ in range(arms)]
        self.borrowed = [Rows.none(features) for _ in range(arms)]  # of arms that are like it
        self.plays = np.zeros(arms, np.int64)
        self.told = np.tile(self._first_shares(), (arms, 1))  # log shares of regressions
        self.pooled = self._first_shares()  # the same, of all arms together
        self.evidence = np.zeros((arms, count, constants.WIDTHS.size))  # of widths of priors
        self.moments = np.zeros((3, features + 1))  # count, mean and squares of features and rewards
        self.due = 1
        self.level = np.ones(1)  # width of levels, over that of lines
        self.surfaces: list[Surface] = []
        self.surfaces = [surface for arm in range(arms) for surface in self._solved(arm)]
        self._ready()

    def _first_shares(self) -> FloatArray:
        """Return the logarithms of the shares in advance, [K]."""
        rest = (1.0 - constants.LINE_SHARE) / (len(self.kinds) - 1)
        return np.log([constants.LINE_SHARE if kind == "line" else rest for kind in self.kinds])

    def _ready(self) -> None:
        self._pinned, self._kernels = Pinned(self.surfaces), Specialized()

    # Learning ------------------------------------------------------------------------------------------

    def learn(self, context: FloatArray, arm: int, reward: float, weight: float) -> None:
        """Learn what an arm paid in a context [d]; weight: a factor on the precision of the reward."""
        count = len(self.kinds)
        told = np.empty(count)
        self._kernels.call(kernels.learn, (self._pinned, arm * count, context, reward, weight, told))
        if self.plays[arm] >= constants.FEWEST_ROWS:
            self._believe(arm, told)
        self._measure(np.append(context, reward))
        self.plays[arm] += 1
        if self.plays[arm] <= constants.KEPT_ROWS:
            self.rows[arm] = self.rows[arm].appended(context, reward, weight)
            if self.plays[arm] == next_half(int(self.plays[arm]) - 1):
                self._solve(arm, count)
        if self.moments[0, 0] >= self.due:
            self._solve_lines()

    def _believe(self, arm: int, told: FloatArray) -> None:
        """Learn from log densities [K] which regression is to be believed."""
        for scores in (self.told[arm], self.pooled):
            scores += told
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            first = np.exp(self._first_shares())
            scores[:] = np.log((1.0 - constants.SWITCHING) * shares + constants.SWITCHING * first)

    def _measure(self, news: FloatArray) -> None:
        """Learn the units of features and rewards [d + 1]."""
        self.moments[0] += 1.0
        step = news - self.moments[1]
        self.moments[1] += step / self.moments[0]
        self.moments[2] += step * (news - self.moments[1])

    # Solving -------------------------------------------------------------------------------------------

    def _solve(self, arm: int, count: int) -> None:
        """Solve the first regressions of an arm afresh, so many."""
        first = arm * len(self.kinds)
        for place, surface in enumerate(self._solved(arm, count), first):
            self.surfaces[place] = surface
            self._pinned.put(place, surface)

    def _solve_lines(self) -> None:
        """Solve all arms' planes in the units and with the priors that are known by now."""
        total = int(self.moments[0, 0])
        self.due = total + 1 + int(total * constants.GROWTH)
        played = [self.surfaces[arm * len(self.kinds)] for arm in np.flatnonzero(self.plays)]
        self.level[0] = level_width(self._units(), played, self._line_width())
        for arm, plays in enumerate(self.plays):
            if plays <= constants.KEPT_ROWS:
                self._solve(arm, 1 if plays >= constants.FEWEST_ROWS else len(self.kinds))

    def _line_width(self) -> float:
        """Return the width of lines that is likeliest by the rows of all arms."""
        likely = solve.WIDTH_PRIOR + self.evidence[:, 0].sum(axis=0)
        return float(constants.WIDTHS[int(np.argmax(likely))])

    def _units(self) -> solve.Units:
        """Return the units by what is known.

        Rewards that were earned are above those that arms pay, because a policy chooses. So their middle is
        the mean of the arms' own levels, and their scale is measured from there.
        """
        count, mean, squares = self.moments
        scale = np.sqrt(squares / np.maximum(count, 1.0))
        constant = scale <= CONSTANT_RATIO * np.abs(mean)
        scale = np.where(constant, np.where(mean == 0.0, 1.0, np.abs(mean)), scale)
        scale = np.maximum(scale, LEAST_SCALE)
        paid = np.array([mean[-1], scale[-1]])
        played = np.flatnonzero(self.plays)
        if self.surfaces and played.size:
            lines = [self.surfaces[arm * len(self.kinds)] for arm in played]
            paid[0] = np.mean([solve.level_of(line) for line in lines])
            paid[1] = np.sqrt(scale[-1] ** 2 + (paid[0] - mean[-1]) ** 2)
        return solve.Units(np.stack([mean[:-1], scale[:-1]]), paid)

    def _solved(self, arm: int, count: int | None = None) -> list[Surface]:
        """Return the first regressions of an arm, solved on all its rows and on those that it borrows."""
        units, rows = self._units(), join([self.borrowed[arm], self.rows[arm]])
        goals = (rewards := rows.rewards - units.paid[0]) / units.paid[1]
        few = rewards.size < constants.FEWEST_ROWS
        found: list[Surface] = []
        line = 1.0
        with one_blas_thread():
            for number, kind in enumerate(self.kinds[:count]):
                own = "line" if few else kind
                scales, centres = np.ones(self.features), np.empty((self.features, 0))
                if own == "bumps":
                    random = np.random.default_rng([self.seed, self.names[arm], rewards.size])
                    scales, centres = solve.find_bumps(rows.contexts, goals, units.features, random)
                tried = solve.widths_tried(kind, line, float(self.level[0]))
                if own == kind and rewards.size:
                    unit = solve.blank(own, units, np.ones(3), scales, centres)
                    self.evidence[arm, number] = solve.weigh(unit, tried, rows, goals)
                likely = solve.WIDTH_PRIOR + self.evidence[:, number].sum(axis=0)
                widths = tried[int(np.argmax(likely))]
                line = float(widths[1]) if kind == "line" else line
                widths = widths if own == kind else found[0].widths
                surface = solve.blank(own, units, widths, scales, centres)
                if rewards.size:
                    solve.condition(surface, rows)
                found.append(surface)
        return found

    # Predicting ----------------------------------------------------------------------------------------

    def shares(self) -> FloatArray:
        """Return how much each regression of each arm is believed, [A, K]."""
        scores = self.told + np.maximum(self.pooled - self.pooled.max(), -constants.MOST_POOLED)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[shares < constants.LEAST_SHARE] = 0.0
        found: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return found

    def posterior(self, contexts: FloatArray) -> Posterior:
        """Return what is known of all arms in contexts [n, d]."""
        shares = self.shares()
        found = np.zeros((len(contexts), shares.size, 3))
        self._kernels.call(kernels.ask, (self._pinned, (shares > 0.0).ravel(), contexts, found))
        found = found.reshape(len(contexts), *shares.shape, 3)
        return Posterior(shares, found[..., 0], found[..., 1], found[..., 2])

    # Arms ----------------------------------------------------------------------------------------------

    def add(self, likes: list[tuple[int, float]]) -> None:
        """Append an arm that borrows rows of others: their numbers, and how many rows theirs count as."""
        nothing = Rows.none(self.features)
        arm = len(self.names)
        self.names.append(max(self.names, default=-1) + 1)
        self.rows.append(nothing)
        self.borrowed.append(nothing)
        self.plays = np.append(self.plays, 0)
        self.told = np.concatenate([self.told, self._first_shares()[None]])
        self.evidence = np.concatenate([self.evidence, np.zeros((1, *self.evidence.shape[1:]))])
        self.surfaces += self._solved(arm)
        self._ready()
        self.borrow(arm, likes)

    def borrow(self, arm: int, likes: list[tuple[int, float]]) -> None:
        """Let an arm begin with the rows of others, beside its own: what it borrowed before is given back."""
        lent = [
            self.rows[like].latest(constants.LENT_ROWS).counting_as(rows)
            for like, rows in likes
            if like != arm and self.plays[like] and rows > 0.0
        ]
        self.borrowed[arm] = join([Rows.none(self.features), *lent])
        self._solve(arm, len(self.kinds))

    def take(self, arms: list[int]) -> "SurfaceLearner":
        """Return a learner of some of the arms, with all that is known of them."""
        values, arrays = self.state()
        own, count = {**values, "names": [self.names[arm] for arm in arms]}, len(self.kinds)
        kept = {name: arrays[name] for name in ("pooled", "moments", "level")}
        kept |= {name: arrays[name][arms] for name in ("plays", "told", "evidence")}
        for new, old in enumerate(arms):
            for part in Rows._fields:
                kept |= {
                    f"{kind}.{new}.{part}": arrays[f"{kind}.{old}.{part}"] for kind in ("rows", "borrowed")
                }
            for k in range(count):
                for field in Surface._fields:
                    place = f"surface.{new * count + k}.{field}"
                    kept[place] = arrays[f"surface.{old * count + k}.{field}"]
        return SurfaceLearner.from_state(own, kept)

    def put(self, other: "SurfaceLearner") -> None:
        """Append the arms of another learner, which were taken from this one."""
        self.names += other.names
        self.rows += other.rows
        self.borrowed += other.borrowed
        self.surfaces += other.surfaces
        for name in ("plays", "told", "evidence"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        self._ready()

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        values = {"features": self.features, "seed": self.seed, "names": list(self.names), "due": self.due}
        arrays: Arrays = {
            name: getattr(self, name) for name in ("plays", "told", "pooled", "evidence", "moments", "level")
        }
        for kind, all_rows in (("rows", self.rows), ("borrowed", self.borrowed)):
            for arm, rows in enumerate(all_rows):
                arrays |= {f"{kind}.{arm}.{name}": array for name, array in rows.arrays().items()}
        for number, surface in enumerate(self.surfaces):
            arrays |= {f"surface.{number}.{name}": array for name, array in surface._asdict().items()}
        return values, {name: np.array(array) for name, array in arrays.items()}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "SurfaceLearner":
        """Return the learner that `state` described."""
        check_surfaces(values, arrays)
        learner = cls(values["features"], 1, values["seed"])
        learner.names, learner.due = list(values["names"]), values["due"]
        for name in ("plays", "told", "pooled", "evidence", "moments", "level"):
            setattr(learner, name, memory.writeable(arrays[name]))
        arms = range(len(learner.names))
        for kind in ("rows", "borrowed"):
            setattr(
                learner, kind, [Rows(*(arrays[f"{kind}.{arm}.{x}"] for x in Rows._fields)) for arm in arms]
            )
        learner.surfaces = [
            Surface(*(memory.writeable(arrays[f"surface.{number}.{name}"]) for name in Surface._fields))
            for number in range(len(arms) * len(learner.kinds))
        ]
        learner._ready()
        return learner

    def __getstate__(self) -> tuple[dict[str, Any], Arrays]:
        """Pickle arrays only: compiled functions can be made anew."""
        return self.state()

    def __setstate__(self, state: tuple[dict[str, Any], Arrays]) -> None:
        """Unpickle; the arrays may lie in memory that cannot be written to."""
        vars(self).update(vars(SurfaceLearner.from_state(*state)))
