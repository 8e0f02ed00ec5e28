"""Scores and samples of the default density, from the results of `ggln reproduce densities`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the cosines of scores in one panel, and the energy distances of samples in the other."""
    figure = Figure(figsize=(9.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = list(results["cosines"])
    bars = [results["cosine_errors"][name] or 0.0 for name in names]
    places = list(range(len(names)))
    left.errorbar(
        list(results["cosines"].values()), places, xerr=bars, fmt="o", color=BLUE, markersize=5, capsize=2
    )
    left.set_yticks(places, names)
    left.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    left.set(
        xlabel="mean cosine of the score to the truth", xlim=(min(0.9, *results["cosines"].values()), 1.005)
    )
    kinds = list(results["distances"])
    for number, (method, colour, marker) in enumerate(
        zip(next(iter(results["distances"].values())), (BLUE, ORANGE, GREEN), "osD", strict=True)
    ):
        heights = [place + 0.18 * (number - 1) for place in range(len(kinds))]
        values = [results["distances"][kind][method] for kind in kinds]
        errors = [results["distance_errors"][kind][method] or 0.0 for kind in kinds]
        right.errorbar(values, heights, xerr=errors, fmt=marker, color=colour, markersize=5, label=method)
    right.set_yticks(range(len(kinds)), kinds)
    right.set(xlabel="energy distance of samples to fresh data", xscale="log")
    for axes in (left, right):
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper right", ncols=3)
    return figure
