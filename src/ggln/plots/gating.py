"""Gating regions in the plane (Figure 1A), from the results of `ggln reproduce gating`."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SHOWN = 3  # neurons


def draw(results: dict[str, Any]) -> Figure:
    """Draw some neurons' contexts, and how many half-spaces of all neurons hold each point."""
    neurons = range(min(SHOWN, len(results["contexts"])))
    figure = Figure(figsize=(3.1 * len(neurons) + 3.7, 3.8), layout="constrained")
    panels = figure.subplots(1, len(neurons) + 1, sharex=True, sharey=True, squeeze=False)[0]
    for axes, neuron in zip(panels, neurons, strict=False):
        contexts = np.array(results["contexts"][neuron])
        axes.pcolormesh(
            results["axis"],
            results["axis"],
            contexts,
            cmap="cividis",
            vmax=2 ** results["context_dim"] - 1,
            vmin=0,
        )
        lines(axes, results, [neuron])
        name_regions(axes, results, contexts)
        axes.set_title(f"neuron {neuron + 1}: {len(np.unique(contexts))} regions")
    inside = panels[-1].pcolormesh(results["axis"], results["axis"], results["inside"], cmap="cividis")
    lines(panels[-1], results, range(len(results["contexts"])))
    panels[-1].set_title(f"all {len(results['contexts'])} neurons: {results['polytopes']} regions")
    figure.colorbar(inside, ax=panels[-1], shrink=0.85, label="half-spaces that hold the point")
    for axes in panels:
        axes.set(aspect="equal", xlabel="first feature")
    panels[0].set_ylabel("second feature")
    return figure


def lines(axes: Axes, results: dict[str, Any], neurons: Any) -> None:
    """Draw the boundaries v . z = b of the neurons' half-spaces."""
    extent = results["axis"][-1]
    for neuron in neurons:
        for (a, b), offset in zip(results["normals"][neuron], results["offsets"][neuron], strict=True):
            along = 2 * extent * np.array([-1.0, 1.0])
            axes.plot(a * offset - b * along, b * offset + a * along, color="white", linewidth=1)
    axes.set(xlim=(-extent, extent), ylim=(-extent, extent))


def name_regions(axes: Axes, results: dict[str, Any], contexts: Any) -> None:
    """Write each context's bits, the first gate's first, into the middle of its region."""
    axis = np.array(results["axis"])
    for context in np.unique(contexts):
        rows, columns = np.nonzero(contexts == context)
        if rows.size < 0.01 * contexts.size:
            continue
        bits = "".join(str(int(context) >> bit & 1) for bit in range(results["context_dim"]))
        axes.text(
            axis[columns].mean(),
            axis[rows].mean(),
            bits,
            ha="center",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5},
        )
