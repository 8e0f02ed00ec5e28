"""`TableRegressor`: a regressor that knows the columns of its table. `ggln fit` makes such models, too."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from ggln import persistence
from ggln.components import Distribution
from ggln.estimators import GGLNRegressor
from ggln.explain import Effects, Explanation, Importance
from ggln.explain.effects import reference_values
from ggln.manners import refuse_arguments
from ggln.tables.online import Worker
from ggln.tables.read import Chunk, Row, Table, text
from ggln.tables.schema import Encoded, Schema, infer, infer_stream

FloatArray = NDArray[np.float64]

TYPICAL = "table.typical"
TYPICAL_VALUES = 20
"""Values of each column that a model keeps, for explanations."""


class TableRegressor(RegressorMixin, BaseEstimator):
    """A `GGLNRegressor` for named columns of any kind: numbers, dates, booleans, categories, with gaps.

    Tables are data frames, or mappings of names to columns. What the columns are is found out by `fit` and
    remembered; later tables may have them in any order, with others among them. `ggln.load` gives such a
    model for the files of `ggln fit`, and the shell's commands take the files of `save`.

    Parameters
    ----------
    regressor : GGLNRegressor, optional
        The networks, with the defaults if it is not given.
    categories : sequence of str
        Columns whose numbers are names.

    Attributes
    ----------
    regressor_ : GGLNRegressor
        The fitted networks, whose features are named in `feature_names_in_`.
    schema_ : Schema
        From columns to features.
    typical_ : (values, features) or None
        Values of each column in the rows that were fitted, for effects to compare with.

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

    def __init__(self, regressor: GGLNRegressor | None = None, categories: Sequence[str] = ()) -> None:
        self.regressor, self.categories = regressor, categories

    @classmethod
    def of(cls, regressor: GGLNRegressor, schema: Schema, typical: FloatArray | None = None) -> Self:
        """Join networks, fitted or not, with the columns of a table."""
        model = cls(clone(regressor))
        model.regressor_, model.schema_, model.typical_ = regressor, schema, typical
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags

    @property
    def targets(self) -> list[str]:
        """Names of what is predicted."""
        return self.schema_.targets

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, **refused: Any) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : data frame, or mapping of names to columns
        y : array-like of shape (n,) or (n, outputs)
        **refused
            Nothing else is taken, as in `GGLNRegressor.fit`.
        """
        refuse_arguments("fit", refused)
        names, rows = columns_of(X)
        table = _unread(names)
        schema, remarks = infer(table, rows, [], (), list(self.categories))
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        schema.predict_numbers(_target_names(y, X))
        features = _encode(schema, names, rows, targets=False).X
        regressor = self._new_regressor().fit(features, y)
        self.regressor_, self.schema_ = regressor, schema
        self.remember(features)
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None, **refused: Any) -> Self:
        """Learn rows once, in their order, going on from what is known.

        Without `y`, the targets are columns of the table, and rows that lack them are left out. Where there
        was no `fit`, the first row decides what the columns are, as in `ggln stream`.
        """
        refuse_arguments("partial_fit", refused)
        names, rows = columns_of(X)
        if y is None:
            check_is_fitted(self, "regressor_", msg="partial_fit needs y: the targets are not known yet")
            encoded = _encode(self.schema_, names, rows, targets=True)
            known = ~np.isnan(encoded.Y).any(axis=1)
            self._learn(self.regressor_, encoded.X[known], self.regressor_._shaped(encoded.Y[known]))
        elif hasattr(self, "regressor_"):
            self._learn(self.regressor_, _encode(self.schema_, names, rows, targets=False).X, y)
        else:
            if not rows:
                raise ValueError("X has no rows")
            schema = infer_stream(_unread(names), rows[0], [], (), list(self.categories))
            schema.predict_numbers(_target_names(y, X))
            regressor = self._new_regressor()
            self._learn(regressor, _encode(schema, names, rows, targets=False).X, y)
            self.regressor_, self.schema_, self.typical_ = regressor, schema, None
        self.name_features()
        return self

    def learn_one(self, x: Mapping[str, Any], y: ArrayLike) -> Self:
        """Learn a single row, a mapping of columns to values; None is a missing one."""
        if not hasattr(self, "regressor_"):
            return self.partial_fit(_one_row(x), np.asarray(y)[None])
        row = _encode(self.schema_, *columns_of(_one_row(x)), targets=False).X[0]
        self.regressor_.learn_one(row, y)
        return self

    # Predicting ----------------------------------------------------------------------------------------

    def features(self, X: Any) -> FloatArray:
        """Return the rows of a table as the networks see them, (n, features). The model stays as it is."""
        check_is_fitted(self, "regressor_")
        return _encode(self.schema_.copy(), *columns_of(X), targets=False).X

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation, as `GGLNRegressor.predict` does."""
        features = self.features(X)
        with Worker(self.regressor_, self.regressor_.n_jobs) as worker:
            mean, std = (self.regressor_._shaped(values) for values in worker.moments(features))
        return (mean, std) if return_std else mean

    def predict_dist(self, X: Any) -> Distribution:
        """Return the predictive distribution of each row, as `GGLNRegressor.predict_dist` does."""
        features = self.features(X)
        with Worker(self.regressor_, self.regressor_.n_jobs) as worker:
            return worker.distribution(features)

    def predict_one(self, x: Mapping[str, Any], return_std: bool = False) -> Any:
        """Return the mean for a single row, a mapping of columns to values; 0 before anything was learnt."""
        if not hasattr(self, "regressor_"):
            return (0.0, 1.0) if return_std else 0.0
        return self.regressor_.predict_one(self.features(_one_row(x))[0], return_std)

    # Explaining ----------------------------------------------------------------------------------------

    def explain(self, X: Any) -> Explanation:
        """Return how much each column, base regressor and bias adds to each row's mean and precision."""
        return self.explain_features(self.features(X))

    def effects(self, X: Any) -> Effects:
        """Return how far each column's value moves the mean from where its other values would have it.

        The other values are those of the rows that were fitted; for a stream's model, those of the table. The
        features of a column, such as the levels of a category, are moved together.
        """
        return self.effects_of_features(self.features(X))

    def importance(self, X: Any) -> Importance:
        """Return what matters over the rows of a table: means of the size of effects and contributions."""
        return self.importance_of_features(self.features(X))

    def explain_features(self, features: FloatArray) -> Explanation:
        """As `explain`, for rows that are features already."""
        with unnamed_rows():
            return self.regressor_.explain(features).together(self._groups())

    def effects_of_features(self, features: FloatArray) -> Effects:
        """As `effects`, for rows that are features already."""
        with unnamed_rows():
            return self.regressor_.effects(features, self.typical_, groups=self._groups())

    def importance_of_features(self, features: FloatArray) -> Importance:
        """As `importance`, for rows that are features already."""
        with unnamed_rows():
            return self.regressor_.importance(features, self.typical_, groups=self._groups())

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self, "regressor_")
        persistence.write(path, *self.state())

    def state(self) -> tuple[dict[str, Any], persistence.Arrays]:
        """Return the header and the arrays of the model's file."""
        regressor, arrays = self.regressor_._state()
        header = {"estimator": type(self).__name__, "regressor": regressor, "table": self.schema_.to_json()}
        header["categories"] = list(self.categories)
        if self.typical_ is not None:
            arrays = {**arrays, TYPICAL: self.typical_}
        return header, arrays

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        regressor = GGLNRegressor._from_state(header["regressor"], arrays)
        model = cls.of(regressor, Schema.from_json(header["table"]), arrays.get(TYPICAL))
        model.categories = tuple(header["categories"])
        return model

    # Small parts ---------------------------------------------------------------------------------------

    def remember(self, features: FloatArray) -> None:
        """Keep typical values of rows that were fitted, and the features' names."""
        self.name_features()
        names = list(self.regressor_.feature_names_in_)
        places = [[names.index(name) for name in some] for some in self.schema_.groups().values()]
        self.typical_ = reference_values(features, TYPICAL_VALUES, places)

    def name_features(self) -> None:
        """Tell the networks the names of their features, among them values that categories met since."""
        self.regressor_.feature_names_in_ = np.array(self.schema_.features(), dtype=object)

    def _groups(self) -> dict[str, list[str]]:
        self.name_features()
        return self.schema_.groups()

    def _new_regressor(self) -> GGLNRegressor:
        if self.regressor is None:
            return GGLNRegressor()
        if not isinstance(self.regressor, GGLNRegressor):
            raise ValueError(f"regressor must be a GGLNRegressor or None, got {self.regressor!r}")
        fresh: GGLNRegressor = clone(self.regressor)
        return fresh

    def _learn(self, regressor: GGLNRegressor, features: FloatArray, y: ArrayLike) -> None:
        if len(features):
            with unnamed_rows():
                regressor.partial_fit(features, y)


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a regressor with named features take plain arrays: their columns were put in order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def columns_of(table: Any) -> tuple[list[str], list[Row]]:
    """Return the names and the rows of a data frame or of a mapping of columns, the cells as text."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(
            f"a table is a data frame or a mapping of names to columns, got {type(table).__name__}: give "
            "arrays to GGLNRegressor instead"
        )
    names: Sequence[Any] = list(table) if isinstance(table, Mapping) else list(table.columns)
    columns = [[text(value) for value in table[name]] for name in names]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"the columns of a table are equally long, got lengths {sorted(lengths)}")
    return list(map(str, names)), [list(row) for row in zip(*columns, strict=True)]


def _one_row(x: Any) -> dict[str, list[Any]]:
    """Return a table of one row."""
    if hasattr(x, "to_dict"):
        x = x.to_dict()  # a row of a data frame
    if not isinstance(x, Mapping):
        raise TypeError(f"a row is a mapping of columns to values, got {type(x).__name__}")
    return {name: [value] for name, value in x.items()}


def _unread(names: Sequence[str]) -> Table:
    """Return a table of which only the columns matter."""
    return Table("the table", names, iter(()), lambda: True)


def _encode(schema: Schema, names: Sequence[str], rows: list[Row], targets: bool) -> Encoded:
    encoded = schema.bind(_unread(names), targets)(Chunk(list(range(len(rows))), rows, []))
    if encoded.bad:
        raise ValueError(f"the table cannot be read: {encoded.bad[0]} (rows are counted from 0)")
    return encoded


def _target_names(y: Any, X: Any) -> list[str]:
    """Return what targets are called: by their own names, unless columns of X have them, or y."""
    taken = {str(name): name for name in (X if isinstance(X, Mapping) else X.columns)}
    named = {str(name): y[name] for name in y.columns} if hasattr(y, "columns") else {}
    if not named and isinstance(getattr(y, "name", None), str) and y.name:
        named = {y.name: y}
    for name, values in named.items():
        if name in taken and list(map(text, values)) == list(map(text, X[taken[name]])):
            raise ValueError(f"X has the target {name!r} among its columns: drop it there")
    if named and not taken.keys() & named.keys():
        return list(named)
    outputs = np.shape(y)[1] if np.ndim(y) == 2 else 1
    numbers = [""] if outputs == 1 else [str(i) for i in range(outputs)]
    return [f"{'target' if f'y{number}' in taken else 'y'}{number}" for number in numbers]
