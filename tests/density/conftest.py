"""A small density over two moons of rows, learnt once."""

import numpy as np
import pytest

from ggln.density import DenoisingDensity

SMALL = {"step": "split", "layer_sizes": (8, 8, 1), "context_dim": 6, "random_state": 0}


@pytest.fixture(scope="session")
def ring():
    """Return points of a circle of radius 3 around (5, 0)."""

    def make(rows, seed=0):
        angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, rows)
        return np.column_stack([5.0 + 3.0 * np.cos(angle), 3.0 * np.sin(angle)])

    return make


@pytest.fixture(scope="session")
def density(ring):
    return DenoisingDensity(**SMALL).fit(ring(2000))
