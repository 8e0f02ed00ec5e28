"""The predicted band over one feature."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_consistent_length

from ggln.palette import BLUE, GREY
from ggln.plots.display import (
    Display,
    FloatArray,
    Samples,
    legend_above,
    one_output,
    one_target,
    predictive,
    show_dates,
    target_name,
)
from ggln.plots.style import styled
from ggln.plots.view import look


class BandDisplay(Display):
    """The predicted mean and central intervals along one feature.

    Parameters
    ----------
    x : (n,), numbers in ascending order, or the names of categories
    mean : (n,)
    intervals : mapping from a level to its (lower, upper), (n,) each
    samples : (x, y), (m,) each, optional
        Observations to draw beneath.
    x_name, y_name : str
        Names of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from ggln import GGLNRegressor
    >>> from ggln.plots import BandDisplay
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> model = GGLNRegressor(layer_sizes=(8, 1), base_model="feature", random_state=0).fit(
    ...     X, np.sin(X[:, 0])
    ... )
    >>> display = BandDisplay.from_estimator(model, X, np.sin(X[:, 0]))
    >>> display.ax_.get_xlabel()
    'x0'
    """

    def __init__(
        self,
        *,
        x: FloatArray,
        mean: FloatArray,
        intervals: Mapping[float, tuple[FloatArray, FloatArray]],
        samples: Samples | None = None,
        x_name: str = "x",
        y_name: str = "y",
    ) -> None:
        self.x, self.mean, self.intervals = x, mean, intervals
        self.samples = samples
        self.x_name, self.y_name = x_name, y_name

    @styled
    def plot(self, ax: Axes | None = None, *, color: str = BLUE, legend: bool = True) -> Self:
        """Draw the widest interval faintest, the mean on top."""
        ax = self._start(ax)
        levels = sorted(self.intervals, reverse=True)
        (self._draw_categories if self.x.dtype.kind in "UO" else self._draw_curves)(ax, levels, color)
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        if legend:
            legend_above(ax, 4, markerscale=2.0)  # samples are small
        return self

    def _draw_curves(self, ax: Axes, levels: list[float], color: str) -> None:
        if self.samples is not None:
            self._draw_samples(ax, self.samples[0])
        for level, alpha, inner in zip(levels, _shades(len(levels)), [*levels[1:], None], strict=True):
            low, high = self.intervals[level]
            style: Any = {"color": color, "alpha": alpha, "linewidth": 0}
            if inner is None:
                ax.fill_between(self.x, low, high, label=_label(level), **style)
            else:  # only what is outside the next one: its shade is then the legend's
                within = self.intervals[inner]
                ax.fill_between(self.x, low, within[0], label=_label(level), **style)
                ax.fill_between(self.x, within[1], high, **style)
        ax.plot(self.x, self.mean, color=color, label="predicted mean")

    def _draw_categories(self, ax: Axes, levels: list[float], color: str) -> None:
        names = list(self.x)
        places = np.arange(len(names))
        if self.samples is not None:
            known = {name: place for place, name in enumerate(names)}
            given = np.array([known.get(name, np.nan) for name in self.samples[0]])
            beside = np.random.default_rng(0).uniform(-0.35, -0.12, given.size)  # where none hides another
            self._draw_samples(ax, given + beside)
        for level, alpha in zip(levels, _shades(len(levels)), strict=True):
            low, high = self.intervals[level]
            width = 4.0 + 6.0 * levels.index(level)
            ax.vlines(places, low, high, color=color, alpha=alpha, linewidth=width, label=_label(level))
        ax.plot(places, self.mean, "o", color=color, markersize=3.5, label="predicted mean")
        ax.set_xticks(places, [str(name) for name in names])
        ax.set_xlim(-0.6, len(names) - 0.4)
        if len(names) > 6:
            ax.tick_params(axis="x", rotation=45)

    def _draw_samples(self, ax: Axes, x: FloatArray) -> None:
        assert self.samples is not None
        size = 3 if len(x) > 200 else 8
        ax.scatter(x, self.samples[1], s=size, color=GREY, alpha=0.4, linewidths=0, label="samples")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        feature: int | str = 0,
        levels: float | Sequence[float] = (0.5, 0.9),
        grid_resolution: int = 200,
        at: Any = None,
        output: int = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw what a fitted estimator predicts while one feature goes over its range in X.

        Parameters
        ----------
        estimator : fitted, with ``predict_dist(X)`` or ``predict(X, return_std=True)``, or a pipeline of such
            With a `TableRegressor`, features are columns, of any kind.
        X : array-like of shape (n, features), or a table
            Rows that give the feature's range.
        y : array-like of shape (n,) or (n, outputs), optional
            Targets, drawn beneath. Their rows differ in the other features as well.
        feature : int or str
            Number or name of the feature.
        levels : float or sequence of float
            Levels of the central intervals.
        grid_resolution : int
            How many points to predict.
        at : row of features, optional
            Where the other features are held; at their medians by default. Of a table, a mapping of columns
            to values; by default the row of X that is nearest to the medians.
        output : int
            Which output, of several.
        ax : matplotlib axes, optional
        """
        view = look(estimator, X, at)
        path = view.along(feature, grid_resolution)
        if y is not None:
            check_consistent_length(path.samples, y)
        display = cls.from_predictions(
            path.x,
            one_output(predictive(view.model, path.rows), output),
            levels=levels,
            samples=None if y is None else (path.samples, one_target(y, output)),
            x_name=path.name,
            y_name=target_name(estimator, y, output),
            ax=ax,
        )
        if path.date:
            show_dates(display.ax_.xaxis)
        return display

    @classmethod
    def from_predictions(
        cls,
        x: FloatArray,
        distribution: Any,
        *,
        levels: float | Sequence[float] = (0.5, 0.9),
        samples: Samples | None = None,
        x_name: str = "x",
        y_name: str = "y",
        ax: Axes | None = None,
    ) -> Self:
        """Draw a predicted distribution, one row for each point x."""
        display = cls(
            x=x,
            mean=distribution.mean,
            intervals={level: distribution.interval(level) for level in np.atleast_1d(levels).tolist()},
            samples=samples,
            x_name=x_name,
            y_name=y_name,
        )
        return display.plot(ax)


def _shades(count: int) -> list[float]:
    """Return opacities for intervals, the widest faintest."""
    return [0.2 + 0.35 * i / max(count - 1, 1) for i in range(count)]


def _label(level: float) -> str:
    return f"{100 * level:g} % predicted"
