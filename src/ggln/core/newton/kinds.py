"""Kinds of neurons as the learner sees them: arrays of natural parameters, and the Gaussians that they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core.newton.neurons.univariate import Univariate

FloatArray = NDArray[np.float64]


def kind_of(outputs: int, covariance: str) -> Any:
    """Return the kind of neuron for so many outputs."""
    return Univariate(outputs)
