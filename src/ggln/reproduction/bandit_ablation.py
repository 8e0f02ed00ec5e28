"""What each ingredient of GLCB(step="capped") is worth: one changed in the same episodes; LinFullPost.

The episodes are those of seeds from 1000 on, with which the defaults were chosen. `ggln reproduce bandits`
reports others, from 0 on.

Example: ggln reproduce bandit-ablation --tasks wheel --seeds 3 --n-jobs -1
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ggln import presets
from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction.bandits import episodes
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.options import STORE, Bandits, DataDir, Option, Steps, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS, check_names

VERSION = "1"
FIRST_SEED = 1000
DEFAULTS, RIVAL = "defaults", "LinFullPost"
FEATURES = {"base_model": "feature", "base_variance": 1.0, "bias_variance": 1.0}

VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULTS: {},
    "no joint regression": FEATURES,
    "a regression on each feature": FEATURES | {"base_model": "blr"},
    "features and biases of variance 1": FEATURES | {"base_model": "linear"},
    "gates on the sphere": {"gating": "sphere"},
    "gates on axes": {"gating": "axis"},
    "plain steps": {"step": "ogd"},
    "the last neuron": {"aggregation": "last"},
    "rewards as they are": {"reward_range": (0.0, 1.0)},
    "counts of the gates, mean": {"pseudo_count": "mean"},
    "counts of the regression": {"pseudo_count": "leverage"},
    "upper bounds": {"exploration": "ucb", "exploration_weight": 0.1},
    "the paper's bonus": {"exploration": "bonus", "exploration_weight": 0.1, "pseudo_count": "mean"},
    "no exploration": {"exploration": "greedy"},
    "a posterior thrice as wide": {"exploration_weight": 0.9},
    "networks of [1000, 100, 1]": {"layer_sizes": (1000, 100, 1), "context_dim": 1, "aggregation": "last"},
}
"""What replaces the defaults."""


def evaluate(
    task: dict[str, Any],
    policy: str,
    setting: dict[str, Any] | None,
    seed: int,
    steps: int | None,
    data_dir: Path | None = None,
) -> Results:
    """Return what a policy earns in an episode."""
    return {"reward": episodes.follow(task, policy, setting, [seed], steps, data_dir)["rewards"][0]}


def run(
    tasks: Bandits = CONTINUOUS,
    seeds: Annotated[int, Option("Episodes of each bandit, by seeds from 1000 on.", least=1)] = 10,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    steps: Steps = None,
    **replaced: Any,
) -> Results:
    """Let all variants, the paper's policy and LinFullPost play some bandits.

    `replaced` arguments change the defaults that all variants begin with.
    """
    check_names(tasks, TASKS, "bandit")
    defaults = (episodes.settings(episodes.CAPPED, False) or {}) | replaced
    players: dict[str, tuple[str, dict[str, Any] | None]] = {
        label: (episodes.CAPPED, defaults | own) for label, own in VARIANTS.items()
    }
    players[episodes.PAPERS] = episodes.PAPERS, presets.PAPER_BANDITS
    players[RIVAL] = RIVAL, None
    wanted = {
        (name, label): [
            jobs.Job(
                evaluate,
                {
                    "task": TASKS[name]._asdict(),
                    "policy": policy,
                    "setting": setting,
                    "seed": FIRST_SEED + seed,
                    "steps": steps,
                },
                VERSION,
                {"data_dir": data_dir},
            )
            for seed in range(seeds)
        ]
        for name in tasks
        for label, (policy, setting) in players.items()
    }
    found = jobs.run_grid(wanted, store, n_jobs, "episodes")
    earned = {
        name: {label: np.array([part["reward"] for part in parts]) for label, parts in own.items()}
        for name, own in found.items()
    }
    return {
        "experiment": "bandit-ablation",
        "seeds": [FIRST_SEED, FIRST_SEED + seeds - 1],
        "steps": steps,
        "machine": machine(),
        "settings": {label: setting for label, (_, setting) in players.items()},
        "tasks": {
            name: {label: _against(own[label], own) for label in players} for name, own in earned.items()
        },
    }


def _against(rewards: Any, own: dict[str, Any]) -> Results:
    """Return the mean reward, and its difference from LinFullPost's in the same episodes."""
    difference = rewards - own[RIVAL]
    return {
        "reward": rewards.mean(),
        "over_rival": difference.mean(),
        "over_rival_error": standard_error(difference),
    }


def table(results: Results) -> ScoreTable:
    """Return for each variant its reward and what that is over LinFullPost's."""
    rows = {
        label: {
            name: f"{own[label]['reward']:.0f} ({own[label]['over_rival']:+.0f})"
            for name, own in results["tasks"].items()
        }
        for label in results["settings"]
    }
    return ScoreTable(
        "Cumulative reward, and what it is over LinFullPost's in the same episodes",
        dict.fromkeys(results["tasks"], ""),
        rows,
    )


DIFFERENCES = (-2000, -500, -200, -100, 0, 100, 200, 500)


def draw(results: Results) -> Figure:
    """Draw each variant's reward less LinFullPost's, with its standard error, a panel for each bandit."""
    from ggln.reproduction.shared.dots import label_ticks

    labels = [label for label in results["settings"] if label != "LinFullPost"]
    tasks = results["tasks"]
    figure = new_figure(3.0 + 2.4 * len(tasks), 1.0 + 0.27 * len(labels))
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, (name, own) in zip(panels, tasks.items(), strict=True):
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        for place, label in enumerate(labels):
            cell = own[label]
            axes.errorbar(
                cell["over_rival"],
                place,
                xerr=cell["over_rival_error"],
                color=ORANGE if label == "defaults" else BLUE,
                marker="o",
                markersize=5 if label == "defaults" else 3.5,
                linestyle="",
            )
        axes.set_xscale("symlog", linthresh=200)
        label_ticks(axes, DIFFERENCES)
        axes.set_title(name)
        axes.set_xlabel("reward less LinFullPost's\n(right: better)")
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    return figure
