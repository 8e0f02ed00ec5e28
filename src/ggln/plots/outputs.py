"""How honest several outputs are, from the results of `ggln reproduce outputs`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, styled

PANELS = {
    "inside each output's\n90 % interval, %": ("least", "most"),
    "inside the joint\n90 % region, %": ("joint",),
    "correlation off by": ("correlation",),
    "joint NLL less that\nof apart": ("nll",),
}
FIRST = "apart"
STYLES = (BLUE, "o"), (PURPLE, "D"), (GREEN, "^"), (ORANGE, "v"), (RED, "s"), (GREY, "P")
"""Of models in their order."""


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw what intervals and regions hold, how far correlations are off, and the likelihood."""
    cases = results["cases"]
    models = list(next(iter(cases.values())))
    figure = Figure(figsize=(10.0, 1.6 + 0.6 * len(cases)), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (label, names) in zip(panels, PANELS.items(), strict=True):
        percent = 100.0 if names[0] in ("least", "joint") else 1.0
        if names[0] in results["goals"]:
            low, high = results["goals"][names[0]]
            axes.axvspan(percent * low, percent * high, color=BLUE, alpha=0.12, linewidth=0)
        for number, (model, (color, marker)) in enumerate(zip(models, STYLES, strict=False)):
            heights = [place + 0.13 * (number - 0.5 * (len(models) - 1)) for place in range(len(cases))]
            for name in names:
                found = [percent * own[model][name] - _less(own, name) for own in cases.values()]
                shown = model if name == names[0] and axes is panels[0] else None
                axes.plot(found, heights, marker, color=color, markersize=4, label=shown)
        axes.set_xlabel(label)
        axes.tick_params(axis="y", length=0)
        for place in range(1, len(cases)):
            axes.axhline(place - 0.5, color=GREY, alpha=0.3, linewidth=0.8)
    panels[0].set_yticks(range(len(cases)), list(cases))
    panels[0].set_ylim(len(cases) - 0.5, -0.5)
    figure.legend(loc="outside upper center", ncols=len(models))
    return figure


def _less(models: dict[str, Any], name: str) -> float:
    """Return the likelihood that others' are compared with; nothing for what has a goal of its own."""
    return float(models.get(FIRST, next(iter(models.values())))["nll"]) if name == "nll" else 0.0
