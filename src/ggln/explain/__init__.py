"""Explanations: contributions that add up, slopes, effects of features, gates, and similar rows."""

from ggln.explain.contributions import Explanation
from ggln.explain.effects import Effects, Importance
from ggln.explain.gates import ActiveGates, Neighbours
from ggln.explain.methods import ExplainMixin

__all__ = ["ActiveGates", "Effects", "ExplainMixin", "Explanation", "Importance", "Neighbours"]
