"""`RiverGGLN`: the networks as a regressor of River. Needs `pip install ggln[river]`."""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base, proba
from sklearn.base import clone

from ggln.engine.constants import MAX_MAGNITUDE
from ggln.estimators.regressor import GGLNRegressor

FloatArray = NDArray[np.float64]
SMALL: dict[str, Any] = {"layer_sizes": (8, 4), "n_estimators": 2, "context_dim": 3}


class RiverGGLN(base.MiniBatchRegressor):
    """Regression with a predictive distribution, learnt one row at a time.

    Rows are dicts, and need not have the same features. One that is missing, None or NaN counts as the mean
    that the model standardises it with. One that appears while the first 2,048 rows come (1,024 with gradient
    steps) joins the others, and the rows so far are learnt again with it; one that appears later is ignored,
    with a warning. The order of features does not matter, and `learn_many` is exactly a loop of `learn_one`.

    Parameters
    ----------
    regressor
        A `GGLNRegressor` whose settings are used; by default those for streams. What it has learnt is not.
    seed
        Seed of the gates, instead of the regressor's own `random_state`.

    Attributes
    ----------
    model
        The `GGLNRegressor` that learns, with all its methods, for rows in the order of `features`.
    features
        Names of the features, in their order.

    Examples
    --------
    >>> from ggln.adapters.river import RiverGGLN
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> model = preprocessing.StandardScaler() | RiverGGLN(seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(200), model, metrics.MAE())
    MAE: ...
    >>> *_, (x, y) = datasets.TrumpApproval().take(201)
    >>> abs(model.predict_one(x) - y) < 5
    True
    >>> 0 < model.predict_one(x, with_dist=True).sigma < 10
    True
    """

    def __init__(self, regressor: GGLNRegressor | None = None, seed: int | None = None) -> None:
        self.regressor = regressor
        self.seed = seed
        self.features: list[Any] = []
        self.model = self._new_model()
        self._ignored: set[Any] = set()

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of what was learnt. River would follow references, through kernels into the interpreter."""
        if not hasattr(self.model, "learner_"):
            return 0
        return sum(array.nbytes for array in self.model.learner_.state()[1].values())

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"regressor": GGLNRegressor(**SMALL)}
        yield {"regressor": GGLNRegressor(**SMALL, gating="mixed", base_model="feature"), "seed": 1}

    def _new_model(self) -> GGLNRegressor:
        model = GGLNRegressor() if self.regressor is None else clone(self.regressor)
        return model if self.seed is None else model.set_params(random_state=self.seed)

    # Learning ------------------------------------------------------------------------------------------

    def learn_one(self, x: Mapping[Any, Any], y: float) -> None:
        """Learn a row. One without any feature, as the first, teaches nothing."""
        known = _numbers(x)
        if not abs(y) <= MAX_MAGNITUDE:
            raise ValueError(f"y is {y!r}, expected a finite number; the model is unchanged")
        self._meet(known)
        if self.features:
            self.model.learn_one(self._row(known), y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame in their order: bit for bit what a loop of `learn_one` does."""
        targets = np.asarray(y, np.float64)
        if not self.features and len(targets):
            self._meet(next(_dicts(X)))
        new = set(X.columns) - set(self.features) - self._ignored
        if self.features and not new and set(self.features) <= set(X.columns):
            rows = np.stack([np.asarray(X[name], np.float64) for name in self.features], axis=1)
            if not np.isnan(rows).any():
                self.model.partial_fit(rows, targets)
                return
        for x, target in zip(_dicts(X), targets, strict=True):
            self.learn_one(x, float(target))

    def _meet(self, known: Mapping[Any, float]) -> None:
        """Take in features that were not there before."""
        new = [name for name in known if name not in self.features and name not in self._ignored]
        if not new:
            return
        learner = getattr(self.model, "learner_", None)
        if learner is not None and not learner.first_rows:
            self._ignored.update(new)
            warnings.warn(
                f"features {new} appear after {learner.rows} rows and are ignored: the networks were laid "
                "out without them",
                stacklevel=3,
            )
            return
        before, self.features = self.features, sorted([*self.features, *new], key=_order)
        if learner is None:
            return
        rows, targets, *_ = (np.concatenate(parts) for parts in zip(*learner.first_rows, strict=True))
        wider = np.empty((len(rows), len(self.features)))
        for column, name in enumerate(self.features):
            wider[:, column] = rows[:, before.index(name)] if name in before else known[name]
        self.model = self._new_model().partial_fit(wider, targets[:, 0])

    def _row(self, known: Mapping[Any, float]) -> FloatArray:
        """Return the features in their order; those that are missing are at their means so far."""
        learner = getattr(self.model, "learner_", None)
        means = np.zeros(len(self.features)) if learner is None else learner.inputs.state[1]
        return np.array([known.get(name, mean) for name, mean in zip(self.features, means, strict=True)])

    # Predicting ----------------------------------------------------------------------------------------

    def predict_one(self, x: Mapping[Any, Any], with_dist: bool = False) -> Any:
        """Predict a row.

        Parameters
        ----------
        x
            A dictionary of features; those that were never learnt are ignored.
        with_dist
            Whether to return a Gaussian instead of the mean. It has the mean and the standard deviation of
            the predicted mixture, which `model.predict_dist` has in full.

        Returns
        -------
        The mean, 0 before anything was learnt, or a `proba.Gaussian`.
        """
        mean, std = self.model.predict_one(self._row(_numbers(x)), return_std=True)
        if not with_dist:
            return mean
        gaussian: Any = proba.Gaussian
        return gaussian._from_state(n=1, m=mean, var=std**2, ddof=0)

    def predict_many(self, X: Any) -> Any:
        """Predict the rows of a data frame: a series of its kind, and with its index if there is one."""
        means = [self.predict_one(x) for x in _dicts(X)]
        series: Any = type(X[X.columns[0]])(means)
        if hasattr(X, "index"):
            series.index = X.index
        return series


def _order(name: Any) -> tuple[str, str]:
    """Order names of any kind, whichever came first."""
    return type(name).__name__, str(name)


def _numbers(x: Mapping[Any, Any]) -> dict[Any, float]:
    """Return the features that are there, as numbers."""
    found = {}
    for name, value in x.items():
        try:
            number = math.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"feature {name!r} is {value!r}, expected a number: put an encoder before it, "
                "for example preprocessing.OneHotEncoder()"
            ) from None
        if math.isnan(number):
            continue
        if abs(number) > MAX_MAGNITUDE:
            raise ValueError(
                f"feature {name!r} is {value!r}, expected a finite number; the model is unchanged"
            )
        found[name] = number
    return found


def _dicts(X: Any) -> Iterator[dict[Any, float]]:
    """Yield the rows of a data frame as dicts of the features that are there."""
    columns = {name: X[name].to_numpy() for name in X.columns}
    for i in range(len(X)):
        yield _numbers({name: values[i] for name, values in columns.items()})
