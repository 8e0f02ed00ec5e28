"""The heteroskedastic example (Figure 1C), from the results of `ggln reproduce hetero`."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ggln.plots.band import BandDisplay
from ggln.plots.neurons import NORMAL_95, normal_band
from ggln.plots.style import ORANGE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the best neuron of the first, the middle and the last layer, and the mixture of all networks."""
    neurons = results["neurons"]
    shown = [neurons[0], neurons[len(neurons) // 2], neurons[-1]]
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    for axes, neuron in zip(panels, shown, strict=False):
        mean, std = np.array(neuron["mean"]), np.array(neuron["std"])
        band(axes, results, mean, normal_band(mean, std))
        axes.set_title(f"best neuron of layer {neuron['layer']}\nNLL {neuron['nll']:.3f}")
    interval = {0.9: (np.array(results["lower"]), np.array(results["upper"]))}
    band(panels[3], results, np.array(results["mean"]), interval)
    scores = f"NLL {results['nll']:.3f} (the truth {results['nll_of_the_truth']:.3f})"
    panels[3].set_title(f"all networks together\n{scores}")
    panels[0].set_ylabel("y")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def band(axes: Axes, results: dict[str, Any], mean: Any, intervals: Any) -> None:
    """Draw a prediction with its 90 % band over the truth and some of the samples."""
    x, truth, spread = np.array(results["x"]), np.array(results["true_mean"]), np.array(results["true_std"])
    samples = np.array(results["sample_x"]), np.array(results["sample_y"])
    BandDisplay(x=x, mean=mean, intervals=intervals, samples=samples, y_name="").plot(axes, legend=False)
    axes.plot(x, truth, color=ORANGE, label="true mean")
    for sign in (-1, 1):
        label = "true 90 %" if sign == 1 else None
        axes.plot(
            x, truth + sign * NORMAL_95 * spread, color=ORANGE, linestyle="--", linewidth=1, label=label
        )
    axes.set_ylim(-7.5, 5.5)
