"""What each ingredient is worth, from the results of `ggln reproduce ablation`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.dots import label_ticks
from ggln.plots.style import BLUE, GREY, ORANGE, styled

PANELS = {
    "rmse_ratio": "RMSE relative to the defaults'\n(right: worse than the defaults)",
    "nll_difference": "NLL less the defaults', nats\n(right: worse; logarithmic beyond 0.1)",
}
DIFFERENCES = (-2, -1, -0.3, -0.1, -0.05, 0, 0.05, 0.1, 0.3, 1, 3, 10)


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw for each variant one dot for each set, and the overall mean."""
    variants = [label for label in results["settings"] if label != "defaults"]
    figure = Figure(figsize=(8.5, 1.2 + 0.4 * len(variants)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    sets = list(results["sets"].values())
    heights = np.linspace(-0.15, 0.15, len(sets)) if len(sets) > 1 else np.zeros(1)
    for axes, (measure, label) in zip(panels, PANELS.items(), strict=True):
        axes.axvline(1.0 if measure == "rmse_ratio" else 0.0, color=GREY, linewidth=0.8)
        for place, variant in enumerate(variants):
            values = [own[variant][measure] for own in sets]
            axes.plot(
                values,
                place + heights,
                color=BLUE,
                marker="o",
                markersize=3.5,
                alpha=0.6,
                linestyle="",
                label="one data set" if place == 0 else None,
            )
            axes.plot(
                results["overall"][variant][measure],
                place,
                color=ORANGE,
                marker="D",
                markersize=7,
                markeredgecolor="black",
                linestyle="",
                label="mean over the sets" if place == 0 else None,
            )
        axes.set_xlabel(label)
    panels[1].set_xscale("symlog", linthresh=0.1)
    label_ticks(panels[1], DIFFERENCES)
    panels[0].set_yticks(range(len(variants)), variants)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
