"""The demonstration: a table that scikit-learn brings along, learnt in seconds, next to two baselines."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import train_test_split

from ggln.estimators import GGLNRegressor
from ggln.experiments.record import Results
from ggln.experiments.scores import gaussian, scores


def run(verbose: int = 0, seed: int = 0, **settings: Any) -> Results:
    """Learn the diabetes data (442 patients, ten features) and predict a quarter of them."""
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
    rows = dict(_compare(X_train, X_test, y_train, y_test, verbose=verbose, random_state=seed, **settings))
    model: GGLNRegressor = rows.pop("model")
    distribution = model.predict_dist(X_test)
    lower, upper = distribution.interval(0.9)
    return {"scores": rows, "y": y_test, "mean": distribution.mean, "lower": lower, "upper": upper}


def _compare(
    X_train: Any, X_test: Any, y_train: Any, y_test: Any, **settings: Any
) -> Iterator[tuple[str, Any]]:
    ones = np.ones(len(y_test))
    constant = gaussian(y_train.mean() * ones, y_train.std() * ones)
    yield "mean of the targets", scores(constant, y_test) | {"seconds": 0.0}
    start = time.perf_counter()
    ridge = BayesianRidge().fit(X_train, y_train)
    prediction = gaussian(*ridge.predict(X_test, return_std=True))
    yield "Bayesian ridge", scores(prediction, y_test) | {"seconds": time.perf_counter() - start}
    start = time.perf_counter()
    model = GGLNRegressor(**settings).fit(X_train, y_train)
    yield (
        "GGLNRegressor",
        scores(model.predict_dist(X_test), y_test) | {"seconds": time.perf_counter() - start},
    )
    yield "model", model
