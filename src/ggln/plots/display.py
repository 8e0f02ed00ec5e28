"""What all displays share: where they draw, how they ask an estimator, how they read a table."""

import inspect
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ggln.distributions import GaussianMixture
from ggln.tables.model import TableRegressor

FloatArray = NDArray[np.float64]
Samples = tuple[FloatArray, FloatArray]
"""Observations to draw beneath: places along the axis, and targets."""


class Display:
    """A picture of something, as scikit-learn has them: made from an estimator or from predictions.

    Attributes
    ----------
    ax_, figure_ :
        Where `plot` has drawn.
    """

    ax_: Axes
    figure_: Figure

    def _start(self, ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
        """Return the axes to draw in, new ones if none were given."""
        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_ = ax
        figure = ax.get_figure(root=True)
        assert figure is not None
        self.figure_ = figure
        return ax


def legend_above(ax: Axes, columns: int, markerscale: float = 1.0) -> None:
    """Name what is drawn above the axes, where it hides nothing."""
    compact: Any = {
        "fontsize": "small",
        "handlelength": 1.6,
        "columnspacing": 1.2,
        "markerscale": markerscale,
    }
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2, **compact)


def show_dates(axis: Axis) -> None:
    """Show days since 1970, which are matplotlib's dates, as dates."""
    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def networks_of(estimator: Any) -> Any:
    """Return the networks of an estimator, fitted or not: those that a table's regressor would make."""
    model = last_step(estimator)
    return model.new_networks() if isinstance(model, TableRegressor) else model


def unwrap(estimator: Any, X: Any, needs: str | None = None) -> tuple[Any, Any]:
    """Return the last step of a pipeline and what the steps before it make of X; or both as they are.

    needs: a method that the last step has to have.
    """
    if isinstance(estimator, Pipeline):
        estimator, X = estimator[-1], estimator[:-1].transform(X)
    if needs is not None and not hasattr(estimator, needs):
        raise ValueError(f"{type(estimator).__name__} has no method {needs}: expected a GGLNRegressor")
    return estimator, X


def check_place(name: str, place: int, count: int) -> int:
    """Return the number of one of so many things, or raise ValueError."""
    if not 0 <= place < count:
        raise ValueError(f"{name} must be from 0 to {count - 1}, got {place}")
    return place


def predictive(estimator: Any, X: Any) -> Any:
    """Return the distribution that an estimator predicts, a Gaussian if it has no more than mean and std."""
    model, rows = unwrap(estimator, X)
    if hasattr(model, "predict_dist"):
        return model.predict_dist(rows)
    if "return_std" in inspect.signature(model.predict).parameters:
        mean, std = model.predict(rows, return_std=True)
        return GaussianMixture([1.0], mean[:, None], std[:, None])
    raise ValueError(
        f"{type(model).__name__} predicts no distribution: expected a method predict_dist(X), "
        "or predict(X, return_std=True)"
    )


def one_output(distribution: Any, output: int) -> GaussianMixture:
    """Return the distribution of a single output."""
    several = hasattr(distribution, "marginal")
    check_place("output", output, distribution.outputs if several else 1)
    chosen: GaussianMixture = distribution.marginal(output) if several else distribution
    return chosen


def one_target(y: Any, output: int) -> FloatArray:
    """Return the targets of a single output."""
    values = np.asarray(y, np.float64)
    chosen: FloatArray = values if values.ndim == 1 else values[:, output]
    return chosen


def count_rows(X: Any) -> int:
    """Return how many rows an array, a data frame or a mapping of columns has."""
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)


def target_name(estimator: Any, y: Any, output: int) -> str:
    """Return what an output is called: by a table's model, or by the targets; y if they do not say."""
    names = getattr(last_step(estimator), "targets", None) or [
        str(name) for name in getattr(y, "columns", [])
    ]
    if output < len(names):
        return str(names[output])
    own = getattr(y, "name", None)
    return own if isinstance(own, str) and own else "y"


def take(X: Any, rows: slice) -> Any:
    """Return some rows by their places, whatever the index of a data frame says."""
    if isinstance(X, Mapping):
        return {name: values[rows] for name, values in X.items()}
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def place_of(X: Any, feature: int | str) -> int:
    """Return the number of a column, given by number or by name."""
    if not isinstance(feature, str):
        return check_place("feature", feature, int(np.shape(X)[1]))
    names = [str(name) for name in getattr(X, "columns", [])]
    if feature not in names:
        raise ValueError(f"feature {feature!r} is not a column of X, which has {names or 'no names'}")
    return names.index(feature)


def name_of(X: Any, feature: int) -> str:
    """Return the name of a column, or its number if it has none."""
    return str(X.columns[feature]) if hasattr(X, "columns") else f"x{feature}"


def column(X: Any, feature: int) -> FloatArray:
    """Return the values of a column."""
    return np.asarray(X, np.float64)[:, feature]


def vary(X: Any, values: Mapping[int, FloatArray], at: Any = None) -> Any:
    """Return rows like those of X in which some columns take `values`, the others those of the row `at`.

    By default the others are the medians of X.
    """
    table = np.asarray(X, np.float64)
    row = np.median(table, axis=0) if at is None else np.asarray(at, np.float64).ravel()
    if row.shape != table.shape[1:]:
        raise ValueError(f"at must be a row of {table.shape[1]} features, got shape {np.shape(at)}")
    rows = np.tile(row, (len(next(iter(values.values()))), 1))
    for feature, own in values.items():
        rows[:, feature] = own
    if hasattr(X, "columns"):
        return type(X)({name: rows[:, i] for i, name in enumerate(X.columns)})
    return rows


def span(values: FloatArray, points: int) -> FloatArray:
    """Return evenly spaced points from the least to the greatest value."""
    return np.linspace(values.min(), values.max(), points)
