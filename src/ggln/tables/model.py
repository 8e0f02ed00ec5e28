"""What `ggln fit` makes: a regressor that knows the table it was fitted on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ggln import persistence
from ggln.estimators import Distribution, GGLNRegressor
from ggln.explain import Effects, Explanation
from ggln.tables.online import Worker
from ggln.tables.read import Chunk, Row, Table, text
from ggln.tables.schema import Encoded, Schema

FloatArray = NDArray[np.float64]

TYPICAL = "table.typical"


class TableRegressor:
    """A `GGLNRegressor` and the columns it was fitted on. `ggln.load` gives it for the files of `ggln fit`.

    Its methods take tables with these columns, in any order and with others among them: a data frame, or a
    mapping of names to columns. Numbers, dates, booleans, categories and missing values become features as
    they did when the model was fitted.

    Attributes
    ----------
    regressor : GGLNRegressor
        The networks, whose features are named in `feature_names_in_`.
    schema : Schema
        From columns to features.
    typical : (values, features) or None
        Values of each feature in the rows that were fitted, for effects to compare with.
    """

    def __init__(self, regressor: GGLNRegressor, schema: Schema, typical: FloatArray | None = None) -> None:
        self.regressor, self.schema, self.typical = regressor, schema, typical

    def __repr__(self) -> str:
        columns, targets = (column.name for column in self.schema.columns), self.schema.targets
        return f"TableRegressor({', '.join(targets)} from {', '.join(columns)})"

    @property
    def targets(self) -> list[str]:
        """Names of the columns that are predicted."""
        return self.schema.targets

    def features(self, table: Any) -> FloatArray:
        """Return the rows of a table as the networks see them, (n, features)."""
        return self._encode(table, targets=False).X

    def predict(self, table: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked, standard deviation, as `GGLNRegressor.predict` does."""
        X = self.features(table)
        with Worker(self.regressor, self.regressor.n_jobs) as worker:
            mean, std = (self.regressor._shaped(values) for values in worker.moments(X))
        return (mean, std) if return_std else mean

    def predict_dist(self, table: Any) -> Distribution:
        """Return the predictive distribution of each row, as `GGLNRegressor.predict_dist` does."""
        X = self.features(table)
        with Worker(self.regressor, self.regressor.n_jobs) as worker:
            return worker.distribution(X)

    def partial_fit(self, table: Any) -> Self:
        """Learn the rows of a table once, in their order; the targets are among its columns."""
        encoded = self._encode(table, targets=True)
        known = ~np.isnan(encoded.Y).any(axis=1)
        with Worker(self.regressor, self.regressor.n_jobs) as worker:
            worker.learn(encoded.X[known], encoded.Y[known])
        return self

    def explain(self, table: Any) -> Explanation:
        """Return how much each base input and bias adds to each row's mean and precision."""
        with unnamed_rows():
            return self.regressor.explain(self.features(table))

    def effects(self, table: Any) -> Effects:
        """Return how far each feature's value moves the mean from where its other values would have it.

        The other values are those of the rows that were fitted; for a stream's model, those of the table.
        """
        return self.effects_of(self.features(table))

    def effects_of(self, X: FloatArray) -> Effects:
        """As `effects`, for rows that are features already."""
        with unnamed_rows():
            return self.regressor.effects(X, self.typical)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        persistence.write(path, *self.state())

    def state(self) -> tuple[dict[str, Any], persistence.Arrays]:
        """Return the header and the arrays of the model's file."""
        regressor, arrays = self.regressor._state()
        header = {"estimator": type(self).__name__, "regressor": regressor, "table": self.schema.to_json()}
        if self.typical is not None:
            arrays = {**arrays, TYPICAL: self.typical}
        return header, arrays

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        regressor = GGLNRegressor._from_state(header["regressor"], arrays)
        return cls(regressor, Schema.from_json(header["table"]), arrays.get(TYPICAL))

    def _encode(self, table: Any, targets: bool) -> Encoded:
        names, rows = columns_of(table)
        encoder = self.schema.bind(Table("the table", names, iter(()), lambda: True), targets)
        encoded = encoder(Chunk(list(range(len(rows))), rows, []))
        if encoded.bad:
            raise ValueError(f"the table cannot be read: {encoded.bad[0]} (rows are counted from 0)")
        return encoded


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a regressor with named features take plain arrays: their columns were put in order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def columns_of(table: Any) -> tuple[list[str], list[Row]]:
    """Return the names and the rows of a data frame or of a mapping of columns, the cells as text."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(f"a table is a data frame or a mapping of columns, got {type(table).__name__}")
    names: Sequence[Any] = list(table) if isinstance(table, Mapping) else list(table.columns)
    columns = [[text(value) for value in table[name]] for name in names]
    return list(map(str, names)), [list(row) for row in zip(*columns, strict=True)]
