"""Whether predicted probabilities come true."""

from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from ggln.palette import BLUE, GREY, ORANGE
from ggln.plots.display import Display, FloatArray, legend_above, one_output, one_target, predictive
from ggln.plots.style import styled

Kind = Literal["coverage", "quantiles", "pit"]
LEVELS = np.linspace(0.01, 0.99, 99)
BINS = 10
LABELS = {
    "coverage": ("level of the predicted central interval", "share of true values inside it"),
    "quantiles": ("predicted probability of a lower value", "share of true values with at most that"),
    "pit": ("predicted probability of a lower value", "density"),
}


class CalibrationDisplay(Display):
    """Observed shares beside predicted probabilities; a calibrated model lies on the diagonal.

    Parameters
    ----------
    pit : (n,)
        Probability integral transform: predicted probability of a value up to the true one.
    name : str, optional
        Of the model, for the legend.
    """

    def __init__(self, *, pit: FloatArray, name: str | None = None) -> None:
        self.pit, self.name = pit, name

    def coverage(self, levels: FloatArray) -> FloatArray:
        """Share of the true values inside their central intervals of these levels."""
        shares: FloatArray = (np.abs(2.0 * self.pit[:, None] - 1.0) <= levels).mean(axis=0)
        return shares

    def below(self, levels: FloatArray) -> FloatArray:
        """Share of the true values up to the predicted quantiles at these levels."""
        shares: FloatArray = (self.pit[:, None] <= levels).mean(axis=0)
        return shares

    @styled
    def plot(self, ax: Axes | None = None, *, kind: Kind = "coverage", color: str = BLUE) -> Self:
        """Draw coverage over the level of intervals, the same for quantiles, or the histogram of the PIT.

        The grey band holds 95 % of what a perfectly calibrated model would show with as many rows.
        """
        if kind not in LABELS:
            raise ValueError(f"kind must be one of {list(LABELS)}, got {kind!r}")
        ax = self._start(ax, (4.6, 4.2))
        rows, label = self.pit.size, self.name or "observed"
        if kind == "pit":
            heights, edges = np.histogram(self.pit, BINS, (0.0, 1.0), density=True)
            ax.axhspan(*_band(rows, 1.0 / BINS) * BINS, color=GREY, alpha=0.25, linewidth=0)
            ax.axhline(1.0, color=GREY, linestyle="--", linewidth=1, label="calibrated")
            ax.stairs(heights, edges, color=color, fill=True, alpha=0.4, label=label)
            ax.set(xlim=(0, 1), ylim=(0.0, None))
        else:
            shares = self.coverage(LEVELS) if kind == "coverage" else self.below(LEVELS)
            ax.fill_between(LEVELS, *_band(rows, LEVELS), color=GREY, alpha=0.25, linewidth=0)
            ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, label="calibrated")
            ax.plot(LEVELS, shares, color=color, label=label)
            if kind == "coverage":
                at = self.coverage(np.array([0.9]))[0]
                ax.plot(
                    0.9,
                    at,
                    color=ORANGE,
                    marker="o",
                    linestyle="",
                    clip_on=False,  # at 100 % it lies on the edge
                    zorder=5,
                    label=f"90 % intervals hold {100 * at:.0f} %",
                )
            ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set(xlabel=LABELS[kind][0], ylabel=LABELS[kind][1])
        legend_above(ax, 2)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: Kind = "coverage",
        output: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw how well a fitted estimator is calibrated on rows that it has not learnt."""
        return cls.from_predictions(y, predictive(estimator, X), kind=kind, output=output, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        distribution: Any,
        *,
        kind: Kind = "coverage",
        output: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw how well a predicted distribution is calibrated: of one output, or of all taken together."""
        if output is not None:
            distribution, y = one_output(distribution, output), one_target(y, output)
        pit = np.asarray(distribution.cdf(np.asarray(y, np.float64)))
        return cls(pit=pit.ravel(), name=name).plot(ax, kind=kind)


def _band(rows: int, probability: Any) -> FloatArray:
    """Return the shares [2, ..] between which 95 % of samples of so many rows lie."""
    return np.stack([binom.ppf(q, rows, probability) / rows for q in (0.025, 0.975)])
