"""Draw layers.png and tree.png for docs/how-it-works.md: python docs/images/layers.py [folder].

One network learns a function of two variables. Shown are the residuals of some layers, with gates that
the next layer picks by them; then the contexts of a single neuron, level by level.
"""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from ggln import GGLNRegressor
from ggln.engine.newton import inspect
from ggln.estimators.distributional import NeuronLayer
from ggln.plots.style import styled

NOISE = 0.1
GRID = np.linspace(-1.0, 1.0, 121)
POINTS = np.array([(x, y) for y in GRID for x in GRID])
SHOWN = 1, 2, 4


def truth(X: Any) -> Any:
    """A ridge along a slanted line, and a cliff on one side of it."""
    ridge = np.exp(-12.0 * (X[:, 0] + 0.6 * X[:, 1] + 0.2) ** 2)
    return 1.4 * ridge + np.where((X[:, 0] > 0.35) & (X[:, 1] > -0.1), -1.0, 0.0) + 0.4 * X[:, 1]


def sample(rows: int, seed: int) -> tuple[Any, Any]:
    """Return rows, uniform in a square, and their targets with a little noise."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1.0, 1.0, (rows, 2))
    return X, truth(X) + NOISE * random.standard_normal(rows)


def half_spaces(model: GGLNRegressor, layer: int, node: int) -> list[tuple[Any, float]]:
    """Return normals [2] and offsets of one gate of all neurons of a layer, in the user's units."""
    network, (shift, scale) = model.learner_.networks[0], model.learner_.inputs.shift_and_scale()
    gates, found = network.gates, []
    for neuron in range(int(network.first[layer]), int(network.first[layer]) + int(network.sizes[layer])):
        normal = np.zeros(2)
        np.add.at(normal, gates.features[neuron, node], gates.weights[neuron, node])
        found.append((normal / scale, float(gates.offsets[neuron, node] + normal @ (shift / scale))))
    return found


def draw_line(axes: Axes, normal: Any, offset: float, **style: Any) -> None:
    """Draw where normal . x = offset."""
    foot = offset * normal / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    ends = foot + 4.0 * np.array([-along, along])
    axes.plot(ends[:, 0], ends[:, 1], **style)


def square(axes: Axes, title: str) -> None:
    """Show the square on which rows lie."""
    axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal", title=title, xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    for side in axes.spines.values():
        side.set_visible(True)


def pooled(layer: NeuronLayer) -> Any:
    """Return the mean of the product of a layer's neurons."""
    precisions = 1.0 / layer.variance
    return (precisions * layer.mean).sum(axis=1) / precisions.sum(axis=1)


@styled
def draw_layers(model: GGLNRegressor) -> Figure:
    """Draw the truth, and what is left of it after some layers, with gates that the next layer picks."""
    figure = Figure(figsize=(12, 3.3), layout="constrained")
    panels = figure.subplots(1, 1 + len(SHOWN))
    wanted, layers = truth(POINTS), model.neurons(POINTS)
    image = paint(panels[0], wanted, 1.6)
    figure.colorbar(image, ax=panels[0], shrink=0.8, aspect=30)
    draw_gates(panels[0], model, 0)
    square(panels[0], "the function\nand gates of layer 1")
    for axes, layer in zip(panels[1:], SHOWN, strict=True):
        left = wanted - pooled(layers[layer - 1])
        image = paint(axes, left, 0.6)
        draw_gates(axes, model, layer)
        error = np.sqrt(np.mean(left**2))
        square(axes, f"left after layer {layer} (RMS {error:.2f})\nand gates of layer {layer + 1}")
        axes.set_yticklabels([])
    figure.colorbar(image, ax=panels[1:], shrink=0.8, aspect=30, extend="both")
    label = "the first gate of each of the eight neurons of that layer"
    handle = Line2D([], [], color="black", linewidth=1, label=label)
    figure.legend(handles=[handle], loc="outside lower center")
    return figure


def paint(axes: Axes, values: Any, most: float) -> Any:
    """Draw values on the grid: orange below zero, purple above."""
    cells, extent = values.reshape(GRID.size, GRID.size), (-1, 1, -1, 1)
    return axes.imshow(
        cells, "PuOr", vmin=-most, vmax=most, origin="lower", extent=extent, interpolation="nearest"
    )


def draw_gates(axes: Axes, model: GGLNRegressor, layer: int) -> None:
    """Draw the first gate of each neuron of a layer."""
    for normal, offset in half_spaces(model, layer, 0):
        draw_line(axes, normal, offset, color="black", linewidth=1)


@styled
def draw_tree(model: GGLNRegressor, layer: int, neuron: int) -> Figure:
    """Draw the contexts of one neuron level by level, each in the colour of its rows' mean residual.

    It is one whose levels share a gate: the first, the third, ... of a layer.
    """
    network = model.learner_.networks[0]
    levels = (network.gates.records.shape[1] + 1).bit_length() - 1
    place = int(network.first[layer]) + neuron
    rows, targets = sample(20_000, 1)
    left = targets - pooled(model.neurons(rows)[layer - 1])
    of_rows, of_points = (
        inspect.contexts(network, model.learner_.inputs.transform(X))[:, place] for X in (rows, POINTS)
    )
    figure = Figure(figsize=(12, 3.3), layout="constrained")
    panels = figure.subplots(1, levels)
    for level, axes in enumerate(panels, start=1):
        count, own, there = 1 << level, of_rows >> (levels - level), of_points >> (levels - level)
        sums = np.bincount(own, left, count) / np.maximum(np.bincount(own, minlength=count), 1)
        image = paint(axes, sums[there], 0.4)
        for gate in range(level):
            normal, offset = half_spaces(model, layer, (1 << gate) - 1)[neuron]
            newest = gate + 1 == level
            draw_line(axes, normal, offset, color="black", linewidth=2 if newest else 0.8)
        square(axes, f"gate {level}: {len(np.unique(there))} contexts")
        if level > 1:
            axes.set_yticklabels([])
    figure.colorbar(
        image, ax=panels, shrink=0.8, aspect=30, extend="both", label="mean residual of a context's rows"
    )
    handles = [
        Line2D([], [], color="black", linewidth=2, label="the gate that is picked at this level"),
        Line2D([], [], color="black", linewidth=0.8, label="gates before it"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a picture of few colours, which takes a third of the space."""
    buffer = BytesIO()
    figure.savefig(buffer)
    Image.open(buffer).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    X, y = sample(3000, 0)
    network = GGLNRegressor(n_estimators=1, base_model="feature", context_dim=4, random_state=0).fit(X, y)
    save(draw_layers(network), folder / "layers.png")
    save(draw_tree(network, layer=1, neuron=0), folder / "tree.png")
