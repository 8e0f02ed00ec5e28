"""`GGLNRegressor`: the networks with scikit-learn manners."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ggln import persistence
from ggln.components import Distribution, mixture
from ggln.conversion import as_numbers, naming_text
from ggln.core import constants, recursive
from ggln.core.build import BASE_MODELS, COVARIANCES, ORDER, Settings
from ggln.core.gating import SAMPLERS
from ggln.core.learner import Advice, Course, Learner, Predictions
from ggln.core.scaling import within
from ggln.core.threads import Threads
from ggln.explain import ExplainMixin
from ggln.forecasts import Forecasts
from ggln.manners import COUNTS, JOBS, RATE, ROWS, refuse_arguments, refuse_bad, with_names
from ggln.regressors import CrossFitted, Incremental, cross_fit, default_regressors, find_splits, seed_all

FloatArray = NDArray[np.float64]
SCALE = Interval(Real, 1e-9, 1e9, closed="both")
"""Settings with the meaning of a scale: the kernels square them in single precision, which ends at 1e38."""
FEWEST_ADVISED = 40
"""Rows below which regressors as base models are not worth their while, and "auto" learns as a stream."""


class GGLNRegressor(Forecasts, ExplainMixin, RegressorMixin, BaseEstimator):
    """Regression with a predictive distribution, learnt online and without backpropagation.

    Every neuron of a Gaussian gated linear network predicts the target's density itself, as a weighted
    product of the Gaussians below it, and learns its own convex problem. Which weights it uses is decided by
    half-spaces of the input.

    Parameters
    ----------
    layer_sizes : sequence of int
        Neurons in each layer.
    context_dim : int or sequence of int, 0 to 16
        Half-spaces of each neuron; it has 2**context_dim rows of weights. Several values are given to the
        networks in turn: rough and fine ones then share the prediction.
    epochs : int
        Passes of `fit` over its rows. `partial_fit` always makes one.
    n_estimators : int
        Networks with different gates, whose predictions are mixed.
    gating : {"tree", "sphere", "axis", "mixed", "pairs"}
        Directions of the half-spaces: mostly splits of a small boosted model of trees; uniform on the sphere;
        one random feature each; half on the sphere and half on features; or from one random row to another.
    gating_bias : float or "data"
        Offsets of the half-spaces: of this standard deviation, or through a random row of the data.
    base_model : {"auto", "feature", "axes", "blr", "linear", "none", "coordinate"} or sequence of regressors
        Layer 0: a Gaussian at each feature's value, the same for all outputs; one for each feature and output
        along the output's axis; Bayesian linear regression on each feature; the features'
        Gaussians and one of a Bayesian linear regression on all features together; nothing but the biases;
        or, for as many outputs as features, feature i along output i. Regressors of scikit-learn are fitted
        by `fit`, once without each fold, and their predictions join the features' Gaussians; those
        with `partial_fit` can also learn with a stream, but then the model cannot be saved.
        "auto" takes boosted trees, randomised trees, a perceptron, for up to 100 features a Gaussian process
        and for less than 500 rows a plane; in a stream, "blr" and Bayesian regressions on all features and on
        random steps of them. So few rows that regressors overfit, less than 40, `fit` learns as a stream,
        too: once, with folds and epochs put aside.
    base_variance : float or None
        Variance of the base Gaussians, for "blr" of the noise; None lets "blr" estimate it.
    bias_range, bias_variance : float
        Every neuron has inputs with means +-bias_range, which bound the (standardised) means it can predict.
    learning_rate : float
        Step of the online gradient descent.
    step : {"capped", "ogd"}
        "capped" bounds the step by the curvature of the neuron's loss, "ogd" is the paper's.
    projection : {"clip", "exact", "log_barrier"}
        How weights and variances are kept in their ranges (Appendix E of the paper).
    barrier : float
        Strength of the log-barrier.
    weight_range : (float, float)
        Range of every weight.
    min_variance, max_variance : float
        Range of every neuron's variance, in standardised units.
    aggregation : {"switching", "last"}
        Predict with the switching mixture of all neurons, or with the last layer's first neuron.
    covariance : {"isotropic", "diagonal", "full"}
        For several outputs: the structure of every neuron's covariance.
    anneal : bool
        Whether the step shrinks to nothing over the epochs of `fit`.
    folds : int
        In `fit`, each network leaves out one of so many parts of the rows. On the rows left out, the width of
        the predictions and the shares of the networks are calibrated. 0 does without, and so do tables with
        fewer than two rows for each fold. Regressors as base models need folds, and at least 40 rows.
    standardize : bool or "inputs"
        Standardise inputs and targets, or inputs only; in a stream, with running statistics.
    shuffle : bool
        Whether `fit` shuffles the rows, anew in each epoch.
    random_state : None, int or RandomState
        Seed of gates and shuffling.
    n_jobs : None or int
        Threads. The result does not depend on them.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    n_outputs_ : int
        Targets per row.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ggln import GGLNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GGLNRegressor(random_state=0).fit(X[:400], y[:400])
    >>> mean, std = model.predict(X[400:], return_std=True)
    >>> low, high = model.predict_dist(X[400:]).interval(0.9)
    >>> mean.shape, std.shape, low.shape
    ((42,), (42,), (42,))
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both"), "array-like"],
        "epochs": [COUNTS],
        "n_estimators": [COUNTS],
        "gating": [StrOptions(set(SAMPLERS))],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "base_model": [StrOptions({"auto", *BASE_MODELS}), list, tuple],
        "base_variance": [SCALE, None],
        "bias_range": [SCALE],
        "bias_variance": [SCALE],
        "learning_rate": [RATE],
        "step": [StrOptions({"capped", "ogd"})],
        "projection": [StrOptions({"clip", "exact", "log_barrier"})],
        "barrier": [RATE],
        "weight_range": ["array-like"],
        "min_variance": [SCALE],
        "max_variance": [SCALE],
        "aggregation": [StrOptions({"switching", "last"})],
        "covariance": [StrOptions(set(COVARIANCES))],
        "anneal": ["boolean"],
        "folds": [Interval(Integral, 0, None, closed="left")],
        "standardize": ["boolean", StrOptions({"inputs"})],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        layer_sizes: Sequence[int] = (16,) * 6,
        context_dim: int | Sequence[int] = (2, 4, 6),
        epochs: int = 20,
        n_estimators: int = 15,
        gating: str = "tree",
        gating_bias: float | str = "data",
        base_model: str | Sequence[Any] = "auto",
        base_variance: float | None = 1.0,
        bias_range: float = 5.0,
        bias_variance: float = 1.0,
        learning_rate: float = 3e-2,
        step: str = "capped",
        projection: str = "clip",
        barrier: float = 1e-6,
        weight_range: tuple[float, float] = (0.0, 1e3),
        min_variance: float = 1e-5,
        max_variance: float = 1e2,
        aggregation: str = "switching",
        covariance: str = "isotropic",
        anneal: bool = True,
        folds: int = 5,
        standardize: bool | str = True,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.layer_sizes = layer_sizes
        self.context_dim = context_dim
        self.epochs = epochs
        self.n_estimators = n_estimators
        self.gating = gating
        self.gating_bias = gating_bias
        self.base_model = base_model
        self.base_variance = base_variance
        self.bias_range = bias_range
        self.bias_variance = bias_variance
        self.learning_rate = learning_rate
        self.step = step
        self.projection = projection
        self.barrier = barrier
        self.weight_range = weight_range
        self.min_variance = min_variance
        self.max_variance = max_variance
        self.aggregation = aggregation
        self.covariance = covariance
        self.anneal = anneal
        self.folds = folds
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, **refused: Any) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : array-like of shape (n, features)
        y : array-like of shape (n,) or (n, outputs)
        **refused
            Nothing else is taken; `sample_weight` gets an error that says what to do instead.
        """
        refuse_arguments("fit", refused)
        self._check_parameters()
        with self._unchanged_on_error():
            rows, targets = self._check_table(X, y, reset=True)
            few = self.base_model == "auto" and self.folds and rows.shape[0] < FEWEST_ADVISED
            learner, names = (self._fit_few if few else self._fit_table)(rows, targets)
        self._keep(learner, targets, names)
        return self

    def _fit_table(self, rows: FloatArray, targets: FloatArray) -> tuple[Learner, list[str]]:
        """Learn rows several times over; return the learner and the names of its regressors."""
        regressors = self._regressors(rows.shape, _columns(targets).shape[1])
        learner = self._new_learner(rows.shape, targets, len(regressors))
        with self._threads() as threads:
            advice = self._consult(regressors, rows, _columns(targets), learner.settings, threads)
            course = Course(self.epochs, self.shuffle, self.anneal)
            steps = learner.rows_to_learn(rows.shape[0], course)
            with self._progress("learning", steps, learner) as progress:
                learner.fit(rows, _columns(targets), course, threads, progress, advice)
        return learner, [type(regressor).__name__ for regressor in regressors]

    def _fit_few(self, rows: FloatArray, targets: FloatArray) -> tuple[Learner, list[str]]:
        """Learn a few rows as a stream does: its Bayesian regressions know how little so few rows say."""
        learner = self._new_learner((0, rows.shape[1]), targets, 0)
        if self.shuffle:
            order = learner.settings.random(0, ORDER).permutation(rows.shape[0])
            rows, targets = rows[order], targets[order]
        with self._threads() as threads, self._progress("learning", rows.shape[0]) as progress:
            learner.partial_fit(rows, _columns(targets), threads, False, progress)
        return learner, recursive.NAMES[: learner.settings.regressors]

    def partial_fit(self, X: ArrayLike, y: ArrayLike, **refused: Any) -> Self:
        """Learn rows once, in their order, going on from what is known.

        It makes no difference how rows are cut into calls. Nothing but X and y is taken, as in `fit`.
        """
        refuse_arguments("partial_fit", refused)
        self._stream(X, y, record=False)
        return self

    def prequential(self, X: ArrayLike, y: ArrayLike) -> Distribution:
        """Learn rows as `partial_fit` does; return the distribution each row had before it was learnt."""
        return mixture(self._stream(X, y, record=True), self.n_outputs_)

    def learn_one(self, x: ArrayLike | Mapping[str, float], y: ArrayLike) -> Self:
        """Learn a single row, given as a 1-D array or as a dict of features, with the least overhead."""
        if not hasattr(self, "learner_"):
            return self._begin_with(x, y)
        row, target = self._one(x), as_numbers("y", y)
        if target.shape != (1, self.n_outputs_):
            raise ValueError(f"y has shape {np.shape(y)}, but this model predicts {self.n_outputs_} outputs")
        if not within(target, constants.MAX_MAGNITUDE):
            refuse_bad("y", target, None)
        self.learner_.learn_one(row, target)
        return self

    def _begin_with(self, x: Any, y: ArrayLike) -> Self:
        """Learn the first row of a stream; the names of a dict are those of the features from now on."""
        names, values = with_names(x)
        if np.ndim(values) != 1:
            raise ValueError(f"x must be a 1-D array of features, or a dict, got shape {np.shape(x)}")
        row, target = as_numbers("x", values, names), as_numbers("y", y)
        refuse_bad("x", row, names)
        refuse_bad("y", target, None)
        self.partial_fit(row, target[0] if np.ndim(y) == 0 else target)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
        persistence.write(path, *self._state())

    def _state(self) -> tuple[dict[str, Any], persistence.Arrays]:
        """Return the header and the arrays of the model's file."""
        parameters = self.get_params()
        parameters["random_state"] = self.learner_.settings.seed
        names = getattr(self, "feature_names_in_", None)
        settings, arrays = self.learner_.state()
        header = {
            "estimator": type(self).__name__,
            "parameters": parameters,
            "feature_names": None if names is None else list(names),
            "flat_target": self._flat_target,
            "learner": settings,
        }
        header["regressors"] = {"kinds": [], "names": self._regressor_names}
        if isinstance(self.learner_.advise, CrossFitted):
            header["regressors"]["kinds"], models = self.learner_.advise.state()
            arrays |= models
        if not isinstance(self.base_model, str):
            parameters["base_model"] = "auto"  # estimators are code; what they have learnt is in the arrays
        return header, arrays

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        parameters = header["parameters"]
        for name in ("layer_sizes", "weight_range", "context_dim"):
            if isinstance(parameters[name], list):
                parameters[name] = tuple(parameters[name])
        model = cls(**parameters)
        regressors = header["regressors"]
        advise = CrossFitted.from_state(regressors["kinds"], arrays) if regressors["kinds"] else None
        model.learner_ = Learner.from_state(header["learner"], arrays, find_splits, advise)
        model._regressor_names = regressors["names"]
        model.n_features_in_ = model.learner_.settings.features
        model.n_outputs_ = model.learner_.settings.outputs
        model._flat_target = header["flat_target"]
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        return model

    # Checks --------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        self._validate_params()
        self._check_network()
        if not isinstance(self.base_model, str):
            for regressor in self.base_model:
                if not (hasattr(regressor, "fit") and hasattr(regressor, "predict")):
                    raise ValueError(
                        f"base_model must hold regressors with fit and predict, got {regressor!r}"
                    )
        if self.folds == 1:
            raise ValueError("folds must be 0 or at least 2, got 1")
        self._check_variances()
        if self.base_variance is None and self.base_model != "blr":
            raise ValueError(f'base_variance=None needs base_model="blr", got base_model={self.base_model!r}')

    def _check_table(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[FloatArray, FloatArray]:
        """Return checked rows and targets to learn."""
        separately = ROWS, {**ROWS, "ensure_2d": False}
        with naming_text(X=X, y=y):
            rows, targets = validate_data(self, X, y, reset=reset, validate_separately=separately)
        check_consistent_length(rows, targets)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        refuse_bad("y", targets, None)
        if self.base_model == "coordinate" and rows.shape[1] != _columns(targets).shape[1]:
            raise ValueError(
                'base_model="coordinate" needs as many outputs as features, '
                f"got {_columns(targets).shape[1]} and {rows.shape[1]}"
            )
        return rows, targets

    def _stream(self, X: ArrayLike, y: ArrayLike, record: bool) -> list[Predictions]:
        """Learn rows in their order, going on or beginning."""
        begin = not hasattr(self, "learner_")
        if begin:
            self._check_parameters()
            if not isinstance(self.base_model, str):
                for regressor in self.base_model:
                    if not hasattr(regressor, "partial_fit"):
                        raise ValueError(
                            "regressors as base_model of a stream need partial_fit, which "
                            f"{type(regressor).__name__} has not: call fit first, or use another one"
                        )
        with self._unchanged_on_error():
            rows, targets = self._check_table(X, y, reset=begin)
            if begin:
                learner = self._new_learner((0, rows.shape[1]), targets, 0)
            else:
                learner = self.learner_
                outputs = _columns(targets).shape[1]
                if outputs != self.n_outputs_:
                    raise ValueError(f"y has {outputs} outputs, but this model predicts {self.n_outputs_}")
            with self._threads() as threads, self._progress("learning", rows.shape[0]) as progress:
                recorded = learner.partial_fit(rows, _columns(targets), threads, record, progress)
        if begin:
            own = [] if isinstance(self.base_model, str) else self.base_model
            names = [type(regressor).__name__ for regressor in own] or recursive.NAMES
            self._keep(learner, targets, names[: learner.settings.regressors])
        return recorded

    # Small parts ---------------------------------------------------------------------------------------

    def _regressors(self, shape: tuple[int, int], outputs: int) -> Sequence[Any]:
        """Return the regressors that a table of a shape (rows, features) is to be learnt with."""
        rows, features = shape
        if isinstance(self.base_model, str):
            worthwhile = self.base_model == "auto" and self._count_folds(rows) > 0
            return default_regressors(rows, features, outputs) if worthwhile else []
        if self.base_model and (self._count_folds(rows) == 0 or rows < FEWEST_ADVISED):
            raise ValueError(
                f"regressors as base_model need folds >= 2 and at least {FEWEST_ADVISED} rows, "
                f"got folds={self.folds} and {rows} rows"
            )
        return self.base_model

    def _count_folds(self, rows: int) -> int:
        """Return how many folds are cut: none where a fold would have less than two rows."""
        return int(self.folds) if rows >= 2 * self.folds else 0

    def _consult(
        self, regressors: Sequence[Any], X: FloatArray, Y: FloatArray, settings: Settings, threads: Threads
    ) -> Advice | None:
        """Fit the regressors without each fold."""
        if self.base_model == "auto":
            seed_all(regressors, settings.seed)
        if not regressors:
            return None
        with self._progress("fitting base models", settings.folds * len(regressors)) as progress:
            folds = settings.assign_folds(X.shape[0])
            fitted, predictions = cross_fit(regressors, X, Y, folds, threads, progress)
        return Advice(predictions, fitted, fitted.apart)

    def _new_learner(self, shape: tuple[int, int], targets: FloatArray, regressors: int) -> Learner:
        """Return a learner for a table of a shape (rows, features), or for a stream: no rows yet."""
        settings, own = self._settings(shape, targets, regressors), None
        if settings.online and not isinstance(self.base_model, str):
            own = partial(Incremental, self.base_model, settings.outputs, settings.min_variance)
        learner = Learner(settings, find_splits, own)
        self._check_initial_weight(learner.ensemble.shape.priors.min())
        return learner

    def _settings(self, shape: tuple[int, int], targets: FloatArray, regressors: int) -> Settings:
        names = Settings.__dataclass_fields__.keys() & self.get_params().keys()
        values = {name: getattr(self, name) for name in names} | self._shape()
        if shape[0] == 0 and (self.base_model == "auto" or not isinstance(self.base_model, str)):
            values["base_model"], values["base_variance"], values["online"] = "blr", None, True
            regressors = len(recursive.NAMES) if shape[1] <= constants.RECURSION_FEATURES else 0
            if not isinstance(self.base_model, str):
                regressors = len(self.base_model)
        elif self.base_model == "auto" or not isinstance(self.base_model, str):
            values["base_model"] = "feature"
        values["folds"], values["regressors"] = self._count_folds(shape[0]), regressors
        if not isinstance(self.standardize, str):
            values["standardize"] = bool(self.standardize)  # also of NumPy's booleans
        return Settings(**values, features=shape[1], outputs=_columns(targets).shape[1], seed=self._seed())

    def _keep(self, learner: Learner, targets: FloatArray, regressors: list[str]) -> None:
        self.learner_ = learner
        self._regressor_names = _distinct(regressors)
        if learner.settings.base_model == "linear":
            self._regressor_names = ["linear regression"]
        self.n_outputs_ = learner.settings.outputs
        self._flat_target = targets.ndim == 1

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        return [str(name) for name in names]


def _columns(targets: FloatArray) -> FloatArray:
    """Return targets as a matrix."""
    return np.ascontiguousarray(targets[:, None] if targets.ndim == 1 else targets)


def _distinct(names: list[str]) -> list[str]:
    """Number names that occur several times."""
    return [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
