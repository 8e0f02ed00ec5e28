"""Contextual bandits (section 6.3, Tables 2 and 3): policies in the same episodes, seed by seed.

A job is one policy with one setting in some episodes of one task: a block of them for the competitors, which
play all in lock-step, and a single one for ours. What a seed's episode is depends on the seed alone.
"""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln import presets
from ggln.bandits import GLCB, simulate
from ggln.bandits.environments import Episode
from ggln.extras import require, version
from ggln.reproduction.competitors.policies import batch, competitors, constants
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks import bandit_tasks as tasks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

OURS, CAPPED, PAPERS, TREES = "GLCB", "GLCB-capped", "GLCB-paper", "GLCB-ctree"
"""With its defaults, with networks by capped steps, with the paper's settings, and with the distribution of
rewards as a tree."""
OWN = (OURS, CAPPED, PAPERS, TREES)
FRAME = ("oracle", "uniform")
POLICIES = (*OWN, *competitors.NAMES)
VERSION = "1"
VERSIONS = {"BBAlphaDiv": "2", "BBB": "2", "NeuralLinear": "2"}
"""Of the jobs of policies that do not behave as they did in `VERSION`."""
POINTS = 50
"""Steps at which regret is kept, equally far apart, the last step among them."""
LEAST_RANKED = 10
"""Seeds that a policy needs for a rank."""


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
    environment = tasks.build(tasks.Task(**task), steps, data_dir)
    episodes = [environment.episode(seed) for seed in seeds]
    start = time.process_time()
    if policy in competitors.NAMES:
        arms, seconds = competitors.play(policy, batch.stack(seeds, episodes))
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
        task = tasks.TASKS[name]
        for policy in (*FRAME, *policies):
            size = 1 if policy in OWN else competitors.BLOCK.get(policy, 100)
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


def run(
    names: Sequence[str] = tasks.CONTINUOUS,
    policies: Sequence[str] = POLICIES,
    seeds: int = 100,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    steps: int | None = None,
) -> Results:
    """Let policies play tasks, and sum up what is finished of these tasks, whichever run it belongs to."""
    tasks.check_names(names, tasks.TASKS, "bandit")
    tasks.check_names(policies, POLICIES, "policy")
    if set(policies) & set(competitors.NEURAL):
        require("jax")  # what is missing is missed before any job starts
        require("optax")
    for name in names:
        tasks.build(tasks.TASKS[name], steps, data_dir)
    jobs.run(plan(names, policies, seeds, steps, data_dir), store, n_jobs, "episodes")
    return summary(store, steps)


class Found(NamedTuple):
    """All finished episodes of a policy in a task."""

    rewards: dict[int, float]  # by seed
    regret: dict[int, list[float]]
    microseconds: list[float]  # of the processor for a decision, job by job
    steps: int


def finished(store: Path, steps: int | None) -> dict[str, dict[str, Found]]:
    """Return what is in the store, by task and policy, of today's settings."""
    known = {name: task._asdict() for name, task in tasks.TASKS.items()}
    found: dict[str, dict[str, Found]] = {name: {} for name in known}
    known_versions = sorted({VERSION, *VERSIONS.values()})
    every = [(number, *job) for number in known_versions for job in jobs.stored(follow, number, store)]
    for number, arguments, result in every:
        policy = arguments["policy"]
        name = next((name for name, task in known.items() if task == arguments["task"]), None)
        if name is None or arguments["steps"] != steps or policy not in (*FRAME, *POLICIES):
            continue
        if number != VERSIONS.get(policy, VERSION):
            continue
        current = settings(policy, tasks.TASKS[name].binary)
        if arguments["setting"] != json.loads(json.dumps(current)):
            continue
        own = found[name].setdefault(policy, Found({}, {}, [], result["steps"]))
        own.rewards.update(zip(arguments["seeds"], result["rewards"], strict=True))
        own.regret.update(zip(arguments["seeds"], result["regret"], strict=True))
        if "processor_seconds" in result:  # jobs of earlier versions had the time of a clock on the wall
            decisions = len(arguments["seeds"]) * result["steps"]
            own.microseconds.append(1e6 * result["processor_seconds"] / decisions)
    return {name: policies for name, policies in found.items() if policies}


def summary(store: Path, steps: int | None = None) -> Results:
    """Return means, standard errors, ranks, regret curves and times of all finished episodes."""
    found = finished(store, steps)
    neural = any(set(own) & set(competitors.NEURAL) for own in found.values())
    results: Results = {
        "experiment": "bandits",
        "steps": steps,
        "machine": machine(),
        "competitors": constants.all_of_them(),
        "tasks": {name: _task(name, policies, published=steps is None) for name, policies in found.items()},
    }
    if neural:
        results["machine"] |= version("jax") | version("optax")
    results["mean_rank"] = _mean_ranks(results["tasks"])
    return results


def _mean_ranks(found: Results) -> dict[str, float]:
    """Return the mean of the ranks in the three tasks of Table 2, of policies that have one in each."""
    if not set(tasks.CONTINUOUS) <= found.keys():
        return {}
    lines = [found[name]["policies"] for name in tasks.CONTINUOUS]
    everywhere = [policy for policy in POLICIES if all("rank" in own.get(policy, {}) for own in lines)]
    return {policy: float(np.mean([own[policy]["rank"] for own in lines])) for policy in everywhere}


def _task(name: str, policies: dict[str, Found], published: bool) -> Results:
    task = tasks.TASKS[name]
    paper = tasks.PAPER.get(task.column, {}) if published else {}
    ranks, common = _ranks({policy: own.rewards for policy, own in policies.items() if policy not in FRAME})
    lines = {}
    for policy in (*FRAME, *POLICIES):
        if policy not in policies:
            continue
        own = policies[policy]
        known = paper.get(published_as(policy, task.binary))
        lines[policy] = _line(own) | ({"rank": ranks[policy]} if policy in ranks else {})
        if known:
            lines[policy] |= {"paper": known[0], "paper_error": known[1]}
    length = next(iter(policies.values())).steps
    kept = np.linspace(0, length - 1, min(POINTS, length)).round().astype(int) + 1
    return {
        "bandit": task._asdict(),
        "settings": {policy: settings(policy, task.binary) for policy in OWN if policy in lines},
        "steps": length,
        "seeds_ranked": common,
        "policies": lines,
        "published": {policy: list(values) for policy, values in paper.items()},
        "curve_steps": kept,
    }


def _line(own: Found) -> Results:
    rewards, curves = np.array(list(own.rewards.values())), np.array(list(own.regret.values()))
    return {
        "reward": rewards.mean(),
        "error": _error(rewards),
        "seeds": len(rewards),
        # the first job of a worker may compile kernels
        "microseconds": np.median(own.microseconds) if own.microseconds else None,
        "regret": curves.mean(axis=0),
        "regret_error": _error(curves),
    }


def _error(values: FloatArray) -> Any:
    """Return the standard error over the first axis; 0 for a single value."""
    count = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else 0.0 * values[0]


def _ranks(rewards: dict[str, dict[int, float]]) -> tuple[dict[str, float], int]:
    """Return the mean rank of each policy over the seeds that all of them have, and how many those are.

    A policy with fewer than `LEAST_RANKED` seeds has no rank, if others have more.
    """
    least = min(LEAST_RANKED, max(map(len, rewards.values()), default=0))
    ranked = {policy: own for policy, own in rewards.items() if len(own) >= least}
    common = sorted(set.intersection(*(set(own) for own in ranked.values()))) if ranked else []
    if not common:
        return {}, 0
    table = np.array([[own[seed] for seed in common] for own in ranked.values()])
    return dict(zip(ranked, simulate.ranks(table).mean(axis=1).tolist(), strict=True)), len(common)
