"""Streams that change, from the results of `ggln reproduce drift`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, styled

OURS, NEVER = "GGLNRegressor()", "forgetting=None"
COLORS = ORANGE, GREEN, PURPLE, RED, "black", "brown"
COVERED = 86, 94
COLUMNS = 4


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the error of each hundred rows, and in the last panel what windows of 1,000 rows cover."""
    streams = results["streams"]
    lines = -(-(len(streams) + 1) // COLUMNS)
    figure = Figure(figsize=(12.0, 0.6 + 2.2 * lines), layout="constrained")
    panels = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    models = list(next(iter(streams.values())))
    rivals = [model for model in models if model not in (OURS, NEVER)]
    looks = dict(zip(rivals, COLORS, strict=False)) | {NEVER: GREY, OURS: BLUE}
    for axes, (name, own) in zip(panels, streams.items(), strict=False):
        for model, color in looks.items():
            if model in own:
                curve = own[model]["curve"]
                at = (np.arange(len(curve)) + 0.5) * results["rows"] / len(curve)
                wide = 1.6 if model == OURS else 0.8
                axes.plot(
                    at, curve, color=color, linewidth=wide, zorder=3 if model == OURS else 2, label=model
                )
        axes.set_yscale("log")
        axes.set_title(name, fontsize="medium")
    last = panels[len(streams)]
    if all(OURS in own for own in streams.values()):
        _coverage(last, {name: own[OURS]["coverage"] for name, own in streams.items()})
    for axes in panels[len(streams) + 1 :]:
        axes.set_axis_off()
    figure.supxlabel("row", fontsize="medium")
    figure.supylabel("RMSE of 100 rows", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _coverage(axes: Any, windows: dict[str, list[float]]) -> None:
    axes.axvspan(*COVERED, color=BLUE, alpha=0.12, linewidth=0)
    for place, found in enumerate(windows.values()):
        axes.plot(100 * np.array(found), np.full(len(found), place), "o", color=BLUE, markersize=3, alpha=0.5)
    axes.set_yticks(range(len(windows)), list(windows), fontsize="x-small")
    axes.set_ylim(len(windows) - 0.5, -0.5)
    axes.set_xlim(80, 100)
    axes.set_title("windows of 1,000 rows cover, %", fontsize="medium")
