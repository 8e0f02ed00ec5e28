"""Policies of other libraries beside `GLCB()`, all with their defaults, in the same episodes.

Rewards are linear in the context, or are not, with Gaussian noise or binary. What counts is the regret: what
the best arm pays on average, less what the arms played do.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ggln.bandits import GLCB, simulate
from ggln.bandits.environments import Episode
from ggln.experiments import bandit_worlds as worlds
from ggln.experiments import jobs
from ggln.experiments.bandit_peer_models import LINEAR, policies
from ggln.experiments.bandit_tasks import check_names
from ggln.experiments.extras import require, version
from ggln.experiments.record import Results, machine

VERSION = "1"
LIBRARIES = ("mabwiser", "contextualbandits", "vowpalwabbit")
OURS = ("GLCB", "GLCB thompson", "GLCB capped")
DELAYS = (0, 50, 500)
"""Steps after which a reward comes at the latest; it comes after any number of steps up to that."""


def names_of(world: str) -> tuple[str, ...]:
    """Return the policies that play a world."""
    return tuple(policies(world.startswith("binary")))


def follow(world: str, policy: str, seed: int, steps: int) -> Results:
    """Let one policy play one episode; return its regret, and the processor's microseconds for a step."""
    episode = worlds.episode(world, seed, steps)
    player = policies(world.startswith("binary"))[policy](seed)
    start = time.process_time()
    with threadpool_limits(1):
        played = simulate.play(player, episode).arms
    spent = time.process_time() - start
    return {"regret": float(simulate.regret(episode, played)[-1]), "microseconds": 1e6 * spent / steps}


def play_late(policy: Any, episode: Episode, longest: int, seed: int) -> Any:
    """Let a policy play while each reward comes any number of steps later, up to the longest delay."""
    random, steps = np.random.default_rng([seed, longest]), len(episode.contexts)
    coming: list[list[int]] = [[] for _ in range(steps + longest + 1)]
    arms = np.empty(steps, np.intp)
    for step, context in enumerate(episode.contexts):
        arms[step] = policy.select(context)
        coming[step + int(random.integers(longest + 1))].append(step)
        for due in coming[step]:
            policy.update(episode.contexts[due], int(arms[due]), float(episode.rewards[due, arms[due]]))
    return arms


def wait(world: str, exploration: str, longest: int, seed: int, steps: int) -> Results:
    """Return the regret of `GLCB()` where rewards come late."""
    episode = worlds.episode(world, seed, steps)
    policy = GLCB(n_arms=worlds.ARMS, exploration=exploration, random_state=seed, n_jobs=1)
    played = play_late(policy, episode, longest, seed)
    return {"regret": float(simulate.regret(episode, played)[-1])}


def decide(arms: int, seed: int, rows: int) -> Results:
    """Return the median microseconds of a decision over arms after so many rewards, on the clock."""
    random = np.random.default_rng(seed)
    contexts = random.normal(size=(rows + 500, worlds.FEATURES))
    functions = [worlds.waves, worlds.products]
    mean = np.column_stack([functions[arm % 2](contexts, random) for arm in range(arms)])
    policy = GLCB(n_arms=arms, random_state=seed, n_jobs=1)
    played = random.integers(arms, size=rows)
    policy.partial_fit(
        contexts[:rows], played.tolist(), mean[np.arange(rows), played] + random.normal(size=rows)
    )
    spent = []
    for context in contexts[rows:]:
        start = time.perf_counter()
        policy.select(context)
        spent.append(time.perf_counter() - start)
    return {"microseconds": 1e6 * float(np.median(spent))}


def run(
    names: Sequence[str] = worlds.WORLDS,
    seeds: int = 5,
    steps: int = worlds.STEPS,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
) -> Results:
    """Let all policies play some worlds, ours with late rewards as well, and time a decision over 8 arms."""
    check_names(names, worlds.WORLDS, "world")
    for library in LIBRARIES:
        require(library)
    wanted = [
        jobs.Job(follow, {"world": world, "policy": policy, "seed": seed, "steps": steps}, VERSION)
        for seed in range(seeds)
        for world in names
        for policy in names_of(world)
    ]
    late = [
        jobs.Job(
            wait,
            {"world": "products", "exploration": way, "longest": longest, "seed": seed, "steps": steps},
            VERSION,
        )
        for seed in range(seeds)
        for way in ("ucb", "thompson")
        for longest in DELAYS
    ]
    timed = jobs.Job(decide, {"arms": 8, "seed": 0, "rows": steps}, VERSION)
    found = jobs.run([*wanted, *late, timed], store, n_jobs, "episodes")
    played = list(zip(wanted, found, strict=False))
    waited = list(zip(late, found[len(wanted) :], strict=False))
    return {
        "experiment": "bandit-peers",
        "steps": steps,
        "seeds": seeds,
        "machine": machine()
        | {name: value for library in LIBRARIES for name, value in version(library).items()},
        "worlds": {world: _world(world, played) for world in names},
        "late": {
            way: {
                str(longest): _mean(
                    [
                        r["regret"]
                        for job, r in waited
                        if (job.arguments["exploration"], job.arguments["longest"]) == (way, longest)
                    ]
                )
                for longest in DELAYS
            }
            for way in ("ucb", "thompson")
        },
        "decision_microseconds": found[-1]["microseconds"],
    }


def _world(world: str, played: list[tuple[jobs.Job, Results]]) -> Results:
    """Return regrets and times of all policies in a world, and ours over the best of the others."""
    lines = {}
    for policy in names_of(world):
        own = [r for job, r in played if (job.arguments["world"], job.arguments["policy"]) == (world, policy)]
        regrets = np.array([result["regret"] for result in own])
        error = regrets.std(ddof=1) / np.sqrt(len(regrets)) if len(regrets) > 1 else 0.0
        spent = float(np.median([result["microseconds"] for result in own]))
        lines[policy] = {"regret": float(regrets.mean()), "error": float(error), "microseconds": spent}
    rivals = [policy for policy in lines if policy not in OURS]
    if world == "linear":
        rivals = list(LINEAR)
    best = min(rivals, key=lambda policy: lines[policy]["regret"])
    return {"policies": lines, "best_other": best, "ratio": lines["GLCB"]["regret"] / lines[best]["regret"]}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    """Return the columns, and every policy's regret in each world."""
    columns = dict.fromkeys(results["worlds"], ".0f")
    names = dict.fromkeys(policy for own in results["worlds"].values() for policy in own["policies"])
    lines = {
        policy: {
            world: own["policies"][policy]["regret"]
            for world, own in results["worlds"].items()
            if policy in own["policies"]
        }
        for policy in names
    }
    lines["GLCB / best of others"] = {world: own["ratio"] for world, own in results["worlds"].items()}
    return columns, lines
