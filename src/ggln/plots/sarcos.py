"""Errors on SARCOS, from the results of `ggln reproduce sarcos`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREEN, GREY, styled

NAMES = {"G-GLN": "G-GLN, the paper's network", "defaults": "GGLNRegressor()"}
PROTOCOLS = {
    "paper": (BLUE, "test rows also in the training file (the paper's protocol)"),
    "leak-free": (GREEN, "test rows taken out"),
}


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw each model's mean squared error with both protocols, and the paper's where it gives one."""
    models = list(next(iter(results["protocols"].values())))
    figure = Figure(figsize=(7.5, 1.5 + 0.55 * len(models)), layout="constrained")
    axes = figure.subplots()
    for number, (protocol, (color, text)) in enumerate(PROTOCOLS.items()):
        if protocol not in results["protocols"]:
            continue
        values = [results["protocols"][protocol][model]["mse"] for model in models]
        places = [place + 0.36 * number - 0.18 for place in range(len(models))]
        bars = axes.barh(places, values, height=0.34, color=color, label=text)
        axes.bar_label(bars, fmt="%.2f", padding=3)
    published = [
        (place, results["paper"][model]) for place, model in enumerate(models) if model in results["paper"]
    ]
    for number, (place, value) in enumerate(published):
        label = "the paper's table" if number == 0 else None
        axes.plot([value, value], [place - 0.42, place + 0.42], color="black", linewidth=1.5, label=label)
    axes.set_yticks(range(len(models)), [NAMES.get(model, model) for model in models])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(axis="x", color=GREY, alpha=0.3)
    axes.set_axisbelow(True)
    axes.margins(x=0.1)
    axes.set_xlabel("test MSE, mean over the seven torques (less is better)")
    figure.legend(loc="outside upper left")
    return figure
