"""Figure 1A: the regions into which half-spaces cut the plane, for single neurons and for a small network."""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gating import contexts, sample_sphere
from ggln.reproduction.shared.record import Results


def run(
    neurons: int = 4, context_dim: int = 3, seed: int = 0, points: int = 121, extent: float = 2.5
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


def region_shares(index: NDArray[np.int32]) -> dict[str, float]:
    """Return the share of the grid that each context takes, by its number."""
    numbers, counts = np.unique(index, return_counts=True)
    return {str(number): float(count / index.size) for number, count in zip(numbers, counts, strict=True)}
