"""Other regressors for streams that change: River's, a ridge on the latest rows, CapyMOA's and ondil's.

The latter two take part where they are installed. They are not in the extra `peers`: CapyMOA needs Java, and
ondil holds NumPy back.
"""

from collections import deque
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.extras import require, version
from ggln.reproduction.competitors.online_regressors import OnlineModel, River

FloatArray = NDArray[np.float64]
WINDOW = 200
"""Rows of the sliding ridge, and those by whose errors models without a distribution get their error bars."""
SMOOTHING = 0.99
"""What a row counts of the next one, where a model asks for it."""
BEGUN = 30
"""Rows that a model is begun with which cannot begin with nothing."""


class SlidingRidge:
    """Ridge regression on the latest rows."""

    def __init__(self) -> None:
        self.latest: deque[tuple[FloatArray, float]] = deque(maxlen=WINDOW)

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row."""
        self.latest.append((x, y))

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means."""
        if not self.latest:
            return np.zeros(len(X))
        rows, targets = (np.array(own) for own in zip(*self.latest, strict=True))
        centre, level = rows.mean(axis=0), targets.mean()
        scatter = (rows - centre).T @ (rows - centre) + np.eye(rows.shape[1])
        found: FloatArray = level + (X - centre) @ np.linalg.solve(
            scatter, (rows - centre).T @ (targets - level)
        )
        return found


class Capymoa:
    """A regressor of MOA."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self.model: Any = None

    def _instance(self, x: FloatArray, y: float) -> Any:
        if self.model is None:
            names = [f"x{i}" for i in range(len(x))]
            self.schema = require("capymoa.stream").Schema.from_custom(features=[*names, "y"], target="y")
            model = getattr(require("capymoa.regressor"), self.name)
            self.model = model(self.schema, random_seed=self.seed)
        return require("capymoa.core").RegressionInstance.from_array(self.schema, x, y)

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row."""
        instance = self._instance(x, y)
        self.model.train(instance)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means."""
        found = [self.model.predict(self._instance(x, 0.0)) if self.model else 0.0 for x in X]
        return np.array([0.0 if value is None else value for value in found], np.float64)


class Ondil:
    """Online distributional regression: a Gaussian whose mean is linear in the features, and its deviation.

    It is fitted to the first rows, and updated with each further one, of which old ones count less. Where an
    update diverges, it is fitted anew to the latest rows.
    """

    def __init__(self) -> None:
        self.latest: deque[tuple[FloatArray, float]] = deque(maxlen=WINDOW)
        self.model: Any = None

    def learn(self, x: FloatArray, y: float) -> None:
        """Learn one row."""
        self.latest.append((x, y))
        if self.model is None:
            if len(self.latest) >= BEGUN:
                self._begin()
            return
        try:
            self.model.update(x[None], np.array([y]))
            sane = bool(np.isfinite(self._parameters(x[None])).all())
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            sane = False
        if not sane:
            self._begin()

    def _begin(self) -> None:
        X, y = (np.array(own) for own in zip(*self.latest, strict=True))
        regression = require("ondil.estimators").OnlineDistributionalRegression
        normal = require("ondil.distributions").Normal()
        self.model = regression(normal, equation={0: "all", 1: "intercept"}, forget=1.0 - SMOOTHING)
        self.model.fit(X, y)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the means."""
        return self._parameters(X)[:, 0]

    def deviations(self, X: FloatArray) -> FloatArray:
        """Return the standard deviations."""
        return self._parameters(X)[:, 1]

    def _parameters(self, X: FloatArray) -> FloatArray:
        if self.model is None:
            return np.tile([0.0, 1.0], (len(X), 1))
        return np.asarray(self.model.predict_distribution_parameters(X))


def _scaled(build: Callable[[], Any]) -> Any:
    """Return a regressor of River behind running standardisation."""
    return River(require("river.preprocessing").StandardScaler() | build())


def _forest(seed: int) -> OnlineModel:
    return River(require("river.forest").ARFRegressor(seed=seed))


def _tree(seed: int) -> OnlineModel:
    return River(require("river.tree").HoeffdingAdaptiveTreeRegressor(seed=seed))


def _linear(_seed: int) -> OnlineModel:
    own: OnlineModel = _scaled(lambda: require("river.linear_model").LinearRegression(intercept_lr=0.1))
    return own


def _bayesian(_seed: int) -> OnlineModel:
    return River(require("river.linear_model").BayesianLinearRegression(smoothing=SMOOTHING))


PEERS: dict[str, Callable[[int], OnlineModel]] = {
    "adaptive random forest (River)": _forest,
    "Hoeffding adaptive tree (River)": _tree,
    "linear regression (River)": _linear,
    "Bayesian linear regression, smoothing 0.99 (River)": _bayesian,
    "ridge on the latest 200 rows": lambda _: SlidingRidge(),
}
GUESTS: dict[str, tuple[str, Callable[[int], OnlineModel]]] = {
    "SOKNL (CapyMOA)": ("capymoa", lambda seed: Capymoa("SOKNL", seed)),
    "linear Gaussian, forget 0.01 (ondil)": ("ondil", lambda _: Ondil()),
}
"""Models that take part where their library is installed."""


def peers() -> dict[str, Callable[[int], OnlineModel]]:
    """Return the models that are installed."""
    return PEERS | {name: build for name, (library, build) in GUESTS.items() if find_spec(library)}


def versions() -> dict[str, str]:
    """Return the versions of the libraries that take part."""
    found = version("river")
    for library, _ in GUESTS.values():
        if find_spec(library):
            found |= version(library)
    return found
