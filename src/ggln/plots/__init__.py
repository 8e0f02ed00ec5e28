"""Pictures, as scikit-learn's displays: made from an estimator, or from what it predicted.

The other modules draw the results of experiments. Where a picture shows
learning, a copy of the estimator learns.
"""

from ggln.plots.band import BandDisplay
from ggln.plots.calibration import CalibrationDisplay
from ggln.plots.contributions import ContributionsDisplay, EffectsDisplay
from ggln.plots.gating import GatingDisplay
from ggln.plots.intervals import IntervalsDisplay
from ggln.plots.neurons import NeuronsDisplay
from ggln.plots.prequential import PrequentialDisplay
from ggln.plots.switching import SwitchingDisplay

__all__ = [
    "BandDisplay",
    "CalibrationDisplay",
    "ContributionsDisplay",
    "EffectsDisplay",
    "GatingDisplay",
    "IntervalsDisplay",
    "NeuronsDisplay",
    "PrequentialDisplay",
    "SwitchingDisplay",
]
