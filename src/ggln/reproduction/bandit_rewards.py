"""How the paper may have scaled rewards: LinFullPost's published totals, and what it earns when clipped."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ggln.reproduction.bandits import VERSION, follow
from ggln.reproduction.competitors.policies import competitors
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks import bandit_tasks as tasks

POLICY = "LinFullPost"
PERCENTILES = (0.0, 5.0, 10.0, 11.0, 15.0, 18.0, 20.0, 25.0)
DELTAS = (0.5, 0.9, 0.95, 0.99)


def bandits() -> dict[str, tasks.Task]:
    """Return the bandits whose scaling is in question, the wheel with several deltas."""
    wheels = {f"wheel, delta {delta:g}": tasks.Task("wheel", "wheel", 0.0, delta) for delta in DELTAS}
    return {name: tasks.Task(name, name) for name in ("financial", "jester")} | wheels


def run(
    seeds: int = 50,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    steps: int | None = None,
    percentiles: Sequence[float] | None = None,
) -> Results:
    """Return what LinFullPost earns for each bandit and percentile, by default `PERCENTILES`."""
    percentiles = PERCENTILES if percentiles is None else percentiles
    size = competitors.BLOCK[POLICY]
    blocks = [list(range(first, min(seeds, first + size))) for first in range(0, seeds, size)]
    wanted = [
        jobs.Job(
            follow,
            {
                "task": task._replace(percentile=percentile)._asdict(),
                "policy": POLICY,
                "setting": None,
                "seeds": block,
                "steps": steps,
            },
            VERSION,
            {"data_dir": data_dir},
        )
        for task in bandits().values()
        for percentile in percentiles
        for block in blocks
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "episodes"))
    curves = {}
    for name, task in bandits().items():
        rewards = [[x for _ in blocks for x in next(found)["rewards"]] for _ in percentiles]
        curves[name] = {
            "paper": tasks.PAPER[task.column][POLICY][0],
            "reward": np.mean(rewards, axis=1),
            "error": np.std(rewards, axis=1) / np.sqrt(seeds),
        }
    return {
        "experiment": "bandit-rewards",
        "policy": POLICY,
        "percentiles": list(percentiles),
        "seeds": seeds,
        "steps": steps,
        "machine": machine(),
        "bandits": curves,
    }


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    """Return the columns, and a line for each bandit."""
    titles = [f"{percentile:g}" for percentile in results["percentiles"]]
    rows = {
        name: {"paper": own["paper"], **dict(zip(titles, own["reward"], strict=True))}
        for name, own in results["bandits"].items()
    }
    return dict.fromkeys(["paper", *titles], ".0f"), rows
