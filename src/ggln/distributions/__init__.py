"""Predictive distributions: a Gaussian mixture for each row of ``X``, or a joint one.

``n`` rows, ``M`` components, ``D`` outputs. Parameters keep their dtype; the arithmetic is float64, in blocks
of rows so that temporaries do not grow with ``n``. NaN in ``y`` gives NaN in the results it enters.
"""

from ggln.distributions.copula import CopulaMixture
from ggln.distributions.multivariate import MultivariateGaussianMixture
from ggln.distributions.univariate import GaussianMixture

__all__ = ["CopulaMixture", "GaussianMixture", "MultivariateGaussianMixture"]
