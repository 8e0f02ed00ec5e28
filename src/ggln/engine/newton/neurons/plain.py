"""The plain twins of what kernels do with a neuron: defaults, which a kind's own file overrides.

Numbers may be complex, where derivatives are carried along.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.neurons.protocol import LEAST_PRECISION

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]


def clip_real(values: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Bring the real parts of values into a range."""
    return np.where(values.real < np.real(low), low, np.where(values.real > np.real(high), high, values))


@singledispatch
def precision_planes(_kind: Any) -> Any:
    """Return which planes hold an input's precision along each output; the first is that of all."""
    return 0


@singledispatch
def means(kind: Any, planes: Numbers) -> Numbers:
    """Return the means [.., D] of densities [.., Q]."""
    found: Numbers = planes[..., -int(kind.outputs) :] / planes[..., : -int(kind.outputs)]
    return found


@singledispatch
def bounded(kind: Any, totals: Numbers, centre: Numbers, reach: float, limits: FloatArray) -> Numbers:
    """Return totals [.., Q] in range: means within reach of the centre [.., D], precisions in limits."""
    outputs = int(kind.outputs)
    precision = totals[..., :-outputs]
    dense = precision.real > LEAST_PRECISION
    mean = totals[..., -outputs:] / np.where(dense, precision, 1.0)
    mean = np.where(dense, clip_real(mean, centre - reach, centre + reach), centre)
    precision = clip_real(precision, *limits)
    return np.concatenate([precision, precision * mean], axis=-1)
