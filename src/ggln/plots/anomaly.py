"""Areas under ROC curves, from the results of `ggln reproduce anomaly`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, ORANGE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw a mark for each digit and detector."""
    figure = Figure(figsize=(6.0, 3.0), layout="constrained")
    axes = figure.subplots()
    for number, (colour, marker, (name, areas)) in enumerate(
        zip((BLUE, ORANGE, GREEN), "osD", results["areas"].items(), strict=True)
    ):
        bars = [error or 0.0 for error in results["standard_errors"][name]]
        places = [digit + 0.15 * (number - 1) for digit in range(len(areas))]  # beside each other
        axes.errorbar(places, areas, bars, fmt=marker, color=colour, markersize=5, capsize=2, label=name)
    axes.set(xlabel="the digit left out of training", ylabel="area under the ROC curve", xticks=range(10))
    figure.legend(loc="outside upper center", ncols=3)  # areas may lie anywhere
    return figure
