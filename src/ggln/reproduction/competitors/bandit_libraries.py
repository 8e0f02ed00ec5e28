"""Policies of other libraries behind one interface, each with its defaults."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ggln.bandits import GLCB
from ggln.reproduction.tasks.bandit_worlds import ARMS

FloatArray = NDArray[np.float64]

FEWEST, GROWTH = 20, 0.1
"""Policies of contextualbandits that cannot go on are fitted anew from so many rows on, when these have grown
by this part."""


class MabWiser:
    """A policy of MABWiser, which learns reward by reward."""

    def __init__(self, seed: int, learning: str, options: dict[str, Any], neighbours: str = "") -> None:
        from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy

        around = getattr(NeighborhoodPolicy, neighbours)() if neighbours else None
        self.policy = MAB(list(range(ARMS)), getattr(LearningPolicy, learning)(**options), around, seed=seed)
        self.random, self.known = np.random.default_rng(seed), False

    def select(self, context: FloatArray) -> int:
        """Return the arm to play."""
        return int(self.policy.predict([context])) if self.known else int(self.random.integers(ARMS))

    def update(self, context: FloatArray, arm: int, reward: float) -> None:
        """Learn what it paid."""
        learn = self.policy.partial_fit if self.known else self.policy.fit
        learn([arm], [reward], [context])
        self.known = True


class ContextualBandits:
    """A policy of contextualbandits, made for rewards of 0 and 1."""

    def __init__(self, seed: int, name: str) -> None:
        from contextualbandits import online

        options: dict[str, Any] = {"nchoices": ARMS, "random_state": seed + 1}  # 0 is no seed there
        threads = ("njobs_arms", "njobs_samples") if name.startswith("Bootstrapped") else ("njobs",)
        options |= dict.fromkeys(threads, 1)
        if name not in CLOSED:
            options["base_algorithm"] = LogisticRegression()
        self.policy, self.goes_on = getattr(online, name)(**options), name in GOING_ON
        self.rows: list[tuple[FloatArray, int, float]] = []
        self.due, self.known = FEWEST, False
        self.random = np.random.default_rng(seed)

    def select(self, context: FloatArray) -> int:
        """Return the arm to play."""
        if not self.known:
            return int(self.random.integers(ARMS))
        return int(np.ravel(self.policy.predict(context[None]))[0])

    def update(self, context: FloatArray, arm: int, reward: float) -> None:
        """Learn what it paid."""
        row = context[None], np.array([arm]), np.array([reward])
        if self.goes_on:
            self.policy.partial_fit(*row)
            self.known = True
            return
        self.rows.append((context, arm, reward))
        if len(self.rows) >= self.due:
            contexts, arms, rewards = zip(*self.rows, strict=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.policy.fit(np.array(contexts), np.array(arms), np.array(rewards))
            self.due, self.known = int(len(self.rows) * (1.0 + GROWTH)), True


class VowpalWabbit:
    """A policy of Vowpal Wabbit, which draws from the probabilities that it gives."""

    def __init__(self, seed: int, options: str) -> None:
        import vowpalwabbit

        crossed = "--interactions ua" + (" --interactions uua" if "quadratic" in options else "")
        options = options.replace("quadratic", "").strip()
        self.workspace = vowpalwabbit.Workspace(
            f"--cb_explore_adf {options} {crossed} --quiet --random_seed {seed + 1}"
        )
        self.random = np.random.default_rng(seed)
        self.chances: FloatArray = np.zeros(ARMS)

    def _lines(self, context: FloatArray, arm: int = -1, cost: float = 0.0) -> list[str]:
        shared = "shared |u " + " ".join(f"f{i}:{value:.6g}" for i, value in enumerate(context))
        label = f"0:{cost:.6g}:{max(self.chances[arm], 1e-6):.6g} " if arm >= 0 else ""
        return [shared, *(f"{label if a == arm else ''}|a arm{a}" for a in range(ARMS))]

    def select(self, context: FloatArray) -> int:
        """Return the arm to play."""
        chances = np.array(self.workspace.predict(self._lines(context)))
        self.chances = chances / chances.sum()
        return int(self.random.choice(ARMS, p=self.chances))

    def update(self, context: FloatArray, arm: int, reward: float) -> None:
        """Learn what it paid; costs are rewards with the other sign."""
        self.workspace.learn(self._lines(context, arm, -reward))


def _ours(binary: bool, **options: Any) -> Callable[[int], Any]:
    reward = "bernoulli" if binary else "gaussian"
    return lambda seed: GLCB(n_arms=ARMS, reward=reward, random_state=seed, n_jobs=1, **options)


def _mabwiser(learning: str, neighbours: str = "", **options: Any) -> Callable[[int], Any]:
    return lambda seed: MabWiser(seed, learning, options, neighbours)


def _vw(options: str) -> Callable[[int], Any]:
    return lambda seed: VowpalWabbit(seed, options)


def _contextual(name: str) -> Callable[[int], Any]:
    return lambda seed: ContextualBandits(seed, name)


GOING_ON = ("LinUCB", "LinTS")
CLOSED = (*GOING_ON, "LogisticUCB")
CONTEXTUAL = (
    *CLOSED,
    "BootstrappedUCB",
    "BootstrappedTS",
    "AdaptiveGreedy",
    "EpsilonGreedy",
    "SoftmaxExplorer",
)
"""Policies of contextualbandits: that learn reward by reward, that need no other model, and all."""
VW_WAYS = ("squarecb", "epsilon 0.1", "bag 5", "cover 3", "regcbopt")
LINEAR = ("MABWiser LinUCB", "MABWiser LinTS", "MABWiser LinGreedy")
"""Policies that know that rewards are linear."""


def policies(binary: bool) -> dict[str, Callable[[int], Any]]:
    """Return all policies for binary or continuous rewards; each is made of a seed."""
    found: dict[str, Callable[[int], Any]] = {
        "GLCB": _ours(binary),
        "GLCB thompson": _ours(binary, exploration="thompson"),
        "GLCB capped": _ours(binary, step="capped"),
        "MABWiser LinUCB": _mabwiser("LinUCB"),
        "MABWiser LinTS": _mabwiser("LinTS"),
        "MABWiser LinGreedy": _mabwiser("LinGreedy"),
        "MABWiser UCB1, nearest": _mabwiser("UCB1", "KNearest"),
        "MABWiser trees": _mabwiser("UCB1", "TreeBandit"),
    }
    for way in VW_WAYS:
        found[f"VW {way}"] = _vw(f"--{way}")
        found[f"VW {way}, quadratic"] = _vw(f"--{way} quadratic")
    if binary:
        found |= {f"contextualbandits {name}": _contextual(name) for name in CONTEXTUAL}
    return found
