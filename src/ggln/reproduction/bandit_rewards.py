"""How rewards are scaled: what LinFullPost earns for each percentile of clipping, beside the paper's.

Example: ggln reproduce bandit-rewards --seeds 10 --n-jobs -1
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from ggln.reproduction.bandits.episodes import VERSION, follow
from ggln.reproduction.competitors.policies import all_policies
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, DataDir, Option, Steps, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks import bandit_tasks as tasks

POLICY = "LinFullPost"
PERCENTILES = (0.0, 5.0, 10.0, 11.0, 15.0, 18.0, 20.0, 25.0)
DELTAS = (0.5, 0.9, 0.95, 0.99)


def bandits() -> dict[str, tasks.Task]:
    """Return the bandits whose scaling is in question, the wheel with several deltas."""
    wheels = {f"wheel, delta {delta:g}": tasks.Task("wheel", "wheel", 0.0, delta) for delta in DELTAS}
    return {name: tasks.Task(name, name) for name in ("financial", "jester")} | wheels


def run(
    seeds: Annotated[int, Option("Episodes of each bandit and scaling.", least=1)] = 50,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    steps: Steps = None,
    percentiles: Sequence[float] | None = None,
) -> Results:
    """Return what LinFullPost earns for each bandit and percentile, by default `PERCENTILES`."""
    percentiles = PERCENTILES if percentiles is None else percentiles
    size = all_policies.BLOCK[POLICY]
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


def table(results: Results) -> ScoreTable:
    """Return a line for each bandit."""
    titles = [f"{percentile:g}" for percentile in results["percentiles"]]
    rows = {
        name: {"paper": own["paper"], **dict(zip(titles, own["reward"], strict=True))}
        for name, own in results["bandits"].items()
    }
    return ScoreTable(
        "Cumulative reward of LinFullPost, rewards clipped at a percentile and at 100 less it",
        dict.fromkeys(["paper", *titles], ".0f"),
        rows,
    )


COLORS = (BLUE, ORANGE, GREEN, SKY, PURPLE, "black", "#D55E00")


def draw(results: Results) -> Figure:
    """Draw what was earned relative to what was published; 1 is where the scaling may be the paper's."""
    figure = new_figure(6.5, 4.2)
    axes = figure.subplots()
    for color, (name, own) in zip(COLORS, results["bandits"].items(), strict=False):
        relative = np.array(own["reward"]) / own["paper"]
        error = 2.0 * np.array(own["error"]) / own["paper"]
        axes.plot(results["percentiles"], relative, color=color, marker="o", markersize=3.5, label=name)
        axes.fill_between(
            results["percentiles"], relative - error, relative + error, color=color, alpha=0.2, linewidth=0
        )
    axes.axhline(1.0, color=GREY, linewidth=0.8, zorder=0)
    axes.set_ylim(0.8, 1.15)
    axes.set_xlabel("percentile q: rewards are clipped at q and 100 - q")
    axes.set_ylabel(f"{results['policy']}: reward here / published")
    axes.legend()
    return figure
