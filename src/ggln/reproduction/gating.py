"""Figure 1A: the regions into which half-spaces cut the plane.

Example: ggln reproduce gating --context-dim 4
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gating import contexts, sample_sphere
from ggln.reproduction.shared.options import Option, Seed
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.tables import ScoreTable

SHOWN = 3
"""Neurons in the picture."""


def run(
    neurons: Annotated[int, Option("Neurons of the network.", least=1)] = 4,
    context_dim: Annotated[int, Option("Half-spaces of each neuron.", least=1, most=8)] = 3,
    seed: Seed = 0,
    points: int = 121,
    extent: float = 2.5,
) -> Results:
    """Draw the gates of some neurons as section 4 does, and find their contexts on a grid.

    `contexts` are indices [neurons, points, points] whose bits are the gates, the first the lowest;
    `inside` counts, at each point, the half-spaces of all neurons that hold it, which is the figure's colour.
    """
    gates = sample_sphere(neurons, context_dim, np.empty((0, 2)), 1.0, np.random.default_rng(seed))
    axis = np.linspace(-extent, extent, points)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    found = np.empty((neurons, len(grid)), np.int32)
    contexts(gates, grid, np.arange(len(grid)), 0, neurons, found)
    bits = found[:, None] >> np.arange(context_dim)[None, :, None] & 1
    return {
        "experiment": "gating",
        "paper": "Figure 1A (a picture)",
        "seed": seed,
        "context_dim": context_dim,
        "axis": axis,
        "normals": gates.normals[gates.codes - 2],  # [neurons, context_dim, 2]
        "offsets": gates.offsets,
        "regions": [region_shares(index) for index in found],
        "polytopes": np.unique(found, axis=1).shape[1],
        "contexts": found.reshape(neurons, points, points),
        "inside": bits.sum(axis=(0, 1)).reshape(points, points),
    }


def table(results: Results) -> ScoreTable:
    """Return how many regions each neuron has, and the share of the largest."""
    regions = f"regions of {2 ** results['context_dim']} contexts"
    largest = "largest region, of the plane shown"
    lines = {
        f"neuron {number}": {regions: len(shares), largest: max(shares.values())}
        for number, shares in enumerate(results["regions"], start=1)
    }
    note = f"All neurons together: {results['polytopes']} regions"
    return ScoreTable("Half-spaces in two dimensions", {regions: "d", largest: ".0%"}, lines, (note,))


def region_shares(index: NDArray[np.int32]) -> dict[str, float]:
    """Return the share of the grid that each context takes, by its number."""
    numbers, counts = np.unique(index, return_counts=True)
    return {str(number): float(count / index.size) for number, count in zip(numbers, counts, strict=True)}


@styled
def draw(results: Results) -> Figure:
    """Draw some neurons' contexts, and how many half-spaces of all neurons hold each point."""
    from ggln.plots import GatingDisplay

    axis, contexts = np.array(results["axis"]), np.array(results["contexts"])
    normals, offsets = np.array(results["normals"]), np.array(results["offsets"])
    neurons = range(min(SHOWN, len(contexts)))
    figure = new_figure(3.1 * len(neurons) + 3.7, 3.8)
    panels = figure.subplots(1, len(neurons) + 1, sharex=True, sharey=True, squeeze=False)[0]
    shown = [[neuron] for neuron in neurons] + [list(range(len(contexts)))]
    for axes, chosen in zip(panels, shown, strict=True):
        display = GatingDisplay(
            x=axis,
            y=axis,
            contexts=contexts[chosen],
            context_dim=results["context_dim"],
            normals=normals[chosen].reshape(-1, 2),
            offsets=offsets[chosen].ravel(),
            names=("first feature", ""),
        ).plot(axes)
        who = f"neuron {chosen[0] + 1}" if axes is not panels[-1] else f"all {len(contexts)} neurons"
        axes.set_title(f"{who}: {display.regions} regions")
        axes.set_aspect("equal")
    panels[0].set_ylabel("second feature")
    return figure
