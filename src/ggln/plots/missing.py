"""What missing values cost, from the results of `ggln reproduce missing`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import GREY, in_order, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each model's error, a line for each way in which values went missing, the mean over tables."""
    ways = list(results["mean"])
    models = list(results["mean"][ways[0]])
    figure = Figure(figsize=(7.0, 1.4 + 0.5 * len(ways)), layout="constrained")
    axes = figure.subplots()
    for number, (model, color) in enumerate(zip(models, in_order(len(models)), strict=True)):
        heights = [place + 0.12 * (number - len(models) // 2) for place in range(len(ways))]
        axes.plot([results["mean"][way][model] for way in ways], heights, "o", color=color, label=model)
    axes.set_yticks(range(len(ways)), ways)
    axes.set_ylim(len(ways) - 0.5, -0.5)
    axes.set_xlabel("RMSE in deviations of the target, geometric mean over tables (less is better)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3)
    return figure
