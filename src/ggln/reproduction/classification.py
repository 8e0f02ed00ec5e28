"""The classifier's defaults on scikit-learn's tables, statlog and adult, beside its classifiers.

Four ship with scikit-learn and are cross-validated with stratified folds. Two are larger, and are learnt
from some of their rows and judged by others; they take part where their files are found. All models have
their defaults, boosting also a regularised setting; the page on classification says on which rows ours were
chosen.

Example: ggln reproduce classification --repeats 1
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as tables
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ggln import datasets
from ggln.estimators.classifier import GLNClassifier
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import means, standard_error
from ggln.reproduction.shared.options import STORE, DataDir, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

SETS: dict[str, Callable[..., Any]] = {
    "breast_cancer": tables.load_breast_cancer,
    "wine": tables.load_wine,
    "digits": tables.load_digits,
    "iris": tables.load_iris,
}
LARGE = "statlog", "adult"
"""Tables of the bandits, where their files are found: nine sensors of a shuttle, and occupations."""
ROWS = 10_000
"""Rows of a large table to learn, and to be judged by: both drawn at random."""

MODELS: dict[str, Callable[[int], Any]] = {
    "GLNClassifier": lambda seed: GLNClassifier(random_state=seed, n_jobs=1),
    "logistic regression": lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "regularised boosting": lambda seed: HistGradientBoostingClassifier(
        l2_regularization=1.0, random_state=seed
    ),
}
"""Boosting without regularisation, scikit-learn's default, diverges where a class has few rows."""

TITLES = {"accuracy": "Accuracy, %", "log_loss": "Log-loss, nats", "seconds": "Seconds for a fit"}
VERSION = "5"
Halves = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def halves(name: str, fold: int, folds: int, seed: int, data_dir: Path | None) -> Halves:
    """Return rows and labels to learn, and those to judge by: all folds but one, and that one.

    Of a large table they are drawn at random; classes that are not among the rows to learn are left out.
    """
    if name in SETS:
        X, y = SETS[name](return_X_y=True)
        cuts = StratifiedKFold(folds, shuffle=True, random_state=seed)
        train, test = list(cuts.split(X, y))[fold]
    else:
        _, X, labels = datasets.load_bandit(name, data_dir)
        y = np.asarray(labels)
        drawn = np.random.default_rng(seed).permutation(len(X))
        train, test = drawn[:ROWS], drawn[ROWS : 2 * ROWS]
        test = test[np.isin(y[test], y[train])]
    return X[train], y[train], X[test], y[test]


def evaluate(
    name: str,
    model: str,
    fold: int,
    folds: int,
    seed: int,
    setting: dict[str, Any] | None = None,
    data_dir: Path | None = None,
) -> Results:
    """Fit a model and score it on rows that it did not see. setting: arguments of the networks."""
    X, y, X_judge, y_judge = halves(name, fold, folds, seed, data_dir)
    classifier = MODELS[model](seed)
    if setting:
        classifier.set_params(**setting)
    start = time.perf_counter()
    classifier.fit(X, y)
    seconds = time.perf_counter() - start
    probabilities = classifier.predict_proba(X_judge)
    guesses = classifier.classes_[probabilities.argmax(axis=1)]
    return {
        "accuracy": 100.0 * np.mean(guesses == y_judge),
        "log_loss": log_loss(y_judge, probabilities, labels=classifier.classes_),
        "seconds": seconds,
    }


def run(
    folds: Annotated[int, Option("Folds of the cross-validation.", least=2)] = 5,
    repeats: Annotated[int, Option("Times that the rows are cut into folds.", least=1)] = 2,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
) -> Results:
    """Score all models on all sets that are here."""
    setting = {k: v for k, v in GLNClassifier().get_params().items() if k not in ("random_state", "n_jobs")}
    names = [*SETS, *(name for name in LARGE if datasets.find(name, data_dir))]
    cuts = {
        name: [(fold, seed) for seed in range(repeats) for fold in range(folds if name in SETS else 1)]
        for name in names
    }
    settings = {"GLNClassifier": setting}
    wanted = {
        (name, model): [
            jobs.Job(
                evaluate,
                {
                    "name": name,
                    "model": model,
                    "fold": fold,
                    "folds": folds,
                    "seed": seed,
                    "setting": settings.get(model),
                },
                VERSION,
                {"data_dir": data_dir},
            )
            for fold, seed in cuts[name]
        ]
        for name in names
        for model in MODELS
    }
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    scores = {
        name: {
            model: means(parts)
            | {"accuracy_error": standard_error([part["accuracy"] for part in parts]) or 0.0}
            for model, parts in own.items()
        }
        for name, own in found.items()
    }
    return {
        "experiment": "classification",
        "setting": setting,
        "folds": folds,
        "repeats": repeats,
        "rows": ROWS,
        "machine": machine(),
        "sets": scores,
    }


def score_table(results: Results, score: str) -> ScoreTable:
    """Return for each set every model's score."""
    form = {"accuracy": ".2f", "log_loss": ".3f", "seconds": ".2f"}[score]
    rows = {
        name: {model: found[score] for model, found in models.items()}
        for name, models in results["sets"].items()
    }
    return ScoreTable(TITLES[score], dict.fromkeys(next(iter(rows.values())), form), rows)


def table(results: Results) -> list[ScoreTable]:
    """Return a table for each score."""
    return [score_table(results, score) for score in TITLES]


STYLES = {
    "GLNClassifier": (BLUE, "o"),
    "logistic regression": (ORANGE, "s"),
    "gradient boosting": (GREEN, "^"),
    "regularised boosting": (PURPLE, "v"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw each model's error rate and log-loss, a line for each table."""
    names = list(results["sets"])
    figure = new_figure(8.5, 1.6 + 0.5 * len(names))
    left, right = figure.subplots(1, 2, sharey=True)
    measured = results["sets"][names[0]]
    for number, (model, (color, marker)) in enumerate(STYLES.items()):
        if model not in measured:
            continue
        heights = [place + 0.15 * (number - 1.5) for place in range(len(names))]
        found = [results["sets"][name][model] for name in names]
        errors = [100.0 - score["accuracy"] for score in found]
        spread = [score["accuracy_error"] for score in found]
        left.errorbar(errors, heights, xerr=spread, fmt=marker, color=color, label=model, linewidth=1.0)
        right.plot([score["log_loss"] for score in found], heights, marker, color=color)
    name_lines((left, right), [name.replace("_", " ") for name in names])
    left.set_xlabel("errors, %, with standard error (less is better)")
    right.set_xlabel("log-loss, nats (less is better)")
    left.set_xlim(left=0.0)
    right.set_xscale("log")  # from next to nothing to what is worse than a guess
    for axes in (left, right):
        axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4)
    return figure
