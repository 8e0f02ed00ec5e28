"""Accuracies and confusions on MNIST, from the results of `ggln reproduce mnist-classifier`."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ggln.plots.style import BLUE, GREY, ORANGE, styled


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw every variant's accuracy, and which digits the chosen one takes for which."""
    variants, chosen = results["variants"], results["chosen"]
    figure = Figure(figsize=(10.0, 2.2 + 0.35 * max(len(variants), 6)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    names = list(variants)
    for half, color, shift, text in (
        ("held_out", ORANGE, -0.12, "held out of the training images"),
        ("test", BLUE, 0.12, "test images"),
    ):
        values = [variants[name][half]["accuracy"] for name in names]
        left.plot(values, np.arange(len(names)) + shift, "o", color=color, label=text)
    left.axvline(results["published"], color=GREY, linestyle="--", linewidth=1.0, label="published, deskewed")
    left.set_yticks(range(len(names)), [name + (" *" if name == chosen else "") for name in names])
    left.set_ylim(len(names) - 0.5, -0.5)
    left.grid(axis="x", color=GREY, alpha=0.3)
    left.set_xlabel("accuracy after one pass, % (* chosen by the images held out)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    counts = np.array(variants[chosen]["test"]["confusion"])
    errors = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    right.imshow(errors, cmap="Blues")
    for row, column in np.ndindex(*counts.shape):
        if row != column and errors[row, column]:
            dark = errors[row, column] > 0.6 * errors.max()
            text_color = "white" if dark else "black"
            right.text(column, row, errors[row, column], ha="center", va="center", color=text_color, size=8)
    right.set_xticks(range(len(counts)))
    right.set_yticks(range(len(counts)))
    right.set_xlabel("taken for")
    right.set_ylabel("digit")
    right.set_title(f"{errors.sum()} errors on {counts.sum()} test images: {chosen}", size=9)
    return figure
