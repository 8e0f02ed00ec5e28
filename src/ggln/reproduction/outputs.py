"""Several outputs: whether intervals, joint regions and correlations are honest, for each covariance.

Two or four smooth functions of five features, with noise of unequal size that goes together. Of new rows,
nine in ten should lie in each output's 90 % interval, and nine in ten in the joint 90 % region.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.model_selection import KFold

from ggln.distributions import CopulaMixture, GaussianMixture
from ggln.extras import require
from ggln.reproduction import uci
from ggln.reproduction.competitors.regressors import CATBOOST, FOLDS
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.ablated import build
from ggln.reproduction.shared.record import Results, machine

FloatArray = NDArray[np.float64]
VERSION = "4"
OURS, STREAM, CATBOOST_JOINT = "apart", "stream", "CatBoost"
JOINT = "diagonal", "full", "isotropic"
MODELS = (OURS, STREAM, *JOINT, CATBOOST_JOINT)
NEW_ROWS = 2000
GOALS = {"least": (0.87, 0.93), "most": (0.87, 0.93), "joint": (0.87, 0.93), "correlation": (0.0, 0.1)}
"""What is right for the least and the most that an output's 90 % interval covers, for what the joint region
covers, and for the largest difference between a predicted correlation and that of errors on new rows."""


class Case(NamedTuple):
    """Noise of several outputs: its sizes, the correlation of neighbours, and its kind."""

    sizes: tuple[float, ...]
    correlation: float
    kind: str = "normal"


CASES = {
    "1:10 r=0.8": Case((0.1, 1.0), 0.8),
    "1:100 r=0.8": Case((0.01, 1.0), 0.8),
    "1:10 r=0": Case((0.1, 1.0), 0.0),
    "four r=-0.5": Case((0.1, 1.0, 0.3, 500.0), -0.5),
    "skewed r=0.8": Case((0.1, 1.0), 0.8, "exponential"),
    "t(3) r=0.8": Case((0.1, 1.0), 0.8, "t(3)"),
    "one without noise": Case((0.0, 1.0), 0.0),
}


def sample(case: Case, rows: int, seed: int, part: int) -> tuple[FloatArray, FloatArray]:
    """Return features [n, 5] and targets [n, D]; part: 0 to learn, 1 for new rows."""
    random = np.random.default_rng([2024, seed, part])
    X, outputs = random.random((rows, 5)), len(case.sizes)
    functions = [
        2.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + X[:, 2],
        4.0 * (X[:, 2] - 0.5) ** 2 + X[:, 3],
        np.exp(X[:, 0]) - X[:, 3] * X[:, 4],
        3000.0 * np.abs(X[:, 4] - 0.4),
    ]
    distance = np.abs(np.subtract.outer(np.arange(outputs), np.arange(outputs)))
    root = np.linalg.cholesky(float(case.correlation) ** distance)
    noise = random.standard_normal((rows, outputs)) @ root.T
    if case.kind == "exponential":
        noise = -log_ndtr(-noise) - 1.0
    elif case.kind == "t(3)":
        noise /= np.sqrt(random.chisquare(3, (rows, 1)))
    return X, np.stack(functions[:outputs], axis=1) + noise * case.sizes


def catboost(X: FloatArray, Y: FloatArray, seed: int) -> Any:
    """Boosting of all outputs together, with one covariance of errors on rows left out."""
    regressor = require("catboost").CatBoostRegressor
    scale = Y.std(axis=0)

    def fit(rows: Any) -> Any:
        model = regressor(loss_function="MultiRMSE", random_seed=seed, **CATBOOST)
        return model.fit(X[rows], Y[rows] / scale)

    errors = np.empty_like(Y)
    for known, left in KFold(FOLDS, shuffle=True, random_state=seed).split(X):
        errors[left] = Y[left] - scale * fit(known).predict(X[left])
    covariance, model = errors.T @ errors / len(Y), fit(slice(None))
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    np.fill_diagonal(correlations, 1.0)

    def predict(rows: FloatArray) -> CopulaMixture:
        means = scale * model.predict(rows)
        alone = [
            GaussianMixture([1.0], mean[:, None], np.full((len(rows), 1), deviation))
            for mean, deviation in zip(means.T, deviations, strict=True)
        ]
        return CopulaMixture(alone, correlations)

    return predict


def measure(distribution: Any, Y: FloatArray) -> Results:
    """Return what `GOALS` speaks of, the joint NLL, and each output's RMSE. Y: [n, D]."""
    lower, upper = distribution.interval(0.9)
    covered = np.mean((lower <= Y) & (upper >= Y), axis=0)
    deviations = distribution.std
    said = np.mean(distribution.cov / (deviations[:, :, None] * deviations[:, None]), axis=0)
    errors = Y - distribution.mean
    return {
        "least": covered.min(),
        "most": covered.max(),
        "joint": np.mean(distribution.region_level(Y) <= 0.9),
        "correlation": np.abs(said - np.corrcoef(errors.T)).max(),
        "nll": -distribution.log_prob(Y).mean(),
        "rmse": np.sqrt(np.mean(errors**2, axis=0)).tolist(),
    }


def evaluate(case: str, model: str, rows: int, seed: int, setting: dict[str, Any]) -> Results:
    """Learn a table of one case, and score the model on new rows."""
    X, Y = sample(CASES[case], rows, seed, 0)
    unseen, targets = sample(CASES[case], NEW_ROWS, seed, 1)
    if model == CATBOOST_JOINT:
        return measure(catboost(X, Y, seed)(unseen), targets)
    regressor = build(setting | ({"covariance": model} if model in JOINT else {}), seed)
    learn = regressor.partial_fit if model == STREAM else regressor.fit
    return measure(learn(X, Y).predict_dist(unseen), targets)


def run(
    cases: Sequence[str] = tuple(CASES),
    rows: int = 600,
    seeds: int = 3,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    models: Sequence[str] = MODELS,
) -> Results:
    """Learn `rows` rows of each case with all models, with so many seeds for tables and models."""
    setting = uci.default_setting()
    places = [(case, model) for case in cases for model in models]
    wanted = [
        jobs.Job(
            evaluate,
            {"case": case, "model": model, "rows": rows, "seed": seed, "setting": setting},
            VERSION,
        )
        for case, model in places
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fits"))
    measured: dict[str, dict[str, Results]] = {case: {} for case in cases}
    for case, model in places:
        parts = [next(found) for _ in range(seeds)]
        measured[case][model] = {
            score: np.mean([part[score] for part in parts], axis=0).tolist() for score in parts[0]
        }
    return {
        "experiment": "outputs",
        "settings": setting,
        "rows": rows,
        "new_rows": NEW_ROWS,
        "seeds": seeds,
        "machine": machine(),
        "goals": GOALS,
        "cases": measured,
    }


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the columns, and a line for each case and model; a star is out of its range."""
    lines = {}
    for case, models in results["cases"].items():
        for model, own in models.items():
            marks = {name: "" if low <= own[name] <= high else " *" for name, (low, high) in GOALS.items()}
            covers = {name: f"{100 * own[name]:.1f}{marks[name]}" for name in ("least", "most", "joint")}
            lines[f"{case}, {model}"] = {
                "outputs, %": f"{covers['least']} … {covers['most']}",
                "joint, %": covers["joint"],
                "correlation\noff by": f"{own['correlation']:.2f}{marks['correlation']}",
                "NLL": f"{own['nll']:.2f}",
            }
    return dict.fromkeys(next(iter(lines.values())), ""), lines
