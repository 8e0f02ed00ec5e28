"""The figure of Appendix C: what a base model that learns is worth in the first epoch.

Every row is predicted before it is learnt, once, in random order. As in the paper, rows are standardised
beforehand, so that the base models alone make the difference.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ggln import datasets, presets
from ggln.estimators import GGLNRegressor
from ggln.experiments import jobs
from ggln.experiments.record import Results, machine

BASE_MODELS = ("none", "feature", "blr")
"""Layer 0: the biases alone, a Gaussian of fixed width at each feature, or Bayesian linear regression."""

SETS = ("boston", "concrete", "energy", "kin8nm", "power", "wine")
VERSION = "1"
BLOCK = 256
"""Rows for which all neurons' predictions are kept at a time."""


def follow(
    name: str,
    base_model: str,
    setting: dict[str, Any],
    seed: int,
    rows: int | None,
    points: int,
    data_dir: Path | None = None,
) -> Results:
    """Learn the rows once; return the RMSE of all predictions so far, at `points` places of a log axis."""
    data = datasets.load(name, data_dir)
    order = np.random.default_rng(seed).permutation(len(data.y))[:rows]
    X, y = data.X[order], data.y[order]
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X, goals = (X - X.mean(axis=0)) / spread, (y - y.mean()) / y.std()
    arguments = setting | {"base_model": base_model, "standardize": False, "random_state": seed, "n_jobs": 1}
    model = GGLNRegressor(**arguments)
    # It makes no difference where a stream is cut, and saves memory.
    blocks = range(0, len(y), BLOCK)
    predicted = [model.prequential(X[i : i + BLOCK], goals[i : i + BLOCK]).mean for i in blocks]
    squared = (np.concatenate(predicted) - goals) ** 2
    seen = np.arange(1, len(y) + 1)
    running = y.std() * np.sqrt(np.cumsum(squared) / seen)
    at = np.unique(np.geomspace(min(10, len(y)), len(y), points).astype(int)) - 1
    return {"rows": seen[at], "rmse": running[at]}


def run(
    sets: Sequence[str] = SETS,
    seeds: int = 5,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    rows: int | None = None,
    points: int = 60,
    **replaced: Any,
) -> Results:
    """Follow the paper's network with each base model through the first epoch; mean and error over seeds."""
    for name in sets:
        datasets.load(name, data_dir)  # what is missing is missed before any job starts
    setting = {name: v for name, v in (presets.PAPER_UCI | replaced).items() if name != "base_model"}
    shared = {"setting": setting, "rows": rows, "points": points}
    places = {"data_dir": data_dir}
    wanted = [
        jobs.Job(follow, {"name": name, "base_model": base, "seed": seed, **shared}, VERSION, places)
        for name in sets
        for base in BASE_MODELS
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "streams"))
    curves: Results = {}
    for name in sets:
        curves[name] = {base: _mean([next(found) for _ in range(seeds)]) for base in BASE_MODELS}
    return {
        "experiment": "base-models",
        "paper": "the figure of Appendix C (a picture; the paper gives no numbers)",
        "settings": setting,
        "seeds": seeds,
        "machine": machine(),
        "sets": curves,
    }


def _mean(curves: list[Results]) -> Results:
    values = np.array([curve["rmse"] for curve in curves])
    error = (
        values.std(axis=0, ddof=1) / np.sqrt(len(curves)) if len(curves) > 1 else np.zeros(values.shape[1])
    )
    return {"rows": curves[0]["rows"], "rmse": values.mean(axis=0), "error": error}
