"""Errors on every part after each, from the results of `ggln reproduce forgetting`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import styled

NAMES = {"regions": "regions (synthetic)", "tasks": "tasks (synthetic)"}
WORST = 1.5
"""End of the colour scale, in deviations of the target: predicting the mean of all targets would give 1."""


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw a matrix for each set and method: rows are time, columns the parts; all with the same colours."""
    sets = results["sets"]
    methods = list(next(iter(sets.values())))
    figure = Figure(figsize=(2.3 * len(methods) + 1.0, 0.8 + 2.2 * len(sets)), layout="constrained")
    panels = figure.subplots(len(sets), len(methods), squeeze=False, sharex=True, sharey=True)
    for line, name in zip(panels, sets, strict=True):
        for axes, method in zip(line, methods, strict=True):
            own = sets[name][method]
            errors = np.array(own["errors"])
            count = len(errors)
            image = axes.imshow(errors, cmap="cividis", vmin=0.0, vmax=WORST)
            for i in range(count):  # the part that was learnt last
                axes.plot(i, i, color="white", marker="o", markersize=2.5)
            axes.set_xticks(range(count), range(1, count + 1))
            axes.set_yticks(range(count), range(1, count + 1))
            axes.tick_params(length=0)
            axes.set_xlabel(f"forgotten: {own['forgotten']:+.2f}")
        line[0].set_ylabel(f"{NAMES.get(name, name)}\nafter part")
    for axes, method in zip(panels[0], methods, strict=True):
        axes.set_title(method.replace(", ", ",\n").replace(" (", "\n("), fontsize=9)
    bar = figure.colorbar(image, ax=panels, shrink=0.5, extend="max")
    bar.set_label("RMSE on held-out rows of each part\nin deviations of the target")
    return figure
