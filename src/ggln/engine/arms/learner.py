"""Arms in the user's units: contexts and rewards are standardised, gates are drawn from the first contexts.

As a stream's learner does, it starts without knowing any scale: whenever the number of decisions learnt is a
power of two up to `constants.WARMUP_ROWS`, scales and gates are drawn afresh from all decisions so far and
these are learnt again. In between, and afterwards, scales stand still: a policy that gets better sees other
rewards, and units that followed them would devalue what arms learnt that are played no more.
"""

from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants
from ggln.engine.arms.networks import Arms
from ggln.engine.arms.rewards import BernoulliRewards, GaussianRewards, Rewards, TreeRewards
from ggln.engine.checks import require
from ggln.engine.gating import Gates
from ggln.engine.gradient.build import Settings, draw_gates, settings_from
from ggln.engine.gradient.ensemble import blocks
from ggln.engine.gradient.layouts import check_arms, check_ensemble, rest_of_arms
from ggln.engine.scaling import Scaler
from ggln.engine.stream import next_power, spans
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]


class Forecast(NamedTuple):
    """What is known of each arm in some contexts, in the units of the networks."""

    mean: FloatArray  # [A, n]  expected reward
    variance: FloatArray  # [A, n]  of the reward
    visits: FloatArray  # [A, n]  as in `arms.Findings`
    soft_visits: FloatArray  # [A, n]
    leverage: FloatArray  # [A, n]


class Decisions(NamedTuple):
    """Contexts, the arms that were played, and what they gave."""

    contexts: FloatArray  # [n, d]
    arms: NDArray[np.int64]  # [n]
    rewards: FloatArray  # [n, 1]
    paces: FloatArray  # [n]  factors on the step

    def cut(self, start: int, stop: int) -> "Decisions":
        """Return some of them, by position."""
        return self.take(slice(start, stop))

    def take(self, which: Any) -> "Decisions":
        """Return some of them."""
        return Decisions(self.contexts[which], self.arms[which], self.rewards[which], self.paces[which])

    def join(self, others: "Decisions") -> "Decisions":
        """Return these and then the others."""
        joined: Any = (np.concatenate(pair) for pair in zip(self, others, strict=True))
        return Decisions(*joined)


def rewards_of(settings: Settings) -> Rewards:
    """Return the kind of reward that networks are made for."""
    if settings.family == "gaussian":
        return GaussianRewards(settings.min_variance)
    if settings.outputs == 1:
        return BernoulliRewards(settings.min_variance)
    return TreeRewards((settings.outputs + 1).bit_length() - 1)


class ArmLearner:
    """Arms that learn decisions in the user's units.

    Parameters
    ----------
    settings
        Of one arm's networks. Bernoulli networks with several outputs are for a tree of rewards.
    arms
        How many arms.
    reward_range
        What is mapped to [0, 1]; None standardises rewards.
    """

    def __init__(self, settings: Settings, arms: int, reward_range: tuple[float, float] | None) -> None:
        self.settings, self.reward_range, self.kind = settings, reward_range, rewards_of(settings)
        limit = constants.TARGET_LIMIT * settings.bias_range
        self.inputs = Scaler(settings.features, constants.INPUT_LIMIT, bool(settings.standardize))
        self.targets = Scaler(1, limit, True)
        if reward_range is not None:
            low, high = reward_range
            # statistics with a mean of `low` and a deviation of high - low
            self.targets.state[:, 0] = 1.0, low, (high - low) ** 2
        nothing = np.empty((0, settings.features))
        self.arms = Arms(settings, draw_gates(settings, nothing), arms)
        self.tallies = np.zeros((arms, 3, self.kind.bins))
        self.rows = 0
        self.first = Decisions(nothing, np.empty(0, np.int64), np.empty((0, 1)), np.empty(0))
        self.warming = settings.needs_data or reward_range is None

    # Learning ------------------------------------------------------------------------------------------

    def learn(self, decisions: Decisions, threads: Threads) -> None:
        """Learn decisions in their order. It makes no difference how they are cut into calls."""
        rows = decisions.arms.size
        self.arms.require(rows)
        for own in spans(self, rows, constants.BLOCK_ROWS):
            some = decisions.take(own)
            self._learn(some, threads)
            self._seen(some, threads)

    @property
    def due(self) -> int:
        """Decisions at which networks are drawn afresh; 0: never."""
        return next_power(self.rows) if self.warming else 0

    def _learn(self, decisions: Decisions, threads: Threads) -> None:
        """Learn a block with the scales as they are."""
        side = self.inputs.transform(decisions.contexts)
        rewards = self.targets.transform(decisions.rewards)
        goals = self.kind.targets(rewards).astype(self.settings.dtype)
        self.kind.tally(rewards, decisions.arms, self.tallies)
        if decisions.arms.size > 1 and (decisions.paces == 1.0).all():
            self.arms.learn(decisions.arms, side, goals, threads)
            return
        for t, (arm, pace) in enumerate(zip(decisions.arms.tolist(), decisions.paces.tolist(), strict=True)):
            self.arms.learn_one(arm, side[t : t + 1], goals[t : t + 1], pace)

    def _seen(self, decisions: Decisions, threads: Threads) -> None:
        """Count decisions; draw the networks afresh when their number is a power of two."""
        due = self.due
        self.rows += decisions.arms.size
        if not due:
            return
        self.first = self.first.join(decisions)
        if self.rows < due:
            return
        self._draw(threads)
        if self.rows >= constants.WARMUP_ROWS:
            self.first, self.warming = self.first.cut(0, 0), False

    def _draw(self, threads: Threads) -> None:
        """Draw scales and gates from the decisions kept, and learn these again."""
        if self.first.arms.size == 0:
            return
        self.inputs.fit(self.first.contexts)
        if self.reward_range is None:
            self.targets.fit(self.first.rewards)
        side = self.inputs.transform(self.first.contexts)
        self.arms = Arms(self.settings, draw_gates(self.settings, side), self.arms.arms)
        self.tallies[:] = 0.0
        self._learn(self.first, threads)

    @property
    def features(self) -> int:
        """Return the length of a context."""
        return self.settings.features

    @property
    def plays(self) -> NDArray[np.int64]:
        """Return how often each arm was played."""
        return self.arms.plays

    # Predicting ----------------------------------------------------------------------------------------

    def forecast(self, contexts: FloatArray) -> Forecast:
        """Return what is expected of all arms in contexts [n, d]."""
        side, longest = self.inputs.transform(contexts), constants.BLOCK_ROWS
        if side.shape[0] <= longest:
            first, second, *counts = self.arms.ask(side)
            return Forecast(*self.kind.moments(first, second, self.tallies), *counts)
        parts = [self.forecast(contexts[start:stop]) for start, stop in blocks(side.shape[0], longest)]
        return Forecast(*(np.concatenate(values, axis=1) for values in zip(*parts, strict=True)))

    def units(self) -> tuple[float, float]:
        """Return shift and scale of rewards: what standardised ones are moved to and multiplied by."""
        shift, scale = self.targets.shift_and_scale()
        return float(shift[0]), float(scale[0])

    # Arms and state ------------------------------------------------------------------------------------

    def add(self) -> None:
        """Append an arm that knows nothing."""
        self.arms = self.arms.with_arms(list(range(self.arms.arms)), 1)
        self.tallies = np.concatenate([self.tallies, np.zeros((1, 3, self.kind.bins))])

    def remove(self, arm: int) -> None:
        """Forget an arm and its decisions; the numbers of those after it become one less."""
        self.arms = self.arms.with_arms([a for a in range(self.arms.arms) if a != arm], 0)
        self.tallies = np.delete(self.tallies, arm, axis=0)
        self.first = self.first.take(self.first.arms != arm)
        self.first.arms[self.first.arms > arm] -= 1

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all that is known, as plain values and as arrays."""
        settings = {**asdict(self.settings), "dtype": np.dtype(self.settings.dtype).name}
        values = {
            "settings": settings,
            "arms": self.arms.arms,
            "reward_range": self.reward_range,
            "rows": self.rows,
            "warming": self.warming,
        }
        arrays = self.arms.state()
        arrays["scaler.inputs"], arrays["scaler.targets"] = self.inputs.state, self.targets.state
        arrays["tallies"] = self.tallies
        arrays |= {f"first.{name}": array for name, array in self.first._asdict().items()}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "ArmLearner":
        """Return the learner that `state` described."""
        span, settings = values["reward_range"], settings_from(values["settings"])
        check_arms(values, arrays, settings)
        learner = cls(settings, 1, None if span is None else (span[0], span[1]))
        gates = Gates(arrays["gates.codes"], arrays["gates.offsets"], arrays["gates.normals"])
        learner.arms = Arms(settings, gates, values["arms"])
        rest = rest_of_arms(settings, values["arms"], learner.kind.bins, span)
        check_ensemble(arrays, learner.arms.table, settings, **rest)
        same = np.array_equal(arrays["scaler.targets"], learner.targets.state)
        require(span is None or same, "the scale of rewards is not that of their range")
        learner.arms.restore(arrays)
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.rows, learner.warming = values["rows"], values["warming"]
        learner.tallies = arrays["tallies"]
        first: Any = (arrays[f"first.{name}"] for name in Decisions._fields)
        learner.first = Decisions(*first)
        return learner
