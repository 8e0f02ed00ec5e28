"""The demonstration: two small tables, learnt in seconds, next to two baselines.

One is real and nearly linear, so that a straight line is hard to beat. The other is made by a formula that no
line can follow, with errors of unequal size. Which of them your table resembles is for you to say.
"""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import train_test_split

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.scores import gaussian, scores

FloatArray = NDArray[np.float64]
ROWS = 442
"""As many as the real table has."""


class DemoTable(NamedTuple):
    """A table to learn, and what is to be known of it."""

    name: str
    target: str
    about: str
    X: FloatArray  # [n, d]
    y: FloatArray  # [n]


def rentals(rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return hour, degrees, rain and weekend, X [n, 4], and bicycles that a made-up town rents then, y [n].

    On working days there are two rush hours, on weekends the afternoon counts; cold and rain keep people
    away. Deviations grow with the demand: 4 bicycles and 15 % of what is expected.
    """
    random = np.random.default_rng(seed)
    hour, degrees = random.integers(0, 24, rows), random.normal(15.0, 8.0, rows)
    rain, weekend = random.random(rows) < 0.25, random.random(rows) < 2 / 7
    working = np.exp(-(((hour - 8) / 1.5) ** 2)) + np.exp(-(((hour - 17.5) / 2.0) ** 2))
    rush = np.where(weekend, np.exp(-(((hour - 14) / 4.0) ** 2)), working)
    expected = (20.0 + 220.0 * rush) * np.clip((degrees + 5.0) / 25.0, 0.1, 1.3) * np.where(rain, 0.5, 1.0)
    rented = expected + (4.0 + 0.15 * expected) * random.standard_normal(rows)
    return np.column_stack([hour, degrees, rain, weekend]).astype(np.float64), rented


def tables(seed: int) -> list[DemoTable]:
    """Return the tables of the demonstration."""
    patients = "real: ten measurements of 442 patients, small and nearly linear, so a line is hard to beat"
    town = "made by a formula: hour, weather and weekend act together, and errors grow with the demand"
    return [
        DemoTable("diabetes", "progression", patients, *load_diabetes(return_X_y=True)),
        DemoTable("bicycles", "rented per hour", town, *rentals(ROWS, seed)),
    ]


def run(verbose: int = 0, seed: int = 0, **settings: Any) -> Results:
    """Learn three quarters of each table and predict the rest."""
    return {table.name: _run(table, verbose=verbose, random_state=seed, **settings) for table in tables(seed)}


def _run(table: DemoTable, **settings: Any) -> Results:
    split = train_test_split(table.X, table.y, random_state=settings["random_state"])
    X_test, y_test = split[1], split[3]
    rows = dict(_compare(*split, **settings))
    distribution = rows.pop("model").predict_dist(X_test)
    lower, upper = distribution.interval(0.9)
    drawn = {"y": y_test, "mean": distribution.mean, "lower": lower, "upper": upper}
    return {"about": table.about, "target": table.target, "scores": rows, **drawn}


def _compare(
    X_train: Any, X_test: Any, y_train: Any, y_test: Any, **settings: Any
) -> Iterator[tuple[str, Any]]:
    ones = np.ones(len(y_test))
    constant = gaussian(y_train.mean() * ones, y_train.std() * ones)
    yield "mean of the targets", scores(constant, y_test) | {"seconds": 0.0}
    start = time.perf_counter()
    ridge = BayesianRidge().fit(X_train, y_train)
    prediction = gaussian(*ridge.predict(X_test, return_std=True))
    yield "Bayesian ridge, a line", scores(prediction, y_test) | {"seconds": time.perf_counter() - start}
    start = time.perf_counter()
    model = GGLNRegressor(**settings).fit(X_train, y_train)
    yield (
        "GGLNRegressor",
        scores(model.predict_dist(X_test), y_test) | {"seconds": time.perf_counter() - start},
    )
    yield "model", model


@styled
def draw(results: Results) -> Figure:
    """Draw the 90 % intervals of `ggln demo`, a panel for each table."""
    from ggln.plots import IntervalsDisplay

    figure = new_figure(8.0, 3.6 * len(results))
    for axes, (name, found) in zip(figure.subplots(len(results)), results.items(), strict=True):
        arrays: Any = {part: np.asarray(found[part]) for part in ("y", "mean", "lower", "upper")}
        display = IntervalsDisplay(**arrays, level=0.9, y_name=found["target"]).plot(axes)
        axes.set_title(f"{name}: {display.title}")
    return figure
