"""Draw the pictures of docs/plots.md and docs/explanations.md: python docs/images/displays.py [folder]."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from ggln import GGLNRegressor
from ggln.plots import (
    BandDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    EffectsDisplay,
    GatingDisplay,
    IntervalsDisplay,
    NeuronsDisplay,
    PrequentialDisplay,
    SwitchingDisplay,
)
from ggln.reproduction import hetero


def curves() -> dict[str, Figure]:
    """The paper's heteroskedastic function: a band, the neurons of three layers."""
    X, y = hetero.sample(5000, seed=0)
    model = GGLNRegressor(**hetero.SETTINGS, random_state=0).fit(X, y)
    alone = GGLNRegressor(**hetero.SETTINGS, n_estimators=1, random_state=0).fit(X, y)
    X, y = X[:1000], y[:1000]
    return {
        "band": BandDisplay.from_estimator(model, X, y).figure_,
        "neurons": NeuronsDisplay.from_estimator(alone, X, y).figure_,
    }


def tables() -> dict[str, Figure]:
    """The diabetes data that scikit-learn brings along, with the defaults."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = GGLNRegressor(random_state=0).fit(X_train, y_train)
    return {
        "pit": CalibrationDisplay.from_estimator(model, X_test, y_test, kind="pit").figure_,
        "intervals": IntervalsDisplay.from_estimator(model, X_test, y_test).figure_,
        "contributions": ContributionsDisplay.from_estimator(model, X_test[:1]).figure_,
        "effects": EffectsDisplay.from_estimator(model, X_test[:1], X_train).figure_,
    }


def gates() -> dict[str, Figure]:
    """A step and a product of two features, which only gates can tell apart."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (1500, 2))
    y = np.where(X[:, 0] > 0.2, 1.0, -1.0) + X[:, 0] * X[:, 1] + 0.1 * random.standard_normal(1500)
    settings: dict[str, Any] = {"layer_sizes": (8, 8, 1), "context_dim": 3, "base_model": "feature"}
    model = GGLNRegressor(**settings, gating="mixed", random_state=0).fit(X, y)
    picked = GGLNRegressor(
        layer_sizes=(8, 8), context_dim=3, n_estimators=1, base_model="feature", random_state=0
    ).fit(X, y)
    stream = GGLNRegressor(random_state=0)
    small: dict[str, Any] = {"layer_sizes": (16,) * 4, "context_dim": 4, "n_estimators": 3, "gating": "axis"}
    steps = GGLNRegressor(step="capped", base_model="feature", **small, random_state=0)
    return {
        "gating-layer": GatingDisplay.from_estimator(picked, X).figure_,
        "gating-neuron": GatingDisplay.from_estimator(picked, X, neuron=2).figure_,
        "step-effects": EffectsDisplay.from_estimator(model, X[:60], X).figure_,
        "prequential": PrequentialDisplay.from_estimator(stream, X, y).figure_,
        "switching": SwitchingDisplay.from_estimator(steps, X, y).figure_,
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, figure in (curves() | gates() | tables()).items():
        figure.savefig(folder / f"{name}.png", dpi=100)
