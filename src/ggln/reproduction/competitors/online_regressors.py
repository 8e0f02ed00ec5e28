"""Other regressors that learn row by row: a prediction, then the target."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor

from ggln.extras import require

FloatArray = NDArray[np.float64]

MLP = {"hidden_layer_sizes": (64, 64)}


class OnlineModel(Protocol):
    """Learns one row at a time, and predicts any number of rows."""

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row x [features]."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means for rows [n, features]; zeros before anything was learnt."""


class Sklearn:
    """A regressor of scikit-learn with `partial_fit`, which gets one row at a time."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor
        self.begun = False

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row."""
        self.regressor.partial_fit(x[None], np.array([y]))
        self.begun = True

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means."""
        return np.asarray(self.regressor.predict(X)) if self.begun else np.zeros(len(X))


class River:
    """A regressor of River, whose rows are dicts; a constant feature is the bias of those that have none."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row."""
        self.regressor.learn_one(_dict(x), y)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means."""
        return np.array([self.regressor.predict_one(_dict(x)) for x in X], np.float64)


def _dict(x: FloatArray) -> dict[str, float]:
    return {"constant": 1.0, **{f"x{i}": value for i, value in enumerate(x.tolist())}}


NAMES = (
    "linear regression (River)",
    "Bayesian linear regression (River)",
    "adaptive random forest (River)",
    "linear SGD (scikit-learn)",
    "MLP (scikit-learn)",
)
LINEAR, MULTILAYER = NAMES[3:]


def build(name: str, seed: int) -> OnlineModel:
    """Return one of the models `NAMES`, which has learnt nothing yet."""
    if name == MULTILAYER:
        return Sklearn(MLPRegressor(**MLP, random_state=seed))
    if name == LINEAR:
        return Sklearn(SGDRegressor(random_state=seed))
    if name == NAMES[0]:
        return River(require("river.linear_model").LinearRegression())
    if name == NAMES[1]:
        return River(require("river.linear_model").BayesianLinearRegression())
    return River(require("river.forest").ARFRegressor(seed=seed))
