"""`GGLNRegressor`: the networks as an estimator of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from operator import methodcaller
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ggln import persistence
from ggln.distributions.assembly import Distribution, mixture
from ggln.engine import constants
from ggln.engine.checks import require
from ggln.engine.gradient.learner import Course, Learner
from ggln.engine.newton.constants import FOLDS, MOST_COMPONENTS
from ggln.engine.newton.learner import make_learner, restore_learner
from ggln.engine.newton.mixtures import before_any_row
from ggln.engine.scaling import within
from ggln.engine.threads import Threads
from ggln.estimators.base import (
    ROWS,
    check_weights,
    refuse_bad,
    refuse_nothing,
    restored,
    take_names,
    those_that_count,
)
from ggln.estimators.base_regressors import cross_fit, find_splits
from ggln.estimators.distributional import DistributionMixin
from ggln.estimators.named_rows import with_names
from ggln.estimators.numeric import as_numbers, dense, naming_text
from ggln.estimators.regressor_parameters import RegressorParameters
from ggln.estimators.whole import Uninterrupted, learn_part, lock_of, stretches
from ggln.explain import ExplainMixin

FloatArray = NDArray[np.float64]


class GGLNRegressor(DistributionMixin, ExplainMixin, RegressorMixin, RegressorParameters):
    """Regression with a predictive distribution, learnt exactly, online, and without backpropagation.

    Every neuron of a Gaussian gated linear network predicts the target's density itself, as a weighted
    product of the Gaussians below it. Half-spaces of the input choose its weights. Each set of weights is a
    small convex problem, which is solved by Newton's method. Later rows are learnt one by one, starting
    from that solution.

    Parameters
    ----------
    layer_sizes : sequence of int
        Neurons in each layer.
    context_dim : None, int or sequence of int, 0 to 16
        Half-spaces of each neuron; it has 2**context_dim rows of weights. Several values go to the kinds of
        networks in turn: to those on features alone, then to those with regressions below. None takes as
        many as the rows can fill, and needs step="newton".
    n_estimators : None or int
        Networks with different gates, whose predictions are mixed. None takes 8. For a table that is
        solved, it takes 32 up to 800 rows, 24 up to 1,600 and 16 up to 5,000 (`n_estimators_`).
    step : {"newton", "capped", "ogd"}
        How weights are learnt: solved, and then updated by Newton steps; by online gradient descent whose
        step is bounded by the curvature of the loss; or by the paper's plain gradient descent.
    gating : {"residual", "sphere", "axis", "mixed", "tree", "pairs"}
        Half-spaces: picked among random ones by how well they split the residuals of the layer below;
        uniform on the sphere; one random feature each; half on the sphere and half on features; mostly
        splits of a small boosted model of trees; or from one random row to another. Networks that learn by
        "newton" take "residual", or draw at random: "axis", or "mixed", of up to three features.
    gating_bias : float or "data"
        Offsets of half-spaces that are not picked: of this standard deviation, or through a random row.
    base_model : {"auto", "feature", "none", "blr", "axes", "linear", "coordinate"} or sequence of regressors
        What is below the networks. "auto": a Gaussian at each feature's value and, for "newton", a Bayesian
        regression on smooth bumps, in closed form. "feature": features alone. For gradient steps also
        nothing but biases; Bayesian linear regression on each feature; a Gaussian for each feature and
        output along the output's axis; features and one linear regression on all of them; or feature i
        along output i. `fit` fits regressors of scikit-learn once without each fold, and their predictions
        join the features. Such a model can keep learning, but it cannot be saved.
    base_variance : float or None
        Variance of the features' Gaussians, for "blr" of the noise; None lets "blr" estimate it.
    bias_range, bias_variance : float
        Every neuron has inputs with means +-bias_range, in standardised units, and this variance.
    learning_rate, epochs, anneal, folds, projection, barrier, weight_range, aggregation, shuffle
        For gradient steps only: the step; passes of `fit` over its rows; whether the step shrinks to nothing
        over them; parts of the rows, one of which each network leaves out for calibration (0: none); how
        weights and variances are kept in their ranges, "clip", "exact" or "log_barrier" of this strength;
        the range of every weight; whether to predict with the "switching" mixture of all neurons or with
        the "last" one; whether `fit` shuffles the rows.
    forgetting : None, "auto" or int
        How to follow streams that change. "auto" is for streams that begin without `fit`, and detects
        changes by itself: regressions that forget correct each prediction as far as they have proved
        useful, networks begin again when the evidence says that the stream has changed, and intervals of 90
        % keep their coverage. A table that keeps learning after `fit` keeps all its rows. With an int, at
        least 16, rows count less with age, by 1/e after that many rows, in networks, regressions, units and
        shares alike; `fit` then takes its rows in their order. With None, all rows count alike. Gradient
        steps ignore this.
    min_variance, max_variance : float
        Range of every neuron's variance, in standardised units.
    covariance : {"apart", "isotropic", "diagonal", "full"}
        For several outputs. "apart": each output has its own networks. Otherwise the structure of every
        neuron's covariance. With "newton", each output keeps its own distribution, and a copula joins them,
        whatever the structure. Gradient steps take "apart" for "isotropic".
    standardize : bool or "inputs"
        Standardise inputs and targets, or inputs only.
    random_state : None, int or RandomState
        Seed of gates, folds and bumps.
    n_jobs : None or int
        Threads. The result does not depend on them. Under `joblib.parallel_config`, `fit` hands its networks
        to the backend that is named there, if that is not one of threads.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    n_outputs_ : int
        Targets per row.
    n_estimators_ : int
        Number of networks for each target; none before there are eight rows to solve.

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

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features)
            NaN is a missing value; gradient steps do not take it.
        y : array-like of shape (n,) or (n, outputs)
        sample_weight : array-like of shape (n,), optional
            How much each row counts. A row of weight 2 adds to every sum what two copies of it would add,
            so the scale of weights matters. Folds, gates and bumps are drawn from rows, however much each
            counts. A row of weight 0 does not count at all. Gradient steps take no weights.
        """
        self._require_parameters(begin=True)
        with lock_of(self), self._unchanged_on_error():
            rows, targets = self._check_table(X, y, reset=True)
            weights = self._check_weights(sample_weight, rows, self.step == "newton")
            refuse_nothing(weights)
            rows, targets, weights = those_that_count(weights, rows, targets, weights)
            learner = self._new_learner(rows.shape, targets)
            if self.step == "newton":
                self._solve(learner, rows, _columns(targets), weights)
            else:
                self._descend(learner, rows, _columns(targets))
            self._keep(learner, targets)
        return self

    def _solve(self, learner: Any, rows: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
        """Solve a table; regressors that were handed in are fitted without each fold before."""
        with self._workers() as threads:
            if not isinstance(self.base_model, str):
                folds = learner.settings.assign_folds(rows.shape[0])
                with self._progress("fitting base models", len(self.base_model) * FOLDS) as progress:
                    learner.hand_in(cross_fit(self.base_model, rows, targets, folds, threads, progress))
            with self._progress("learning", learner.steps(rows.shape[0]), learner) as progress:
                learner.fit(rows, targets, weights, threads, progress)

    def _descend(self, learner: Learner, rows: FloatArray, targets: FloatArray) -> None:
        """Learn a table by gradient steps, several times over."""
        course = Course(self.epochs, self.shuffle, self.anneal)
        steps = learner.rows_to_learn(rows.shape[0], course)
        with self._threads() as threads, self._progress("learning", steps, learner) as progress:
            learner.fit(rows, targets, course, threads, progress)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn rows once, in their order, starting from what is known.

        How rows are cut into calls makes no difference. Exact networks are solved afresh now and then,
        which takes as long as `fit`. A table keeps its rows up to 16 MB of features, and is solved afresh
        whenever they have grown by a quarter. A stream is solved afresh at 1, 2, 3, 4, 6, 8, 12, ... up to
        2,048 rows.
        """
        self._stream(X, y, record=False, sample_weight=sample_weight)
        return self

    def prequential(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Distribution:
        """Learn rows as `partial_fit` does; return the distribution each row had before it was learnt."""
        return self._recorded(self._stream(X, y, record=True, sample_weight=sample_weight))

    def _recorded(self, found: list[Any]) -> Distribution:
        """Return the distribution of rows that were learnt, however they were cut into calls."""
        learner: Any = self.learner_
        least = 0 if isinstance(learner, Learner) else MOST_COMPONENTS
        return mixture(found, self.n_outputs_, least)

    def learn_one(self, x: ArrayLike | Mapping[str, float], y: ArrayLike) -> Self:
        """Learn a single row, given as a 1-D array or as a dict of features, with the least overhead."""
        if not hasattr(self, "learner_"):
            return self._begin_with(x, y)
        self._require_parameters()
        target = as_numbers("y", y)
        if target.shape != (1, self.n_outputs_):
            raise ValueError(f"y has shape {np.shape(y)}, but this model predicts {self.n_outputs_} outputs")
        if not within(target, constants.MAX_MAGNITUDE):
            refuse_bad("y", target, None)
        with lock_of(self):
            self._take_one(*self._one_to_learn(x), target)
        return self

    def _begin_with(self, x: Any, y: ArrayLike) -> Self:
        """Learn the first row of a stream; the names of a dict are those of the features from now on."""
        names, values = with_names(x)
        if np.ndim(values) != 1:
            raise ValueError(f"x must be a 1-D array of features, or a dict, got shape {np.shape(x)}")
        row, target = as_numbers("x", values, names), as_numbers("y", y)
        refuse_bad("x", row, names, self._takes_gaps())
        refuse_bad("y", target, None)
        with lock_of(self), Uninterrupted():
            self.partial_fit(row, target[0] if np.ndim(y) == 0 else target)
            if names is not None:
                self.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete.

        The file includes the rows that are kept for further learning (`partial_fit`).
        """
        check_is_fitted(self)
        self._require_parameters()  # a file that holds others could not be loaded
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
            "coming": self._coming,
            "flat_target": self._flat_target,
            "exact": not isinstance(self.learner_, Learner),
            "learner": settings,
        }
        if not isinstance(self.base_model, str):
            own = ", ".join(type(regressor).__name__ for regressor in self.base_model)
            raise ValueError(
                f"base_model holds {own}, which a model file, that holds no code, cannot: "
                'use base_model="auto" to save the model'
            )
        return header, arrays

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        model: Self = restored(cls, header, ("layer_sizes", "weight_range", "context_dim"))
        if header.get("exact", model.step == "newton"):
            model.learner_ = restore_learner(header["learner"], arrays)
        else:
            model.learner_ = Learner.from_state(header["learner"], arrays, find_splits)
        model.n_features_in_ = model.learner_.features
        model._coming, model._ignored = header["coming"], []
        model.n_outputs_ = model.learner_.settings.outputs
        model._flat_target = header["flat_target"]
        flat = model._flat_target in ((True, False) if model.n_outputs_ == 1 else (False,))
        require(flat, "flat_target cannot be, with so many outputs")
        take_names(model, header)
        return model

    # Checks --------------------------------------------------------------------------------------------

    def _check_weights(self, sample_weight: ArrayLike | None, rows: FloatArray, exact: bool) -> FloatArray:
        """Return checked weights of rows; exact: whether networks are solved."""
        if sample_weight is None:
            return np.ones(rows.shape[0])
        if not exact:
            raise ValueError(
                f'sample_weight needs step="newton", got step={self.step!r}: '
                "networks that learn by gradient steps count every row once"
            )
        return check_weights(sample_weight, rows)

    def _check_table(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[FloatArray, FloatArray]:
        """Return checked rows and targets to learn."""
        X, separately = dense(X), (ROWS, {**ROWS, "ensure_2d": False})
        with naming_text(X=X, y=y):
            rows, targets = validate_data(self, X, y, reset=reset, validate_separately=separately)
        check_consistent_length(rows, targets)
        gaps = self.step == "newton" if reset else self._takes_gaps()
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None), gaps)
        refuse_bad("y", targets, None)
        if reset and self.base_model == "coordinate" and rows.shape[1] != _columns(targets).shape[1]:
            raise ValueError(
                'base_model="coordinate" needs as many outputs as features, '
                f"got {_columns(targets).shape[1]} and {rows.shape[1]}"
            )
        return rows, targets

    def _stream(
        self, X: ArrayLike, y: ArrayLike, record: bool, sample_weight: ArrayLike | None = None
    ) -> list[Any]:
        """Learn rows in their order, going on or beginning."""
        with lock_of(self):
            return self._learn_rows(X, y, record, sample_weight)

    def _learn_rows(
        self, X: ArrayLike, y: ArrayLike, record: bool, sample_weight: ArrayLike | None
    ) -> list[Any]:
        """Learn rows part by part, each as a whole."""
        begin = not hasattr(self, "learner_")
        self._require_parameters(begin)
        if begin and not isinstance(self.base_model, str):
            raise ValueError("regressors as base_model are fitted by fit: call it before partial_fit")
        with self._unchanged_on_error():
            rows, targets = self._check_table(X, y, reset=begin)
            weights = self._check_weights(sample_weight, rows, self._takes_gaps())
            if begin:
                learner = self._new_learner((0, rows.shape[1]), targets)
            else:
                learner = self.learner_
                outputs = _columns(targets).shape[1]
                if outputs != self.n_outputs_:
                    raise ValueError(f"y has {outputs} outputs, but this model predicts {self.n_outputs_}")
            if isinstance(learner, Learner):
                learner.ensemble.require(rows.shape[0])
            table = self._widened(rows), _columns(targets), weights
            if not record:
                table = those_that_count(weights, *table)
            recorded: list[Any] = []

            def keep(learner: Any) -> None:
                if begin and not hasattr(self, "learner_"):
                    self._keep(learner, targets)
                self.learner_ = learner
                self._join(self._coming)

            with self._threads() as threads, self._progress("learning", len(table[0])) as progress:
                for own in stretches(table[2] > 0):
                    if not table[2][own.start]:  # they are asked about, and not learnt
                        recorded.append(_foretold(learner, table[0][own], threads))
                        continue
                    part = (*(array[own] for array in table), threads, record, progress)
                    lesson = methodcaller("partial_fit", *part)
                    learner, found = learn_part(learner, own.stop - own.start, lesson, keep)
                    recorded += found
        return recorded

    # Small parts ---------------------------------------------------------------------------------------

    @property
    def n_estimators_(self) -> int:
        """Number of networks for each target."""
        check_is_fitted(self)
        count: int = self.learner_.network_count
        return count

    def _new_learner(self, shape: tuple[int, int], targets: FloatArray) -> Any:
        """Return a learner for a table of a shape (rows, features), or for a stream: no rows yet."""
        outputs = _columns(targets).shape[1]
        if self.step == "newton":
            return make_learner(self._exact_settings(shape, outputs))
        learner = Learner(self._settings(shape, outputs), find_splits)
        self._check_initial_weight(learner.ensemble.shape.priors.min())
        return learner

    def _keep(self, learner: Any, targets: FloatArray) -> None:
        with Uninterrupted():
            self.learner_, self._coming, self._ignored = learner, [], []
            self.n_outputs_ = learner.settings.outputs
            self._flat_target = targets.ndim == 1

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        return [str(name) for name in names]


def _columns(targets: FloatArray) -> FloatArray:
    """Return targets as a matrix."""
    return np.ascontiguousarray(targets[:, None] if targets.ndim == 1 else targets)


def _foretold(learner: Any, rows: FloatArray, threads: Threads) -> Any:
    """Return what a learner predicts of rows, which may be before it has learnt any."""
    if learner.rows:
        return learner.predictions(rows, threads)
    return before_any_row(rows.shape[0], learner.settings.outputs)
