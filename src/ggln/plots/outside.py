"""What intervals cover outside the data, from the results of `ggln reproduce outside`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, styled

OURS, BEFORE, FOREST = "GGLNRegressor()", "without widening", "quantile forest"
STYLES = {
    OURS: (BLUE, "o"),
    BEFORE: (GREY, "o"),
    "Gaussian process": (RED, "D"),
    "NGBoost": (ORANGE, "s"),
    "CatBoost": (GREEN, "^"),
    FOREST: (PURPLE, "v"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each model's coverage, a panel for each multiple of the range and a line for each function."""
    tasks = results["tasks"]
    figure = Figure(figsize=(9.0, 1.3 + 0.32 * len(tasks)), layout="constrained")
    panels = figure.subplots(1, len(results["factors"]), sharey=True)
    models = list(next(iter(tasks.values())))
    for axes, factor in zip(panels, results["factors"], strict=True):
        axes.axvspan(100 * results["goal"], 100, color=BLUE, alpha=0.12, linewidth=0)
        for model in reversed(models):  # ours on top
            color, marker = STYLES[model]
            found = [100 * own[model][f"covered_{factor:g}"] for own in tasks.values()]
            axes.plot(found, range(len(tasks)), marker, color=color, markersize=5, label=model, clip_on=False)
        axes.set_xlim(0, 100)
        axes.set_xlabel("inside" if factor == 1.0 else f"outside, at {factor:g} times the range")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", color=GREY, alpha=0.2)
    panels[0].set_yticks(range(len(tasks)), list(tasks))
    panels[0].set_ylim(len(tasks) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=6)
    figure.supxlabel("percent of new rows within 90 % intervals", fontsize="medium")
    return figure
