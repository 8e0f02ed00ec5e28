"""Gates picked by residuals for networks that learn by gradient steps.

Such a network has no residuals before it has learnt, and its gates cannot change afterwards. A network of
the same layers is solved on a sample of the rows instead, and its gates are taken over.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gating import Gates
from ggln.engine.newton import constants
from ggln.engine.newton.network import Shape
from ggln.engine.newton.neurons.isotropic import Isotropic
from ggln.engine.newton.neurons.univariate import Univariate
from ggln.engine.newton.solving import fit_network

FloatArray = NDArray[np.float64]
SAMPLE_ROWS = 2000
"""Rows, spread evenly, that gates are picked on."""
LIMITS = 1e-2, 1e10
"""Of precisions, between standardised targets."""


def pick_gates(
    layer_sizes: tuple[int, ...],
    context_dim: int,
    columns: int,  # that gates may look at: the features come first
    side: FloatArray,  # [n, d], standardised
    goals: NDArray[Any],  # [n, D], standardised
    random: np.random.Generator,
) -> Gates:
    """Return gates of all neurons of one network."""
    step = max(1, -(-len(side) // SAMPLE_ROWS))
    X, Y = np.ascontiguousarray(side[::step]), np.ascontiguousarray(goals[::step], np.float64)
    outputs = Y.shape[1]
    kind = Univariate(1) if outputs == 1 else Isotropic(outputs)
    shape = Shape(
        layer_sizes, context_dim, 0, False, 5.0, 1.0, 1.0, *LIMITS, pull=constants.DEEP_PULL, mixing=False,
        growing=False,
    )  # fmt: skip
    nothing = np.empty((len(X), 0, kind.planes))
    solved = fit_network(
        kind, shape, X, nothing, Y, np.ones(len(X)), random, Y - Y.mean(axis=0), lambda _: None
    ).gates
    firsts = (1 << np.arange(context_dim)) - 1  # where levels have their gates
    solved = solved._replace(records=solved.records[:, firsts])
    single = (solved.weights[..., 0] == 1.0) & (solved.weights[..., 1:] == 0.0).all(axis=-1)
    codes, normals = solved.features[..., 0].astype(np.int32), np.zeros((int((~single).sum()), columns))
    places = np.argwhere(~single)
    for row, (neuron, gate) in enumerate(places):
        np.add.at(normals[row], solved.features[neuron, gate], solved.weights[neuron, gate])
        codes[neuron, gate] = columns + row
    return Gates(codes, solved.offsets.copy(), normals)
