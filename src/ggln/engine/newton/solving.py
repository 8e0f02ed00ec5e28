"""One network of several, solved without a fold of the rows, and asked about that fold.

All that it needs is handed over: networks can be solved wherever there is room (`Threads.gather`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.network import Network, Shape, fit_network
from ggln.engine.newton.online import ask
from ggln.engine.threads import Progress

FloatArray = NDArray[np.float64]


def solve_network(
    kind: Any,
    shape: Shape,
    random: np.random.Generator,
    fold: int,  # that is left out
    side: FloatArray,  # [n, d]  rows, standardised
    advice: FloatArray,  # [n, R, Q]  what regressions say of them
    goals: FloatArray,  # [n, D]  their targets
    weights: FloatArray,  # [n]
    residuals: FloatArray,  # [n, D]  of what is known before
    folds: NDArray[np.int64],  # [n]
    progress: Progress,
) -> tuple[Network, FloatArray]:
    """Return the network, and what it says of the rows that it left out, in their order, [.., Q]."""
    out = folds == fold
    rows = side[~out], advice[~out], goals[~out], weights[~out]
    network = fit_network(kind, shape, *rows, random, residuals[~out], progress)
    del rows
    return network, ask(kind, network, side[out], advice[out], goals[out], weights[out])
