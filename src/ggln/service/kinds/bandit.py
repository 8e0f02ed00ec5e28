"""Bandits: an arm, the probability of playing it, and what all arms are expected to pay."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.bandits.glcb import GLCB
from ggln.engine.stream import next_half
from ggln.service import checks
from ggln.service.errors import bad_request
from ggln.service.figures import Figures
from ggln.service.kinds.protocol import Entry, made
from ggln.service.spec import Spec

FloatArray = NDArray[np.float64]
SEQ, ARM, PROPENSITY, REWARD, EXPECTED, CHANCES = range(6)
"""The fields of recent events; chances are those of a model that only watches."""


def drawn(chances: FloatArray, event: str) -> int:
    """Return the number of an arm, drawn by the id of the event: whoever asks again gets the same."""
    digest = hashlib.sha256(event.encode()).digest()
    place = int.from_bytes(digest[:7], "big") / 2**56
    return min(int(np.searchsorted(np.cumsum(chances), place, side="right")), len(chances) - 1)


class Bandit:
    """How a bandit is served."""

    ask, tell, gaps, estimator = "decide", "reward", False, "GLCB"

    def new(self, spec: Spec) -> GLCB:
        """Return a policy that has learnt nothing; it draws its decisions, so that others can be judged."""
        settings = {"exploration": "thompson", **spec.settings}
        policy: GLCB = made(GLCB, {k: v for k, v in settings.items() if k != "arms"}, arms=list(spec.labels))
        try:
            policy._begin()
            if spec.default_reward is not None:
                policy._rewards("default_reward", [spec.default_reward], 1)
        except (ValueError, TypeError) as error:
            raise bad_request(str(error)) from error
        return policy

    def truth(self, value: Any, spec: Spec) -> float:
        """Return a reward."""
        reward = checks.number(value, "reward")
        kind = spec.settings.get("reward", "gaussian")
        low, high = spec.settings.get("reward_range") or (0.0, 1.0)
        if kind != "gaussian" and not low <= reward <= high:
            raise bad_request(f"reward must be in [{low:g}, {high:g}] with reward={kind!r}, got {reward:g}")
        return reward

    def answers(self, estimator: Any, rows: FloatArray, events: Sequence[str]) -> list[dict[str, Any]]:
        """Return a decision for each row, its probability and what all arms are expected to pay."""
        chances = estimator.propensities(rows)
        expected = estimator.predict_expectations(rows).tolist()
        found = []
        for event, own, pays in zip(events, chances, expected, strict=True):
            number = drawn(own, event)
            found.append(
                {
                    "event": event,
                    "arm": estimator.arms_[number],
                    "propensity": float(own[number]),
                    "expectations": dict(zip(map(str, estimator.arms_), pays, strict=True)),
                }
            )
        return found

    def figures(self, spec: Spec) -> Figures:
        """Return figures without any decision; bins are the arms."""
        return Figures(("reward", "uniform"), len(spec.labels), 2 + len(spec.labels))

    def learn(self, estimator: Any, spec: Spec, entries: Sequence[Entry], figures: Figures) -> None:
        """Learn rewards, and note decisions that wait for theirs, one after the other."""
        watching = spec.watches is not None
        for entry in entries:
            if entry.kind == "decide":
                if not watching:
                    estimator.decided(entry.body)
            else:
                self._learn(estimator, entry, figures, watching)

    def takes_long(self, estimator: Any, entries: Sequence[Entry]) -> bool:
        """Return whether an arm's posteriors are solved afresh meanwhile."""
        plays = getattr(estimator._learner, "plays", None)
        arms = Counter(entry.body["arm"] for entry in entries if entry.kind != "decide")
        return plays is None or any(
            plays[estimator.arms_.index(arm)] + count >= next_half(int(plays[estimator.arms_.index(arm)]))
            for arm, count in arms.items()
        )

    def _learn(self, estimator: Any, entry: Entry, figures: Figures, watching: bool) -> None:
        arm, reward, propensity, expected = (
            entry.body[name] for name in ("arm", "reward", "propensity", "expectations")
        )
        chances = None
        if watching:
            chances = estimator.propensities(entry.features).tolist()
            expected = estimator.predict_expectations(entry.features).tolist()
        number = estimator.arms_.index(arm)
        estimator.update(entry.features, arm, reward)
        figures.rows += 1
        uniform = reward / (propensity * len(estimator.arms_))
        played = [float(i == number) for i in range(len(estimator.arms_))]
        recent = [entry.seq, number, propensity, reward, expected, chances]
        figures.add((reward, uniform), (reward, uniform, *played), number, False, recent)

    def scores(self, figures: Figures) -> dict[str, Any]:
        """Return the mean reward, and an estimate of that of playing arms evenly."""
        return {"reward": figures.mean("reward"), "uniform_reward": figures.mean("uniform")}

    def loss(self, recent: Sequence[Any]) -> float:
        """Return the squared error of what the arm was expected to pay."""
        return float((recent[REWARD] - recent[EXPECTED][recent[ARM]]) ** 2)

    def live(self, estimator: Any, figures: Figures) -> dict[str, Any]:
        """Return how often each arm was played."""
        names = map(str, estimator.arms_)
        return {"arms": dict(zip(names, (count for count, _ in figures.bins), strict=True))}

    def outputs(self, estimator: Any, rows: FloatArray) -> FloatArray | None:
        """Return what arms are expected to pay."""
        if getattr(estimator, "n_features_in_", None) is None:
            return None
        expected: FloatArray = estimator.predict_expectations(rows)
        return expected

    def fits(self, estimator: Any, spec: Spec) -> None:
        """Refuse a policy of other arms."""
        if estimator.arms_ != spec.labels:
            raise bad_request(f"the model must have the arms {checks.shown(spec.labels)}")
