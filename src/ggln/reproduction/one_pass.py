"""Online regressors in a single pass: each row is predicted before it is learnt.

All methods get the same rows, standardised with running statistics by one preprocessor. Methods without a
distribution get a Gaussian with the mean squared error of their own predictions so far. (River's Bayesian
linear regression counts among them: the level of its noise is an argument, and not learnt.)

Needs River, which the extra `peers` of the package installs.

Example: ggln reproduce one-pass --sets yacht,boston --rows 300 --seeds 2
"""

import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln import datasets
from ggln.distributions import GaussianMixture
from ggln.extras import require, version
from ggln.palette import BLUE, GREEN, ORANGE, PURPLE, SKY
from ggln.reproduction import uci
from ggln.reproduction.competitors import online_regressors
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import build
from ggln.reproduction.shared.averages import averages
from ggln.reproduction.shared.options import STORE, DataDir, Models, Option, SetRows, Sets, Store, Workers
from ggln.reproduction.shared.pictures import Figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import by_row, gaussian, summarize
from ggln.reproduction.shared.tables import ScoreTable, table_of_methods

FloatArray = NDArray[np.float64]

OURS = "GGLNRegressor()"
METHODS = (OURS, *online_regressors.NAMES)
SETS = tuple(uci.PAPER)
VERSION, OUR_VERSION = "1", "10"  # of the others' results, and of the network's
UNSCORED = 10
"""First rows, which are predicted and learnt but not scored: by then every method has seen a few."""
BLOCK = 256
"""Rows whose mixtures are kept at a time. Where a stream is cut makes no difference, and saves memory."""
LEAST_STD = 1e-3
"""Of the targets' running standard deviation: the least error bar of a method that was right so far."""


class StandardizedStream(NamedTuple):
    """Rows in their order, each standardised with what is known when it is needed."""

    X: FloatArray  # [n, features], with the statistics of this row and all before it
    goals: FloatArray  # [n], the targets to learn, likewise
    y: FloatArray  # [n], the targets as they are
    shifts: FloatArray  # [n], of the targets before each row, for its prediction
    scales: FloatArray  # [n]


def standardized(X: FloatArray, y: FloatArray) -> StandardizedStream:
    """Return a stream with running statistics; no value depends on a later row."""
    centres, spreads = _running(X)
    shifts, scales = _running(y[:, None])
    before = np.concatenate([[0.0], shifts[:-1, 0]]), np.concatenate([[1.0], scales[:-1, 0]])
    return StandardizedStream((X - centres) / spreads, (y - shifts[:, 0]) / scales[:, 0], y, *before)


def _running(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation [n, columns] of all rows up to each one; 1 if they are equal."""
    origin = values[0]  # of the size of the others, so that the difference below keeps its digits
    counts = np.arange(1, len(values) + 1)[:, None]
    means = np.cumsum(values - origin, axis=0) / counts
    variances = np.cumsum((values - origin) ** 2, axis=0) / counts - means**2
    constant = variances <= 1e-12 * np.maximum(1.0, means**2)
    return origin + means, np.sqrt(np.where(constant, 1.0, variances))


def follow(
    name: str,
    method: str,
    setting: dict[str, Any] | None,
    seed: int,
    rows: int | None,
    data_dir: Path | None = None,
) -> Results:
    """Let one method predict and learn the rows of a set, in an order that the seed gives.

    setting: arguments of the network, and what it is `ablated.WITHOUT`; None for the others.
    """
    data = datasets.load(name, data_dir)
    order = np.random.default_rng(seed).permutation(len(data.y))[:rows]
    stream = standardized(data.X[order], data.y[order])
    start = time.perf_counter()
    scored = _others(stream, method, seed) if setting is None else _ours(stream, setting, seed)
    seconds = time.perf_counter() - start
    counted = {key: values[UNSCORED:] for key, values in scored.items()}
    return summarize(counted) | {"rows": len(order), "microseconds": 1e6 * seconds / len(order)}


def job(
    name: str,
    method: str,
    setting: dict[str, Any] | None,
    seed: int,
    rows: int | None,
    data_dir: Path | None = None,
) -> jobs.Job:
    """Return the job of `follow`, by which all experiments know it."""
    arguments = {"name": name, "method": method, "setting": setting, "seed": seed, "rows": rows}
    return jobs.Job(follow, arguments, OUR_VERSION if method == OURS else VERSION, {"data_dir": data_dir})


def _ours(stream: StandardizedStream, setting: dict[str, Any], seed: int) -> dict[str, FloatArray]:
    model = build(setting, seed)
    parts = []
    for first in range(0, len(stream.y), BLOCK):
        block = slice(first, first + BLOCK)
        standard: Any = model.prequential(stream.X[block], stream.goals[block])
        shifts, scales = stream.shifts[block, None], stream.scales[block, None]
        predicted = GaussianMixture(
            standard.weights, shifts + scales * standard.means, scales * standard.stds
        )
        parts.append(by_row(predicted, stream.y[block]))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _others(stream: StandardizedStream, method: str, seed: int) -> dict[str, FloatArray]:
    model = online_regressors.build(method, seed)
    standard = np.empty(len(stream.y))
    for i, (x, goal) in enumerate(zip(stream.X, stream.goals, strict=True)):
        standard[i] = model.predict(x[None])[0]
        model.learn(x, goal)
    mean = stream.shifts + stream.scales * standard
    return by_row(gaussian(mean, _past_errors(mean - stream.y, stream.scales)), stream.y)


def _past_errors(errors: FloatArray, scales: FloatArray) -> FloatArray:
    """Return the root mean square of the errors before each row, [n].

    The first row's does not count: without any target, its prediction is in no unit.
    """
    known = np.arange(1, len(errors) - 1)
    past = np.concatenate([scales[:2], np.sqrt(np.cumsum(errors[1:-1] ** 2) / known)])
    bounded: FloatArray = np.maximum(past[: len(errors)], LEAST_STD * scales)
    return bounded


def run(
    sets: Sets = SETS,
    seeds: Annotated[int, Option("Orders of the rows, averaged.", least=1)] = 5,
    rows: SetRows = None,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    models: Models = METHODS,
    **replaced: Any,
) -> Results:
    """Follow some methods through all sets, in as many orders as there are seeds."""
    uci.check_names(sets)
    require("river")  # what is missing is missed before any job starts
    for name in sets:
        datasets.load(name, data_dir)
    setting = defaults.default_setting() | replaced
    wanted = {
        (name, method): [
            job(name, method, setting if method == OURS else None, seed, rows, data_dir)
            for seed in range(seeds)
        ]
        for name in sets
        for method in models
    }
    found = jobs.run_grid(wanted, store, n_jobs, "streams")
    return {
        "experiment": "one-pass",
        "settings": setting,
        "unscored": UNSCORED,
        "machine": machine() | version("river"),
        "sets": {
            name: {
                method: averages({(0, seed): one for seed, one in enumerate(parts)})
                for method, parts in own.items()
            }
            for name, own in found.items()
        },
    }


COLUMNS = {
    "rmse": "RMSE",
    "nll": "NLL",
    "coverage_90": "90 %\ncovers",
    "microseconds": "us\nper row",
}


def table(results: Results) -> ScoreTable:
    """Return a line for each set and method."""
    forms = {"rmse": ".4g", "nll": ".3f", "coverage_90": ".0%", "microseconds": ".0f"}
    title = f"Predictions of one pass, after the first {UNSCORED} rows"
    return table_of_methods(title, results["sets"], COLUMNS, forms)


MARKS = {
    "GGLNRegressor()": (GREEN, "D"),
    "linear regression (River)": (ORANGE, "o"),
    "Bayesian linear regression (River)": (BLUE, "s"),
    "adaptive random forest (River)": (SKY, "^"),
    "linear SGD (scikit-learn)": ("black", "x"),
    "MLP (scikit-learn)": (PURPLE, "v"),
}


def draw(results: Results) -> Figure:
    """Draw each set's RMSE relative to ours and its NLL less ours, of all predictions of one pass."""
    from ggln.reproduction.shared.dots import compare

    return compare(results["sets"], MARKS, "One pass, each row predicted before it is learnt")
