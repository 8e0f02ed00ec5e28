"""Dot plots of methods beside `GGLNRegressor()`, a line for each data set."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ggln.palette import GREY
from ggln.plots.style import styled
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure

OURS = "GGLNRegressor()"
RATIOS = (0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)
DIFFERENCES = (-10, -5, -2, -1, -0.5, 0, 0.5, 1, 2, 5, 10, 20)
Styles = Mapping[str, tuple[str, str]]
"""Colour and marker of each method."""


@styled
def compare(
    sets: Mapping[str, Any],
    marks: Styles,
    what: str,
    published: Any = None,
    hollow: Styles | None = None,
    notes: Mapping[str, str] | None = None,
) -> Figure:
    """Draw RMSE relative to ours on the left, NLL less ours on the right; published numbers are hollow.

    notes: what the legend has to say of a method, below all of them.
    """
    names = [name for name, methods in sets.items() if OURS in methods]
    figure = new_figure(9.5, 1.8 + 0.5 * len(names))
    left, right = figure.subplots(1, 2, sharey=True)
    for place, name in enumerate(names):
        ours = sets[name][OURS]
        for number, (method, style) in enumerate(marks.items()):
            if method in sets[name]:
                height = place + 0.11 * (number - (len(marks) - 1) / 2)
                _dot(left, sets[name][method]["rmse"] / ours["rmse"], height, style, method)
                _dot(right, sets[name][method]["nll"] - ours["nll"], height, style, method)
        for method, style in (hollow or {}).items():
            given, label = published[name][method], f"{method}, published"
            if given["rmse"] > 0:  # naval's 0.00 says nothing
                _dot(left, given["rmse"] / ours["rmse"], place, style, label, "none")
            _dot(right, given["nll"] - ours["nll"], place, style, label, "none")
    left.axvline(1.0, color=GREY, linewidth=0.8, zorder=0)
    right.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    left.set_xscale("log")
    right.set_xscale("symlog", linthresh=1.0)
    label_ticks(left, RATIOS)
    label_ticks(right, DIFFERENCES)
    left.set_xlabel("RMSE relative to ours (less is better)")
    right.set_xlabel("NLL less ours, nats (less is better)")
    name_lines((left, right), names)
    for axes in (left, right):
        for place in range(0, len(names), 2):
            axes.axhspan(place - 0.5, place + 0.5, color=GREY, alpha=0.1, linewidth=0, zorder=0)
    handles = {
        label: handle
        for axes in (left, right)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=3, title=what)
    if notes:
        lines = [f"{method}: {note}" for method, note in notes.items()]
        figure.legend([Line2D([], [], linestyle="") for _ in lines], lines, loc="outside lower center")
    return figure


def _dot(axes: Axes, x: float, y: float, style: tuple[str, str], label: str, face: str | None = None) -> None:
    color, marker = style
    axes.plot(
        x,
        y,
        color=color,
        marker=marker,
        markerfacecolor=face or color,
        markersize=5,
        linestyle="",
        label=label,
    )


def label_ticks(axes: Axes, values: tuple[float, ...]) -> None:
    """Label those of the values that are in sight, as plain numbers."""
    low, high = axes.get_xlim()
    ticks = [value for value in values if low <= value <= high]
    axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axes.minorticks_off()
