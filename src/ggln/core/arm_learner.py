"""Arms in the user's units: contexts and rewards are standardised, gates are drawn from the first contexts.

As a stream's learner does, it starts without knowing any scale: whenever the number of decisions learnt reaches
a power of two up to `constants.WARMUP_ROWS`, scales and gates are drawn afresh from all decisions so far and
these are learnt again. In between, and afterwards, scales stand still: a policy that gets better sees other
rewards, and units that followed them would devalue what arms learnt that are played no more.
"""

from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core import constants
from ggln.core.arms import Arms, Forecast
from ggln.core.build import Settings, draw_gates, settings_from
from ggln.core.ensemble import blocks
from ggln.core.gating import Gates
from ggln.core.scaling import Scaler
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]


class Decisions(NamedTuple):
    """Contexts, the arms that were played, and what they gave."""

    contexts: FloatArray  # [n, d]
    arms: NDArray[np.int64]  # [n]
    rewards: FloatArray  # [n, 1]
    paces: FloatArray  # [n]  factors on the step

    def cut(self, start: int, stop: int) -> "Decisions":
        """Return some of them."""
        return Decisions(*(array[start:stop] for array in self))

    def join(self, others: "Decisions") -> "Decisions":
        """Return these and then the others."""
        return Decisions(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


class ArmLearner:
    """Arms that learn decisions in the user's units.

    Parameters
    ----------
    settings
        Of one arm's networks.
    arms
        How many arms.
    reward_range
        What is mapped to [0, 1]; None standardises rewards.
    """

    def __init__(self, settings: Settings, arms: int, reward_range: tuple[float, float] | None) -> None:
        self.settings, self.reward_range = settings, reward_range
        limit = constants.TARGET_LIMIT * settings.bias_range
        self.inputs = Scaler(settings.features, constants.INPUT_LIMIT, bool(settings.standardize))
        self.targets = Scaler(1, limit, True)
        if reward_range is not None:
            low, high = reward_range
            self.targets.state[:, 0] = (
                1.0,
                low,
                (high - low) ** 2,
            )  # a mean of `low`, a deviation of high - low
        nothing = np.empty((0, settings.features))
        self.arms = Arms(settings, draw_gates(settings, nothing), arms)
        self.rows = 0
        self.first = Decisions(nothing, np.empty(0, np.int64), np.empty((0, 1)), np.empty(0))
        self.warming = settings.needs_data or reward_range is None

    # Learning ------------------------------------------------------------------------------------------

    def learn(self, decisions: Decisions, threads: Threads) -> None:
        """Learn decisions in their order. It makes no difference how they are cut into calls."""
        start, rows = 0, decisions.arms.size
        while start < rows:
            stop = min(start + constants.BLOCK_ROWS, rows)
            if self.warming:
                stop = min(stop, start + (1 << self.rows.bit_length()) - self.rows)
            some = decisions.cut(start, stop)
            self._learn(some, threads)
            self._seen(some, threads)
            start = stop

    def _learn(self, decisions: Decisions, threads: Threads) -> None:
        """Learn a block with the scales as they are."""
        side = self.inputs.transform(decisions.contexts)
        goals = self.targets.transform(decisions.rewards).astype(self.settings.dtype)
        if decisions.arms.size > 1 and (decisions.paces == 1.0).all():
            self.arms.learn(decisions.arms, side, goals, threads)
            return
        for t, (arm, pace) in enumerate(zip(decisions.arms.tolist(), decisions.paces.tolist(), strict=True)):
            self.arms.learn_one(arm, side[t : t + 1], goals[t : t + 1], pace)

    def _seen(self, decisions: Decisions, threads: Threads) -> None:
        """Count decisions; draw the networks afresh when their number is a power of two."""
        due = 1 << self.rows.bit_length()
        self.rows += decisions.arms.size
        if not self.warming:
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
        self._learn(self.first, threads)

    @property
    def plays(self) -> NDArray[np.int64]:
        """Return how often each arm was played."""
        return self.arms.plays

    # Predicting ----------------------------------------------------------------------------------------

    def forecast(self, contexts: FloatArray) -> Forecast:
        """Return what all arms predict for contexts [n, d], in standardised units."""
        side = self.inputs.transform(contexts)
        if side.shape[0] == 1:
            return self.arms.forecast(side)
        parts = [self.arms.forecast(side[slice(*cut)]) for cut in blocks(side.shape[0], constants.BLOCK_ROWS)]
        return Forecast(*(np.concatenate(values, axis=1) for values in zip(*parts, strict=True)))

    def units(self) -> tuple[float, float]:
        """Return shift and scale of rewards: what standardised ones are moved to and multiplied by."""
        shift, scale = self.targets.shift_and_scale()
        return float(shift[0]), float(scale[0])

    # Arms and state ------------------------------------------------------------------------------------

    def add(self) -> None:
        """Append an arm that knows nothing."""
        self.arms = self.arms.with_arms(list(range(self.arms.arms)), 1)

    def remove(self, arm: int) -> None:
        """Forget an arm and its decisions; the numbers of those after it become one less."""
        self.arms = self.arms.with_arms([a for a in range(self.arms.arms) if a != arm], 0)
        others = self.first.arms != arm
        self.first = Decisions(*(array[others] for array in self.first))
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
        arrays |= {f"first.{name}": array for name, array in self.first._asdict().items()}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "ArmLearner":
        """Return the learner that `state` described."""
        span = values["reward_range"]
        learner = cls(settings_from(values["settings"]), 1, None if span is None else (span[0], span[1]))
        gates = Gates(arrays["gates.codes"], arrays["gates.offsets"], arrays["gates.normals"])
        learner.arms = Arms(learner.settings, gates, values["arms"])
        learner.arms.restore(arrays)
        learner.inputs.state[:], learner.targets.state[:] = arrays["scaler.inputs"], arrays["scaler.targets"]
        learner.rows, learner.warming = values["rows"], values["warming"]
        learner.first = Decisions(*(arrays[f"first.{name}"] for name in Decisions._fields))
        return learner
