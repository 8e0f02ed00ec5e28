"""A fifth of a table's values taken away and filled in, beside scikit-learn's imputers, all with defaults."""

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
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results, machine

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
    seeds: int = 3,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
) -> Results:
    """Fill all tables with all imputers; a seed takes other values away."""
    places = {"data_dir": data_dir}
    wanted = [
        jobs.Job(fill, {"name": name, "model": model, "seed": seed}, VERSION, places)
        for name in SETS
        for model in MODELS
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fits"))
    errors = {
        name: {model: float(np.mean([next(found)["rmse"] for _ in range(seeds)])) for model in MODELS}
        for name in SETS
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
