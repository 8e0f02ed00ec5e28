"""Fill in a fifth of the values of seven tables, beside scikit-learn's imputers.

Example: ggln reproduce imputation --seeds 1
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  what the next line needs
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from ggln import datasets
from ggln.density import MissingValues
from ggln.palette import BLUE, GREEN, GREY, ORANGE
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import means
from ggln.reproduction.shared.options import STORE, DataDir, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
VERSION = "1"
SHARE = 0.2
MOST_ROWS = 2000
OURS = "MissingValues"
SHIPPED: dict[str, Callable[..., Any]] = {
    "diabetes": load_diabetes,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
}
UCI = {"concrete": "concrete", "energy": "energy", "power": "power", "red wine": "wine"}
"""Of the data sets of Table 1."""
SETS = (*SHIPPED, *UCI)
MODELS: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: MissingValues(random_state=seed),
    "KNNImputer": lambda _: KNNImputer(),
    "IterativeImputer": lambda seed: IterativeImputer(random_state=seed),
    "means": lambda _: SimpleImputer(),
}


def load(name: str, data_dir: Path | None = None) -> FloatArray:
    """Return the features of a table, standardised, up to `MOST_ROWS` rows at random, always the same."""
    rows: FloatArray = SHIPPED[name]().data if name in SHIPPED else datasets.load(UCI[name], data_dir).X
    rows = np.asarray(rows, np.float64)[:, np.std(rows, axis=0) > 0]
    rows = rows[np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]]
    standardised: FloatArray = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return standardised


def fill(name: str, model: str, seed: int, data_dir: Path | None = None) -> Results:
    """Return the root mean square error of the values that were taken away, in deviations."""
    truth = load(name, data_dir)
    gone = np.random.default_rng(seed).random(truth.shape) < SHARE
    with warnings.catch_warnings():  # that ten rounds, its default, were too few for IterativeImputer
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = MODELS[model](seed).fit_transform(np.where(gone, np.nan, truth))
    return {"rmse": float(np.sqrt(np.mean((filled - truth)[gone] ** 2)))}


def run(
    seeds: Repeats = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
) -> Results:
    """Fill all tables with all imputers; a seed takes other values away."""
    places = {"data_dir": data_dir}
    wanted = {
        (name, model): jobs.with_seeds(fill, {"name": name, "model": model}, range(seeds), VERSION, places)
        for name in SETS
        for model in MODELS
    }
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    errors = {
        name: {model: means(parts)["rmse"] for model, parts in own.items()} for name, own in found.items()
    }
    ahead = sum(own[OURS] < min(own["KNNImputer"], own["IterativeImputer"]) for own in errors.values())
    return {
        "experiment": "imputation",
        "share": SHARE,
        "seeds": seeds,
        "machine": machine(),
        "errors": errors,
        "ahead_of_both": ahead,
    }


def table(results: Results) -> ScoreTable:
    """Return the error of each imputer on each table."""
    errors, columns = results["errors"], dict.fromkeys(MODELS, ".3f")
    note = f"Ahead of both: {results['ahead_of_both']} of {len(errors)} tables"
    return ScoreTable("RMSE of values taken away, in deviations", columns, errors, (note,))


@styled
def draw(results: Results) -> Figure:
    """Draw each imputer's error, a line for each table."""
    sets, models = list(results["errors"]), list(next(iter(results["errors"].values())))
    figure = new_figure(7.0, 1.2 + 0.35 * len(sets))
    axes = figure.subplots()
    for model, colour, marker in zip(models, (BLUE, ORANGE, GREEN, GREY), "osD^", strict=True):
        errors = [results["errors"][name][model] for name in sets]
        axes.plot(errors, range(len(sets)), marker, color=colour, label=model)
    name_lines([axes], sets)
    axes.set_xlabel("RMSE of the values that were taken away, in deviations (less is better)")
    axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4)
    return figure
