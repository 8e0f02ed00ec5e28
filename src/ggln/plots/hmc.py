"""Samples by Hamiltonian dynamics (Figure 3B), from the results of `ggln reproduce hmc`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE

COLOURS = (GREY, GREEN, ORANGE, BLUE, PURPLE)


def draw(results: dict[str, Any]) -> Figure:
    """Draw the samples of each method in a panel of its own, with its energy distance to fresh ones."""
    samples = results["samples"]
    figure = Figure(figsize=(2.3 * len(samples), 2.7), layout="constrained")
    panels = figure.subplots(1, len(samples), sharex=True, sharey=True)
    for axes, colour, (name, own) in zip(panels, COLOURS, samples.items(), strict=True):
        x, y = np.array(own["rows"]).T
        axes.scatter(x, y, s=3, color=colour, alpha=0.6, linewidths=0)
        axes.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        axes.set_title(f"{name}\nenergy distance {own['energy_distance']:.4f}", fontsize=8)
    return figure
