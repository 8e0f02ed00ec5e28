"""`GGLNRegressor`: the networks with scikit-learn manners."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ggln import persistence
from ggln.core import constants
from ggln.core.build import BASE_MODELS, COVARIANCES, Settings
from ggln.core.gating import SAMPLERS
from ggln.core.learner import Advice, Course, Learner, Predictions
from ggln.core.scaling import within
from ggln.core.threads import Threads
from ggln.distributions import GaussianMixture, MultivariateGaussianMixture
from ggln.explain import Explanation, explain
from ggln.regressors import CrossFitted, cross_fit, default_regressors, find_splits

FloatArray = NDArray[np.float64]
SCALE = Interval(Real, 1e-9, 1e9, closed="both")
"""Settings with the meaning of a scale: the kernels square them in single precision, which ends at 1e38."""
RATE = Interval(Real, 0, 1e9, closed="right")

ROWS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
"""How rows are brought into the core. The order in memory is the order of summation: in another one, a data
frame would give other last bits than an array. What is not finite is looked for here, to say where."""

FEWEST_ADVISED = 40
"""Rows below which regressors as base models are not worth their while."""

Distribution = GaussianMixture | MultivariateGaussianMixture


class NeuronLayer(NamedTuple):
    """What each neuron of a layer predicts: arrays of shape (rows, neurons), or (rows, neurons, outputs)."""

    mean: FloatArray
    variance: FloatArray


class GGLNRegressor(RegressorMixin, BaseEstimator):
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
    base_model : {"auto", "feature", "blr", "none", "coordinate"} or sequence of regressors
        Layer 0: a Gaussian at each feature's value; Bayesian linear regression on each feature; nothing but
        the biases; or, for as many outputs as features, feature i along output i. Regressors of scikit-learn
        are fitted by `fit`, once without each fold, and their predictions join the features' Gaussians.
        "auto" takes boosted trees, randomised trees and a perceptron, and in a stream "blr".
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
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
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
        "n_jobs": [
            None,
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
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
        min_variance: float = 1e-4,
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : array-like of shape (n, features)
        y : array-like of shape (n,) or (n, outputs)
        """
        self._check_parameters()
        with self._unchanged_on_error():
            rows, targets = self._check_table(X, y, reset=True)
            regressors = self._regressors(rows.shape[0])
            learner = self._new_learner(rows.shape, targets, len(regressors))
            with self._threads() as threads:
                advice = self._consult(regressors, rows, _columns(targets), learner.settings, threads)
                course = Course(self.epochs, self.shuffle, self.anneal)
                with self._progress("learning", learner.rows_to_learn(rows.shape[0], course)) as progress:
                    learner.fit(rows, _columns(targets), course, threads, progress, advice)
        self._keep(learner, targets, regressors)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn rows once, in their order, going on from what is known.

        It makes no difference how rows are cut into calls.
        """
        self._stream(X, y, record=False)
        return self

    def prequential(self, X: ArrayLike, y: ArrayLike) -> Distribution:
        """Learn rows as `partial_fit` does; return the distribution each row had before it was learnt."""
        return _mixture(self._stream(X, y, record=True), self.n_outputs_)

    def learn_one(self, x: ArrayLike | Mapping[str, float], y: ArrayLike) -> Self:
        """Learn a single row, given as a 1-D array or as a dict of features, with the least overhead."""
        if not hasattr(self, "learner_"):
            names, values = (list(x), list(x.values())) if isinstance(x, Mapping) else (None, x)
            row = np.array(values, np.float64)[None]
            _refuse_bad("x", row, names)
            self.partial_fit(row, np.asarray(y, np.float64)[None])
            if names is not None:
                self.feature_names_in_ = np.asarray(names, dtype=object)
            return self
        row, target = self._one(x), np.array(y, np.float64, ndmin=2)
        if target.shape != (1, self.n_outputs_):
            raise ValueError(f"y has shape {np.shape(y)}, but this model predicts {self.n_outputs_} outputs")
        if not within(target, constants.MAX_MAGNITUDE):
            _refuse_bad("y", target, None)
        self.learner_.learn_one(row, target)
        return self

    # Predicting ----------------------------------------------------------------------------------------

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the predictive mean, and if asked its standard deviation or covariance.

        Returns
        -------
        mean : (n,) or (n, outputs), as the targets were
        std : of the same shape, with `return_std`
        cov : (n, outputs, outputs), with `return_cov`
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov cannot both be asked for")
        rows = self._check_rows(X)
        with self._threads() as threads:
            mean, std = self.learner_.moments(rows, threads)
            if not return_cov:
                return (self._shaped(mean), self._shaped(std)) if return_std else self._shaped(mean)
            if self.n_outputs_ == 1:
                return self._shaped(mean), std[:, :, None] ** 2
            joint: Any = _mixture([self.learner_.predictions(rows, threads)], self.n_outputs_)
            return self._shaped(mean), joint.cov

    def predict_dist(self, X: ArrayLike) -> Distribution:
        """Return the predictive distribution of each row, a mixture over neurons and networks."""
        rows = self._check_rows(X)
        with self._threads() as threads:
            return _mixture([self.learner_.predictions(rows, threads)], self.n_outputs_)

    def predict_one(self, x: ArrayLike | Mapping[str, float], return_std: bool = False) -> Any:
        """Return the mean for a single row, with the least overhead: a float, or an array of outputs.

        Before anything was learnt it is 0, so that a stream can predict before it learns.
        """
        if not hasattr(self, "learner_"):
            return (0.0, 1.0) if return_std else 0.0
        mean, std = self.learner_.moments_one(self._one(x))
        if self.n_outputs_ == 1:
            return (float(mean[0, 0]), float(std[0, 0])) if return_std else float(mean[0, 0])
        return (mean[0], std[0]) if return_std else mean[0]

    def neurons(self, X: ArrayLike) -> list[NeuronLayer]:
        """Return every neuron's mean and variance, layer by layer; the networks' layers side by side."""
        rows = self._check_rows(X)
        with self._threads() as threads:
            predictions = self.learner_.predictions(rows, threads)
        means, covariances = _gaussians(predictions, self.n_outputs_)
        if covariances.ndim == 5:
            covariances = np.diagonal(covariances, axis1=3, axis2=4)
        if self.n_outputs_ == 1:
            means, covariances = means[..., 0], covariances[..., 0]
        edges = np.cumsum((0, *self.learner_.settings.layer_sizes))
        shape = (rows.shape[0], -1, *means.shape[3:])
        return [
            NeuronLayer(means[:, :, a:b].reshape(shape), covariances[:, :, a:b].reshape(shape))
            for a, b in itertools.pairwise(edges)
        ]

    def explain(self, X: ArrayLike) -> Explanation:
        """Return how much each base input and bias adds to each row's mean and precision."""
        rows = self._check_rows(X)
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        return explain(self.learner_, rows, [*map(str, names), *self._regressor_names])

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
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
        if isinstance(self.learner_.advise, CrossFitted):
            kinds, models = self.learner_.advise.state()
            header["regressors"] = {"kinds": kinds, "names": self._regressor_names}
            arrays |= models
        if not isinstance(self.base_model, str):
            parameters["base_model"] = "auto"  # estimators are code; what they have learnt is in the arrays
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        parameters = header["parameters"]
        for name in ("layer_sizes", "weight_range", "context_dim"):
            if isinstance(parameters[name], list):
                parameters[name] = tuple(parameters[name])
        model = cls(**parameters)
        regressors = header.get("regressors", {"kinds": [], "names": []})
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
        sizes = list(self.layer_sizes)
        if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
            raise ValueError(f"layer_sizes must be a sequence of positive integers, got {self.layer_sizes!r}")
        dims, most = self._context_dims(), constants.CONTEXT_DIM_MAX
        if not dims or not all(isinstance(dim, Integral) and 0 <= dim <= most for dim in dims):
            raise ValueError(
                f"context_dim must be one or several integers from 0 to {most}, got {self.context_dim!r}"
            )
        if not isinstance(self.base_model, str):
            for regressor in self.base_model:
                if not (hasattr(regressor, "fit") and hasattr(regressor, "predict")):
                    raise ValueError(
                        f"base_model must hold regressors with fit and predict, got {regressor!r}"
                    )
        if self.folds == 1:
            raise ValueError("folds must be 0 or at least 2, got 1")
        bounds = list(self.weight_range)
        if len(bounds) != 2 or not all(isinstance(bound, Real) and abs(bound) <= 1e9 for bound in bounds):
            raise ValueError(f"weight_range must be two numbers up to 1e9, got {self.weight_range!r}")
        if not bounds[0] < bounds[1] or bounds[1] < 1.0:
            raise ValueError(f"weight_range must be (low, high) with high >= 1, got {self.weight_range!r}")
        if not self.min_variance < self.max_variance:
            raise ValueError(
                f"min_variance must be below max_variance, got {self.min_variance} and {self.max_variance}"
            )
        if self.base_variance is None and self.base_model != "blr":
            raise ValueError(f'base_variance=None needs base_model="blr", got base_model={self.base_model!r}')

    def _check_rows(self, X: ArrayLike) -> FloatArray:
        """Return checked rows to predict."""
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, reset=False, **ROWS)
        _refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        return rows

    def _check_table(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[FloatArray, FloatArray]:
        """Return checked rows and targets to learn."""
        separately = ROWS, {**ROWS, "ensure_2d": False}
        rows, targets = validate_data(self, X, y, reset=reset, validate_separately=separately)
        check_consistent_length(rows, targets)
        _refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        _refuse_bad("y", targets, None)
        if self.base_model == "coordinate" and rows.shape[1] != _columns(targets).shape[1]:
            raise ValueError(
                'base_model="coordinate" needs as many outputs as features, '
                f"got {_columns(targets).shape[1]} and {rows.shape[1]}"
            )
        return rows, targets

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Take back what scikit-learn noted about the features, if anything goes wrong within."""
        before = {name: value for name, value in vars(self).items() if name.endswith("_in_")}
        try:
            yield
        except BaseException:
            for name in [name for name in vars(self) if name.endswith("_in_")]:
                delattr(self, name)
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def _stream(self, X: ArrayLike, y: ArrayLike, record: bool) -> list[Predictions]:
        """Learn rows in their order, going on or beginning."""
        begin = not hasattr(self, "learner_")
        if begin:
            self._check_parameters()
            if not isinstance(self.base_model, str):
                raise ValueError(
                    "regressors as base_model are fitted by fit: call it first, or give a name as base_model"
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
            self._keep(learner, targets, [])
        return recorded

    def _one(self, x: Any) -> FloatArray:
        """Return a single row, checked, as an array of shape (1, features)."""
        if hasattr(x, "to_dict") and hasattr(self, "feature_names_in_"):
            x = x.to_dict()  # a row of a data frame is read by name, too
        if isinstance(x, Mapping):
            x = self._ordered(x)
        row = np.array(x, np.float64, ndmin=2)
        if row.shape != (1, self.n_features_in_):
            raise ValueError(
                f"x has shape {np.shape(x)}, but this model expects a 1-D array of "
                f"{self.n_features_in_} features"
            )
        if not within(row, constants.MAX_MAGNITUDE):
            _refuse_bad("x", row, getattr(self, "feature_names_in_", None))
        return row

    def _ordered(self, x: Mapping[str, float]) -> list[float]:
        """Return a dict's values in the order of the features."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError("x is a dict, but this model was fitted without feature names: give a 1-D array")
        missing, unknown = [n for n in names if n not in x], [n for n in x if n not in set(names)]
        if missing or unknown:
            lacks = [f"lacks the features {missing}"] if missing else []
            has = [f"has the unknown features {unknown}"] if unknown else []
            raise ValueError("x " + " and ".join(lacks + has))
        return [x[name] for name in names]

    # Small parts ---------------------------------------------------------------------------------------

    def _context_dims(self) -> tuple[int, ...]:
        """Return the context dimensions that the networks have in turn."""
        if isinstance(self.context_dim, Sequence | np.ndarray):
            return tuple(dim.item() if isinstance(dim, np.generic) else dim for dim in self.context_dim)
        return (int(self.context_dim),)

    def _regressors(self, rows: int) -> Sequence[Any]:
        """Return the regressors that a table of so many rows is to be learnt with."""
        if isinstance(self.base_model, str):
            worthwhile = self.base_model == "auto" and self._count_folds(rows) > 0 and rows >= FEWEST_ADVISED
            return default_regressors(rows) if worthwhile else []
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
            for regressor in regressors:
                regressor.set_params(random_state=settings.seed)
        if not regressors:
            return None
        with self._progress("fitting base models", settings.folds * len(regressors)) as progress:
            folds = settings.assign_folds(X.shape[0])
            fitted, predictions = cross_fit(regressors, X, Y, folds, threads, progress)
        return Advice(predictions, fitted)

    def _new_learner(self, shape: tuple[int, int], targets: FloatArray, regressors: int) -> Learner:
        """Return a learner for a table of a shape (rows, features), or for a stream: no rows yet."""
        learner = Learner(self._settings(shape, targets, regressors), find_splits)
        least = learner.ensemble.shape.priors.min()
        if not self.weight_range[0] < least:
            raise ValueError(
                f"weight_range must begin below the initial weight 1 / inputs, here {least:.3g}, "
                f"got {self.weight_range!r}"
            )
        return learner

    def _settings(self, shape: tuple[int, int], targets: FloatArray, regressors: int) -> Settings:
        names = Settings.__dataclass_fields__.keys() & self.get_params().keys()
        values = {name: getattr(self, name) for name in names}
        values["layer_sizes"] = tuple(int(size) for size in self.layer_sizes)
        values["weight_range"] = tuple(float(bound) for bound in self.weight_range)
        dims = self._context_dims()
        values["context_dim"], values["context_dims"] = max(dims), dims if len(dims) > 1 else ()
        if self.base_model == "auto" and shape[0] == 0:
            values["base_model"], values["base_variance"] = "blr", None
        elif self.base_model == "auto" or not isinstance(self.base_model, str):
            values["base_model"] = "feature"
        values["folds"], values["regressors"] = self._count_folds(shape[0]), regressors
        if not isinstance(self.standardize, str):
            values["standardize"] = bool(self.standardize)  # also of NumPy's booleans
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state)
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Settings(**values, features=shape[1], outputs=_columns(targets).shape[1], seed=seed)

    def _keep(self, learner: Learner, targets: FloatArray, regressors: Sequence[Any]) -> None:
        self.learner_ = learner
        self._regressor_names = [type(regressor).__name__ for regressor in regressors]
        self.n_outputs_ = learner.settings.outputs
        self._flat_target = targets.ndim == 1

    def _shaped(self, values: FloatArray) -> FloatArray:
        """Return (n, outputs) values in the shape that the targets had."""
        return values[:, 0] if self._flat_target else values

    def _threads(self) -> Threads:
        return Threads(joblib.effective_n_jobs(self.n_jobs))

    @contextmanager
    def _progress(self, what: str, steps: int) -> Iterator[Callable[[int], object]]:
        """Give a function that is told how many steps were done, and shows them if `verbose`."""
        if not self.verbose:
            yield lambda _: None
            return
        from rich.progress import Progress

        with Progress() as bar:
            task = bar.add_task(what, total=steps)
            yield lambda done: bar.advance(task, done)


def _columns(targets: FloatArray) -> FloatArray:
    """Return targets as a matrix."""
    return np.ascontiguousarray(targets[:, None] if targets.ndim == 1 else targets)


def _refuse_bad(name: str, values: FloatArray, feature_names: Any) -> None:
    """Raise ValueError naming the first NaN, infinity or overflowing value, if there is one."""
    bad = ~(np.abs(values) <= constants.MAX_MAGNITUDE)
    if not bad.any():
        return
    place = np.argwhere(bad)[0]
    value = values[tuple(place)]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}, which is too large"
    where = f"row {place[0]}"
    if place.size > 1:
        where += f", column {place[1]}" + ("" if feature_names is None else f" ({feature_names[place[1]]!r})")
    raise ValueError(
        f"Input {name} contains {what}: {where}. Values must be finite numbers, at most "
        f"{constants.MAX_MAGNITUDE:g} in size; the model is unchanged"
    )


def _gaussians(predictions: Predictions, outputs: int) -> tuple[FloatArray, FloatArray]:
    """Return all components' means [n, E, N, D] and variances [n, E, N, D] or covariances [n, E, N, D, D]."""
    values = predictions.components.outputs.astype(np.float64)
    shape = (-1, 1, 1, outputs)
    scales = predictions.scales.reshape(shape)
    means = predictions.shifts.reshape(shape) + scales * values[..., :outputs]
    precisions = values[..., outputs:]
    spreads = predictions.components.spreads[:, None, None]
    if precisions.shape[-1] in (1, outputs):
        return means, spreads * scales**2 / precisions
    matrices = np.linalg.inv(precisions.reshape(*precisions.shape[:-1], outputs, outputs))
    return means, spreads[..., None] * matrices * scales[..., None] * scales[..., None, :]


def _mixture(predictions: list[Predictions], outputs: int) -> Distribution:
    """Join what all neurons of all networks predict into one mixture for each row."""
    parts = [_gaussians(some, outputs) for some in predictions]
    means = np.concatenate([mean for mean, _ in parts])
    covariances = np.concatenate([covariance for _, covariance in parts])
    rows, networks, neurons = means.shape[:3]
    all_weights = [some.components.weights for some in predictions]
    # one vector of weights for all rows, unless the rows were learnt in between
    weights = np.concatenate(all_weights) if all_weights[0].ndim == 3 else all_weights[0]
    weights = weights.reshape(*weights.shape[:-2], networks * neurons) / networks
    means = means.reshape(rows, networks * neurons, outputs)
    covariances = covariances.reshape(rows, networks * neurons, *covariances.shape[3:])
    if weights.ndim == 1 and not weights.all():
        believed = weights > 0
        weights, means, covariances = weights[believed], means[:, believed], covariances[:, believed]
    if outputs == 1:
        return GaussianMixture(weights, means[..., 0], np.sqrt(covariances[..., 0]))
    return MultivariateGaussianMixture(weights, means, covariances)
