"""Regressors that the user hands in as base models, and the splits of boosted trees for gates.

Section 4 of the paper allows any Gaussian at layer 0. A regressor that has seen a row is too sure of it, so
each is fitted once for each fold, without it. For its own rows, a fold gets the predictions of the
regressors that did not see it; new rows get the mean over all.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ggln.engine.gating import NO_SPLITS, Splits
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]

BOOSTING = {
    "learning_rate": 0.08,
    "max_leaf_nodes": 15,
    "max_depth": None,
    "min_samples_leaf": 3,
    "subsample": 0.6,
    "max_features": 0.6,
}
GATE_TREES = 60
"""Boosted trees are enough to find the splits that gates are drawn from."""
FEWEST_ROWS, SPLIT_ROWS = 20, 5000
"""Fewer rows than this have no splits worth looking for, and more than that do not find better ones."""
INTERRUPTED = "Training interrupted by user"
"""What scikit-learn's perceptron warns of when it swallows a KeyboardInterrupt, and goes on."""


class CrossFitted:
    """Regressors, each fitted once without each fold. left: [n, R, D], what they predict of their fold."""

    def __init__(self, models: list[list[Any]], left: FloatArray) -> None:
        self.models, self.left = models, left

    def predict(self, X: FloatArray) -> FloatArray:
        """Return what each regressor predicts for new rows, the mean over its folds: [n, R, D]."""
        found: FloatArray = np.mean(
            [np.stack([_predict(model, X) for model in fold], axis=1) for fold in self.models], axis=0
        )
        return found


def _predict(model: Any, X: FloatArray) -> FloatArray:
    """Return the predictions [n, D] of a fitted regressor; one that has diverged predicts nothing far out."""
    found: FloatArray = np.nan_to_num(np.asarray(model.predict(X), np.float64).reshape(X.shape[0], -1))
    return found


def cross_fit(
    regressors: Sequence[Any],
    X: FloatArray,
    Y: FloatArray,
    folds: NDArray[np.int64],
    threads: Threads,
    progress: Callable[[int], object],
) -> CrossFitted:
    """Fit every regressor without each fold. X: [n, d]; Y: [n, D]; folds: [n]."""
    goals = Y if Y.shape[1] > 1 else Y[:, 0]
    count = int(folds.max()) + 1
    models: list[list[Any]] = [[None] * len(regressors) for _ in range(count)]
    left = np.empty((X.shape[0], len(regressors), Y.shape[1]))

    def fit(fold: int, r: int) -> None:
        out = folds == fold
        try:
            models[fold][r] = clone(regressors[r]).fit(X[~out], goals[~out])
        except UserWarning as warning:
            if str(warning).startswith(INTERRUPTED):
                raise KeyboardInterrupt from warning
            raise
        left[out, r] = _predict(models[fold][r], X[out])
        progress(1)

    # Warnings and the threads of numerical libraries belong to the process: set them around all of ours. Each
    # regressor then computes on one thread, and in one order.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a perceptron's steps are counted
        warnings.filterwarnings("error", INTERRUPTED)
        threads.run([(fit, (fold, r)) for r in range(len(regressors)) for fold in range(count)])
    return CrossFitted(models, left)


def boost(estimator: GradientBoostingRegressor, X: FloatArray, Y: FloatArray) -> list[Any]:
    """Return one model for each output, fitted to its distance from the mean."""
    return [clone(estimator).set_params(init="zero").fit(X, goal) for goal in (Y - Y.mean(axis=0)).T]


def find_splits(X: FloatArray, Y: FloatArray, seed: int) -> Splits:
    """Return the splits of a small boosted model, with what each of them gains; none for next to no rows."""
    if X.shape[0] < FEWEST_ROWS:
        return NO_SPLITS
    step = -(-X.shape[0] // SPLIT_ROWS)
    small = GradientBoostingRegressor(**{**BOOSTING, "n_estimators": GATE_TREES}, random_state=seed)
    features, thresholds, gains = [], [], []
    for estimator in (
        tree for model in boost(small, X[::step], Y[::step]) for tree in model.estimators_[:, 0]
    ):
        tree = estimator.tree_
        inner = np.flatnonzero(tree.children_left >= 0)
        error = tree.impurity * tree.weighted_n_node_samples
        features.append(tree.feature[inner])
        thresholds.append(tree.threshold[inner])
        gains.append(error[inner] - error[tree.children_left[inner]] - error[tree.children_right[inner]])
    return Splits(
        np.concatenate(features).astype(np.int32), np.concatenate(thresholds), np.concatenate(gains)
    )
