"""The classifier beside others, from the results of `ggln reproduce classification`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, styled

STYLES = {
    "GLNClassifier": (BLUE, "o"),
    "logistic regression": (ORANGE, "s"),
    "gradient boosting": (GREEN, "^"),
    "regularised boosting": (PURPLE, "v"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each model's error rate and log-loss, a line for each table."""
    names = list(results["sets"])
    figure = Figure(figsize=(8.5, 1.6 + 0.5 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for number, (model, (color, marker)) in enumerate(STYLES.items()):
        heights = [place + 0.15 * (number - 1.5) for place in range(len(names))]
        found = [results["sets"][name][model] for name in names]
        errors = [100.0 - score["accuracy"] for score in found]
        spread = [score["accuracy_error"] for score in found]
        left.errorbar(errors, heights, xerr=spread, fmt=marker, color=color, label=model, linewidth=1.0)
        right.plot([score["log_loss"] for score in found], heights, marker, color=color)
    left.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    left.set_ylim(len(names) - 0.5, -0.5)
    left.set_xlabel("errors, %, with standard error (less is better)")
    right.set_xlabel("log-loss, nats (less is better)")
    left.set_xlim(left=0.0)
    right.set_xscale("log")  # from next to nothing to what is worse than a guess
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4)
    return figure
