"""The grid on its way to the roll (Figures 3A and 4), from the results of `ggln reproduce swiss-roll`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREY, ORANGE


def draw(results: dict[str, Any]) -> Figure:
    """Draw a line for each method: the grid after some steps, for each number of samples."""
    samples, shown = results["samples"], results["shown"]
    methods = list(next(iter(samples.values())))
    width = len(shown) * len(samples)
    figure = Figure(figsize=(1.1 * width + 1.4, 1.2 * len(methods)), layout="constrained")
    panels = figure.subplots(len(methods), width, squeeze=False, sharex=True, sharey=True)
    for line, method in zip(panels, methods, strict=True):
        colour = BLUE if method.startswith("G-GLN") else ORANGE if "MLP" in method else GREY
        for block, own in enumerate(samples.values()):
            for i, points in enumerate(own[method]["path"]):
                axes = line[block * len(shown) + i]
                axes.scatter(*np.array(points).T, s=1.5, color=colour, linewidths=0)
                axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[], yticks=[], aspect="equal")
            apart = f"to the roll {own[method]['distance']:.3f}, from it {own[method]['coverage']:.3f}"
            axes.set_xlabel(apart, fontsize=7, loc="right")
        label = method.replace(", ", ",\n")
        line[0].set_ylabel(label, fontsize=8, rotation=0, ha="right", va="center")
    for block, n in enumerate(samples):
        for i, step in enumerate(shown):
            title = f"{n} samples:\nthe grid" if step == 0 else f"step {step}"
            panels[0, block * len(shown) + i].set_title(title, fontsize=8)
    return figure
