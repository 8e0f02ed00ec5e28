"""Table 1 as a picture, from the results of `ggln reproduce uci`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, styled

ROUNDING = 0.005  # the paper gives two digits

MARKS = {
    "best on the test rows": (ORANGE, "o", "paper's network, best of 12 on the test rows (as the paper did)"),
    "chosen on training rows": (BLUE, "s", "paper's network, chosen on a tenth of the training rows"),
    "defaults": (GREEN, "D", "GGLNRegressor()"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each set's RMSE relative to the paper's, with standard errors over the splits."""
    sets = results["sets"]
    figure = Figure(figsize=(7.5, 1.6 + 0.5 * len(sets)), layout="constrained")
    axes = figure.subplots()
    named: set[str] = set()  # in the legend
    for place, name in enumerate(sets):
        paper = results["paper"][name]["rmse"]
        unit = max(paper, ROUNDING)  # naval's 0.00 may be anything up to 0.005
        low, high = max(0.0, paper - ROUNDING) / unit, (paper + ROUNDING) / unit
        label = "the paper's value, as far as rounded" if place == 0 else None
        axes.fill_between([low, high], place - 0.4, place + 0.4, color=GREY, alpha=0.35, lw=0, label=label)
        for number, (choice, (color, marker, text)) in enumerate(MARKS.items()):
            if choice not in sets[name]:
                continue
            own = sets[name][choice]
            axes.errorbar(
                own["rmse"] / unit,
                place + 0.22 * (number - 1),
                xerr=(own["rmse_error_splits"] or 0.0) / unit,
                color=color,
                marker=marker,
                markersize=5,
                linestyle="",
                capsize=2,
                label=None if choice in named else text,
            )
            named.add(choice)
    axes.axvline(1.0, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(sets)), [_label(name, results["paper"][name]["rmse"]) for name in sets])
    axes.invert_yaxis()
    axes.set(xlabel="test RMSE relative to the paper's (less is better)", xlim=(0.0, None))
    figure.legend(loc="outside upper left")
    return figure


def _label(name: str, rmse: float) -> str:
    return f"{name}\n{rmse:.2f}" if rmse >= ROUNDING else f"{name}\n< {ROUNDING}"
