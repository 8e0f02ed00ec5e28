"""The bias inputs of every neuron, written out: for the NumPy twin and for explanations."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import BIAS_LEAK
from ggln.engine.neurons.diagonal import Diagonal
from ggln.engine.neurons.full import Full

FloatArray = NDArray[np.float64]


def biases(kind: Any) -> tuple[FloatArray, FloatArray]:
    """Return means [B, D] and precisions, [B, D] diagonals or for the full kind [B, D, D] matrices."""
    size = int(kind.outputs)
    directions = list(np.eye(size))
    if isinstance(kind, Full):
        for d, e in itertools.combinations(range(size), 2):
            directions += [np.sqrt(0.5) * (directions[d] + s * directions[e]) for s in (1, -1)]
    units = np.repeat(directions, 2, axis=0)
    signs = np.tile([-1.0, 1.0], len(directions))[:, None]
    means = float(kind.bias_mean) * signs * units
    if isinstance(kind, Full):
        spread = (1 - BIAS_LEAK) * units[:, :, None] * units[:, None, :] + BIAS_LEAK * np.eye(size)
    elif isinstance(kind, Diagonal):
        spread = (1 - BIAS_LEAK) * units**2 + BIAS_LEAK
    else:
        spread = np.ones((len(units), size))
    return means, float(kind.bias_precision) * spread
