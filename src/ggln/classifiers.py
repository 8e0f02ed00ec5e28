"""`GLNClassifier`: Bernoulli gated linear networks with scikit-learn manners."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from ggln import labels, persistence
from ggln.conversion import naming_text
from ggln.core import constants
from ggln.core.build import Settings, bernoulli_settings
from ggln.core.gating import SAMPLERS
from ggln.core.learner import Course, Learner
from ggln.manners import COUNTS, JOBS, RATE, ROWS, refuse_arguments, refuse_bad
from ggln.probabilities import Probabilities, mix
from ggln.regressors import find_splits

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]
ONE = np.ones(1)
"""The weight of a single row."""


class GLNClassifier(Probabilities, ClassifierMixin, BaseEstimator):
    """Classification with probabilities, learnt online and without backpropagation.

    Every neuron of a Bernoulli gated linear network predicts the class itself: a geometric mixture of the
    probabilities below it, with weights that half-spaces of the input choose, learns its own convex problem.
    With more than two classes, each has a network against all others; these share their gates.

    Parameters
    ----------
    layer_sizes : sequence of int
        Neurons in each layer.
    context_dim : int or sequence of int, 0 to 16
        Half-spaces of each neuron; it has 2**context_dim rows of weights. Several values are given to the
        networks in turn.
    epochs : int
        Passes of `fit` over its rows. `partial_fit` always makes one.
    n_estimators : int
        Networks with different gates, whose probabilities are averaged.
    gating : {"tree", "sphere", "axis", "mixed", "pairs"}
        Directions of the half-spaces: mostly splits of a small boosted model of trees; uniform on the sphere;
        one random feature each; half on the sphere and half on features; or from one random row to another,
        which suits many correlated features such as pixels.
    gating_bias : float or "data"
        Offsets of the half-spaces: of this standard deviation, or through a random row of the data.
    learning_rate : float
        Step of the online gradient descent.
    step : {"normalised", "ogd"}
        "normalised" divides the learning rate by the largest curvature that the neuron's loss can have, a
        quarter of the squared length of its inputs; "ogd" takes it as it is.
    decay : float or None
        Rows after which the step falls as 1 / time: after t rows it is min(1, decay / t) of its length. None
        leaves it as it is, which forgets what is long ago.
    weight_range : (float, float)
        Range of every weight.
    min_probability : float
        Probabilities, those of the base predictions and of every neuron, are kept in
        [min_probability, 1 - min_probability].
    hinges : int, 0 to 4096
        Bends of a Bayesian linear regression that learns every row exactly, once: max(v.x - b, 0) with v from
        one random row to another. What it predicts of each class are base predictions beside the features,
        and with more than two classes all that gates look at. It helps most in a single pass over many
        features; each row costs time in the square of the hinges. 0 does without.
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

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both"), "array-like"],
        "epochs": [COUNTS],
        "n_estimators": [COUNTS],
        "gating": [StrOptions(set(SAMPLERS))],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "learning_rate": [RATE],
        "step": [StrOptions({"normalised", "ogd"})],
        "decay": [None, Interval(Real, 0, None, closed="neither")],
        "weight_range": ["array-like"],
        "min_probability": [Interval(Real, 1e-9, 0.5, closed="left")],
        "hinges": [Interval(Integral, 0, constants.MAX_HINGES, closed="both")],
        "aggregation": [StrOptions({"switching", "last"})],
        "anneal": ["boolean"],
        "standardize": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        layer_sizes: Sequence[int] = (16, 16, 16),
        context_dim: int | Sequence[int] = 4,
        epochs: int = 20,
        n_estimators: int = 4,
        gating: str = "tree",
        gating_bias: float | str = "data",
        learning_rate: float = 0.2,
        step: str = "normalised",
        decay: float | None = None,
        weight_range: tuple[float, float] = (-200.0, 200.0),
        min_probability: float = 1e-3,
        hinges: int = 0,
        aggregation: str = "switching",
        anneal: bool = True,
        standardize: bool = True,
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
        self.learning_rate = learning_rate
        self.step = step
        self.decay = decay
        self.weight_range = weight_range
        self.min_probability = min_probability
        self.hinges = hinges
        self.aggregation = aggregation
        self.anneal = anneal
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, **refused: Any) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : array-like of shape (n, features)
        y : array-like of shape (n,)
            Labels: numbers, strings or booleans.
        **refused
            Nothing else is taken; `sample_weight` gets an error that says what to do instead.
        """
        refuse_arguments("fit", refused)
        self._check_parameters()
        with self._unchanged_on_error():
            rows, names = self._check_table(X, y, reset=True)
            classes = labels.check(np.unique(names), "y")
            learner = self._new_learner(rows.shape[1], classes)
            course = Course(self.epochs, self.shuffle, self.anneal)
            steps = learner.rows_to_learn(rows.shape[0], course)
            with self._threads() as threads, self._progress("learning", steps) as progress:
                learner.fit(rows, labels.targets(names, classes), course, threads, progress)
        self.learner_, self.classes_ = learner, classes
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **refused: Any
    ) -> Self:
        """Learn rows once, in their order, going on from what is known.

        It makes no difference how rows are cut into calls. The first call, where there was no `fit`, has to
        name all `classes`: a stream's first rows may lack some. Nothing else is taken, as in `fit`.
        """
        refuse_arguments("partial_fit", refused)
        self._stream(X, y, classes, record=False)
        return self

    def prequential(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> FloatArray:
        """Learn rows as `partial_fit` does; return the probabilities each had before it was learnt."""
        return self._stream(X, y, classes, record=True)

    def learn_one(self, x: ArrayLike | Mapping[str, float], y: Any) -> Self:
        """Learn a single row, given as a 1-D array or as a dict of features, with the least overhead."""
        self._require_fitted("learn_one")
        label = np.asarray([y])
        labels.refuse_unknown(label, self.classes_)
        self.learner_.learn_one(self._one(x), labels.targets(label, self.classes_), ONE)
        return self

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
        parameters = self.get_params() | {"random_state": self.learner_.settings.seed}
        labels.check_storable(self.classes_)
        names = getattr(self, "feature_names_in_", None)
        settings, arrays = self.learner_.state()
        header = {
            "estimator": type(self).__name__,
            "parameters": parameters,
            "feature_names": None if names is None else list(names),
            "classes": self.classes_.tolist(),
            "classes_type": self.classes_.dtype.str,
            "learner": settings,
        }
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        parameters = header["parameters"]
        for name in ("layer_sizes", "weight_range", "context_dim"):
            if isinstance(parameters[name], list):
                parameters[name] = tuple(parameters[name])
        model = cls(**parameters)
        model.learner_ = Learner.from_state(header["learner"], arrays, find_splits)
        model.n_features_in_ = model.learner_.settings.features
        model.classes_ = np.array(header["classes"], dtype=header["classes_type"])
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        return model

    # Checks --------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        self._validate_params()
        self._check_network()

    def _check_table(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[FloatArray, Labels]:
        """Return checked rows and labels to learn."""
        with naming_text(X=X):
            rows = validate_data(self, X, reset=reset, **ROWS)
        if y is None:
            raise ValueError("this classifier requires y to be passed, but the target y is None")
        names: Labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, names)
        if names.dtype.kind == "f":
            refuse_bad("y", names, None)
        check_classification_targets(names)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        return rows, names

    def _stream(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, record: bool) -> FloatArray:
        """Learn rows in their order; return the probabilities from before, if asked to `record`."""
        begin = not hasattr(self, "learner_")
        if begin:
            self._check_parameters()
        known = labels.named(classes) if begin else labels.unchanged(classes, self.classes_)
        chances = []
        with self._unchanged_on_error():
            rows, names = self._check_table(X, y, reset=begin)
            labels.refuse_unknown(names, known)
            learner = self._new_learner(rows.shape[1], known) if begin else self.learner_
            learner.ensemble.require(rows.shape[0])
            targets = labels.targets(names, known)
            with self._threads() as threads, self._progress("learning", rows.shape[0]) as progress:
                # in parts, so that what was recorded of all neurons need not be kept
                for start in range(0, rows.shape[0], constants.BLOCK_ROWS):
                    part = slice(start, start + constants.BLOCK_ROWS)
                    weights = np.ones(targets[part].shape[0])
                    found = learner.partial_fit(rows[part], targets[part], weights, threads, record, progress)
                    chances += [mix(predictions) for predictions in found]
        self.learner_, self.classes_ = learner, known
        return labels.normalise(np.concatenate(chances)) if record else np.empty((0, known.size))

    # Small parts ---------------------------------------------------------------------------------------

    def _new_learner(self, features: int, classes: Labels) -> Learner:
        learner = Learner(self._settings(features, classes), find_splits)
        self._check_initial_weight(learner.ensemble.shape.priors.min())
        return learner

    def _settings(self, features: int, classes: Labels) -> Settings:
        return bernoulli_settings(
            **self._shape(),
            features=features,
            outputs=1 if classes.size == 2 else classes.size,
            seed=self._seed(),
            n_estimators=self.n_estimators,
            gating=self.gating,
            gating_bias=self.gating_bias,
            learning_rate=self.learning_rate,
            step=self.step,
            decay=self.decay,
            min_probability=self.min_probability,
            hinges=int(self.hinges),
            aggregation=self.aggregation,
            standardize=bool(self.standardize),
        )
