"""Many episodes in lock-step: at each step, one policy decides for all seeds at once."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ggln.bandits.environments import Episode
from ggln.reproduction.competitors.policies.constants import PULLS

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Batch(NamedTuple):
    """Episodes of equal length, one for each seed."""

    seeds: tuple[int, ...]
    contexts: FloatArray  # [seeds, steps, features]
    rewards: FloatArray  # [seeds, steps, arms]

    @property
    def n_arms(self) -> int:
        """Return how many arms there are."""
        return int(self.rewards.shape[2])


def stack(seeds: Sequence[int], episodes: Sequence[Episode]) -> Batch:
    """Return episodes as one batch."""
    contexts, rewards = (np.stack([episode[part] for episode in episodes]) for part in (0, 1))
    return Batch(tuple(seeds), contexts, rewards)


class BatchPolicy(Protocol):
    """A policy for each seed, all learning at the same time and none from another."""

    def select(self, contexts: FloatArray) -> IntArray:
        """Return the arms [seeds] to play in contexts [seeds, features]."""

    def update(self, contexts: FloatArray, arms: IntArray, rewards: FloatArray) -> None:
        """Learn what the arms [seeds] paid [seeds]."""


def play(policy: BatchPolicy, batch: Batch, pulls: int = PULLS) -> IntArray:
    """Return the arms [seeds, steps] that a policy plays, the first ones in turn."""
    seeds, steps, n_arms = batch.rewards.shape
    arms = np.empty((seeds, steps), np.intp)
    everyone = np.arange(seeds)
    for step in range(steps):
        contexts = batch.contexts[:, step]
        arms[:, step] = step % n_arms if step < pulls * n_arms else policy.select(contexts)
        policy.update(contexts, arms[:, step], batch.rewards[everyone, step, arms[:, step]])
    return arms
