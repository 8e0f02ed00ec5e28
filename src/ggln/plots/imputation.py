"""Errors of filled-in values, from the results of `ggln reproduce imputation`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each imputer's error, a line for each table."""
    sets, models = list(results["errors"]), list(next(iter(results["errors"].values())))
    figure = Figure(figsize=(7.0, 1.2 + 0.35 * len(sets)), layout="constrained")
    axes = figure.subplots()
    for model, colour, marker in zip(models, (BLUE, ORANGE, GREEN, GREY), "osD^", strict=True):
        errors = [results["errors"][name][model] for name in sets]
        axes.plot(errors, range(len(sets)), marker, color=colour, label=model)
    axes.set_yticks(range(len(sets)), sets)
    axes.set_ylim(len(sets) - 0.5, -0.5)
    axes.set_xlabel("RMSE of the values that were taken away, in deviations (less is better)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4)
    return figure
