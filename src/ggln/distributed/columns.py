"""Columns of data frames that are no numbers: a sample of rows tells what they are, as for `ggln fit`."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.distributed.cluster import quiet
from ggln.distributed.collections import aligned, delayed, is_frame
from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require
from ggln.tables.frames import columns_of, encode, target_names, unread
from ggln.tables.infer import infer
from ggln.tables.model import TableRegressor
from ggln.tables.read import Row
from ggln.tables.schema import Schema
from ggln.tables.train import INFER_ROWS


class Typed(NamedTuple):
    """Partitions on their workers, and how their columns become features."""

    parts: list[Any]  # futures of data frames
    schema: Schema
    names: list[str]  # of all columns
    sample: list[Row]

    def table(self, networks: GGLNRegressor) -> TableRegressor:
        """Return what was fitted, with the columns that it was fitted to."""
        model = TableRegressor.of(networks, self.schema)
        model.remember(encode(self.schema, self.names, self.sample, targets=False).X)
        model._said = frozenset(("column", name) for name in self.names)  # those left out have been spoken of
        return model


def all_numbers(X: Any) -> bool:
    """Return whether `GGLNRegressor` would take all columns: categories may be numbers, too."""
    if not is_frame(X):
        return True
    numeric = require("pandas").api.types.is_numeric_dtype
    return all(numeric(getattr(dtype, "categories", dtype)) for dtype in X.dtypes)


def typed(client: Any, X: Any, y: Any, gaps: bool) -> Typed:
    """Find out what the columns of a data frame are. gaps: whether the networks take NaN."""
    with quiet():
        parts = client.compute(aligned(X)[0])
        lengths = np.array(client.gather(client.compute([delayed(len)(part) for part in parts])))
        stride = max(1, int(lengths.sum()) // INFER_ROWS)
        asked = [
            delayed(take_rows)(part, -first % stride, stride)
            for part, first in zip(parts, np.cumsum(lengths) - lengths, strict=True)
        ]
        sample = [row for own in client.gather(client.compute(asked)) for row in own]
    names = list(map(str, X.columns))
    if not sample:
        raise ValueError("Found array with 0 sample(s): X has no rows")
    schema, remarks, _ = infer(unread(names), sample, [], (), (), gaps=gaps)
    for remark in remarks:
        warnings.warn(remark, stacklevel=4)
    like = y._meta if is_frame(y) else np.empty((0, *y.shape[1:]))
    schema.predict_numbers(target_names(like, X._meta))
    return Typed(parts, schema, names, sample)


def take_rows(part: Any, first: int, stride: int) -> list[Row]:
    """Return every so many rows of a partition, the cells as text."""
    return columns_of(part.iloc[first::stride])[1]


def features(schema: Schema, part: Any) -> NDArray[np.float64]:
    """Return the rows of a partition as the networks see them, [n, features]."""
    return encode(schema, *columns_of(part), targets=False).X
