"""A stream that may change: learners that begin again where evidence says so, and what holds them together.

One learner leads. Its correctors (`correctors`) forget, so that they are ahead of it as soon as the stream
has changed. Evidence for them is added up, from where it began; when it is strong (`constants.ALARM`), a
challenger begins with the rows since then, in units of its own, beside the leader. Learners of former times
that explain these rows come back at once instead. Whoever is ahead leads. As long as nothing changes, there
is no challenger, and nothing is lost but a few microseconds.

Predictions are those of all learners, their correctors, and regressions of the target itself, by fixed
share. A factor on their deviations moves with each row: log k += pace (missed - 0.1), where `missed` is
whether the target was outside the central 90 % interval. So for any rows at all, the mean of `missed` over T
of them is within |log k_T - log k_0| / (pace T) of 10 %, as long as k stays off its bounds (adaptive
conformal inference, Gibbs and Candes 2021).

Decisions are taken at numbers of rows, whatever the calls.
"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.checks import numbered, require
from ggln.engine.jit import Specialized
from ggln.engine.newton import constants
from ggln.engine.newton.banks import (
    LEVEL,
    Bank,
    chosen_banks,
    chosen_shares,
    joined_banks,
    joined_shares,
    new_bank,
    prior_shares,
    renewed_bank,
    renewed_shares,
)
from ggln.engine.newton.correctors import (
    FACTOR,
    KEPT,
    SINCE,
    SUSPICION,
    expect_moments,
    expect_rows,
    follow_experts,
)
from ggln.engine.newton.layouts import check_drift
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.mixture import Blend, joined
from ggln.engine.newton.settings import Settings, restore_settings
from ggln.engine.newton.shapes import ShapeMixture
from ggln.engine.newton.stream import Stream, join_rows
from ggln.engine.newton.support import ranges_of
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
NOBODY_ASKS = np.empty((3, 0, 0))
"""Final mixtures that nobody asked for."""
PRIORS = [prior_shares(learners) for learners in range(1, 3)]
PRIORS.insert(0, PRIORS[0])


class DriftLearner(Stream):
    """A stream of one output, of which old rows may be forgotten."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.learners_ = [ExactLearner(settings)]  # the first one leads
        self.former: list[ExactLearner] = []  # the latest one last
        self.rows = 0
        self.until = constants.DECIDED  # rows at which decisions are taken next
        self.changed = 0  # rows at which the stream seems to have changed last
        self.born = np.zeros(1, np.int64)  # rows at which each learner joined
        self.alarm = constants.ALARM
        self.steady = False  # whether targets repeat
        self.stream = np.zeros(4)
        self.gains = np.zeros(1)
        self.bank, self.shares = new_bank(1, settings.features), prior_shares(1)
        self.ring = np.full((constants.RING_ROWS, settings.features + KEPT), np.nan)
        self._kernels = Specialized()

    # What others ask of a learner ------------------------------------------------------------------------

    @property
    def leader(self) -> ExactLearner:
        """The learner whose networks can be looked at."""
        return self.learners_[0]

    @property
    def inputs(self) -> Any:
        """Units of the features."""
        return self.leader.inputs

    @property
    def first_rows(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Rows that a young stream keeps in order to be solved afresh."""
        return self.leader.first_rows if self.young else []

    @property
    def due(self) -> int:
        """Up to how many rows all learners stay as they are."""
        due = (self.rows + learner.due - learner.rows for learner in self.learners_ if learner.due)
        return int(min((self.until, *due)))

    @property
    def left(self) -> Any:
        """Errors of rows left out, as long as all rows are those of the first learner."""
        return self.leader.left if self.born[0] == 0 and len(self.born) == 1 else None

    @left.setter
    def left(self, value: Any) -> None:
        self.leader.left = value

    @property
    def columns(self) -> int:
        """How many columns rows have that are kept."""
        known = [learner.columns for learner in (*self.learners_, *self.former)]
        return max(self.ring.shape[1] - KEPT, *known)

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring a learner to where it is solved afresh."""
        return any(learner.solves_within(rows) for learner in self.learners_)

    @property
    def network_count(self) -> int:
        """How many networks the leader has."""
        return self.leader.network_count

    def support(self, X: FloatArray) -> FloatArray:
        """Return how well rows are covered by what the leader learnt, [n, 1]."""
        return self.leader.support(X)

    def steps(self, rows: int) -> int:
        """Return how many steps `fit` tells of."""
        return self.leader.steps(rows)

    # Learning ------------------------------------------------------------------------------------------

    def take(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None, record: bool
    ) -> Any:
        """Learn rows that all learners go through as they are; return what was predicted before each."""
        X = X.copy()
        if self.rows == 0:
            found: Blend | None = self._begin(X, Y, weights, threads)
        else:
            parts = []
            for learner in self.learners_:
                solved = learner.rows + len(X) == learner.due
                shared = threads if solved or _worth(threads, len(X)) else None
                parts.append(learner.learn_components(X, Y, weights, shared))
            self.rows += len(X)
            self._widen(X.shape[1])
            found = self._follow(X, Y, weights, parts, record)
        if self.rows == self.until:
            self._decide(threads)
        return found

    def _begin(self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads | None) -> Blend:
        """Learn the first row, which is in no units yet."""
        found = self.leader.partial_fit(X, Y, weights, threads, True)
        self.rows += len(X)
        self._widen(X.shape[1])
        self.bank = new_bank(1, self.settings.features, Y[0, 0])
        self.ring[0, : X.shape[1]] = X[0]
        self.ring[0, -KEPT:] = Y[0, 0], weights[0], 0.0, 0.0
        return joined(found)

    def _follow(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, parts: list[FloatArray], record: bool
    ) -> Blend | None:
        """Let experts follow rows that learners predicted; return the final mixtures."""
        mixtures = _stacked(parts)
        out = np.empty(mixtures.shape[1:]) if record else NOBODY_ASKS
        goals = np.ascontiguousarray(Y[:, 0])
        lesson = _wide(X, self.bank), goals, weights, mixtures, self.bank, self.shares
        known = PRIORS[len(self.learners_)], self.steady, self.stream, self.gains
        self._kernels.call(follow_experts, (*lesson, *known, self.ring, self.rows - len(X), out))
        return _as_blend(out) if record else None

    def _latest(self, count: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return rows, targets [n, 1], weights and evidence [n, 2] of the latest rows, at most so many."""
        count = min(count, self.rows, len(self.ring))
        rows = self.ring[np.arange(self.rows - count, self.rows) % len(self.ring)]
        return rows[:, :-KEPT].copy(), rows[:, -4:-3].copy(), rows[:, -3].copy(), rows[:, -2:].copy()

    def _seen(self) -> FloatArray:
        """Return the range [2, d] of each feature in the latest rows; none of one that they all lack."""
        found = ranges_of(self._latest(len(self.ring))[0])
        return np.where(found[1] >= found[0], found, np.nan)

    def _since(self) -> int:
        """Return how many rows ago the stream changed.

        Suspicion may have begun long before, by chance. If the latest rows gain g each, the change is where
        the sum of (gain - g / 4) from there on is largest.
        """
        gains = self._latest(int(self.stream[SINCE]))[3][:, 1]
        least = 0.25 * max(float(gains[-constants.SUSPECTED :].mean()), 0.0)
        return int(np.argmax(np.cumsum(gains[::-1] - least))) + 1

    def _widen(self, features: int) -> None:
        """Take in features that a young stream was not begun with."""
        missing = features - (self.ring.shape[1] - KEPT)
        if missing > 0:
            empty = np.full((len(self.ring), missing), np.nan)
            self.ring = np.hstack([self.ring[:, :-KEPT], empty, self.ring[:, -KEPT:]])
        known = max(learner.features for learner in self.learners_)
        if known > self.settings.features:
            self.settings = replace(self.settings, features=known)
            learners, level = len(self.learners_), self.bank.numbers[-1, 0, LEVEL]
            self.bank, self.shares = new_bank(learners, known, level), prior_shares(learners)

    # Deciding -------------------------------------------------------------------------------------------

    def _decide(self, threads: Threads | None) -> None:
        """Decide who leads, and whether somebody begins again."""
        mixture = self.leader.mixture
        if len(self.learners_) > 1:
            self._compare(threads)
        elif self.leader.rows < constants.DECIDED:
            self.stream[SUSPICION] = self.stream[SINCE] = 0.0
        elif self.stream[SUSPICION] > self.alarm:
            self.alarm *= 2.0
            since = self._since()
            self.changed = self.rows - since
            if not self._recall(since, threads):
                self._challenge(since, threads)
        if self.rows % constants.PATIENCE == 0:
            self.alarm = max(0.5 * self.alarm, constants.ALARM)
        self.steady = isinstance(mixture, ShapeMixture) and mixture.form.atoms.size > 0
        wait = constants.DECIDED
        if self.stream[SUSPICION] > 0.25 * constants.ALARM:
            wait = constants.SUSPECTED
        elif len(self.learners_) == 1 and self.leader.rows >= constants.WARM_ROWS:
            wait = constants.CALM
        self.until = (self.rows // wait + 1) * wait

    def _compare(self, threads: Threads | None) -> None:
        """Let a challenger lead that is ahead; give up those that are not."""
        best = int(np.argmax(self.gains))
        if self.gains[best] > constants.WON:
            self._lead(best, threads)
            return
        late = (self.rows - self.born > constants.PATIENCE) | (self.gains < -constants.LOST)
        late[0] = False
        if late.any():
            self._take(np.flatnonzero(~late))

    def _take(self, chosen: NDArray[np.intp]) -> None:
        """Go on with some of the learners."""
        self.learners_ = [self.learners_[who] for who in chosen]
        self.born, self.gains = self.born[chosen], self.gains[chosen]
        self.bank, self.shares = chosen_banks(self.bank, chosen), chosen_shares(self.shares, chosen)

    def _lead(self, place: int, threads: Threads | None) -> None:
        """Let one learner lead alone; the one before it is remembered."""
        old = self.leader
        if old.first_rows:  # it is solved once more, without the rows that it should not have learnt
            X, Y, weights = join_rows(old.first_rows)
            known = old.rows - (self.rows - self.changed) - constants.UNSURE_ROWS
            if known >= constants.FEWEST_BEGUN:
                rest = X[:known], Y[:known], weights[:known]
                old.fit(*rest, threads or Threads(1), lambda _: None)
        self.former = [*self.former, old][-constants.REMEMBERED :]
        self._take(np.array([place]))
        self._forget()
        self.gains[:] = 0.0
        self.stream[SUSPICION] = self.stream[SINCE] = 0.0
        self.alarm = constants.ALARM

    def _forget(self) -> None:
        """Let nobody's regressions begin again: what they learnt before the change may have other units."""
        _, Y, weights, _ = self._latest(max(self.rows - self.changed, 1))
        level = float(np.average(Y[:, 0], weights=weights)) if weights.any() else float(Y[-1, 0])
        self.bank = renewed_bank(self.bank, new_bank(1, self.settings.features, level))
        self.shares = renewed_shares(self.shares)

    def _join(self, learner: ExactLearner, bank: Bank) -> None:
        """Take in another learner; it gets half of what the others have."""
        self.learners_.append(learner)
        self.bank, self.shares = joined_banks(self.bank, bank), joined_shares(self.shares, 0.5)
        self.born, self.gains = np.append(self.born, self.rows), np.append(self.gains, 0.0)

    def _challenge(self, since: int, threads: Threads | None) -> None:
        """Begin again with the latest rows, beside the leader."""
        X, Y, weights, _ = self._latest(since)
        if (
            not constants.FEWEST_BEGUN <= len(X) <= constants.MOST_BEGUN * self.leader.rows
            or not weights.any()
        ):
            return
        learner = ExactLearner(replace(self.settings, features=X.shape[1]))
        learner.seen = self._seen()
        learner.fit(X, Y, weights, threads or Threads(1), lambda _: None)
        self._join(learner, new_bank(1, self.settings.features))
        self._widen(X.shape[1])  # features that wait to join, and that it knows already

    def _recall(self, since: int, threads: Threads | None) -> bool:
        """Let a former learner lead if it explains the latest rows better; return whether it does."""
        since = min(since, constants.RECALL_ROWS)
        X, Y, weights, evidence = self._latest(since)
        late = slice(len(X) // 2, None)  # by then, correctors have found out
        scores = [
            float(weights[late] @ (_log_densities(learner.predictions(X, threads), Y) - evidence[:, 0])[late])
            for learner in self.former
        ]
        if not scores or max(scores) < constants.RECALLED:
            return False
        learner = self.former.pop(int(np.argmax(scores)))
        mixtures = _stacked([_components(joined(learner.partial_fit(X, Y, weights, threads, True)))])
        bank, own, ring = new_bank(1, self.settings.features), prior_shares(1), np.empty_like(self.ring[:1])
        lesson = _wide(X, bank), np.ascontiguousarray(Y[:, 0]), weights, mixtures, bank, own
        known = PRIORS[1], self.steady, np.zeros(4), np.zeros(1), ring, 0, NOBODY_ASKS
        self._kernels.call(follow_experts, (*lesson, *known))
        self._join(learner, bank)
        self._lead(len(self.learners_) - 1, threads)
        return True

    # Predicting ----------------------------------------------------------------------------------------

    @property
    def _factor(self) -> float:
        return math.exp(self.stream[FACTOR])

    def predictions(self, X: FloatArray, threads: Threads | None) -> Blend:
        """Return the mixture for new rows."""
        mixtures = _stacked([_components(learner.predictions(X, threads)) for learner in self.learners_])
        out = np.empty(mixtures.shape[1:])
        expect_rows(_wide(X, self.bank), mixtures, self.bank, self.shares, self._factor, self.steady, out)
        return _as_blend(out)

    def moments(self, X: FloatArray, threads: Threads | None) -> tuple[FloatArray, FloatArray]:
        """Return the predictive mean and standard deviation, [n, 1] each."""
        found = np.zeros((len(X), len(self.shares), 2))  # nobody's are the last: mean zero
        for who, learner in enumerate(self.learners_):
            mean, deviation = learner.moments(X, threads)
            found[:, who, 0], found[:, who, 1] = mean[:, 0], deviation[:, 0]
        found[:, -1, 1] = found[:, 0, 1]
        told = np.empty((len(X), 3))
        known = found, self.bank, self.shares, self._factor, self.steady, told
        self._kernels.call(expect_moments, (_wide(X, self.bank), *known))
        return told[:, :1], told[:, 1:2]

    def moments_one(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `moments`, for a single row [1, d] at the lowest latency."""
        return self.moments(x, None)

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        used = self.ring[: min(self.rows, len(self.ring))]
        arrays: Arrays = {"stream": self.stream, "gains": self.gains, "born": self.born, "ring": used}
        arrays |= {"shares": self.shares} | {
            f"bank.{name}": array for name, array in self.bank._asdict().items()
        }
        everyone = []
        for e, learner in enumerate([*self.learners_, *self.former]):
            values, own = learner.state()
            everyone.append(values)
            arrays |= {f"learner.{e}.{name}": array for name, array in own.items()}
        values = {
            "settings": asdict(self.settings),
            "rows": self.rows,
            "until": self.until,
            "alarm": self.alarm,
        }
        values |= {"changed": self.changed}
        return values | {"steady": self.steady, "learners": everyone}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "DriftLearner":
        """Return the learner that `state` described."""
        settings = restore_settings(values["settings"])
        own = {name: array for name, array in arrays.items() if not name.startswith("learner.")}
        bank = {f"bank.{name}": array for name, array in new_bank(1, settings.features)._asdict().items()}
        check_drift(values, own, settings, bank | {"shares": prior_shares(1)})
        learner = cls(settings)
        for name in ("rows", "until", "changed", "alarm", "steady"):
            setattr(learner, name, values[name])
        for name in ("stream", "gains", "born", "shares"):
            setattr(learner, name, np.require(arrays[name], requirements="W"))
        learner.bank = Bank(*(np.require(arrays[f"bank.{name}"], requirements="W") for name in Bank._fields))
        learner._widen(arrays["ring"].shape[1] - KEPT)
        learner.ring[: len(arrays["ring"])] = arrays["ring"]
        parts = numbered(arrays, "learner.")
        require(len(parts) == len(values["learners"]), "learners are not as many as there should be")
        everyone = [ExactLearner.from_state(*pair) for pair in zip(values["learners"], parts, strict=True)]
        for one in everyone:
            same = replace(one.settings, features=settings.features) == settings
            require(same and one.features <= settings.features, "learners differ in their settings")
        learner.learners_, learner.former = everyone[: len(learner.born)], everyone[len(learner.born) :]
        return learner

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions, which can be made anew."""
        return {name: value for name, value in vars(self).items() if name != "_kernels"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})
        self._kernels = Specialized()


def _worth(threads: Threads | None, rows: int) -> bool:
    """Return whether so many rows are worth threads."""
    return threads is not None and threads.count > 1 and rows >= constants.FEWEST_SHARED


def _wide(X: FloatArray, bank: Bank) -> FloatArray:
    """Return rows with as many columns as correctors look at."""
    missing = bank.means.shape[2] - 1 - X.shape[1]
    return (
        np.pad(X, ((0, 0), (0, missing)), constant_values=np.nan) if missing > 0 else np.ascontiguousarray(X)
    )


def _components(blend: Blend) -> FloatArray:
    """Return weights, means and deviations of mixtures of one output, [3, n, P]."""
    means = blend.means[..., 0]
    return np.stack([np.broadcast_to(blend.weights, means.shape), means, np.sqrt(blend.covariances[..., 0])])


def _stacked(parts: list[FloatArray]) -> FloatArray:
    """Return weights, means and deviations of all learners' mixtures, [L, 3, n, P]."""
    if len(parts) == 1:
        return parts[0][None]
    most = max(part.shape[2] for part in parts)
    found = np.zeros((len(parts), 3, parts[0].shape[1], most))
    found[:, 2] = 1.0
    for who, part in enumerate(parts):
        found[who, :, :, : part.shape[2]] = part
    return found


def _as_blend(mixtures: FloatArray) -> Blend:
    return Blend(mixtures[0], mixtures[1][..., None], mixtures[2][..., None] ** 2)


def _log_densities(blend: Blend, Y: FloatArray) -> FloatArray:
    """Return the log density [n] of mixtures of one output at targets [n, 1]."""
    weights, means, deviations = _components(blend)
    logs = np.log(np.maximum(weights, 1e-300)) - 0.5 * ((Y - means) / deviations) ** 2 - np.log(deviations)
    top = logs.max(axis=1)
    found: FloatArray = top + np.log(np.exp(logs - top[:, None]).sum(axis=1)) - 0.5 * np.log(2.0 * np.pi)
    return found
