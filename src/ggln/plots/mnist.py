"""Filled-in images (Figures 3C and 5), from the results of `ggln reproduce mnist`."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure


def draw(results: dict[str, Any]) -> Figure:
    """Draw some images in columns, with a line for each method, for test and training images."""
    parts = [("test", "unseen images"), ("train", "training images")]
    methods = list(results["test"]["shown"])
    count = [min(8, len(results[part]["shown"]["original"])) for part, _ in parts]
    figure = Figure(figsize=(0.75 * sum(count) + 1.6, 0.8 * len(methods)), layout="constrained")
    panels = figure.subplots(len(methods), sum(count), squeeze=False)
    column = 0
    for (part, title), images in zip(parts, count, strict=True):
        errors = results[part]["errors"]
        for i in range(images):
            for line, method in enumerate(results[part]["shown"]):
                axes = panels[line, column + i]
                _show(axes, results[part]["shown"][method][i], results)
                if i == 0:
                    label = f"{method}\n{errors[method]:.4f}" if method in errors else method
                    axes.set_ylabel(label, fontsize=7, rotation=0, ha="right", va="center")
        panels[0, column].set_title(title, fontsize=8, loc="left")
        column += images
    return figure


def animate(results: dict[str, Any], path: Path) -> None:
    """Write some test images on their way from the mean image to the filled one, as a GIF."""
    frames = np.array(results["test"]["path"])
    figure = Figure(figsize=(1.2 * frames.shape[1], 1.5), layout="constrained")
    panels = figure.subplots(1, frames.shape[1], squeeze=False)[0]
    images = [_show(axes, rows, results) for axes, rows in zip(panels, frames[0], strict=True)]
    title = figure.suptitle("step 0", fontsize=8)
    steps = np.linspace(0, results["steps"], len(frames)).astype(int)

    def update(frame: int) -> list[Any]:
        for image, row in zip(images, frames[frame], strict=True):
            image.set_data(row.reshape(results["side"], -1))
        title.set_text(f"step {steps[frame]}")
        return images

    order = [*range(len(frames)), *[len(frames) - 1] * 8]
    FuncAnimation(figure, update, order).save(path, PillowWriter(fps=8))


def _show(axes: Any, pixels: Any, results: dict[str, Any]) -> Any:
    image = np.array(pixels).reshape(results["side"], -1)
    axes.set(xticks=[], yticks=[])
    return axes.imshow(image, cmap="gray_r", vmin=0.0, vmax=results["white"])
