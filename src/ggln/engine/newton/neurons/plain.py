"""What plain twins of several kinds share: numbers may be complex, where derivatives are carried along."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.neurons.protocol import LEAST_PRECISION

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]


def clip_real(values: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Bring the real parts of values into a range."""
    return np.where(values.real < np.real(low), low, np.where(values.real > np.real(high), high, values))


def bounded_apart(
    outputs: int, totals: Numbers, centre: Numbers, reach: float, limits: FloatArray
) -> Numbers:
    """Return totals [.., Q] in range, where each output has a precision, or all have one together.

    Means are within reach of the centre [.., D], precisions in limits.
    """
    precision = totals[..., :-outputs]
    dense = precision.real > LEAST_PRECISION
    mean = totals[..., -outputs:] / np.where(dense, precision, 1.0)
    mean = np.where(dense, clip_real(mean, centre - reach, centre + reach), centre)
    precision = clip_real(precision, *limits)
    return np.concatenate([precision, precision * mean], axis=-1)
