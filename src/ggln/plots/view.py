"""An estimator and rows, as pictures along features see them: arrays, data frames, tables of any kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axis import Axis

from ggln.plots.display import (
    FloatArray,
    column,
    last_step,
    name_of,
    place_of,
    show_dates,
    span,
    unwrap,
    vary,
)
from ggln.tables.columns import Date
from ggln.tables.frames import one_row
from ggln.tables.inspect import Along, along, typical_row
from ggln.tables.model import TableRegressor
from ggln.tables.read import suggestion
from ggln.tables.schema import Schema

CLEAREST = ("number", "date", "boolean", "category")
"""Kinds of columns, those first that make the clearest picture of gates."""


class EstimatorView(NamedTuple):
    """What is asked, and the rows that it takes: of a table, its networks and their features."""

    model: Any
    rows: Any
    at: Any  # the row that gives the features that do not move; None for medians
    schema: Schema | None = None  # of a table

    def along(self, feature: int | str, points: int) -> Along:
        """Return rows in which one feature, or one column of a table, goes over its values."""
        if self.schema is not None:
            return along(self.schema, self._column(feature), self.rows, self.at, points)
        place = place_of(self.rows, feature)
        samples = column(self.rows, place)
        x = span(samples, points)
        return Along(name_of(self.rows, place), x, vary(self.rows, {place: x}, self.at), samples, False)

    def place(self, feature: int | str) -> int:
        """Return the number of a feature; of a column of a table, that of its first one."""
        if self.schema is None:
            return place_of(self.rows, feature)
        names = self.schema.features()
        if feature in names:
            return names.index(str(feature))
        return self.schema.owners().index(self._column(feature))

    def name(self, place: int) -> str:
        """Return the name of a feature."""
        return name_of(self.rows, place) if self.schema is None else self.schema.features()[place]

    def two(self, features: tuple[int | str, int | str] | None) -> tuple[int, int]:
        """Return the numbers of two features: those given, or the first two, of a table the clearest."""
        if features is not None:
            first, second = map(self.place, features)
            return first, second
        if np.shape(self.rows)[1] < 2:
            raise ValueError("regions of gates need two features, and the model has one")
        if self.schema is None:
            return 0, 1
        owners = self.schema.owners()
        columns = sorted(self.schema.columns, key=lambda column: CLEAREST.index(column.kind))
        places = [owners.index(column.name) for column in columns] + list(range(len(owners)))
        first, second = list(dict.fromkeys(places))[:2]
        return first, second

    def show_dates(self, axis: Axis, place: int) -> None:
        """Show a feature as dates if it is one."""
        dates = [] if self.schema is None else [c.name for c in self.schema.columns if isinstance(c, Date)]
        if self.name(place) in dates:
            show_dates(axis)

    def _column(self, feature: int | str) -> str:
        assert self.schema is not None
        names = list(self.schema.groups())
        if not isinstance(feature, str):
            if not 0 <= feature < len(names):
                raise ValueError(f"feature must be from 0 to {len(names) - 1}, or a name, got {feature}")
            return names[feature]
        if feature not in names:
            raise ValueError(f"the model has no column {feature!r}{suggestion(feature, names)}")
        return feature


def look(estimator: Any, X: Any, at: Any = None, needs: str | None = None) -> EstimatorView:
    """Return what a picture along features asks of an estimator.

    at: the row that gives the features that do not move; of a table, a mapping of columns to values. needs: a
    method that the estimator has to have. In a pipeline, it is asked for rows as they reach the last step;
    without `needs` the pipeline is asked as a whole, unless it ends with a table.
    """
    if isinstance(last_step(estimator), TableRegressor):
        table, frame = unwrap(estimator, X)
        features: FloatArray = table.features(frame)
        row = typical_row(features) if at is None else table.features(one_row(at))[0]
        return EstimatorView(table.networks, features, row, table.schema_)
    if needs is not None:
        estimator, X = unwrap(estimator, X, needs)
    return EstimatorView(estimator, X, at)
