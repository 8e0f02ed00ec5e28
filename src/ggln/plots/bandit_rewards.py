"""LinFullPost against the percentile of clipping, from the results of `ggln reproduce bandit-rewards`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY

COLORS = (BLUE, ORANGE, GREEN, SKY, PURPLE, "black", "#D55E00")


def draw(results: dict[str, Any]) -> Figure:
    """Draw what was earned relative to what was published; 1 is where the scaling may be the paper's."""
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    axes = figure.subplots()
    for color, (name, own) in zip(COLORS, results["bandits"].items(), strict=False):
        relative = np.array(own["reward"]) / own["paper"]
        error = 2.0 * np.array(own["error"]) / own["paper"]
        axes.plot(results["percentiles"], relative, color=color, marker="o", markersize=3.5, label=name)
        axes.fill_between(
            results["percentiles"], relative - error, relative + error, color=color, alpha=0.2, linewidth=0
        )
    axes.axhline(1.0, color=GREY, linewidth=0.8, zorder=0)
    axes.set_ylim(0.8, 1.15)
    axes.set_xlabel("percentile q: rewards are clipped at q and 100 - q")
    axes.set_ylabel(f"{results['policy']}: reward here / published")
    axes.legend()
    return figure
