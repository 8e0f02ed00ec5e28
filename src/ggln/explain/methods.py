"""The methods with which an estimator explains itself."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.engine.gradient.learner import Learner
from ggln.engine.threads import Threads
from ggln.explain.contributions import Explanation
from ggln.explain.effects import Effects, Importance, effects, grouped, reference_values
from ggln.explain.exact import ExactInspector
from ggln.explain.gates import ActiveGates, Neighbours, neighbours
from ggln.explain.gradient import GradientInspector

FloatArray = NDArray[np.float64]
Groups = Mapping[str, Sequence[str]]


class Explained(Protocol):
    """What an estimator has to have to explain itself."""

    learner_: Any
    n_features_in_: int
    n_outputs_: int
    _flat_target: bool

    def _check_rows(self, X: ArrayLike) -> FloatArray: ...

    def _threads(self) -> Threads: ...

    def _feature_names(self) -> list[str]: ...


def inspector(learner: Any) -> ExactInspector | GradientInspector:
    """Return who explains a learner, by the way in which it learns."""
    return GradientInspector(learner) if isinstance(learner, Learner) else ExactInspector(learner)


class ExplainMixin:
    """Explanations of an estimator that has a learner."""

    def explain(
        self: Explained,
        X: ArrayLike,
        background: ArrayLike | None = None,
        n_background: int = 32,
        groups: Groups | None = None,
    ) -> Explanation:
        """Return how much each feature adds to each row's mean; with the intercept they add up to it.

        A feature is credited with the change of the prediction when its value changes from that of a row of
        the background to the row's own. Features change one after the other, in several orders; a
        contribution is the mean over orders and rows of the background. Up to four features get their exact
        Shapley values; more features get estimates. The intercept is the mean prediction of the background.

        With step="capped" or "ogd", the prediction is a weighted sum of base inputs and biases, and
        contributions are its terms. There is then no background.

        Parameters
        ----------
        X : array-like of shape (n, features)
        background : array-like of shape (m, features), optional
            Rows to compare with. By default rows of the training set that the model keeps for its
            regression, spread evenly over its predictions of them; with base_model="feature", the mean of
            all rows.
        n_background : int
            If the background is longer, this many of its rows are used, evenly spaced.
        groups : mapping from a name to a sequence of features, optional
            Features that belong together, such as the levels of a category. They change together, and have
            one contribution under that name.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from ggln import GGLNRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = GGLNRegressor(layer_sizes=(8, 1), n_estimators=2, random_state=0).fit(X, y)
        >>> explanation = model.explain(X[:2])
        >>> explanation.names[:3], explanation.mean.shape
        (['age', 'sex', 'bmi'], (2, 10))
        >>> abs(explanation.prediction - model.predict(X[:2])).max() < 1e-9
        np.True_
        """
        rows = self._check_rows(X)
        _check_count("n_background", n_background)
        typical = None if background is None else self._check_rows(background)
        names = self._feature_names()
        with self._threads() as threads:
            return inspector(self.learner_).explain(rows, names, groups or {}, typical, n_background, threads)

    def slopes(self: Explained, X: ArrayLike) -> FloatArray:
        """Return how fast the predicted mean rises with each feature, while no gate changes side.

        Returns
        -------
        slopes : (n, features), or (n, features, outputs) for targets of that kind
            Exact derivatives. Predictions also jump where gates are crossed; `effects` includes that.
        """
        rows = self._check_rows(X)
        found = inspector(self.learner_).slopes(rows)
        return found[..., 0] if self.n_outputs_ == 1 else found

    def effects(
        self: Explained,
        X: ArrayLike,
        background: ArrayLike | None = None,
        n_values: int = 20,
        groups: Groups | None = None,
    ) -> Effects:
        """Return how far each feature's value moves the mean from where its other values would put it.

        Each feature is moved to the values that it has in the `background`, with all others held. An effect
        is the mean difference. For a linear model it is slope times distance from the feature's mean, which
        is also the Shapley value.

        Parameters
        ----------
        X : array-like of shape (n, features)
        background : array-like of shape (m, features)
            Typical rows, of the training set for example. By default those that the model keeps (see
            `explain`), or X itself if it keeps none.
        n_values : int
            If the background is longer, this many values of each feature are used, evenly spaced among the
            sorted ones.
        groups : mapping from a name to a sequence of features, optional
            Features that belong together, such as the levels of a category. They are moved together, to
            values that occur together, and have one effect under that name. Features in no group stay
            alone.
        """
        rows, own = self._check_rows(X), inspector(self.learner_)
        names, places = grouped(self._feature_names(), groups or {})
        _check_count("n_values", n_values)
        typical = own.typical() if background is None else self._check_rows(background)
        if typical is None and len(rows) == 1:
            raise ValueError(
                "a single row needs a background: rows with other values to move its features to"
            )
        references = reference_values(rows if typical is None else typical, n_values, places)
        with self._threads() as threads:
            found = effects(own, rows, references, places, threads)
        if self.n_outputs_ == 1:
            return Effects(names, *(part[..., 0] for part in found))
        return Effects(names, *found)

    def importance(
        self: Any,
        X: ArrayLike,
        background: ArrayLike | None = None,
        n_values: int = 20,
        groups: Groups | None = None,
    ) -> Importance:
        """Return what matters over a data set: means of the size of effects and of contributions.

        The mean over X is subtracted from contributions: what is the same for all rows does not distinguish
        them. Arguments as for `effects`, which takes (3 n_values features) predictions for each row.
        """
        found: Effects = self.effects(X, background, n_values, groups)
        explanation: Explanation = self.explain(X, groups=groups)
        varying = explanation.mean - explanation.mean.mean(axis=0)
        total, values, gates = (np.abs(part).mean(axis=0) for part in found[1:])
        inputs = np.abs(varying).mean(axis=0)
        return Importance(found.names, total, values, gates, explanation.names, inputs)

    def contexts(self: Explained, X: ArrayLike) -> NDArray[np.int32]:
        """Return the context that each row selects in every neuron, of shape (n, networks, neurons).

        The neurons of a network stand layer by layer; bit i of a context is set inside gate i's half-space.
        """
        rows = self._check_rows(X)
        return inspector(self.learner_).contexts(rows)

    def active_gates(self: Explained, X: ArrayLike) -> ActiveGates:
        """Return the half-spaces of all neurons, and on which side of each a single row lies.

        Parameters
        ----------
        X : array-like of shape (1, features)
        """
        row = self._check_rows(X)
        if len(row) != 1:
            raise ValueError(
                f"X must be a single row of shape (1, {self.n_features_in_}), got {len(row)} rows"
            )
        return inspector(self.learner_).active_gates(row, self._feature_names())

    def neighbours(self: Explained, X: ArrayLike, training: ArrayLike, n_neighbors: int = 5) -> Neighbours:
        """Return the training rows that share the most contexts with each row: those it was learnt from.

        Parameters
        ----------
        X : array-like of shape (n, features)
        training : array-like of shape (m, features)
            Rows to search; the model does not keep the rows that it learnt.
        n_neighbors : int
            Number of rows to return for each row.
        """
        _check_count("n_neighbors", n_neighbors)
        rows, known = self._check_rows(X), self._check_rows(training)
        return neighbours(inspector(self.learner_).contexts, known, rows, n_neighbors)


def _check_count(name: str, count: int) -> None:
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {count!r}")
