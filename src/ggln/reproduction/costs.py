"""Times, memory and file of the defaults beside their goals, on a table of ten features.

The table is Friedman's first: five of ten features count, and the noise has deviation 1. Timings of a shared
machine vary, so that each is the best of a few, and CatBoost is fitted in turn with ours. No run takes over
what another one measured.

Needs CatBoost, which the extra `peers` of the package installs, and a machine that does nothing else.

Example: ggln reproduce costs -o results
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.constants import WARM_ROWS
from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require, version
from ggln.reproduction.shared.options import Option
from ggln.reproduction.shared.process import MEGABYTE, alone, peak
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks.large_tables import FEATURES, friedman

FloatArray = NDArray[np.float64]

GROWTH = 10
"""How many times as many rows the large table has."""
REPEATS, CALLS = 3, 1000
THREADS = 2
COMPILED = 200
"""Rows of a table that is learnt only to have all kernels compiled."""


class Goal(NamedTuple):
    """What a figure is, its unit, and what it should be at most, or at least."""

    what: str
    unit: str
    bound: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Return whether a figure is good enough."""
        return value >= self.bound if self.at_least else value <= self.bound


GOALS = {
    "fit_ratio": Goal("fit, times as long as CatBoost", "x", 3.0),
    "predict_microseconds": Goal("predict, a row of a block on one core", "µs", 40.0),
    "stream_rows_per_second": Goal("partial_fit, after the first rows", "rows/s", 10_000.0, True),
    "learn_one_microseconds": Goal("learn_one, median", "µs", 250.0),
    "predict_one_microseconds": Goal("predict_one, median", "µs", 100.0),
    "large_ratio": Goal(f"fit, {GROWTH} times the rows, times as long", "x", 10.0),
    "large_megabytes": Goal(f"fit, {GROWTH} times the rows, memory grown by", "MB", 1024.0),
    "file_megabytes": Goal("model file", "MB", 30.0),
}


def run(
    rows: Annotated[
        int, Option("Rows of the table; one ten times as large is fitted too.", least=20)
    ] = 10_000,
    repeats: int = REPEATS,
    calls: int = CALLS,
    **settings: Any,
) -> Results:
    """Measure everything; the large table has `GROWTH` times the rows. `settings` replace the defaults."""
    require("catboost")  # what is missing is missed before any work starts
    load = os.getloadavg()[0]
    large, small = (alone(_alone, count, repeats, settings) for count in (GROWTH * rows, rows))
    X, y = friedman(rows)
    model, figures = _fits(X, y, repeats, settings)
    figures |= _predictions(model, X, repeats) | _stream(rows, repeats, calls, settings)
    figures |= {
        "large_seconds": large["seconds"],
        "large_ratio": large["seconds"] / small["seconds"],
        "large_megabytes": large["megabytes"],
        "file_megabytes": _file(model),
    }
    return {
        "experiment": "costs",
        "rows": rows,
        "features": FEATURES,
        "threads": THREADS,
        "settings": settings,
        "machine": machine() | version("catboost") | {"load before": load},
        "goals": {name: goal._asdict() for name, goal in GOALS.items()},
        "figures": figures,
        "met": {name: goal.met(figures[name]) for name, goal in GOALS.items()},
    }


def _model(settings: dict[str, Any], n_jobs: int) -> GGLNRegressor:
    return GGLNRegressor(**settings, random_state=0, n_jobs=n_jobs)


def _seconds(function: Callable[..., object], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _fits(
    X: FloatArray, y: FloatArray, repeats: int, settings: dict[str, Any]
) -> tuple[GGLNRegressor, Results]:
    """Fit ours and CatBoost's defaults in turn, on as many threads."""
    catboost = require("catboost").CatBoostRegressor
    model = _model(settings, THREADS)
    model.fit(X[:COMPILED], y[:COMPILED])
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(_seconds(model.fit, X, y))
        other = catboost(thread_count=THREADS, logging_level="Silent", allow_writing_files=False)
        theirs.append(_seconds(other.fit, X, y))
    figures = {"fit_seconds": min(ours), "catboost_seconds": min(theirs)}
    figures["fit_ratio"] = min(ours) / min(theirs)
    return model, figures


def _predictions(model: GGLNRegressor, X: FloatArray, repeats: int) -> Results:
    """Predict a block of rows on one core."""
    model.set_params(n_jobs=1).predict(X[:COMPILED])
    best = min(_seconds(model.predict, X) for _ in range(repeats))
    return {"predict_microseconds": 1e6 * best / len(X)}


def _stream(rows: int, repeats: int, calls: int, settings: dict[str, Any]) -> Results:
    """Learn a stream in blocks, and go on row by row. First rows, which are solved afresh, do not count."""
    X, y = friedman(WARM_ROWS + repeats * rows + calls, seed=1)
    model = _model(settings, THREADS).partial_fit(X[:WARM_ROWS], y[:WARM_ROWS])
    blocks = [slice(WARM_ROWS + i * rows, WARM_ROWS + (i + 1) * rows) for i in range(repeats)]
    best = min(_seconds(model.partial_fit, X[own], y[own]) for own in blocks)
    model.set_params(n_jobs=1)
    new = range(len(y) - calls, len(y))
    model.predict_one(X[0])  # both compile
    model.learn_one(X[0], y[0])
    asked = np.median([_seconds(model.predict_one, X[i]) for i in new])
    learnt = np.median([_seconds(model.learn_one, X[i], y[i]) for i in new])
    return {
        "stream_rows_per_second": rows / best,
        "learn_one_microseconds": 1e6 * learnt,
        "predict_one_microseconds": 1e6 * asked,
    }


def _file(model: GGLNRegressor) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.ggln")
        model.save(path)
        return path.stat().st_size / MEGABYTE


def _alone(rows: int, repeats: int, settings: dict[str, Any]) -> Results:
    """Fit a table, in a process of its own; return the best time, and by how much the peak of memory grew."""
    X, y = friedman(rows)
    model = _model(settings, THREADS)
    model.fit(X[:COMPILED], y[:COMPILED])
    before = peak()
    seconds = [_seconds(model.fit, X, y)]
    grown = peak() - before  # later fits hold the model before them as well
    seconds += [_seconds(model.fit, X, y) for _ in range(repeats - 1)]
    return {"seconds": min(seconds), "megabytes": grown / MEGABYTE}


def table(results: Results) -> ScoreTable:
    """Return for each figure its value and its goal as text."""
    rows = {}
    for name, given in results["goals"].items():
        goal, value = Goal(**given), results["figures"][name]
        rows[goal.what] = {
            "measured": f"{_number(value)} {goal.unit}",
            "goal": f"{'>=' if goal.at_least else '<='} {_number(goal.bound)} {goal.unit}",
            "": "met" if results["met"][name] else "missed",
        }
    note = f"{results['machine']['cpu']}, load before {results['machine']['load before']:.1f}"
    return ScoreTable(
        f"{results['rows']:,} rows of {results['features']} features",
        {"measured": "", "goal": "", "": ""},
        rows,
        (note,),
    )


def _number(value: float) -> str:
    """Return three digits at least.

    >>> _number(12345.6), _number(3.14159)
    ('12,346', '3.14')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
