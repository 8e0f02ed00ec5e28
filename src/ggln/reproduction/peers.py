"""Other regressors with error bars on the splits of Table 1, and published numbers.

Published numbers stand beside the measured ones. They were made with the same splits, but each with its own
way to choose settings.

"CatBoost" is two models: the RMSE is that of `CatBoostRegressor()` as it is; NLL and intervals are those of
the loss "RMSEWithUncertainty", without which it has none. The latter's own RMSE is beside them as
`rmse_of_intervals`. The time is that of both fits, with that of the defaults alone as `point_seconds`.

The defaults' fits are those of `ggln reproduce uci`. Needs NGBoost and CatBoost, which the extra `peers` of
the package installs.

Example: ggln reproduce peers --sets yacht,boston --splits 5 --n-jobs -1
"""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from ggln import datasets
from ggln.extras import require, version
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from ggln.reproduction import uci
from ggln.reproduction.competitors.regressors import GP_ROWS, LIBRARIES, NOTES, PEERS, POINTS
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.averages import averages
from ggln.reproduction.shared.options import STORE, DataDir, Models, Sets, Splits, Store, Workers
from ggln.reproduction.shared.pictures import Figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import gaussian, scores
from ggln.reproduction.shared.tables import ScoreTable

OURS = "GGLNRegressor()"
MODELS = (OURS, *PEERS)
VERSION = "2"

Pair = tuple[float | None, float | None]

PUBLISHED: dict[str, tuple[Pair, ...]] = {
    "boston": (
        *((4.32, None), (3.01, None), (2.97, None), (2.90, 2.40), (3.28, 2.41)),
        *((2.94, 2.43), (3.06, 2.35), (2.78, 2.47), (2.84, None)),
    ),
    "concrete": (
        *((7.13, None), (5.67, None), (5.23, None), (4.82, 2.93), (6.03, 3.06)),
        *((5.06, 3.04), (5.85, 3.01), (4.15, 2.83), (5.84, None)),
    ),
    "energy": (
        *((2.65, None), (1.80, None), (1.66, None), (0.54, 1.21), (2.09, 1.38)),
        *((0.46, 0.60), (2.06, 1.39), (0.42, 0.53), (1.31, None)),
    ),
    "kin8nm": (
        *((0.10, None), (0.10, None), (0.10, None), (0.08, -1.14), (0.09, -1.20)),
        *((0.16, -0.49), (0.09, -1.24), (0.15, -0.44), (0.09, None)),
    ),
    "naval": (
        *((0.01, None), (0.01, None), (0.01, None), (0.00, -4.45), (0.00, -5.63)),
        *((0.00, -5.34), (0.00, -5.73), (0.00, -5.47), (0.00, None)),
    ),
    "power": (
        *((4.33, None), (4.12, None), (4.02, None), (4.01, 2.80), (4.11, 2.79)),
        *((3.79, 2.79), (4.23, 2.81), (3.19, 2.60), (3.90, None)),
    ),
    "protein": (
        *((4.84, None), (4.73, None), (4.36, None), (4.27, 2.87), (4.71, 2.83)),
        *((4.33, 2.81), (4.64, 2.63), (4.09, 2.70), (3.77, None)),
    ),
    "wine": (
        *((0.65, None), (0.64, None), (0.62, None), (0.62, 0.93), (0.64, 0.94)),
        *((0.63, 0.91), (0.61, 0.89), (0.61, 0.95), (0.57, None)),
    ),
    "yacht": (
        *((6.89, None), (1.01, None), (1.11, None), (0.67, 1.25), (1.58, 1.18)),
        *((0.50, 0.20), (1.57, 1.03), (0.48, 0.16), (3.76, None)),
    ),
}
"""Published test RMSE and NLL in nats (the G-GLN paper gives no NLL), in the order of `SOURCES`."""

SOURCES = (
    "VI",
    "PBP",
    "dropout",
    "dropout, tuned",
    "deep ensembles",
    "NGBoost",
    "evidential",
    "WGBoost",
    "G-GLN",
)
"""Variational inference, PBP and dropout as in the G-GLN paper's table; dropout, deep ensembles, NGBoost,
evidential regression and Wasserstein gradient boosting from their own papers; the G-GLN paper itself."""

RIVALS = ("NGBoost", "deep ensembles", "best")
"""The published numbers that ours are held against."""

DIGITS = 2
"""Of the published numbers: what agrees in them counts as equal."""


def evaluate(name: str, split: int, peer: str, seed: int, data_dir: Path | None = None) -> Results:
    """Fit one of the peers to the training rows of one split and score it on the test rows."""
    data = datasets.load(name, data_dir)
    train, test = (np.asarray(rows) for rows in data.splits[split])
    start = time.perf_counter()
    X, y = data.X[train], data.y[train]
    centre, spread = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    shift, scale = y.mean(), y.std()
    rows, targets, unseen = (X - centre) / spread, (y - shift) / scale, (data.X[test] - centre) / spread
    predict = PEERS[peer](rows, targets, seed)
    learnt = time.perf_counter()
    mean, std = predict(unseen)
    seconds = {"seconds": learnt - start, "predict_seconds": time.perf_counter() - learnt}
    results = scores(gaussian(shift + scale * mean, scale * std), data.y[test])
    if peer not in POINTS:
        return results | seconds
    start = time.perf_counter()
    predict_point = POINTS[peer](rows, targets, seed)
    alone = time.perf_counter() - start
    mse = np.mean((shift + scale * predict_point(unseen) - data.y[test]) ** 2)
    seconds |= {"seconds": seconds["seconds"] + alone, "point_seconds": alone}
    own = {"mse": mse, "rmse": np.sqrt(mse), "rmse_of_intervals": results["rmse"]}
    return results | own | seconds


def run(
    sets: Sets = tuple(PUBLISHED),
    splits: Splits = 20,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    models: Models = MODELS,
    **replaced: Any,
) -> Results:
    """Evaluate all models on the first `splits` splits (or all there are) of some sets.

    Jobs of `GGLNRegressor()` are those of Table 1. `replaced` arguments of it make it another experiment.
    """
    uci.check_names(sets)
    needed: dict[str, str] = {}
    for library in (LIBRARIES[model] for model in models if model in LIBRARIES):
        require(library)  # what is missing is missed before any job starts
        needed |= version(library)
    setting = defaults.default_setting() | replaced
    wanted: dict[tuple[str, str], list[jobs.Job]] = {}
    for name in sets:
        for model in models:
            if model == "Gaussian process" and len(datasets.load(name, data_dir).y) > GP_ROWS:
                continue
            wanted[name, model] = [
                uci.job(name, split, setting, 0, data_dir=data_dir)
                if model == OURS
                else jobs.Job(
                    evaluate,
                    {"name": name, "split": split, "peer": model, "seed": 0},
                    VERSION,
                    {"data_dir": data_dir},
                )
                for split in range(uci.count_splits(name, splits, data_dir))
            ]
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    measured = {
        name: {
            model: averages({(split, 0): one for split, one in enumerate(parts)})
            for model, parts in found.get(name, {}).items()
        }
        for name in sets
    }
    return {
        "experiment": "peers",
        "published": {name: published(name) for name in sets},
        "notes": {model: note for model, note in NOTES.items() if model in models},
        "settings": setting,
        "machine": machine() | needed,
        "sets": measured,
    }


def published(name: str) -> dict[str, Results]:
    """Return the published RMSE and NLL of one set by their source, None where there is none."""
    pairs = zip(SOURCES, PUBLISHED[name], strict=True)
    return {source: {"rmse": rmse, "nll": nll} for source, (rmse, nll) in pairs}


COLUMNS = {
    "rmse": ("RMSE", ".3f"),
    "nll": ("NLL", ".2f"),
    "coverage_90": ("90 %\ncovers", ".0%"),
    "seconds": ("fit\ns", ".1f"),
    "predict_seconds": ("predict\ns", ".3f"),
}


def scores_table(results: Results) -> ScoreTable:
    """Return a line for each set and model, measured ones first, then published ones."""
    rows: dict[str, dict[str, str]] = {}
    for name, models in results["sets"].items():
        for model, own in models.items():
            rows[f"{name}: {model}"] = {
                title: format(own[key], _digits(own[key]) if key == "rmse" else form) if key in own else ""
                for key, (title, form) in COLUMNS.items()
            }
        for source, numbers in results["published"][name].items():
            rows[f"{name}: {source}, published"] = {
                title: "" if numbers.get(key) is None else f"{numbers[key]:.{DIGITS}f}"
                for key, (title, _) in COLUMNS.items()
            }
    notes = tuple(f"{model}: {note}" for model, note in results["notes"].items())
    return ScoreTable(
        "Mean over the splits' test rows", {title: "" for title, _ in COLUMNS.values()}, rows, notes
    )


def _digits(rmse: float) -> str:
    return ".3f" if rmse >= 0.05 else ".5f"


def marks(results: Results) -> ScoreTable:
    """Return where `GGLNRegressor()` is better than, equal to or worse than published; the last line counts.

    Ours is rounded to the digits that were published.
    """
    columns = {(key, rival): f"{key.upper()}\n{rival}" for key in ("rmse", "nll") for rival in RIVALS}
    rows: dict[str, dict[str, str]] = {}
    for name, models in results["sets"].items():
        if OURS in models:
            rows[name] = {
                title: _mark(models[OURS][key], _rival(results["published"][name], key, rival))
                for (key, rival), title in columns.items()
            }
    counts: dict[str, str] = {}
    for title in columns.values():
        found = [row[title] for row in rows.values()]
        counts[title] = f"{found.count('better')} of {len(found)}"
    return ScoreTable(
        "GGLNRegressor() against published numbers, as far as they were rounded",
        dict.fromkeys(columns.values(), ""),
        rows | {"better": counts},
    )


def table(results: Results) -> list[ScoreTable]:
    """Return all scores, and where ours are better than published ones."""
    return [scores_table(results), marks(results)]


def _rival(sources: Results, key: str, rival: str) -> float:
    numbers = [numbers[key] for source, numbers in sources.items() if rival in ("best", source)]
    return min(float(number) for number in numbers if number is not None)


def _mark(ours: float, rival: float) -> str:
    rounded = round(ours, DIGITS)
    if math.isclose(rounded, rival, abs_tol=0.1**DIGITS / 2):
        return "equal"
    return "better" if rounded < rival else "worse"


MARKS = {
    "GGLNRegressor()": (GREEN, "D"),
    "NGBoost": (ORANGE, "o"),
    "CatBoost": (RED, "*"),
    "gradient boosting": (BLUE, "s"),
    "random forest": (SKY, "^"),
    "Gaussian process": (PURPLE, "v"),
    "Bayesian ridge": ("black", "x"),
}
HOLLOW = {"NGBoost": (ORANGE, "o"), "deep ensembles": (GREY, "P")}


def draw(results: Results) -> Figure:
    """Draw each set's RMSE relative to ours and its NLL less ours, measured and published."""
    from ggln.reproduction.shared.dots import compare

    title, notes = "Test rows, mean over the splits", results.get("notes")
    return compare(results["sets"], MARKS, title, results["published"], HOLLOW, notes)
