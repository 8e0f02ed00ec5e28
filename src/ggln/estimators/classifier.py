"""`GLNClassifier`: Bernoulli gated linear networks as an estimator of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from operator import methodcaller
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ggln import persistence
from ggln.engine.checks import require
from ggln.engine.gradient.learner import Course, Learner
from ggln.engine.newton.classes import ClassLearner
from ggln.estimators import labels
from ggln.estimators.base import (
    ROWS,
    check_weights,
    refuse_arguments,
    refuse_bad,
    refuse_nothing,
    restored,
    take_names,
    those_that_count,
)
from ggln.estimators.base_regressors import find_splits
from ggln.estimators.classifier_parameters import ClassifierParameters
from ggln.estimators.numeric import dense, naming_text
from ggln.estimators.probabilistic import ProbabilityMixin, mix
from ggln.estimators.whole import Uninterrupted, learn_part, lock_of, stretches

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]


class GLNClassifier(ProbabilityMixin, ClassifierMixin, ClassifierParameters):
    """Classification with probabilities, learnt exactly and without backpropagation.

    Every neuron of a Bernoulli gated linear network predicts the class itself. It is a geometric mixture of
    the probabilities below it, with weights that half-spaces of the input choose, and solves its own convex
    problem. With more than two classes, each class has networks against all others.

    Parameters
    ----------
    layer_sizes : sequence of int
        Neurons in each layer.
    context_dim : int or sequence of int, 0 to 16, or None
        Half-spaces of each neuron; it has 2**context_dim rows of weights. Several values go to the networks
        in turn; for step="newton", to those on features alone, then to those with a regression below. None
        takes as many as the rows can fill, and needs step="newton".
    epochs : int
        Passes of `fit` over its rows. `partial_fit` always makes one.
    n_estimators : int
        Networks with different gates. step="newton" has this many for each class that is compared with the
        others; with more than four such classes, all together have four times as many. Rows left out decide
        the share of each kind. Otherwise their probabilities are averaged.
    gating : {"residual", "tree", "sphere", "axis", "mixed", "pairs"}
        Directions of the half-spaces: picked among random ones by how well they split residuals; mostly
        splits of a small boosted model of trees; uniform on the sphere; one random feature each; half on the
        sphere and half on features; or from one random row to another, which suits many correlated features
        such as pixels. step="newton" picks for "tree" as for "residual", or draws "axis", or "mixed", of up
        to three features.
    gating_bias : float or "data"
        Offsets of the half-spaces: of this standard deviation, or through a random row of the data.
    learning_rate : float
        Step of the online gradient descent.
    step : {"newton", "normalised", "ogd"}
        "newton" solves the weights of a table, above a regression on smooth bumps, and continues by Newton
        steps. It does not use epochs, gating_bias, learning_rate, decay, weight_range, min_probability,
        hinges, aggregation, anneal and shuffle. The others follow the gradient: "normalised" divides the
        learning rate by the largest curvature that the neuron's loss can have, a quarter of the squared
        length of its inputs; "ogd" takes it as it is.
    decay : float or None
        Rows after which the step falls as 1 / time: after t rows it is min(1, decay / t) of its length.
        None leaves it as it is, which forgets old rows.
    weight_range : (float, float)
        Range of every weight.
    min_probability : float
        Probabilities, those of the base predictions and of every neuron, are kept in
        [min_probability, 1 - min_probability].
    hinges : int, 0 to 4096
        Bends of a Bayesian linear regression that learns every row exactly, once: max(v.x - b, 0) with v
        from one random row to another. Its predictions of each class are base predictions beside the
        features. With more than two classes, gates look at nothing else. It helps most in a single pass
        over many features. The time for each row grows with the square of the hinges. 0 means no hinges, as
        step="newton" requires.
    aggregation : {"switching", "last"}
        Predict with the switching mixture of all neurons, or with the last layer's first neuron.
    anneal : bool
        Whether the step shrinks to nothing over the epochs of `fit`.
    standardize : bool
        Standardise the features, in a stream with running statistics. They are the logits of the base
        predictions.
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
    classes_ : array of shape (classes,)
        The labels, sorted.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ggln import GLNClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GLNClassifier(random_state=0).fit(X[:400], y[:400])
    >>> model.predict_proba(X[400:]).shape, bool(model.score(X[400:], y[400:]) > 0.95)
    ((169, 2), True)
    """

    # weights can be routed, though `fit` does not name them: gradient steps refuse them, and scikit-learn's
    # ensembles give them to whatever names them
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012
    __metadata_request__partial_fit = {"sample_weight": None}  # noqa: RUF012

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, **more: Any) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features)
            NaN is a missing value, if step="newton".
        y : array-like of shape (n,)
            Labels: numbers, strings or booleans.
        **more
            `sample_weight` of shape (n,), if step="newton": how much each row counts. A row of weight 2
            counts twice. Nothing else is accepted. With gradient steps, weights raise an error that says
            what to do instead.
        """
        weight = _weight_among("fit", more, self.step == "newton")
        self._require_parameters(begin=True)
        with lock_of(self), self._unchanged_on_error():
            rows, names = self._check_table(X, y, reset=True)
            weights = check_weights(weight, rows)
            refuse_nothing(weights)
            classes = labels.check(np.unique(names), "y")
            learner = self._new_learner(rows.shape, classes)
            self._learn_table(learner, rows, labels.targets(names, classes), weights)
            with Uninterrupted():
                self.learner_, self.classes_, self._coming, self._ignored = learner, classes, [], []
        return self

    def _learn_table(
        self, learner: Learner | ClassLearner, rows: FloatArray, targets: FloatArray, weights: FloatArray
    ) -> None:
        """Solve a table, or learn it by gradient steps, several times over."""
        if isinstance(learner, ClassLearner):
            rows, targets, weights = those_that_count(weights, rows, targets, weights)
            steps = learner.steps(rows.shape[0])
            with self._workers() as threads, self._progress("learning", steps) as progress:
                learner.fit(rows, targets, weights, threads, progress)
            return
        course = Course(self.epochs, self.shuffle, self.anneal)
        steps = learner.rows_to_learn(rows.shape[0], course)
        with self._threads() as threads, self._progress("learning", steps) as progress:
            learner.fit(rows, targets, course, threads, progress)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **more: Any) -> Self:
        """Learn rows once, in their order, starting from what is known.

        How rows are cut into calls makes no difference. Without a `fit` before it, the first call has to
        name all `classes`, because the first rows of a stream may lack some. `more` is as in `fit`.
        """
        self._stream(X, y, classes, False, self._weight_of_rows("partial_fit", more))
        return self

    def prequential(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **more: Any
    ) -> FloatArray:
        """Learn rows as `partial_fit` does; return the probabilities of each from before it was learnt."""
        return self._stream(X, y, classes, True, self._weight_of_rows("prequential", more))

    def _weight_of_rows(self, method: str, more: dict[str, Any]) -> ArrayLike | None:
        """Return the weights among further arguments of a method that goes on or begins."""
        begun = getattr(self, "learner_", None)
        return _weight_among(
            method, more, self.step == "newton" if begun is None else isinstance(begun, ClassLearner)
        )

    def learn_one(self, x: ArrayLike | Mapping[str, float], y: Any) -> Self:
        """Learn a single row, given as a 1-D array or as a dict of features, with the least overhead."""
        self._require_fitted("learn_one")
        self._require_parameters()
        label = np.asarray([y])
        labels.refuse_unknown(label, self.classes_)
        target = labels.targets(label, self.classes_)
        with lock_of(self):
            self._take_one(*self._one_to_learn(x), target)
        return self

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
        self._require_parameters()  # a file that holds others could not be loaded
        parameters = self.get_params() | {"random_state": self.learner_.settings.seed}
        labels.check_storable(self.classes_)
        names = getattr(self, "feature_names_in_", None)
        settings, arrays = self.learner_.state()
        header = {
            "estimator": type(self).__name__,
            "parameters": parameters,
            "feature_names": None if names is None else list(names),
            "coming": self._coming,
            "classes": self.classes_.tolist(),
            "classes_type": self.classes_.dtype.str,
            "learner": settings,
        }
        if isinstance(self.learner_, ClassLearner):
            header["exact"] = True
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        model: Self = restored(cls, header, ("layer_sizes", "weight_range", "context_dim"))
        if header.get("exact"):
            model.learner_ = ClassLearner.from_state(header["learner"], arrays)
        else:
            model.learner_ = Learner.from_state(header["learner"], arrays, find_splits)
        model.n_features_in_ = model.learner_.features
        model._coming, model._ignored = header["coming"], []
        model.classes_ = labels.check(np.array(header["classes"], dtype=header["classes_type"]), "classes")
        labels.check_storable(model.classes_)
        outputs, count = model.learner_.settings.outputs, model.classes_.size
        known = model.classes_.ndim == 1 and np.array_equal(np.unique(model.classes_), model.classes_)
        require(known and outputs == (1 if count == 2 else count), "classes are not those of the networks")
        take_names(model, header)
        return model

    # Checks --------------------------------------------------------------------------------------------

    def _check_table(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[FloatArray, Labels]:
        """Return checked rows and labels to learn."""
        X = dense(X)
        with naming_text(X=X):
            rows = validate_data(self, X, reset=reset, **ROWS)
        if y is None:
            raise ValueError("this classifier requires y to be passed, but the target y is None")
        names: Labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, names)
        if names.dtype.kind == "f":
            refuse_bad("y", names, None)
        check_classification_targets(names)
        gaps = self.step == "newton" if reset else self._takes_gaps()
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None), gaps)
        return rows, names

    def _stream(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        record: bool,
        sample_weight: ArrayLike | None = None,
    ) -> FloatArray:
        """Learn rows in their order; return the probabilities from before, if asked to `record`."""
        with lock_of(self):
            return self._learn_rows(X, y, classes, record, sample_weight)

    def _learn_rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        record: bool,
        sample_weight: ArrayLike | None,
    ) -> FloatArray:
        """Learn rows part by part, each as a whole."""
        begin = not hasattr(self, "learner_")
        self._require_parameters(begin)
        known = labels.named(classes) if begin else labels.unchanged(classes, self.classes_)
        chances = []
        with self._unchanged_on_error():
            rows, names = self._check_table(X, y, reset=begin)
            labels.refuse_unknown(names, known)
            weights = check_weights(sample_weight, rows)
            learner: Any = self._new_learner((0, rows.shape[1]), known) if begin else self.learner_
            if isinstance(learner, Learner):
                learner.ensemble.require(rows.shape[0])
            table = self._widened(rows), labels.targets(names, known), weights
            if not record:
                table = those_that_count(weights, *table)

            def keep(learner: Any) -> None:
                self.learner_, self.classes_ = learner, known
                self._join(self._coming)

            with self._threads() as threads, self._progress("learning", len(table[0])) as progress:
                # in parts, so that what was recorded of all neurons need not be kept
                for own in stretches(table[2] > 0):
                    if not table[2][own.start]:
                        chances.append(learner.moments(table[0][own], threads)[0])
                        continue
                    part = (*(array[own] for array in table), threads, record, progress)
                    lesson = methodcaller("partial_fit", *part)
                    learner, found = learn_part(learner, own.stop - own.start, lesson, keep)
                    chances += [mix(predictions) for predictions in found]
        return labels.normalise(np.concatenate(chances)) if record else np.empty((0, known.size))

    # Small parts ---------------------------------------------------------------------------------------

    def _new_learner(self, shape: tuple[int, ...], classes: Labels) -> Learner | ClassLearner:
        """Return a learner for a table of a shape (rows, features), or for a stream: no rows yet."""
        outputs = 1 if classes.size == 2 else classes.size
        if self.step == "newton":
            return ClassLearner(self._exact_settings(shape, outputs))
        learner = Learner(self._settings(shape[1], outputs), find_splits)
        self._check_initial_weight(learner.ensemble.shape.priors.min())
        return learner


def _weight_among(method: str, more: dict[str, Any], exact: bool) -> ArrayLike | None:
    """Return the weights among further arguments, which exact learning takes; refuse all others."""
    weight: ArrayLike | None = more.pop("sample_weight", None) if exact else None
    refuse_arguments(method, more)
    return weight
