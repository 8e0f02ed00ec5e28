"""The grid on its way to the roll (Figures 3A and 4), from the results of `ggln reproduce swiss-roll`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, ORANGE


def draw(results: dict[str, Any]) -> Figure:
    """Draw a line of panels for each method and number of samples: the grid after some of the steps."""
    lines = [(n, method) for n, methods in results["samples"].items() for method in methods]
    shown = results["shown"]
    figure = Figure(figsize=(1.35 * len(shown) + 1.6, 1.35 * len(lines)), layout="constrained")
    panels = figure.subplots(len(lines), len(shown), squeeze=False, sharex=True, sharey=True)
    for line, (n, method) in zip(panels, lines, strict=True):
        own = results["samples"][n][method]
        colour = BLUE if method.startswith("G-GLN") else ORANGE
        for axes, points in zip(line, own["path"], strict=True):
            x, y = np.array(points).T
            axes.scatter(x, y, s=2, color=colour, linewidths=0)
            axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[], yticks=[], aspect="equal")
        label = f"{method.replace(', rate', f',{chr(10)}rate')}\n{n} samples\n{own['distance']:.3f}"
        line[0].set_ylabel(label, fontsize=7, rotation=0, ha="right", va="center")
    for axes, step in zip(panels[0], shown, strict=True):
        axes.set_title("the grid" if step == 0 else f"step {step}", fontsize=8)
    figure.suptitle("Denoising a grid; the number is the mean distance to the roll at the end", fontsize=9)
    return figure
