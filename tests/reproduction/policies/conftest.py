"""A bandit whose best arm is known."""

import numpy as np
import pytest

from ggln.reproduction.competitors.policies.batch import Batch


@pytest.fixture
def known_answer():
    """Three arms pay 0.5 + x0 / 2, 0.5 - x0 / 2 and 0.1, nearly without noise: the sign of x0 decides."""

    def draw(seeds, steps):
        episodes = []
        for seed in seeds:
            random = np.random.default_rng(seed)
            contexts = random.choice([-1.0, 1.0], size=(steps, 2)) * random.uniform(0.3, 1.0, (steps, 2))
            first = 0.5 + contexts[:, 0] / 2
            rewards = np.column_stack([first, 1.0 - first, np.full(steps, 0.1)])
            episodes.append((contexts, rewards + 0.01 * random.standard_normal(rewards.shape)))
        return Batch(tuple(seeds), *(np.stack(part) for part in zip(*episodes, strict=True)))

    return draw
