"""Error bars under ten kinds of noise, from the results of `ggln reproduce shapes`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, styled

OURS, PLAIN = "GGLNRegressor()", "spreads alone"
PANELS = {
    "below and above\nthe 90 % interval, %": ("below", "above"),
    "inside the\n50 % interval, %": ("inside_50",),
    "inside the 90 % interval,\nquarters by width, %": tuple(f"quarter_{number}" for number in range(1, 5)),
}
MARKERS = {"below": "<", "above": ">"}
STYLES = {
    PLAIN: (GREY, "o"),
    "NGBoost": (ORANGE, "s"),
    "CatBoost": (GREEN, "^"),
    "quantile forest": (PURPLE, "v"),
    "quantile boosting": (RED, "D"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw what intervals hold, with and without shapes, and the CRPS of others relative to ours."""
    noises = results["noises"]
    figure = Figure(figsize=(10.0, 1.4 + 0.35 * len(noises)), layout="constrained")
    panels = figure.subplots(1, len(PANELS) + 1, sharey=True, width_ratios=[1, 1, 1, 1.3])
    for axes, (label, names) in zip(panels, PANELS.items(), strict=False):
        low, high = results["goals"][names[0]]
        axes.axvspan(100 * low, 100 * high, color=BLUE, alpha=0.12, linewidth=0)
        for model, color, shift in ((PLAIN, GREY, 0.18), (OURS, BLUE, -0.18)):
            for name in names:
                found = [100 * own[model][name] if model in own else float("nan") for own in noises.values()]
                heights = [place + shift for place in range(len(noises))]
                axes.plot(found, heights, MARKERS.get(name, "o"), color=color, markersize=4)
        axes.set_xlabel(label)
    last = panels[-1]
    last.axvline(1.0, color=BLUE, linewidth=1.0, label=OURS)
    for model, (color, marker) in STYLES.items():
        places = [(n, own) for n, own in enumerate(noises.values()) if model in own and OURS in own]
        ratios = [own[model]["crps"] / own[OURS]["crps"] for _, own in places]
        last.plot(ratios, [n for n, _ in places], marker, color=color, markersize=4, label=model)
    last.set_xlabel("CRPS relative to ours\n(right: worse)")
    for axes in panels:
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", color=GREY, alpha=0.2)
    panels[0].set_yticks(range(len(noises)), list(noises))
    panels[0].set_ylim(len(noises) - 0.5, -0.5)
    figure.legend(*last.get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure
