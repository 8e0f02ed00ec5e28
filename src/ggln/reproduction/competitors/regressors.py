"""Other regressors that learn a table, each with a Gaussian for every row.

All take standardised rows and targets. Where a library gives no error bars, they come from rows left out of
training, never from residuals of rows that were learnt.

CatBoost is two models under one name: the one of its defaults has no error bars, and the one that learns them
has another loss, and other means. Each is scored by what it was made for (`POINTS`).
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold

from ggln.extras import require

FloatArray = NDArray[np.float64]
Moments = tuple[FloatArray, FloatArray]
Predict = Callable[[FloatArray], Moments]
"""From rows [n, features] to means and standard deviations [n]."""
Fit = Callable[[FloatArray, FloatArray, int], Predict]
"""From rows, targets and a seed to what predicts."""

FOLDS = 5
LEAST_VARIANCE = 1e-6
"""Of the standardised targets: keeps densities finite where all rows left out were hit exactly."""

NGBOOST = {"learning_rate": 0.01, "verbose": False}
NGBOOST_TREES = 2000
NGBOOST_VALIDATION = 0.2
NGBOOST_MANY_ROWS, NGBOOST_FRACTION = 20_000, 0.1
"""As in its paper: the number of trees is chosen on a fifth of the rows, then all are learnt; of the largest
set, each tree sees a tenth."""
NGBOOST_PATIENCE = 100

BOOSTING = {"min_samples_leaf": 5}
"""The usual 20 are too many for small tables: without a fold, yacht has fewer rows of its fastest boats, and
the errors on rows left out would be eight times those on new rows."""

CATBOOST = {"thread_count": 1, "logging_level": "Silent", "allow_writing_files": False}
"""Where it runs and what it prints: all else is as CatBoost has it."""
CATBOOST_UNCERTAIN = "RMSEWithUncertainty"
"""The loss with which CatBoost learns a Gaussian's mean and variance."""

GP_ROWS = 1100
"""The largest table for the Gaussian process, whose time grows with the cube of the rows."""


def ngboost(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """Natural gradient boosting of a Gaussian's mean and log-scale."""
    regressor = require("ngboost").NGBRegressor
    shared = NGBOOST | {"minibatch_frac": NGBOOST_FRACTION if len(y) > NGBOOST_MANY_ROWS else 1.0}
    shuffled = np.random.default_rng(seed).permutation(len(y))
    held_out = max(1, round(NGBOOST_VALIDATION * len(y)))
    rest, validation = shuffled[held_out:], shuffled[:held_out]
    search = regressor(n_estimators=NGBOOST_TREES, random_state=seed, **shared)
    search.fit(
        X[rest],
        y[rest],
        X_val=X[validation],
        Y_val=y[validation],
        early_stopping_rounds=NGBOOST_PATIENCE,
    )
    trees = search.best_val_loss_itr + 1
    model = regressor(n_estimators=trees, random_state=seed, **shared).fit(X, y)

    def predict(rows: FloatArray) -> Moments:
        parameters = model.pred_dist(rows).params
        return parameters["loc"], parameters["scale"]

    return predict


def catboost(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """CatBoost's Gaussians: all defaults but the loss, which is the one that learns variances."""
    model = require("catboost").CatBoostRegressor(
        loss_function=CATBOOST_UNCERTAIN, random_seed=seed, **CATBOOST
    )
    model.fit(X, y)

    def predict(rows: FloatArray) -> Moments:
        mean, variance = model.predict(rows).T
        return mean, np.sqrt(variance)

    return predict


def catboost_point(X: FloatArray, y: FloatArray, seed: int) -> Callable[[FloatArray], FloatArray]:
    """CatBoost with its defaults, which predicts means alone."""
    model = require("catboost").CatBoostRegressor(random_seed=seed, **CATBOOST).fit(X, y)
    return lambda rows: np.asarray(model.predict(rows))


def boosting(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """Boosted trees; one variance for all rows, the mean squared error on rows left out."""

    def member(rows: FloatArray, targets: FloatArray) -> Predict:
        model = HistGradientBoostingRegressor(**BOOSTING, random_state=seed).fit(rows, targets)
        return lambda new: (model.predict(new), np.zeros(len(new)))

    return _with_residual_variance(member, X, y, seed)


def forest(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """A random forest; the trees' variance and what errors on rows left out have beyond it."""

    def member(rows: FloatArray, targets: FloatArray) -> Predict:
        model = RandomForestRegressor(random_state=seed, n_jobs=1).fit(rows, targets)
        return lambda new: _spread([tree.predict(new) for tree in model.estimators_])

    return _with_residual_variance(member, X, y, seed)


def gaussian_process(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """A Gaussian process with one length scale for each feature, and noise; type-II maximum likelihood."""
    kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed)
    with warnings.catch_warnings():
        # a length scale at its upper bound is a feature without use
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return lambda rows: model.predict(rows, return_std=True)


def bayesian_ridge(X: FloatArray, y: FloatArray, seed: int) -> Predict:  # noqa: ARG001  has no randomness
    """Bayesian linear regression with learnt precisions of weights and noise."""
    model = BayesianRidge().fit(X, y)
    return lambda rows: model.predict(rows, return_std=True)


PEERS: dict[str, Fit] = {
    "NGBoost": ngboost,
    "CatBoost": catboost,
    "gradient boosting": boosting,
    "random forest": forest,
    "Gaussian process": gaussian_process,
    "Bayesian ridge": bayesian_ridge,
}

POINTS: dict[str, Callable[[FloatArray, FloatArray, int], Callable[[FloatArray], FloatArray]]] = {
    "CatBoost": catboost_point
}
"""Peers whose RMSE is that of another model, without error bars, than the one that gives their Gaussians."""

NOTES = {
    "CatBoost": f"RMSE of CatBoostRegressor(); NLL and intervals of loss_function={CATBOOST_UNCERTAIN!r}"
}
"""What a reader has to know of a peer."""

LIBRARIES = {"NGBoost": "ngboost", "CatBoost": "catboost"}
"""What has to be installed for a peer."""


def _with_residual_variance(
    member: Callable[[FloatArray, FloatArray], Predict], X: FloatArray, y: FloatArray, seed: int
) -> Predict:
    """Add to a model's own variances what its squared errors on rows left out exceed them by, on average."""
    excess = np.empty(len(y))
    for train, test in KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed).split(X):
        mean, std = member(X[train], y[train])(X[test])
        excess[test] = (mean - y[test]) ** 2 - std**2
    residual = max(LEAST_VARIANCE, excess.mean())
    predict = member(X, y)

    def widened(rows: FloatArray) -> Moments:
        mean, std = predict(rows)
        return mean, np.sqrt(std**2 + residual)

    return widened


def _spread(predictions: list[Any]) -> Moments:
    return np.mean(predictions, axis=0), np.std(predictions, axis=0)
