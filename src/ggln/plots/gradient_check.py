"""Errors of learnt scores, from the results of `ggln reproduce gradient-check`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, ORANGE, PURPLE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the error over the number of rows, a line for each density."""
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for colour, marker, (name, errors) in zip(
        (BLUE, GREEN, ORANGE, PURPLE), "osD^", results["errors"].items(), strict=False
    ):
        bars = [error or 0.0 for error in results["standard_errors"][name]]
        axes.errorbar(results["sizes"], errors, bars, color=colour, marker=marker, capsize=2, label=name)
    axes.set(xscale="log", yscale="log", ylim=(None, 1.3))
    ticks = [
        share for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0) if share >= axes.get_ylim()[0]
    ]
    axes.set_yticks(ticks, [f"{share:g}" for share in ticks])
    axes.tick_params(axis="y", which="minor", left=False, labelleft=False)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.text(results["sizes"][0], 1.03, "a score of zero", fontsize=7, va="bottom")
    axes.set(xlabel="rows learnt", ylabel="error of the score, over its size")
    axes.legend()
    return figure
