"""Appendix C: what a base model that learns is worth in the first epoch.

Every row is predicted before it is learnt, once, in random order. As in the paper, rows are standardised
beforehand, so that the base models alone make the difference. The paper does not say with which of its
settings the figure was made, so that all of its grid are tried with each base model.

Example: ggln reproduce base-models --sets boston,energy
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ggln import datasets
from ggln.estimators.regressor import GGLNRegressor
from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction import uci
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Seeds, SetRows, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

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
    sets: Annotated[
        Sequence[str],
        NameList("Names of data sets, separated by commas; six by default.", known=lambda: tuple(uci.PAPER)),
    ] = SETS,
    seeds: Seeds = 5,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    rows: SetRows = None,
    points: int = 60,
    **replaced: Any,
) -> Results:
    """Follow the paper's network through the first epoch with each base model and setting of its grid.

    A curve is the mean over seeds, with its standard error, for the setting with the lowest mean at the end.
    """
    for name in sets:
        datasets.load(name, data_dir)  # what is missing is missed before any job starts
    settings = {
        label: {key: value for key, value in setting.items() if key != "base_model"}
        for label, setting in uci.grid(**replaced).items()
    }
    shared = {"rows": rows, "points": points}
    places = {"data_dir": data_dir}
    wanted = [
        jobs.Job(
            follow,
            {"name": name, "base_model": base, "seed": seed, "setting": setting, **shared},
            VERSION,
            places,
        )
        for name in sets
        for base in BASE_MODELS
        for setting in settings.values()
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "streams"))
    curves: Results = {}
    for name in sets:
        curves[name] = {
            base: _best({label: _mean([next(found) for _ in range(seeds)]) for label in settings})
            for base in BASE_MODELS
        }
    return {
        "experiment": "base-models",
        "paper": "the figure of Appendix C (a picture; the paper gives no numbers)",
        "settings": settings,
        "seeds": seeds,
        "machine": machine(),
        "sets": curves,
    }


def _best(curves: dict[str, Results]) -> Results:
    """Return the curve that ends lowest, the name of its setting, and where those of all settings end."""
    ends = {label: float(curve["rmse"][-1]) for label, curve in curves.items()}
    best = min(ends, key=lambda label: ends[label])
    return {"setting": best, **curves[best], "ends": ends}


def table(results: Results) -> ScoreTable:
    """Return for each set the lowest RMSE of each base model and how often BLR wins."""
    columns = dict.fromkeys(BASE_MODELS, ".4g")
    lines: dict[str, dict[str, Any]] = {}
    for name, curves in results["sets"].items():
        lines[name] = {base: curves[base]["rmse"][-1] for base in BASE_MODELS}
        learnt = curves["blr"]["ends"]
        for base in BASE_MODELS[:-1]:
            column = f"blr better\nthan {base}"
            columns[column] = ""
            wins = sum(learnt[label] < end for label, end in curves[base]["ends"].items())
            lines[name][column] = f"{wins} of {len(learnt)}"
    return ScoreTable(
        "RMSE of all predictions of the first epoch, best of the paper's twelve settings", columns, lines
    )


def _mean(curves: list[Results]) -> Results:
    values = np.array([curve["rmse"] for curve in curves])
    error = (
        values.std(axis=0, ddof=1) / np.sqrt(len(curves)) if len(curves) > 1 else np.zeros(values.shape[1])
    )
    return {"rows": curves[0]["rows"], "rmse": values.mean(axis=0), "error": error}


LINES = {
    "none": (GREY, ":", "biases alone"),
    "feature": (ORANGE, "--", "a Gaussian of fixed width at each feature"),
    "blr": (BLUE, "-", "Bayesian linear regression on each feature"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw the running RMSE of each base model, with its standard error over seeds, a panel for each set."""
    from matplotlib.ticker import NullFormatter

    sets = results["sets"]
    columns = math.ceil(math.sqrt(len(sets)))
    rows = math.ceil(len(sets) / columns)
    # the legend's names are as long as two panels are wide
    width = max(3.2 * columns, 6.4)
    figure = new_figure(width, 0.6 + 2.4 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, curves) in zip(panels, sets.items(), strict=False):
        for base, (color, style, label) in LINES.items():
            curve = {key: np.array(curves[base][key]) for key in ("rows", "rmse", "error")}
            low, high = curve["rmse"] - curve["error"], curve["rmse"] + curve["error"]
            axes.fill_between(curve["rows"], low, high, color=color, alpha=0.2, linewidth=0)
            axes.plot(curve["rows"], curve["rmse"], color=color, linestyle=style, label=label)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(name)
    for axes in panels[len(sets) :]:
        axes.remove()
    figure.supxlabel("rows learnt", fontsize="medium")
    figure.supylabel("RMSE so far", fontsize="medium")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(LINES), fontsize="x-small")
    return figure
