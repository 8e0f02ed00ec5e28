"""Regressors of large tables as their libraries set them, which predict a number for each row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require
from ggln.reproduction.competitors.online_regressors import River

FloatArray = NDArray[np.float64]
Predict = Callable[[FloatArray], FloatArray]

OURS, LIGHTGBM, CATBOOST, RIVER = "GGLNRegressor()", "LightGBM", "CatBoost", "River"
LIBRARIES = {LIGHTGBM: "lightgbm", CATBOOST: "catboost", RIVER: "river"}
NOTES = {RIVER: "an adaptive random forest, standardised, in one pass, row by row, on one thread"}


def fit(name: str, X: FloatArray, y: FloatArray, threads: int, settings: dict[str, Any]) -> Predict:
    """Fit one of the regressors and return what predicts; `settings` are for ours."""
    if name == LIGHTGBM:
        booster = require("lightgbm").LGBMRegressor(n_jobs=threads, random_state=0, verbose=-1).fit(X, y)
        # the sklearn wrapper gives arrays names, and then warns of arrays that have none
        return lambda rows: np.asarray(booster.booster_.predict(rows))
    if name == CATBOOST:
        quiet = {"logging_level": "Silent", "allow_writing_files": False}
        other = require("catboost").CatBoostRegressor(thread_count=threads, random_seed=0, **quiet).fit(X, y)
        return lambda rows: np.asarray(other.predict(rows))
    if name == RIVER:
        forest = require("river.forest").ARFRegressor(seed=0)
        online = River(require("river.preprocessing").StandardScaler() | forest)
        for row, target in zip(X, y.tolist(), strict=True):
            online.learn(row, target)
        return online.predict
    model = GGLNRegressor(**settings, random_state=0, n_jobs=threads).fit(X, y)
    return lambda rows: np.asarray(model.predict(rows))
