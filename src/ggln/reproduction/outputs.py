"""Several outputs with noise of unequal size: intervals, joint regions, correlations and likelihood.

Two or four smooth functions of five features, with noise of unequal size that goes together. Of new rows,
nine in ten should lie in each output's 90 % interval, and nine in ten in the joint 90 % region.

Needs CatBoost, which the extra `peers` of the package installs, unless --models leaves it out.

Example: ggln reproduce outputs --cases "1:10 r=0.8" --seeds 1 --models apart,diagonal
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.model_selection import KFold

from ggln.distributions import CopulaMixture, GaussianMixture
from ggln.extras import require
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from ggln.reproduction.competitors.regressors import CATBOOST, FOLDS
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import build
from ggln.reproduction.shared.averages import means
from ggln.reproduction.shared.options import STORE, Models, NameList, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

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
    cases: Annotated[Sequence[str], NameList("Names of cases, separated by commas; all by default.")] = tuple(
        CASES
    ),
    rows: Annotated[int, Option("Training rows.", least=20)] = 600,
    seeds: Annotated[int, Option("Tables of each case, averaged.", least=1)] = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
    models: Models = MODELS,
) -> Results:
    """Learn `rows` rows of each case with all models, with so many seeds for tables and models."""
    setting = defaults.default_setting()
    wanted = {
        (case, model): jobs.with_seeds(
            evaluate,
            {"case": case, "model": model, "rows": rows, "setting": setting},
            range(seeds),
            VERSION,
        )
        for case in cases
        for model in models
    }
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    measured = {case: {model: means(parts) for model, parts in own.items()} for case, own in found.items()}
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


def table(results: Results) -> ScoreTable:
    """Return a line for each case and model; a star is out of its range."""
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
    return ScoreTable(
        f"{results['rows']} rows learnt, {results['new_rows']} new ones; a star is out of its range",
        dict.fromkeys(next(iter(lines.values())), ""),
        lines,
    )


PANELS = {
    "inside each output's\n90 % interval, %": ("least", "most"),
    "inside the joint\n90 % region, %": ("joint",),
    "correlation off by": ("correlation",),
    "joint NLL less that\nof apart": ("nll",),
}
FIRST = "apart"
STYLES = (BLUE, "o"), (PURPLE, "D"), (GREEN, "^"), (ORANGE, "v"), (RED, "s"), (GREY, "P")
"""Of models in their order."""


@styled
def draw(results: Results) -> Figure:
    """Draw what intervals and regions hold, how far correlations are off, and the likelihood."""
    cases = results["cases"]
    models = list(next(iter(cases.values())))
    figure = new_figure(10.0, 1.6 + 0.6 * len(cases))
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (label, names) in zip(panels, PANELS.items(), strict=True):
        percent = 100.0 if names[0] in ("least", "joint") else 1.0
        if names[0] in results["goals"]:
            low, high = results["goals"][names[0]]
            axes.axvspan(percent * low, percent * high, color=BLUE, alpha=0.12, linewidth=0)
        for number, (model, (color, marker)) in enumerate(zip(models, STYLES, strict=False)):
            heights = [place + 0.13 * (number - 0.5 * (len(models) - 1)) for place in range(len(cases))]
            for name in names:
                found = [percent * own[model][name] - _less(own, name) for own in cases.values()]
                shown = model if name == names[0] and axes is panels[0] else None
                axes.plot(found, heights, marker, color=color, markersize=4, label=shown)
        axes.set_xlabel(label)
        for place in range(1, len(cases)):
            axes.axhline(place - 0.5, color=GREY, alpha=0.3, linewidth=0.8)
    name_lines(panels, list(cases))
    figure.legend(loc="outside upper center", ncols=len(models))
    return figure


def _less(models: dict[str, Any], name: str) -> float:
    """Return the likelihood that others' are compared with; nothing for what has a goal of its own."""
    return float(models.get(FIRST, next(iter(models.values())))["nll"]) if name == "nll" else 0.0
