"""Regressors side by side, from the results of `ggln reproduce peers`."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY

OURS = "GGLNRegressor()"
MARKS = {
    OURS: (GREEN, "D"),
    "NGBoost": (ORANGE, "o"),
    "gradient boosting": (BLUE, "s"),
    "random forest": (SKY, "^"),
    "Gaussian process": (PURPLE, "v"),
    "Bayesian ridge": ("black", "x"),
}
PUBLISHED = {"NGBoost": (ORANGE, "o"), "deep ensembles": (GREY, "P")}
"""Drawn hollow."""


def draw(results: dict[str, Any]) -> Figure:
    """Draw each set's RMSE relative to ours and its NLL less ours, measured and published."""
    sets = [name for name, models in results["sets"].items() if OURS in models]
    figure = Figure(figsize=(9.5, 1.8 + 0.5 * len(sets)), layout="constrained")
    rmse, nll = figure.subplots(1, 2, sharey=True)
    for place, name in enumerate(sets):
        models, published = results["sets"][name], results["published"][name]
        ours = models[OURS]
        for number, (model, style) in enumerate(MARKS.items()):
            if model in models:
                height = place + 0.1 * (number - 2.5)
                _dot(rmse, models[model]["rmse"] / ours["rmse"], height, style, model, True)
                _dot(nll, models[model]["nll"] - ours["nll"], height, style, model, True)
        for model, style in PUBLISHED.items():
            if round(published[model]["rmse"], 2) > 0:  # naval's 0.00 says nothing
                _dot(
                    rmse, published[model]["rmse"] / ours["rmse"], place, style, f"{model}, published", False
                )
            _dot(nll, published[model]["nll"] - ours["nll"], place, style, f"{model}, published", False)
    for axes in (rmse, nll):
        axes.axvline(1.0 if axes is rmse else 0.0, color=GREY, linewidth=0.8, zorder=0)
        axes.grid(axis="y", color=GREY, alpha=0.15, linewidth=14)
        axes.set_axisbelow(True)
    rmse.set_xscale("log")
    ticks = [
        tick
        for tick in (0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20)
        if rmse.get_xlim()[0] <= tick <= rmse.get_xlim()[1]
    ]
    rmse.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    rmse.minorticks_off()
    nll.set_xscale("symlog", linthresh=1.0)
    rmse.set_xlabel("test RMSE relative to ours (less is better)")
    nll.set_xlabel("test NLL less ours, nats (less is better)")
    rmse.set_yticks(range(len(sets)), sets)
    rmse.invert_yaxis()
    found = dict(zip(*reversed(rmse.get_legend_handles_labels()), strict=True))
    found |= dict(zip(*reversed(nll.get_legend_handles_labels()), strict=True))
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=4)
    return figure


def _dot(axes: Axes, x: float, y: float, style: tuple[str, str], label: str, filled: bool) -> None:
    color, marker = style
    face = color if filled else "none"
    axes.plot(x, y, color=color, marker=marker, markerfacecolor=face, markersize=5, linestyle="", label=label)
