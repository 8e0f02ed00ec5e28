"""Density modelling by denoising (section 6.4 and Appendix F): score, samples, in-filling, anomalies."""

from ggln.density.estimator import DenoisingDensity
from ggln.density.missing import MissingValues

__all__ = ["DenoisingDensity", "MissingValues"]
