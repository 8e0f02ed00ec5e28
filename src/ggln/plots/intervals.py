"""Predicted intervals of single rows, beside what came."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from ggln.palette import BLUE, ORANGE
from ggln.plots.display import Display, FloatArray, one_output, one_target, predictive, target_name
from ggln.plots.style import styled


class IntervalsDisplay(Display):
    """Each row's mean and central interval, in the order of the means, and its true value.

    Parameters
    ----------
    y, mean, lower, upper : (n,)
    level : float
        Of the intervals.
    y_name : str
        What is predicted.
    """

    def __init__(
        self,
        *,
        y: FloatArray,
        mean: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        level: float,
        y_name: str = "y",
    ) -> None:
        self.y, self.mean, self.lower, self.upper, self.level = y, mean, lower, upper, level
        self.y_name = y_name

    @property
    def coverage(self) -> float:
        """Share of the true values inside their intervals."""
        return float(np.mean((self.lower <= self.y) & (self.y <= self.upper)))

    @property
    def title(self) -> str:
        """How many true values lie inside."""
        return f"{100 * self.coverage:.0f} % inside {100 * self.level:g} % intervals"

    @styled
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for each row's interval; true values outside of it are crosses."""
        ax = self._start(ax, (8, 4))
        order = np.argsort(self.mean)
        y, mean, lower, upper = (part[order] for part in (self.y, self.mean, self.lower, self.upper))
        inside, rank, level = (lower <= y) & (y <= upper), np.arange(y.size), f"{100 * self.level:g} %"
        ax.vlines(rank, lower, upper, color=BLUE, alpha=0.3, linewidth=3, label=f"{level} interval")
        ax.plot(rank, mean, color=BLUE, label="predicted mean")
        ax.scatter(rank[inside], y[inside], s=12, color="black", label="true value, inside")
        ax.scatter(rank[~inside], y[~inside], s=18, marker="x", color=ORANGE, label="true value, outside")
        ax.set(
            xlabel="rows, in the order of their predicted means",
            ylabel=self.y_name,
            title=self.title,
        )
        ax.legend(loc="upper left")
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, level: float = 0.9, output: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw what a fitted estimator predicts of rows X, beside their targets y."""
        distribution, name = predictive(estimator, X), target_name(estimator, y, output)
        return cls.from_predictions(y, distribution, level=level, output=output, y_name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        distribution: Any,
        *,
        level: float = 0.9,
        output: int = 0,
        y_name: str = "y",
        ax: Axes | None = None,
    ) -> Self:
        """Draw a predicted distribution, one row for each of the targets y."""
        single, targets = one_output(distribution, output), one_target(y, output)
        if len(targets) != len(single):
            raise ValueError(f"y has {len(targets)} rows, but {len(single)} were predicted")
        lower, upper = single.interval(level)
        display = cls(y=targets, mean=single.mean, lower=lower, upper=upper, level=level, y_name=y_name)
        return display.plot(ax)
