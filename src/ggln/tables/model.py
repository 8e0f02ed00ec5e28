"""`TableRegressor`: a regressor that knows the columns of its table. `ggln fit` makes such models, too."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ggln import persistence
from ggln.distributions.assembly import Distribution
from ggln.engine.checks import require
from ggln.estimators.numeric import refuse_masks
from ggln.estimators.ranges import LateParameters
from ggln.estimators.regressor import GGLNRegressor
from ggln.estimators.whole import Uninterrupted, lock_of, whole
from ggln.explain.effects import reference_values
from ggln.tables.explained import ExplainedTables
from ggln.tables.frames import (
    Remarks,
    columns_of,
    encode,
    is_named,
    named,
    numbered,
    one_row,
    strangers,
    target_names,
    unnamed_rows,
    unread,
)
from ggln.tables.infer import infer, infer_stream
from ggln.tables.layouts import check_table
from ggln.tables.schema import Schema

FloatArray = NDArray[np.float64]

TYPICAL = "table.typical"
TYPICAL_VALUES = 20
"""Values of each column that a model keeps, for explanations."""


class TableRegressor(LateParameters, ExplainedTables, RegressorMixin, BaseEstimator):
    """A `GGLNRegressor` for named columns of any kind: numbers, dates, booleans, categories, with gaps.

    Tables are data frames, mappings of names to columns, or arrays, whose columns are called x0, x1, and so
    on. `fit` finds out what the columns are, and remembers it. Later tables may have them in any order,
    with others among them. A column or a category value that was never learnt causes one warning.
    `ggln.load` returns such a model for the files of `ggln fit`, and the shell's commands take the files of
    `save`.

    Parameters
    ----------
    regressor : GGLNRegressor, optional
        The networks; by default a `GGLNRegressor` with its defaults.
    categories : sequence of str
        Columns whose numbers are names.

    Attributes
    ----------
    regressor_ : GGLNRegressor
        The fitted networks, whose features are named in `feature_names_in_`.
    schema_ : Schema
        From columns to features.
    typical_ : (values, features) or None
        Values of each column in the fitted rows, for effects to compare with.
    scores_ : dict or None
        Scores on the rows that `ggln fit --validate` held out.
    feature_names_in_, n_features_in_, n_outputs_ :
        The columns that predictions use, their number, and the number of targets.

    Examples
    --------
    >>> from ggln import GGLNRegressor, TableRegressor
    >>> houses = {"sold": ["2024-05-01", "2024-05-02"], "city": ["Oslo", "Rome"], "area": [80, None]}
    >>> small = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, epochs=1, random_state=0)
    >>> model = TableRegressor(small).fit(houses, [720.0, 650.0])
    >>> mean, std = model.predict({"city": ["Rome"], "area": [70], "sold": ["2024-06-01"]}, return_std=True)
    >>> mean.shape, std.shape
    ((1,), (1,))
    """

    regressor_: GGLNRegressor
    schema_: Schema
    typical_: FloatArray | None
    scores_: dict[str, Any] | None = None
    _array: int | None = None  # columns, where it was an array that was fitted
    _said: frozenset[tuple[str, str]] = frozenset()  # what has been warned of

    def __init__(self, regressor: GGLNRegressor | None = None, *, categories: Sequence[str] = ()) -> None:
        self.regressor, self.categories = regressor, categories

    @classmethod
    def of(cls, regressor: GGLNRegressor, schema: Schema, typical: FloatArray | None = None) -> Self:
        """Join networks, fitted or not, with the columns of a table."""
        model = cls(clone(regressor))
        model.regressor_, model.schema_, model.typical_ = regressor, schema, typical
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = tags.target_tags.multi_output = True
        return tags

    @property
    def targets(self) -> list[str]:
        """Names of what is predicted."""
        return self.schema_.targets

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns that are predicted from; those of an array have none."""
        if self._array is not None:
            raise AttributeError("the columns of an array have no names")
        return np.array([column.name for column in self.schema_.columns], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns are predicted from, or an array has."""
        return len(self.schema_.columns) if self._array is None else self._array

    @property
    def n_outputs_(self) -> int:
        """Targets per row."""
        return int(self.regressor_.n_outputs_)

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : data frame, mapping of names to columns, or array
        y : array-like of shape (n,) or (n, outputs)
        sample_weight : array-like of shape (n,), optional
            How much each row counts, as in `GGLNRegressor.fit`.
        """
        self._require_parameters(begin=True)
        array = None if is_named(X) else named(X, self)
        X = X if array is None else array
        names, rows = columns_of(X)
        if not rows:
            raise ValueError("X has no rows: Found array with 0 sample(s) while a minimum of 1 is required")
        table = unread(names)
        networks = self.new_networks()
        gaps = networks._takes_gaps()
        schema, remarks, _ = infer(table, rows, [], (), list(self.categories), gaps=gaps)
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        schema.predict_numbers(target_names(y, X))
        features = encode(schema, names, rows, targets=False).X
        regressor = networks.fit(features, y, sample_weight)
        with Uninterrupted():
            self.regressor_, self.schema_, self.scores_ = regressor, schema, None
            self._said = frozenset(("column", name) for name in names)  # those left out have been spoken of
            self._array = None if array is None else len(array)
            self.remember(features)
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn rows once, in their order, starting from what is known.

        Without `y`, the targets are columns of the table, and rows that lack them are left out. Without a
        `fit` before it, the first row decides what the columns are, as in `ggln stream`.
        """
        self._stream(X, y, sample_weight, lambda networks, *rows: networks.partial_fit(*rows))
        return self

    def prequential(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Distribution:
        """Learn rows as `partial_fit` does; return the distribution each row had before it was learnt."""
        found: Distribution | None = self._stream(
            X, y, sample_weight, lambda networks, *rows: networks.prequential(*rows)
        )
        if found is None:
            raise ValueError("X has no rows with a target to learn")
        return found

    def _stream(
        self, X: Any, y: ArrayLike | None, weights: ArrayLike | None, learn: Callable[..., Any]
    ) -> Any:
        """Learn rows in their order, going on or beginning."""
        with lock_of(self):
            return self._learn_rows(X, y, weights, learn)

    def _learn_rows(
        self, X: Any, y: ArrayLike | None, weights: ArrayLike | None, learn: Callable[..., Any]
    ) -> Any:
        begin, width = not hasattr(self, "regressor_"), self._array
        self._require_parameters(begin)
        if begin and not is_named(X):
            X = named(X, self)
            width = len(X)
        names, rows = columns_of(X if begin else self._table(X))
        if begin:
            if y is None:
                raise NotFittedError("the first rows need y: what the targets are is not known yet")
            if not rows:
                raise ValueError("X has no rows")
            regressor = self.new_networks()
            gaps = regressor._takes_gaps()
            schema = infer_stream(unread(names), rows[0], [], (), list(self.categories), gaps)
            schema.predict_numbers(target_names(y, X))
        else:
            schema, regressor = self.schema_.copy(), self.regressor_
        before = schema.copy()
        encoded = encode(schema, names, rows, targets=y is None)
        features, targets = encoded.X, y
        known: NDArray[np.bool_] = np.ones(len(rows), np.bool_)
        if targets is None:
            known = np.asarray(~np.isnan(encoded.Y).any(axis=1))
            features, targets = features[known], regressor._shaped(encoded.Y[known])
            weights = None if weights is None else np.asarray(weights)[known]
        learnt = _rows_of(regressor)
        try:
            with unnamed_rows():
                found = learn(regressor, features, targets, weights) if len(features) else None
            self._take(regressor, schema, width)
        except BaseException:
            # what the networks have learnt of these rows, the schema has to know as well
            counted = np.flatnonzero(known)
            counted = counted if weights is None else counted[np.asarray(weights) > 0]
            taken = counted[: _rows_of(regressor) - learnt]
            if taken.size:
                encode(before, names, rows[: taken[-1] + 1], targets=y is None)
                self._take(regressor, before, width)
            raise
        self._say(strangers(schema, names, rows, encoded.X))
        return found

    def _take(self, regressor: GGLNRegressor, schema: Schema, width: int | None) -> None:
        """Go on with networks that have learnt, and with what their columns are."""
        with Uninterrupted():
            self.regressor_, self.schema_, self._array = regressor, schema, width
            self.typical_ = getattr(self, "typical_", None)
            self.name_features()

    @whole
    def learn_one(self, x: Mapping[str, Any], y: ArrayLike) -> Self:
        """Learn a single row, a mapping of columns to values; None is a missing value."""
        if not hasattr(self, "regressor_"):
            return self.partial_fit(one_row(x), np.asarray(y)[None])
        self._require_parameters()
        schema = self.schema_.copy()  # which remembers what it saw, but only of rows that are learnt
        names, rows = columns_of(one_row(x))
        features = encode(schema, names, rows, targets=False).X
        self.regressor_.learn_one(features[0], y)
        self.schema_ = schema
        self._say(strangers(schema, names, rows, features))
        return self

    # Predicting ----------------------------------------------------------------------------------------

    def features(self, X: Any) -> FloatArray:
        """Return the rows of a table as the networks see them, (n, features). The model stays as it is."""
        check_is_fitted(self, "regressor_")
        names, rows = columns_of(self._table(X))
        found = encode(self.schema_.copy(), names, rows, targets=False).X
        self._say(strangers(self.schema_, names, rows, found))
        return found

    def _table(self, X: Any) -> Any:
        """Return a table with the names that were learnt: columns of an array are known by their order."""
        if not is_named(X):
            known = list(self.feature_names_in_) if self._array is None else numbered(self._array)
            return named(X, self, known)
        if self._array is None:
            return X
        columns = list(X) if isinstance(X, Mapping) else list(X.columns)
        for name in columns:
            refuse_masks(f"the column {name!r}", X[name])
        values = np.column_stack([np.asarray(X[name], object) for name in columns])
        return named(values, self, numbered(self._array))

    def _say(self, remarks: Remarks) -> None:
        """Warn of what was never learnt, once of each column."""
        new = remarks.keys() - self._said
        self._said |= new
        for about in sorted(new):
            warnings.warn(remarks[about], stacklevel=4)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the predictive mean, and its deviation or covariance, as `GGLNRegressor.predict` does."""
        return self.networks.predict(self.features(X), return_std, return_cov)

    def predict_dist(self, X: Any) -> Distribution:
        """Return the predictive distribution of each row, as `GGLNRegressor.predict_dist` does."""
        return self.networks.predict_dist(self.features(X))

    def support(self, X: Any) -> FloatArray:
        """Return how well the learnt rows cover each row, as `GGLNRegressor.support` does."""
        return self.networks.support(self.features(X))

    def predict_one(self, x: Mapping[str, Any], return_std: bool = False) -> Any:
        """Return the mean for a single row, a mapping of columns to values; 0 before anything was learnt."""
        if not hasattr(self, "regressor_"):
            return (0.0, 1.0) if return_std else 0.0
        return self.regressor_.predict_one(self.features(one_row(x))[0], return_std)

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self, "regressor_")
        self._require_parameters()
        persistence.write(path, *self.state())

    def state(self) -> tuple[dict[str, Any], persistence.Arrays]:
        """Return the header and the arrays of the model's file."""
        regressor, arrays = self.regressor_._state()
        header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "regressor": regressor,
            "table": self.schema_.to_json(),
        }
        header |= {"categories": list(self.categories), "array": self._array}
        if self.scores_ is not None:
            header["scores"] = self.scores_
        if self.typical_ is not None:
            arrays = {**arrays, TYPICAL: self.typical_}
        return header, arrays

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        own = {name: array for name, array in arrays.items() if name != TYPICAL}
        regressor = GGLNRegressor._from_state(header["regressor"], own)
        typical = {name: array for name, array in arrays.items() if name == TYPICAL}
        check_table(header, typical, regressor.n_features_in_, regressor.n_outputs_)
        model = cls.of(regressor, Schema.from_json(header["table"]), arrays.get(TYPICAL))
        model.categories, model._array = tuple(header["categories"]), header["array"]
        model.scores_ = header.get("scores")
        known = len(model.schema_.features())
        require(
            known == regressor.n_features_in_, f"its columns make {known} features, not those of networks"
        )
        return model

    # Small parts ---------------------------------------------------------------------------------------

    def remember(self, features: FloatArray) -> None:
        """Keep typical values of rows that were fitted, and the features' names."""
        self.name_features()
        names = list(self.regressor_.feature_names_in_)
        places = [[names.index(name) for name in some] for some in self.schema_.groups().values()]
        self.typical_ = reference_values(features, TYPICAL_VALUES, places)

    def _check_parameters(self) -> None:
        if self.regressor is not None:
            if not isinstance(self.regressor, GGLNRegressor):
                raise ValueError(f"regressor must be a GGLNRegressor or None, got {self.regressor!r}")
            self.regressor._check_parameters()
        names: Any = self.categories
        several = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str | bytes)
        if not several or not all(isinstance(name, str) for name in names):
            raise ValueError(f"categories must be a list of names of columns, got {names!r}")

    def new_networks(self) -> GGLNRegressor:
        """Return networks as they are before anything is learnt."""
        if self.regressor is None:
            return GGLNRegressor()
        fresh: GGLNRegressor = clone(self.regressor)
        return fresh


def _rows_of(regressor: GGLNRegressor) -> int:
    """Return how many rows networks have learnt."""
    learner = getattr(regressor, "learner_", None)
    return 0 if learner is None else int(learner.rows)
