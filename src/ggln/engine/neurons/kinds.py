"""Structures of the covariance, by name, of neurons that learn by gradient steps."""

from ggln.engine.neurons.diagonal import Diagonal
from ggln.engine.neurons.full import Full
from ggln.engine.neurons.isotropic import Isotropic

COVARIANCES = {"isotropic": Isotropic, "diagonal": Diagonal, "full": Full}
