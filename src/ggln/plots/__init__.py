"""Pictures, as scikit-learn's displays: made from an estimator, or from what it predicted.

Where a picture shows learning, a copy of the estimator learns. Needs `pip install ggln[plots]`.
"""

from ggln.extras import require

require("matplotlib", "drawing")

from ggln.plots.band import BandDisplay  # noqa: E402
from ggln.plots.calibration import CalibrationDisplay  # noqa: E402
from ggln.plots.contributions import ContributionsDisplay, EffectsDisplay  # noqa: E402
from ggln.plots.gating import GatingDisplay  # noqa: E402
from ggln.plots.intervals import IntervalsDisplay  # noqa: E402
from ggln.plots.neurons import NeuronsDisplay  # noqa: E402
from ggln.plots.prequential import PrequentialDisplay  # noqa: E402
from ggln.plots.switching import SwitchingDisplay  # noqa: E402

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
