"""Policies against environments: what they earn, what they regret, how long a decision takes."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata

from ggln.bandits.environments import Environment, Episode

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Policy(Protocol):
    """Chooses arms and learns from what they pay."""

    def select(self, context: FloatArray) -> int:
        """Return the arm to play in a context [features]."""

    def update(self, context: FloatArray, arm: int, reward: float) -> Any:
        """Learn what an arm paid."""


class Uniform:
    """Plays each arm as often as any other, and learns nothing."""

    def __init__(self, n_arms: int, random_state: int | None = None) -> None:
        self.n_arms = n_arms
        self.random = np.random.default_rng(random_state)

    def select(self, context: FloatArray) -> int:  # noqa: ARG002
        """Return any arm."""
        return int(self.random.integers(self.n_arms))

    def update(self, context: FloatArray, arm: int, reward: float) -> "Uniform":  # noqa: ARG002
        """Learn nothing."""
        return self


class Run(NamedTuple):
    """One policy in one episode."""

    arms: IntArray  #: [steps], what it played
    seconds: float  #: it took for all decisions and all learning


def play(policy: Policy, episode: Episode) -> Run:
    """Let a policy play an episode: it sees a context, chooses an arm, and learns what this arm paid."""
    arms = np.empty(len(episode.contexts), np.intp)
    start = time.perf_counter()
    for step, context in enumerate(episode.contexts):
        arm = int(policy.select(context))
        if not 0 <= arm < episode.n_arms:
            raise ValueError(f"the policy chose arm {arm} at step {step}, of 0 to {episode.n_arms - 1}")
        policy.update(context, arm, float(episode.rewards[step, arm]))
        arms[step] = arm
    return Run(arms, time.perf_counter() - start)


def earned(episode: Episode, arms: IntArray) -> FloatArray:
    """Return the rewards [steps] of the arms played."""
    return _chosen(episode.rewards, arms)


def regret(episode: Episode, arms: IntArray) -> FloatArray:
    """Return the cumulative regret [steps]: what the best arm pays on average, less what these do."""
    lost: FloatArray = np.cumsum(episode.expected.max(axis=1) - _chosen(episode.expected, arms))
    return lost


def oracle(episode: Episode) -> IntArray:
    """Return the arms [steps] of one who knows what each pays on average."""
    best: IntArray = episode.expected.argmax(axis=1)
    return best


def _chosen(values: FloatArray, arms: IntArray) -> FloatArray:
    return values[np.arange(len(arms)), arms]


def ranks(rewards: FloatArray) -> FloatArray:
    """Return the rank [policies, seeds] of each policy for each seed, 1 for the best; ties share theirs.

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([[3.0, 1.0], [2.0, 1.0]]))
    array([[1. , 1.5],
           [2. , 1.5]])
    """
    found: FloatArray = rankdata(-rewards, axis=0)
    return found


@dataclass(frozen=True, eq=False)
class Simulation:
    """Several policies in the same episodes."""

    policies: tuple[str, ...]
    rewards: FloatArray  #: [policies, seeds], cumulative
    regret: FloatArray  #: [policies, seeds, steps], cumulative
    microseconds: FloatArray  #: [policies], for a decision and learning what it paid, averaged

    @property
    def ranks(self) -> FloatArray:
        """Return the rank [policies, seeds] of each policy for each seed, 1 for the best."""
        return ranks(self.rewards)


def simulate(
    environment: Environment,
    policies: Mapping[str, Callable[[int], Policy]],
    seeds: int | Iterable[int] = 10,
    n_jobs: int | None = None,
) -> Simulation:
    """Let several policies play the same episodes.

    Parameters
    ----------
    environment : Environment
        Draws one episode for each seed.
    policies : mapping of names to functions
        Each takes a seed and returns a policy that has learnt nothing yet.
    seeds : int or iterable of int, default=10
        The seeds, or how many of them, from 0.
    n_jobs : int, optional
        Runs at a time, as in joblib; -1 for one on each core. The functions are sent to other processes.

    Returns
    -------
    Simulation
        Rewards, regret curves, ranks and microseconds; "oracle" and "uniform" come first.

    Examples
    --------
    >>> from ggln.bandits.environments import Wheel
    >>> class Stubborn:
    ...     def select(self, context):
    ...         return 4
    ...
    ...     def update(self, context, arm, reward):
    ...         return self
    >>> found = simulate(Wheel(steps=200), {"always the last": lambda seed: Stubborn()}, seeds=3)
    >>> found.policies
    ('oracle', 'uniform', 'always the last')
    >>> found.regret.shape
    (3, 3, 200)
    """
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not numbers:
        raise ValueError("seeds must name at least one seed")
    frame = {"oracle", "uniform"} & policies.keys()
    if frame:
        raise ValueError(f"policies must not be called {frame.pop()!r}: the simulator has one of that name")
    everyone: dict[str, Callable[[int], Policy] | None] = {
        "oracle": None,
        "uniform": lambda seed: Uniform(environment.n_arms, seed),
        **policies,
    }
    calls = (delayed(_run)(environment, factory, seed) for factory in everyone.values() for seed in numbers)
    runs = Parallel(n_jobs=n_jobs)(calls)
    totals, curves, seconds = (np.array(values) for values in zip(*runs, strict=True))
    shape = (len(everyone), len(numbers))
    return Simulation(
        tuple(everyone),
        totals.reshape(shape),
        curves.reshape(*shape, -1),
        1e6 * seconds.reshape(shape).mean(axis=1) / curves.shape[1],
    )


def _run(
    environment: Environment, factory: Callable[[int], Policy] | None, seed: int
) -> tuple[float, FloatArray, float]:
    episode = environment.episode(seed)
    arms, seconds = (oracle(episode), 0.0) if factory is None else play(factory(seed), episode)
    return float(earned(episode, arms).sum()), regret(episode, arms), seconds
