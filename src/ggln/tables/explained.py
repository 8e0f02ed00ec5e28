"""What a model of a table says about its columns, its gates and its neurons."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ggln.estimators.distributional import NeuronLayer
from ggln.estimators.regressor import GGLNRegressor
from ggln.explain import Effects, Explanation, Importance
from ggln.explain.gates import ActiveGates, Neighbours
from ggln.tables.frames import unnamed_rows
from ggln.tables.schema import Schema

FloatArray = NDArray[np.float64]


class ExplainedTables:
    """Explanations by columns, for a model that turns tables into `features`."""

    regressor_: GGLNRegressor
    schema_: Schema
    typical_: FloatArray | None
    features: Any

    def explain(self, X: Any, background: Any = None) -> Explanation:
        """Return how much each column adds to each row's mean, as `GGLNRegressor.explain` does.

        The features of a column, such as the levels of a category, change together.
        """
        features = self.features(X)
        typical = None if background is None else self.features(background)
        with unnamed_rows():
            return self.regressor_.explain(features, typical, groups=self._groups())

    def effects(self, X: Any, background: Any = None) -> Effects:
        """Return how far each column's value moves the mean from where its other values would have it.

        The other values are those of the `background`, a table; if it is not given, those of the rows that
        were fitted, and for a stream's model those of rows that it keeps, or of X. The features of a column,
        such as the levels of a category, are moved together.
        """
        features, typical = self.features(X), self._background(background)
        with unnamed_rows():
            return self.regressor_.effects(features, typical, groups=self._groups())

    def importance(self, X: Any, background: Any = None) -> Importance:
        """Return what matters over the rows of a table: means of the size of effects and contributions."""
        features, typical = self.features(X), self._background(background)
        with unnamed_rows():
            return self.regressor_.importance(features, typical, groups=self._groups())

    def neurons(self, X: Any) -> list[NeuronLayer]:
        """Return every neuron's mean and variance, layer by layer, as `GGLNRegressor.neurons` does."""
        return self.networks.neurons(self.features(X))

    def contexts(self, X: Any) -> NDArray[np.int32]:
        """Return the context that each row selects in every neuron, as `GGLNRegressor.contexts` does."""
        return self.networks.contexts(self.features(X))

    def active_gates(self, X: Any) -> ActiveGates:
        """Return the half-spaces that hold a single row; they are of features, not of columns."""
        features = self.features(X)
        with unnamed_rows():
            return self.regressor_.active_gates(features)

    def neighbours(self, X: Any, training: Any, n_neighbors: int = 5) -> Neighbours:
        """Return the rows of another table that each row shares the most contexts with."""
        return self.networks.neighbours(self.features(X), self.features(training), n_neighbors)

    def _background(self, table: Any) -> FloatArray | None:
        return self.typical_ if table is None else self.features(table)

    def _groups(self) -> dict[str, list[str]]:
        self.name_features()
        return self.schema_.groups()

    def name_features(self) -> None:
        """Tell the networks the names of their features, among them values that categories met since."""
        self.regressor_.feature_names_in_ = np.array(self.schema_.features(), dtype=object)

    @property
    def networks(self) -> GGLNRegressor:
        """The fitted networks, for rows as `features` gives them: arrays without names."""
        check_is_fitted(self, "regressor_")
        bare = copy(self.regressor_)
        if hasattr(bare, "feature_names_in_"):
            del bare.feature_names_in_
        return bare
