"""One pass over each data set, from the results of `ggln reproduce one-pass`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.dots import compare
from ggln.plots.style import BLUE, GREEN, ORANGE, PURPLE, SKY

MARKS = {
    "GGLNRegressor()": (GREEN, "D"),
    "linear regression (River)": (ORANGE, "o"),
    "Bayesian linear regression (River)": (BLUE, "s"),
    "adaptive random forest (River)": (SKY, "^"),
    "linear SGD (scikit-learn)": ("black", "x"),
    "MLP (scikit-learn)": (PURPLE, "v"),
}


def draw(results: dict[str, Any]) -> Figure:
    """Draw each set's RMSE relative to ours and its NLL less ours, of all predictions of one pass."""
    return compare(results["sets"], MARKS, "One pass, each row predicted before it is learnt")
