"""What each ingredient of `GLCB(step="capped")` is worth, from `ggln reproduce bandit-ablation`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.dots import label_ticks
from ggln.plots.style import BLUE, GREY, ORANGE

DIFFERENCES = (-2000, -500, -200, -100, 0, 100, 200, 500)


def draw(results: dict[str, Any]) -> Figure:
    """Draw each variant's reward less LinFullPost's, with its standard error, a panel for each bandit."""
    labels = [label for label in results["settings"] if label != "LinFullPost"]
    tasks = results["tasks"]
    figure = Figure(figsize=(3.0 + 2.4 * len(tasks), 1.0 + 0.27 * len(labels)), layout="constrained")
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axes, (name, own) in zip(panels, tasks.items(), strict=True):
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        for place, label in enumerate(labels):
            cell = own[label]
            axes.errorbar(
                cell["over_rival"],
                place,
                xerr=cell["over_rival_error"],
                color=ORANGE if label == "defaults" else BLUE,
                marker="o",
                markersize=5 if label == "defaults" else 3.5,
                linestyle="",
            )
        axes.set_xscale("symlog", linthresh=200)
        label_ticks(axes, DIFFERENCES)
        axes.set_title(name)
        axes.set_xlabel("reward less LinFullPost's\n(right: better)")
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    return figure
