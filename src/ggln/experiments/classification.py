"""`GLNClassifier()` on the tables that ship with scikit-learn, beside scikit-learn's own classifiers.

Cross-validation with stratified folds; nothing is tuned on any of them, the peers have their defaults too.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as tables
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ggln.classifiers import GLNClassifier
from ggln.experiments import jobs
from ggln.experiments.record import Results, machine

SETS: dict[str, Callable[..., Any]] = {
    "breast_cancer": tables.load_breast_cancer,
    "wine": tables.load_wine,
    "digits": tables.load_digits,
    "iris": tables.load_iris,
}

MODELS: dict[str, Callable[[int], Any]] = {
    "GLNClassifier": lambda seed: GLNClassifier(random_state=seed, n_jobs=1),
    "logistic regression": lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}

TITLES = {"accuracy": "Accuracy, %", "log_loss": "Log-loss, nats", "seconds": "Seconds for a fit"}
VERSION = "1"


def evaluate(
    name: str, model: str, fold: int, folds: int, seed: int, setting: dict[str, Any] | None = None
) -> Results:
    """Fit a model to all folds but one, and score it on that one. setting: arguments of the networks."""
    X, y = SETS[name](return_X_y=True)
    cuts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    train, test = list(cuts.split(X, y))[fold]
    classifier = MODELS[model](seed)
    if setting:
        classifier.set_params(**setting)
    start = time.perf_counter()
    classifier.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    probabilities = classifier.predict_proba(X[test])
    guesses = classifier.classes_[probabilities.argmax(axis=1)]
    return {
        "accuracy": 100.0 * np.mean(guesses == y[test]),
        "log_loss": log_loss(y[test], probabilities, labels=classifier.classes_),
        "seconds": seconds,
    }


def run(
    folds: int = 5,
    repeats: int = 2,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
) -> Results:
    """Cross-validate all models on all sets."""
    setting = {k: v for k, v in GLNClassifier().get_params().items() if k not in ("random_state", "n_jobs")}
    cuts = [(fold, seed) for seed in range(repeats) for fold in range(folds)]
    places = [(name, model) for name in SETS for model in MODELS]
    wanted = [
        jobs.Job(
            evaluate,
            {
                "name": name,
                "model": model,
                "fold": fold,
                "folds": folds,
                "seed": seed,
                "setting": setting if model == "GLNClassifier" else None,
            },
            VERSION,
        )
        for name, model in places
        for fold, seed in cuts
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fits"))
    scores: dict[str, dict[str, Results]] = {name: {} for name in SETS}
    for name, model in places:
        parts = [next(found) for _ in cuts]
        values = {score: np.array([part[score] for part in parts]) for score in TITLES}
        scores[name][model] = {score: value.mean() for score, value in values.items()}
        scores[name][model]["accuracy_error"] = values["accuracy"].std(ddof=1) / len(cuts) ** 0.5
    return {
        "experiment": "classification",
        "setting": setting,
        "folds": folds,
        "repeats": repeats,
        "machine": machine(),
        "sets": scores,
    }


def table(results: Results, score: str) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the columns, and for each set every model's score."""
    form = {"accuracy": ".2f", "log_loss": ".3f", "seconds": ".2f"}[score]
    rows = {
        name: {model: found[score] for model, found in models.items()}
        for name, models in results["sets"].items()
    }
    return dict.fromkeys(MODELS, form), rows
