"""Which kind of neuron there is for so many outputs."""

from typing import Any

from ggln.engine.newton.neurons.diagonal import Diagonal
from ggln.engine.newton.neurons.full import Full
from ggln.engine.newton.neurons.isotropic import Isotropic
from ggln.engine.newton.neurons.univariate import Univariate

COVARIANCES = {"isotropic": Isotropic, "diagonal": Diagonal, "full": Full}


def kind_of(outputs: int, covariance: str) -> Any:
    """Return the kind of neuron for so many outputs; of a single one, all covariances are the same."""
    return Univariate(outputs) if outputs == 1 else COVARIANCES[covariance](outputs)
