"""Predicted intervals of single rows, beside what came."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, ORANGE


def draw(results: dict[str, Any]) -> Figure:
    """Draw each row's mean and 90 % interval, in the order of the means, and its true value."""
    order = np.argsort(results["mean"])
    y, mean, lower, upper = (np.asarray(results[name])[order] for name in ("y", "mean", "lower", "upper"))
    inside = (lower <= y) & (y <= upper)
    rank = np.arange(y.size)
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.vlines(rank, lower, upper, color=BLUE, alpha=0.3, linewidth=3, label="90 % interval")
    axes.plot(rank, mean, color=BLUE, label="predicted mean")
    axes.scatter(rank[inside], y[inside], s=12, color="black", label="true value, inside")
    axes.scatter(rank[~inside], y[~inside], s=18, marker="x", color=ORANGE, label="true value, outside")
    axes.set(
        xlabel="test rows, in the order of their predicted means",
        ylabel="target",
        title=f"{inside.mean():.0%} of the true values lie inside their 90 % intervals",
    )
    axes.legend(loc="upper left")
    return figure
