"""Digits from nothing, from the results of `ggln reproduce digit-samples`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure


def draw(results: dict[str, Any]) -> Figure:
    """Draw a line of samples for each method."""
    samples = results["samples"]
    count = len(next(iter(samples.values()))["shown"])
    figure = Figure(figsize=(0.6 * count + 1.8, 0.75 * len(samples)), layout="constrained")
    panels = figure.subplots(len(samples), count, squeeze=False)
    for line, (name, own) in zip(panels, samples.items(), strict=True):
        for axes, pixels in zip(line, own["shown"], strict=True):
            image = np.array(pixels).reshape(results["side"], -1)
            axes.imshow(image, cmap="gray_r", vmin=0.0, vmax=results["white"])
            axes.set(xticks=[], yticks=[])
        label = f"{name}\nenergy distance {own['energy_distance']:.3f}"
        line[0].set_ylabel(label, fontsize=7, rotation=0, ha="right", va="center")
    return figure
