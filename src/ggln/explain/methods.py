"""The methods with which an estimator explains itself."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.core.learner import Learner
from ggln.core.threads import Threads
from ggln.explain.contributions import Explanation, explain
from ggln.explain.effects import Effects, Importance, effects, reference_values
from ggln.explain.gates import ActiveGates, Neighbours, active_gates, neighbours
from ggln.explain.slopes import slopes

FloatArray = NDArray[np.float64]
Groups = Mapping[str, Sequence[str]]


class Explained(Protocol):
    """What an estimator has to have to explain itself."""

    learner_: Learner
    n_features_in_: int
    n_outputs_: int
    _flat_target: bool
    _regressor_names: list[str]

    def _check_rows(self, X: ArrayLike) -> FloatArray: ...

    def _threads(self) -> Threads: ...

    def _feature_names(self) -> list[str]: ...


class ExplainMixin:
    """Explanations of an estimator whose knowledge is a `Learner`."""

    def explain(self: Explained, X: ArrayLike) -> Explanation:
        """Return how much each base input and bias adds to each row's mean and precision.

        Given a row, the network is exactly linear in these. Base inputs are the features (or a regression on
        each of them), and the base regressors. What the gates do is in none of them: see `effects`.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from ggln import GGLNRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = GGLNRegressor(layer_sizes=(8, 1), base_model="feature", folds=0, random_state=0)
        >>> explanation = model.fit(X, y).explain(X[:2])
        >>> explanation.names[:3], explanation.mean.shape
        (['age', 'sex', 'bmi'], (2, 12))
        >>> abs(explanation.prediction - model.predict(X[:2])).max() < 1e-3
        np.True_
        """
        rows = self._check_rows(X)
        return explain(self.learner_, rows, [*self._feature_names(), *self._regressor_names])

    def slopes(self: Explained, X: ArrayLike) -> FloatArray:
        """Return how fast the predicted mean rises with each feature, while no gate or tree changes side.

        Returns
        -------
        slopes : (n, features), or (n, features, outputs) for targets of that kind
            Exact derivatives. Predictions also jump where gates are crossed, and trees among the base
            regressors only jump: `effects` has all of it.
        """
        rows = self._check_rows(X)
        found = slopes(self.learner_, rows)
        return found[..., 0] if self.n_outputs_ == 1 else found

    def effects(
        self: Explained,
        X: ArrayLike,
        background: ArrayLike | None = None,
        n_values: int = 20,
        groups: Groups | None = None,
    ) -> Effects:
        """Return how far each feature's value moves the mean from where its other values would have it.

        Each feature is moved to the values that it has in the `background`, all others held; an effect is the
        mean difference. For a linear model it is slope times distance from the feature's mean, which is
        also the Shapley value.

        Parameters
        ----------
        X : array-like of shape (n, features)
        background : array-like of shape (m, features)
            Typical rows, of the training set for example; X itself if it is not given.
        n_values : int
            Of longer backgrounds, so many values of each feature, evenly spaced among the sorted ones.
        groups : mapping from a name to a sequence of features, optional
            Features that say one thing, such as the levels of a category: they are moved together, to values
            that occur together, and have one effect under that name. Features in no group stay alone.
        """
        rows = self._check_rows(X)
        names, places = _grouped(self._feature_names(), groups or {})
        _check_count("n_values", n_values)
        if background is None and len(rows) == 1:
            raise ValueError(
                "a single row needs a background: rows with other values to move its features to"
            )
        typical = rows if background is None else self._check_rows(background)
        references = reference_values(typical, n_values, places)
        with self._threads() as threads:
            found = effects(self.learner_, rows, references, places, threads)
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

        Contributions are taken less their mean over X: what is the same for all rows tells none apart.
        Arguments as for `effects`, which takes (3 n_values features) predictions for each row.
        """
        found: Effects = self.effects(X, background, n_values, groups)
        explanation: Explanation = self.explain(X).together(groups or {})
        varying = explanation.mean - explanation.mean.mean(axis=0)
        total, values, gates = (np.abs(part).mean(axis=0) for part in found[1:])
        inputs = np.abs(varying).mean(axis=0)
        return Importance(found.names, total, values, gates, explanation.names, inputs)

    def contexts(self: Explained, X: ArrayLike) -> NDArray[np.int32]:
        """Return the context that each row selects in every neuron, of shape (n, networks, neurons).

        The neurons of a network stand layer by layer; bit i of a context is set inside gate i's half-space.
        """
        rows = self._check_rows(X)
        side, ensemble = self.learner_.side(rows), self.learner_.ensemble
        return ensemble.active_contexts(side).T.reshape(len(side), ensemble.networks, ensemble.neurons)

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
        outputs = [""] if self.n_outputs_ == 1 else [f" y{d}" for d in range(self.n_outputs_)]
        regressors = [name + output for name in self._regressor_names for output in outputs]
        return active_gates(self.learner_, row, [*self._feature_names(), *regressors])

    def neighbours(self: Explained, X: ArrayLike, training: ArrayLike, n_neighbors: int = 5) -> Neighbours:
        """Return the training rows that share the most contexts with each row: those it was learnt from.

        Parameters
        ----------
        X : array-like of shape (n, features)
        training : array-like of shape (m, features)
            Rows to look among; the model does not keep those that it learnt.
        n_neighbors : int
            How many to return for each row.
        """
        _check_count("n_neighbors", n_neighbors)
        rows, known = self._check_rows(X), self._check_rows(training)
        return neighbours(self.learner_, known, rows, n_neighbors)


def _grouped(features: list[str], groups: Groups) -> tuple[list[str], list[list[int]]]:
    """Return the names of groups and single features, in the order of the features, and their places."""
    owner = {name: group for group, names in groups.items() for name in names}
    unknown = [name for name in owner if name not in features]
    if unknown:
        raise ValueError(f"groups name {unknown[0]!r}, which is not one of the features {features}")
    places: dict[str, list[int]] = {}
    for place, name in enumerate(features):
        places.setdefault(owner.get(name, name), []).append(place)
    return list(places), list(places.values())


def _check_count(name: str, count: int) -> None:
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {count!r}")
