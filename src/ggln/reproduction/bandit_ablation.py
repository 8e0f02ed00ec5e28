"""What each ingredient of `GLCB(step="capped")` is worth: one of them changed, in the same episodes.

The episodes are those of seeds from 1000 on, with which the defaults were chosen. `ggln reproduce bandits`
reports others, from 0 on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ggln import presets
from ggln.reproduction import bandits
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks import bandit_tasks as tasks

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
    return {"reward": bandits.follow(task, policy, setting, [seed], steps, data_dir)["rewards"][0]}


def run(
    names: Sequence[str] = tasks.CONTINUOUS,
    seeds: int = 10,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    steps: int | None = None,
    **replaced: Any,
) -> Results:
    """Let all variants, the paper's policy and LinFullPost play some bandits.

    `replaced` arguments change the defaults that all variants begin with.
    """
    tasks.check_names(names, tasks.TASKS, "bandit")
    defaults = (bandits.settings(bandits.CAPPED, False) or {}) | replaced
    players: dict[str, tuple[str, dict[str, Any] | None]] = {
        label: (bandits.CAPPED, defaults | own) for label, own in VARIANTS.items()
    }
    players[bandits.PAPERS] = bandits.PAPERS, presets.PAPER_BANDITS
    players[RIVAL] = RIVAL, None
    wanted = [
        jobs.Job(
            evaluate,
            {
                "task": tasks.TASKS[name]._asdict(),
                "policy": policy,
                "setting": setting,
                "seed": FIRST_SEED + seed,
                "steps": steps,
            },
            VERSION,
            {"data_dir": data_dir},
        )
        for name in names
        for policy, setting in players.values()
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "episodes"))
    earned = {
        name: {label: np.array([next(found)["reward"] for _ in range(seeds)]) for label in players}
        for name in names
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


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the tasks, and for each variant its reward and what that is over LinFullPost's."""
    rows = {
        label: {
            name: f"{own[label]['reward']:.0f} ({own[label]['over_rival']:+.0f})"
            for name, own in results["tasks"].items()
        }
        for label in results["settings"]
    }
    return dict.fromkeys(results["tasks"], ""), rows
