"""Regressors that predict quantiles, as discrete distributions for each row."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

FloatArray = NDArray[np.float64]
Discrete = tuple[FloatArray, FloatArray]
"""Values [n, k] in ascending order, or [1, k] for all rows, and their weights [n, k]."""

LEVELS = (np.arange(19) + 0.5) / 19
"""Quantiles of boosting: each stands for a nineteenth of the distribution."""
TREES, LEAF = 100, 5
"""Of the forest: the leaves of Meinshausen (2006) have at least five rows."""


def quantile_forest(X: FloatArray, y: FloatArray, seed: int) -> Callable[[FloatArray], Discrete]:
    """Weigh training targets by how often they share a leaf with the row (Meinshausen, 2006)."""
    forest = RandomForestRegressor(TREES, min_samples_leaf=LEAF, random_state=seed, n_jobs=1).fit(X, y)
    order = np.argsort(y, kind="stable")
    known = forest.apply(X)[order]  # [n, trees]

    def predict(rows: FloatArray) -> Discrete:
        weights = np.zeros((len(rows), len(y)))
        for own, new in zip(known.T, forest.apply(rows).T, strict=True):
            together = new[:, None] == own
            weights += together / together.sum(axis=1, keepdims=True)
        return y[order][None], weights / TREES

    return predict


def quantile_boosting(X: FloatArray, y: FloatArray, seed: int) -> Callable[[FloatArray], Discrete]:
    """Boosted trees for each of 19 quantiles, put in order where they cross."""
    models = [
        HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=seed).fit(X, y)
        for level in LEVELS
    ]

    def predict(rows: FloatArray) -> Discrete:
        found = np.sort([model.predict(rows) for model in models], axis=0).T
        return found, np.full(found.shape, 1.0 / len(LEVELS))

    return predict


def crps(distribution: Discrete, y: FloatArray) -> FloatArray:
    """Return E|Y - y| - E|Y - Y'| / 2 of each row, [n], with E|Y - Y'| / 2 = the integral of F (1 - F)."""
    values, weights = distribution
    upto = np.cumsum(weights, axis=1)[:, :-1]
    spread = np.sum(np.diff(values, axis=1) * upto * (1.0 - upto), axis=1)
    found: FloatArray = np.sum(weights * np.abs(values - y[:, None]), axis=1) - spread
    return found
