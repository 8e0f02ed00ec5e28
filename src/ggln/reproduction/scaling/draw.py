"""The picture of the experiment: curves by rows and features, and all models by time and error."""

from typing import Any

import numpy as np

from ggln.palette import BLUE, GREEN, GREY, ORANGE, RED
from ggln.reproduction.competitors.point_regressors import CATBOOST, LIGHTGBM, OURS, RIVER
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results

STYLES = {OURS: (BLUE, "o"), LIGHTGBM: (GREEN, "s"), CATBOOST: (ORANGE, "^"), RIVER: (RED, "v")}


@styled
def draw(results: Results) -> Figure:
    """Draw seconds and memory by rows, seconds by features, and times and errors of all models."""
    kinds = list(dict.fromkeys(name.split(":")[0] for name in results["tables"]))
    figure, wide = new_figure(10.0, 6.2), results["features"]
    above, below = figure.subplots(2, 3)
    _curve(above[0], results["rows"], "rows, 10 features", "seconds", "fit, s")
    _curve(above[1], results["rows"], "rows, 10 features", "megabytes", "peak of memory, MB")
    _curve(above[2], wide["fits"], f"features, {wide['rows']:,} rows", "seconds", "fit, s")
    for axes, kind in zip(below, kinds, strict=True):
        for model, (color, marker) in STYLES.items():
            places = [
                (own[model]["processor"], own[model]["rmse"])
                for name, own in results["tables"].items()
                if name.startswith(f"{kind}:") and model in own
            ]
            if places:
                axes.plot(*zip(*places, strict=True), marker=marker, color=color, label=model, markersize=5)
        axes.set(xscale="log", xlabel="processor time of fit, s", ylabel="RMSE", title=kind)
    sizes = [name.split(": ")[1].removesuffix(" rows") for name in results["tables"] if kinds[0] in name]
    figure.legend(
        *below[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(STYLES),
        title=f"below, from left to right: {', '.join(sizes)} rows",
    )
    return figure


def _curve(axes: Any, fits: dict[str, Results], label: str, key: str, what: str) -> None:
    """Draw one curve, and beside it what grows in proportion."""
    sizes, values = np.array([int(size) for size in fits]), [own[key] for own in fits.values()]
    axes.plot(sizes, values, "o-", color=BLUE, markersize=4)
    axes.plot(sizes, values[-1] * sizes / sizes[-1], ":", color=GREY, label="in proportion")
    axes.legend(loc="upper left")
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel=what)
