"""Regressors as base models: section 4 of the paper allows any Gaussian at layer 0.

A regressor that has seen a row is too sure of it, so each is fitted once for each fold, without it. For its
own rows, a fold gets the predictions of the regressors that did not see it; new rows get the mean over all.
What was fitted is frozen: trees, perceptrons, linear models and Gaussian processes become plain arrays, which
a model file can hold. Any other regressor is kept as it is, and cannot be saved.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.ensemble._forest import ForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.linear_model._base import LinearModel
from sklearn.neural_network import MLPRegressor
from threadpoolctl import threadpool_limits

from ggln.core.constants import INPUT_LIMIT
from ggln.core.frozen import Trees, add_trees, apply_layer
from ggln.core.gating import NO_SPLITS, Splits
from ggln.core.scaling import Scaler
from ggln.core.threads import Threads
from ggln.processes import GaussianProcess, Process

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

BOOSTING = {
    "n_estimators": 250,
    "learning_rate": 0.08,
    "max_leaf_nodes": 15,
    "max_depth": None,
    "min_samples_leaf": 3,
    "subsample": 0.6,
    "max_features": 0.6,
}
GATE_TREES = 60
"""Boosted trees are enough to find the splits that gates are drawn from."""
INTERRUPTED = "Training interrupted by user"
"""What scikit-learn's perceptron warns of when it swallows a KeyboardInterrupt, and goes on."""
FEWEST_ROWS, SPLIT_ROWS = 20, 5000
"""Fewer rows than this have no splits worth looking for, and more than that do not find better ones."""
FOREST = {"n_estimators": 60, "min_samples_leaf": 2}
PERCEPTRON = {"hidden_layer_sizes": (64, 64), "learning_rate_init": 3e-3}
STEPS = 3000
"""Gradient steps of the perceptron, whatever the number of rows."""
WIDE_PERCEPTRON = {"hidden_layer_sizes": (256, 256), "learning_rate_init": 1e-3}
WIDE_STEPS, WIDE_ROWS = 6000, 2000
"""Several outputs share the units of one perceptron. Where there are rows enough to learn them from, it has
more units and learns longer."""
PROCESS_FEATURES = 100
"""With more features than this, a Gaussian process has too many length scales to find."""
PLANE_ROWS = 500
"""Of fewer rows than this, a plane may be all that can be learnt; of more, the others learn it as well."""


def default_regressors(rows: int, features: int, outputs: int) -> list[Any]:
    """Return the regressors that help most tables.

    They are boosted trees, randomised trees, a perceptron, unless there are many features a Gaussian process,
    and unless there are many rows a plane.
    """
    batch = int(np.clip(rows // 32, 16, 128))
    wide = outputs > 1 and rows >= WIDE_ROWS
    shape, steps = (WIDE_PERCEPTRON, WIDE_STEPS) if wide else (PERCEPTRON, STEPS)
    epochs = max(1, steps * batch // rows)
    perceptron = MLPRegressor(**shape, batch_size=batch, max_iter=epochs)
    if wide:  # its steps are counted: no stop where the mean loss of many outputs falls slowly
        perceptron.set_params(n_iter_no_change=epochs)
    regressors = [GradientBoostingRegressor(**BOOSTING), ExtraTreesRegressor(**FOREST), perceptron]
    if features <= PROCESS_FEATURES:
        regressors.append(GaussianProcess())
    if rows < PLANE_ROWS:
        regressors.append(BayesianRidge() if outputs == 1 else Ridge())
    return regressors


def seed_all(regressors: Iterable[Any], seed: int) -> None:
    """Give all regressors that draw random numbers the same seed."""
    for regressor in regressors:
        if "random_state" in regressor.get_params():
            regressor.set_params(random_state=seed)


# Frozen models -------------------------------------------------------------------------------------------


class Forest(NamedTuple):
    """Trees, of which the prediction is the sum, from an offset on."""

    offset: FloatArray  # [D]
    trees: Trees

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions [n, D]."""
        total = np.tile(self.offset, (X.shape[0], 1))
        add_trees(self.trees, X.astype(np.float32), total)
        return total

    def slopes(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [n, D, d]: trees are constant between their splits."""
        return np.zeros((X.shape[0], self.offset.size, X.shape[1]))

    def arrays(self) -> Arrays:
        """Return all there is."""
        return {"offset": self.offset, **self.trees._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "Forest":
        """Return the model that `arrays` described."""
        return cls(arrays.pop("offset"), Trees(**arrays))


class Perceptron(NamedTuple):
    """Layers of rectified linear units, the last one linear; a linear model is a single layer."""

    layers: list[tuple[FloatArray, FloatArray]]

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions [n, D]."""
        values = X
        for i, (weights, offsets) in enumerate(self.layers):
            result = np.empty((X.shape[0], offsets.size))
            apply_layer(weights, offsets, i + 1 < len(self.layers), values, result)
            values = result
        return values

    def slopes(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [n, D, d], those of active units multiplied up layer by layer."""
        product = np.broadcast_to(np.eye(X.shape[1]), (X.shape[0], X.shape[1], X.shape[1]))
        for i, (weights, _) in enumerate(self.layers):
            product = product @ weights
            if i + 1 < len(self.layers):
                product = product * (Perceptron(self.layers[: i + 1]).predict(X) > 0.0)[:, None]
        return np.swapaxes(product, 1, 2)

    def arrays(self) -> Arrays:
        """Return all there is."""
        pairs = enumerate(self.layers)
        return {f"{i}.{name}": array for i, pair in pairs for name, array in zip("wb", pair, strict=True)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "Perceptron":
        """Return the model that `arrays` described."""
        return cls([(arrays[f"{i}.w"], arrays[f"{i}.b"]) for i in range(len(arrays) // 2)])


class Live(NamedTuple):
    """A fitted estimator that could not be frozen."""

    estimator: Any

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions [n, D]."""
        return np.asarray(self.estimator.predict(X), np.float64).reshape(X.shape[0], -1)

    def slopes(self, X: FloatArray) -> FloatArray:  # noqa: ARG002
        """Refuse: nothing is known of the estimator but what it predicts."""
        raise ValueError(
            f"base_model holds a {type(self.estimator).__name__}, whose derivative is not known: "
            "use effects, which compares predictions"
        )

    def arrays(self) -> Arrays:
        """Refuse: only code could bring the estimator back."""
        raise ValueError(
            f"base_model holds a {type(self.estimator).__name__}, which a model file cannot: "
            "gradient boosting, forests, MLPRegressor, GaussianProcess and linear models can be saved"
        )


FROZEN: dict[str, Any] = {"Forest": Forest, "Perceptron": Perceptron, "Process": Process}


def join_trees(estimators: Sequence[Any], columns: Sequence[int], factor: float, outputs: int) -> Trees:
    """Return fitted trees of scikit-learn as one `Trees`, leaves times `factor`.

    columns: for each tree, the output that it belongs to if it has a single one, of `outputs` in all.
    """
    parts, first = [], 0
    for estimator, column in zip(estimators, columns, strict=True):
        tree = estimator.tree_
        values = factor * tree.value[:, :, 0]
        if values.shape[1] < outputs:
            values = np.where(np.arange(outputs) == column, values, 0.0)
        features = np.where(tree.children_left < 0, -1, tree.feature)
        children = tree.children_left + first, tree.children_right + first
        parts.append((np.array([first]), features, tree.threshold, *children, values))
        first += tree.node_count
    joined = Trees(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    narrow = {name: getattr(joined, name).astype(np.int32) for name in ("roots", "features", "left", "right")}
    return joined._replace(**narrow)


def perceptron(layers: Iterable[tuple[Any, Any]]) -> Perceptron:
    """Return layers of weights and offsets as kernels want them."""
    return Perceptron([(np.array(weights, order="C"), np.array(offsets)) for weights, offsets in layers])


def boost(estimator: GradientBoostingRegressor, X: FloatArray, Y: FloatArray) -> list[Any]:
    """Return one model for each output, fitted to its distance from the mean."""
    return [clone(estimator).set_params(init="zero").fit(X, goal) for goal in (Y - Y.mean(axis=0)).T]


def fit_frozen(estimator: Any, X: FloatArray, Y: FloatArray) -> Any:
    """Return a copy of the estimator, fitted, and as plain arrays where it is of a known kind."""
    outputs = Y.shape[1]
    if type(estimator) is GradientBoostingRegressor:
        models = boost(estimator, X, Y)
        trees = [tree for model in models for tree in model.estimators_[:, 0]]
        columns = np.repeat(np.arange(outputs), [len(model.estimators_) for model in models]).tolist()
        return Forest(Y.mean(axis=0), join_trees(trees, columns, estimator.learning_rate, outputs))
    fitted = clone(estimator).fit(X, Y if outputs > 1 else Y[:, 0])
    if isinstance(fitted, GaussianProcess):
        return fitted.process_
    if isinstance(fitted, ForestRegressor):
        count = len(fitted.estimators_)
        return Forest(np.zeros(outputs), join_trees(fitted.estimators_, [0] * count, 1 / count, outputs))
    if isinstance(fitted, MLPRegressor) and (fitted.activation, fitted.out_activation_) == (
        "relu",
        "identity",
    ):
        return perceptron(zip(fitted.coefs_, fitted.intercepts_, strict=True))
    if isinstance(fitted, LinearModel) and hasattr(fitted, "coef_"):
        coefficients = np.reshape(fitted.coef_, (outputs, -1)).T
        return perceptron([(coefficients, np.broadcast_to(fitted.intercept_, outputs))])
    return Live(fitted)


# Cross-fitting -------------------------------------------------------------------------------------------


class CrossFitted:
    """Regressors, each fitted once without each fold, between standardised rows and targets.

    models: [folds][regressors], frozen; inputs, targets: what the rows were standardised with.
    """

    def __init__(self, models: list[list[Any]], inputs: Scaler, targets: Scaler) -> None:
        self.models, self.inputs, self.targets = models, inputs, targets

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return what each regressor predicts for new rows, the mean over its folds: [n, R, D]."""
        predictions: FloatArray = np.mean(self.apart(X), axis=0)
        return predictions

    def apart(self, X: FloatArray) -> FloatArray:
        """Return what the regressors that left out each fold predict for new rows: [folds, n, R, D]."""
        rows = self.inputs.transform(X)
        folds = [np.stack([model.predict(rows) for model in fold], axis=1) for fold in self.models]
        shift, scale = self.targets.shift_and_scale()
        predictions: FloatArray = shift + scale * np.array(folds)
        return predictions

    def slopes(self, X: FloatArray) -> FloatArray:
        """Return the derivatives [n, R, D, d] of what each regressor predicts for new rows."""
        rows = self.inputs.transform(X)
        folds = [np.stack([model.slopes(rows) for model in fold], axis=1) for fold in self.models]
        widths, scale = self.inputs.shift_and_scale()[1], self.targets.shift_and_scale()[1]
        inside = np.abs(rows) < self.inputs.limit
        derivatives: FloatArray = np.mean(folds, axis=0) * scale[:, None] * (inside / widths)[:, None, None]
        return derivatives

    def state(self) -> tuple[list[list[str]], Arrays]:
        """Return the kinds of the models, and all arrays by name."""
        kinds = [[type(model).__name__ for model in fold] for fold in self.models]
        arrays = {
            f"regressor.{k}.{r}.{name}": array
            for k, fold in enumerate(self.models)
            for r, model in enumerate(fold)
            for name, array in model.arrays().items()
        }
        return kinds, {
            "regressors.inputs": self.inputs.state,
            "regressors.targets": self.targets.state,
            **arrays,
        }

    @classmethod
    def from_state(cls, kinds: list[list[str]], arrays: Arrays) -> "CrossFitted":
        """Return the regressors that `state` described."""

        def restore(kind: str, prefix: str) -> Any:
            own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            return FROZEN[kind].from_arrays(own)

        models = [
            [restore(kind, f"regressor.{k}.{r}.") for r, kind in enumerate(fold)]
            for k, fold in enumerate(kinds)
        ]
        scalers = []
        for name in ("regressors.inputs", "regressors.targets"):
            scalers.append(Scaler(arrays[name].shape[1], INPUT_LIMIT, True))
            scalers[-1].state[:] = arrays[name]
        return cls(models, *scalers)


def cross_fit(
    regressors: Sequence[Any],
    X: FloatArray,
    Y: FloatArray,
    folds: NDArray[np.int64],
    threads: Threads,
    progress: Callable[[int], object],
) -> tuple[CrossFitted, FloatArray]:
    """Fit every regressor without each fold; return them, and what they predict of their fold [n, R, D]."""
    inputs, targets = (Scaler(some.shape[1], INPUT_LIMIT, True) for some in (X, Y))
    inputs.fit(X)
    targets.fit(Y)
    rows, goals = inputs.transform(X), targets.transform(Y)
    count = int(folds.max()) + 1
    models: list[list[Any]] = [[None] * len(regressors) for _ in range(count)]
    predictions = np.empty((X.shape[0], len(regressors), Y.shape[1]))

    def fit(fold: int, r: int) -> None:
        out = folds == fold
        try:
            models[fold][r] = fit_frozen(regressors[r], rows[~out], goals[~out])
        except UserWarning as warning:
            if str(warning).startswith(INTERRUPTED):
                raise KeyboardInterrupt from warning
            raise
        predictions[out, r] = models[fold][r].predict(rows[out])
        progress(1)

    # Warnings and the threads of numerical libraries belong to the process: set them around all of ours. Each
    # regressor then computes on one thread, and in one order.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a perceptron's steps are counted
        warnings.filterwarnings("error", INTERRUPTED)
        threads.run([(fit, (fold, r)) for r in range(len(regressors)) for fold in range(count)])
    shift, scale = targets.shift_and_scale()
    return CrossFitted(models, inputs, targets), shift + scale * predictions


class Incremental:
    """Regressors with `partial_fit` that learn with a stream, each row after it was predicted.

    They are given one row at a time, so that it does not matter how a stream is cut. The precision of a
    regressor is that of its predictions so far.
    """

    def __init__(self, regressors: Sequence[Any], outputs: int, least: float) -> None:
        self.regressors = [clone(regressor) for regressor in regressors]
        self.outputs, self.least = outputs, least
        self.rows, self.squares = 0, np.zeros(len(regressors))

    def learn(
        self, side: FloatArray, goals: FloatArray, _threads: Threads | None
    ) -> tuple[FloatArray, FloatArray]:
        """Learn rows in their order; return what was predicted before: means [n, R, D], precisions [n, R]."""
        means = np.empty((side.shape[0], len(self.regressors), self.outputs))
        precisions = np.empty(means.shape[:2])
        for t in range(side.shape[0]):
            row, goal = side[t : t + 1], goals[t : t + 1]
            means[t], precisions[t] = (values[0] for values in self.predict(row))
            for regressor in self.regressors:
                regressor.partial_fit(row, goal if self.outputs > 1 else goal[:, 0])
            self.squares += ((means[t] - goal) ** 2).mean(axis=1)
            self.rows += 1
        return means, precisions

    def predict(self, side: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means [n, R, D] and precisions [n, R] for new rows."""
        means = np.zeros((side.shape[0], len(self.regressors), self.outputs))
        if self.rows:
            for r, regressor in enumerate(self.regressors):
                means[:, r] = np.reshape(regressor.predict(side), (-1, self.outputs))
        means = np.clip(np.nan_to_num(means), -INPUT_LIMIT, INPUT_LIMIT)  # a diverging one must not spread
        variances = np.maximum((1.0 + self.squares) / (1.0 + self.rows), self.least)
        return means, np.broadcast_to(1.0 / variances, means.shape[:2]).copy()

    def slopes(self, side: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Refuse: nothing is known of the regressors but what they predict."""
        names = ", ".join(type(regressor).__name__ for regressor in self.regressors)
        raise ValueError(
            f"base_model holds {names}, whose derivative is not known: "
            "use effects, which compares predictions"
        )

    def state(self) -> Arrays:
        """Refuse: what such regressors know of learning on is in their code."""
        names = ", ".join(type(regressor).__name__ for regressor in self.regressors)
        raise ValueError(
            f"a stream with own regressors ({names}) cannot be saved: a model file holds no code. "
            'Use base_model="auto", or call fit instead of partial_fit'
        )

    def restore(self, arrays: Arrays) -> None:
        """Never called: there is no state to restore."""
        raise NotImplementedError


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
