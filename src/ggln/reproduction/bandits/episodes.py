"""Policies in the same episodes, seed by seed (section 6.3).

A job is one policy with one setting in some episodes of one task: a block of them for the competitors, which
play all in lock-step, and a single one for ours. What a seed's episode is depends on the seed alone.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln import presets
from ggln.bandits import GLCB, simulate
from ggln.bandits.environments import Episode
from ggln.reproduction.competitors.policies import all_policies, batch
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results
from ggln.reproduction.tasks import bandit_tasks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

OURS, CAPPED, PAPERS, TREES = "GLCB", "GLCB-capped", "GLCB-paper", "GLCB-ctree"
"""With its defaults, with networks by capped steps, with the paper's settings, and with the distribution of
rewards as a tree."""
OWN = (OURS, CAPPED, PAPERS, TREES)
FRAME = ("oracle", "uniform")
POLICIES = (*OWN, *all_policies.NAMES)
VERSION = "1"
VERSIONS = {OURS: "3", "BBAlphaDiv": "2", "BBB": "2", "NeuralLinear": "2"}
"""Of the jobs of policies that do not behave as they did in `VERSION`."""
POINTS = 50
"""Steps at which regret is kept, equally far apart, the last step among them."""


def settings(policy: str, binary: bool) -> dict[str, Any] | None:
    """Return the arguments of one of our policies, None for the others."""
    reward = "bernoulli" if binary else "gaussian"
    if policy == PAPERS:
        return presets.PAPER_BANDITS | {"reward": reward}
    if policy not in OWN:
        return None
    defaults = GLCB(n_arms=2, reward="ctree" if policy == TREES else reward).get_params()
    own = {
        name: value
        for name, value in defaults.items()
        if name not in ("n_arms", "arms", "random_state", "n_jobs")
    }
    return own | ({"step": "capped"} if policy == CAPPED else {})


def published_as(policy: str, binary: bool) -> str:
    """Return what the paper calls a policy: its B-GLN is a tree of networks where rewards are continuous."""
    if policy not in OWN:
        return policy
    return "B-GLN" if binary or policy == TREES else "G-GLN"


def follow(
    task: dict[str, Any],
    policy: str,
    setting: dict[str, Any] | None,
    seeds: Sequence[int],
    steps: int | None,
    data_dir: Path | None = None,
) -> Results:
    """Let one policy play the episodes of some seeds.

    Returns rewards [seeds], regret [seeds][POINTS], and the processor's seconds that all decisions took
    together: a clock on the wall would count what else the machine does.
    """
    environment = bandit_tasks.build(bandit_tasks.Task(**task), steps, data_dir)
    episodes = [environment.episode(seed) for seed in seeds]
    start = time.process_time()
    if policy in all_policies.NAMES:
        arms, seconds = all_policies.play(policy, batch.stack(seeds, episodes))
    else:
        arms = np.array([_alone(policy, setting, *pair) for pair in zip(seeds, episodes, strict=True)])
        seconds = time.process_time() - start
    length = len(episodes[0].contexts)
    kept = np.linspace(0, length - 1, min(POINTS, length)).round().astype(int)
    pairs = list(zip(episodes, arms, strict=True))
    return {
        "rewards": [simulate.earned(*pair).sum() for pair in pairs],
        "regret": [simulate.regret(*pair)[kept] for pair in pairs],
        "steps": length,
        "processor_seconds": seconds,
    }


def _alone(policy: str, setting: dict[str, Any] | None, seed: int, episode: Episode) -> IntArray:
    if policy == "oracle":
        return simulate.oracle(episode)
    if policy == "uniform":
        return simulate.play(simulate.Uniform(episode.n_arms, seed), episode).arms
    assert setting is not None
    own = GLCB(n_arms=episode.n_arms, **setting, random_state=seed, n_jobs=1)
    return simulate.play(own, episode).arms


def plan(
    names: Iterable[str], policies: Iterable[str], seeds: int, steps: int | None, data_dir: Path | None
) -> list[jobs.Job]:
    """Return the jobs, so ordered that a run that is stopped has about as many seeds of each policy."""
    wanted = []
    for name in names:
        task = bandit_tasks.TASKS[name]
        for policy in (*FRAME, *policies):
            size = 1 if policy in OWN else all_policies.BLOCK.get(policy, 100)
            for first in range(0, seeds, size):
                arguments = {
                    "task": task._asdict(),
                    "policy": policy,
                    "setting": settings(policy, task.binary),
                    "seeds": list(range(first, min(seeds, first + size))),
                    "steps": steps,
                }
                number = VERSIONS.get(policy, VERSION)
                wanted.append((first, jobs.Job(follow, arguments, number, {"data_dir": data_dir})))
    return [job for _, job in sorted(wanted, key=lambda pair: pair[0])]
