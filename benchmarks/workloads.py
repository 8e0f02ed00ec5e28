"""The data that benchmarks run on, made from fixed seeds."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def clustered(rows: int, features: int) -> tuple[FloatArray, FloatArray]:
    """Return rows around forty centres, as real tables have them, and a smooth target."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((40, features))
    X = centres[random.integers(0, 40, rows)] + 0.3 * random.standard_normal((rows, features))
    return X, np.tanh(X @ random.standard_normal(features) / 3)


def weights_per_row(layer_sizes: tuple[int, ...], features: int) -> int:
    """Return how many weights one row visits: each neuron's inputs, with its two biases."""
    below = (features, *layer_sizes[:-1])
    return sum(size * (inputs + 2) for size, inputs in zip(layer_sizes, below, strict=True))
