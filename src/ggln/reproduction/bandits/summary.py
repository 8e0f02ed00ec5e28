"""Means, ranks, regret and times of all finished episodes."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.bandits import simulate
from ggln.extras import version
from ggln.reproduction.bandits import episodes
from ggln.reproduction.bandits.episodes import FRAME, OWN, POINTS, POLICIES, VERSION, VERSIONS
from ggln.reproduction.competitors.policies import all_policies, constants
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, PAPER, TASKS

FloatArray = NDArray[np.float64]
LEAST_RANKED = 10
"""Seeds that a policy needs for a rank."""


class Found(NamedTuple):
    """All finished episodes of a policy in a task."""

    rewards: dict[int, float]  # by seed
    regret: dict[int, list[float]]
    microseconds: list[float]  # of the processor for a decision, job by job
    steps: int


def finished(store: Path, steps: int | None) -> dict[str, dict[str, Found]]:
    """Return what is in the store, by task and policy, of today's settings."""
    known = {name: task._asdict() for name, task in TASKS.items()}
    found: dict[str, dict[str, Found]] = {name: {} for name in known}
    known_versions = sorted({VERSION, *VERSIONS.values()})
    every = [
        (number, *job) for number in known_versions for job in jobs.stored(episodes.follow, number, store)
    ]
    for number, arguments, result in every:
        policy = arguments["policy"]
        name = next((name for name, task in known.items() if task == arguments["task"]), None)
        if name is None or arguments["steps"] != steps or policy not in (*FRAME, *POLICIES):
            continue
        if number != VERSIONS.get(policy, VERSION):
            continue
        current = episodes.settings(policy, TASKS[name].binary)
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
    neural = any(set(own) & set(all_policies.NEURAL) for own in found.values())
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
    if not set(CONTINUOUS) <= found.keys():
        return {}
    lines = [found[name]["policies"] for name in CONTINUOUS]
    everywhere = [policy for policy in POLICIES if all("rank" in own.get(policy, {}) for own in lines)]
    return {policy: float(np.mean([own[policy]["rank"] for own in lines])) for policy in everywhere}


def _task(name: str, policies: dict[str, Found], published: bool) -> Results:
    task = TASKS[name]
    paper = PAPER.get(task.column, {}) if published else {}
    ranks, common = _ranks({policy: own.rewards for policy, own in policies.items() if policy not in FRAME})
    lines = {}
    for policy in (*FRAME, *POLICIES):
        if policy not in policies:
            continue
        own = policies[policy]
        known = paper.get(episodes.published_as(policy, task.binary))
        lines[policy] = _line(own) | ({"rank": ranks[policy]} if policy in ranks else {})
        if known:
            lines[policy] |= {"paper": known[0], "paper_error": known[1]}
    length = next(iter(policies.values())).steps
    kept = np.linspace(0, length - 1, min(POINTS, length)).round().astype(int) + 1
    return {
        "bandit": task._asdict(),
        "settings": {policy: episodes.settings(policy, task.binary) for policy in OWN if policy in lines},
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
