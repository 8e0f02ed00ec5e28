"""Base models through the first epoch, from the results of `ggln reproduce base-models`."""

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from ggln.plots.style import BLUE, GREY, ORANGE, styled

LINES = {
    "none": (GREY, ":", "biases alone"),
    "feature": (ORANGE, "--", "a Gaussian of fixed width at each feature"),
    "blr": (BLUE, "-", "Bayesian linear regression on each feature"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the running RMSE of each base model, with its standard error over seeds, a panel for each set."""
    sets = results["sets"]
    columns = math.ceil(math.sqrt(len(sets)))
    rows = math.ceil(len(sets) / columns)
    # the legend's names are as long as two panels are wide
    width = max(3.2 * columns, 6.4)
    figure = Figure(figsize=(width, 0.6 + 2.4 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, curves) in zip(panels, sets.items(), strict=False):
        for base, (color, style, label) in LINES.items():
            curve = {key: np.array(curves[base][key]) for key in ("rows", "rmse", "error")}
            low, high = curve["rmse"] - curve["error"], curve["rmse"] + curve["error"]
            axes.fill_between(curve["rows"], low, high, color=color, alpha=0.2, linewidth=0)
            axes.plot(curve["rows"], curve["rmse"], color=color, linestyle=style, label=label)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(name)
    for axes in panels[len(sets) :]:
        axes.remove()
    figure.supxlabel("rows learnt", fontsize="medium")
    figure.supylabel("RMSE so far", fontsize="medium")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(LINES), fontsize="x-small")
    return figure
