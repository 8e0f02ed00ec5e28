"""Regressors side by side, from the results of `ggln reproduce peers`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.dots import compare
from ggln.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

MARKS = {
    "GGLNRegressor()": (GREEN, "D"),
    "NGBoost": (ORANGE, "o"),
    "CatBoost": (RED, "*"),
    "gradient boosting": (BLUE, "s"),
    "random forest": (SKY, "^"),
    "Gaussian process": (PURPLE, "v"),
    "Bayesian ridge": ("black", "x"),
}
PUBLISHED = {"NGBoost": (ORANGE, "o"), "deep ensembles": (GREY, "P")}


def draw(results: dict[str, Any]) -> Figure:
    """Draw each set's RMSE relative to ours and its NLL less ours, measured and published."""
    title, notes = "Test rows, mean over the splits", results.get("notes")
    return compare(results["sets"], MARKS, title, results["published"], PUBLISHED, notes)
