"""Predictions for batches of rows, wherever these are: Ray Data, Spark, Arrow datasets and Parquet files.

A `BatchPredictor` is small: it names a model file, and every process reads that file once, when its first
batch comes. A batch is a dict of arrays, a data frame of pandas, a record batch or table of Arrow, or an
iterator of these; predictions come back as the same, in columns beside those of the rows.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.classifier import GLNClassifier
from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require
from ggln.persistence import load
from ggln.tables.frames import unnamed_rows
from ggln.tables.model import TableRegressor

FloatArray = NDArray[np.float64]
Columns = dict[str, FloatArray]
MOST_MODELS = 4
"""Models that a process keeps, those that were asked last: a worker lives long, and may meet many."""

_loaded: OrderedDict[str, tuple[tuple[int, int], Any]] = OrderedDict()
_lock = Lock()


def predict_batches(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    quantiles: Sequence[float] = (),
    keep: Sequence[str] | None = None,
    prefix: str = "",
    n_jobs: int | None = 1,
) -> "BatchPredictor":
    """Return a function of batches that predicts with a model file; see `BatchPredictor`.

    Examples
    --------
    >>> import ggln, numpy as np, tempfile, os
    >>> random = np.random.default_rng(0)
    >>> rows = {"id": np.arange(40), "a": random.random(40), "b": random.random(40)}
    >>> model = ggln.GGLNRegressor(layer_sizes=(4,), n_estimators=2, random_state=0)
    >>> model = model.fit(np.column_stack([rows["a"], rows["b"]]), rows["a"] - rows["b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.ggln"))
    ...     predict = ggln.predict_batches(
    ...         os.path.join(folder, "model.ggln"), columns=["a", "b"], quantiles=[0.05, 0.95], keep=["id"]
    ...     )
    ...     found = predict(rows)
    >>> list(found)
    ['id', 'mean', 'std', 'q0.05', 'q0.95']
    """
    return BatchPredictor(path, columns=columns, quantiles=quantiles, keep=keep, prefix=prefix, n_jobs=n_jobs)


class BatchPredictor:
    """A function of batches that predicts with a model file, which each process reads once.

    It can be sent to workers: it holds the name of the file and not the model, so all of them have to reach
    the file. If the file is replaced, the next batch is predicted by the new model.

    A regressor adds the columns mean, std, and q0.05 for a quantile. Several targets are told apart by their
    names, price_mean, or numbers, y0_mean. A classifier adds `probability_` and the name of each class.

    Parameters
    ----------
    path : str or path
        File of a `GGLNRegressor`, `GLNClassifier` or `TableRegressor`; those of `ggln fit` are of the last.
    columns : sequence of str, optional
        Columns of the features, in their order. By default those that the model knows by name, or, if it
        was fitted to an array, all.
    quantiles : sequence of float
        Levels between 0 and 1.
    keep : sequence of str, optional
        Columns of the batch that are given back beside the predictions; by default all.
    prefix : str
        Stands before the names of new columns.
    n_jobs : None or int
        Threads for each batch. By default one: workers run beside each other.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        quantiles: Sequence[float] = (),
        keep: Sequence[str] | None = None,
        prefix: str = "",
        n_jobs: int | None = 1,
    ) -> None:
        self.path = str(Path(path).absolute())  # workers may be in another folder
        self.columns = None if columns is None else _names("columns", columns)
        self.keep = None if keep is None else _names("keep", keep)
        self.quantiles = [float(level) for level in quantiles]
        if not all(0.0 < level < 1.0 for level in self.quantiles):
            raise ValueError(f"quantiles must be between 0 and 1, got {list(quantiles)!r}")
        self.prefix, self.n_jobs = prefix, n_jobs

    def __call__(self, batch: Any) -> Any:
        """Return a batch with its predictions; of an iterator, an iterator of such batches."""
        if isinstance(batch, Iterator):
            return map(self, batch)
        own = _kind_of(batch)
        kept = own.names() if self.keep is None else self.keep
        own.check(kept, "keep")
        added = self._predict(own)
        twice = [name for name in added if name in kept]
        if twice:
            raise ValueError(f"the batch has a column {twice[0]!r} already: keep others, or set a prefix")
        return own.joined(kept, added)

    # What comes out ------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Names of the columns that predictions go to. The model is read for that."""
        return [self.prefix + name for name in _added(_model_at(self.path), self.quantiles)]

    @property
    def schema(self) -> str:
        """These columns as Spark names their types, to stand behind those of kept columns."""
        return ", ".join(f"`{name}` double" for name in self.names)

    def arrow_schema(self, schema: Any) -> Any:
        """Return the schema of what comes back for batches of a schema of Arrow."""
        pyarrow = require("pyarrow", "Arrow")
        kept = schema.names if self.keep is None else self.keep
        fields = [schema.field(name) for name in kept]
        return pyarrow.schema(
            [*fields, *((name, pyarrow.float64()) for name in self.names)], metadata=schema.metadata
        )

    # Predicting ----------------------------------------------------------------------------------------

    def _predict(self, batch: "_Batch") -> Columns:
        """Return the columns of predictions."""
        model = _model_at(self.path)
        names = _added(model, self.quantiles)
        if not batch.rows():
            numbers = np.empty((0, len(names)))
        else:
            X = self._features(model, batch)
            (model.regressor_ if isinstance(model, TableRegressor) else model).n_jobs = self.n_jobs
            with unnamed_rows():
                numbers = _numbers(model, X, self.quantiles)
        return {self.prefix + name: numbers[:, j].copy() for j, name in enumerate(names)}

    def _features(self, model: Any, batch: "_Batch") -> Any:
        """Return the features of a batch: columns by their names, or an array of numbers."""
        known = _feature_names(model)
        names = self.columns or known or batch.names()
        batch.check(names, "columns" if self.columns else "the features")
        if isinstance(model, TableRegressor):
            values = [batch.values(name) for name in names]
            if known is None:
                return np.column_stack([np.asarray(own, object) for own in values])
            if len(names) != len(known):
                raise ValueError(f"columns names {len(names)} columns, but the model knows {len(known)}")
            return dict(zip(known, values, strict=True))
        parts = [batch.numbers(name) for name in names]
        X = np.column_stack(parts)
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"the batch has {X.shape[1]} columns of features, {', '.join(map(repr, names[:8]))}, but the "
                f"model was fitted to {model.n_features_in_}: name them by columns"
            )
        return X


def _names(what: str, given: Sequence[str]) -> list[str]:
    """Return several names; a single one is no sequence of its letters."""
    if isinstance(given, str):
        raise TypeError(f"{what} must be several names, such as [{given!r}], got {given!r}")
    return list(given)


def _model_at(path: str) -> Any:
    """Return the model of a file, which is read when it is new to this process."""
    try:
        status = Path(path).stat()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"there is no model file {path!r} where this batch is predicted: all workers have to reach it"
        ) from error
    stamp = status.st_mtime_ns, status.st_size
    with _lock:
        if path not in _loaded or _loaded[path][0] != stamp:
            _loaded[path] = stamp, load(path)
        _loaded.move_to_end(path)
        while len(_loaded) > MOST_MODELS:
            _loaded.popitem(last=False)
        model = _loaded[path][1]
    if not isinstance(model, GGLNRegressor | GLNClassifier | TableRegressor):
        raise ValueError(
            f"{path!r} holds a {type(model).__name__}: batches are predicted by regressors and classifiers"
        )
    return model


def _feature_names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _added(model: Any, quantiles: Sequence[float]) -> list[str]:
    """Return what the columns of a model's predictions are called."""
    if isinstance(model, GLNClassifier):
        if quantiles:
            raise ValueError("a classifier has probabilities and no quantiles")
        return [f"probability_{label}" for label in model.classes_]
    each = ["mean", "std", *(f"q{level:g}" for level in quantiles)]
    if model.n_outputs_ == 1:
        return each
    table = isinstance(model, TableRegressor)
    targets = model.targets if table else [f"y{i}" for i in range(model.n_outputs_)]
    return [f"{target}_{what}" for target in targets for what in each]


def _numbers(model: Any, X: Any, quantiles: Sequence[float]) -> FloatArray:
    """Return predictions [n, columns] in the order of their names."""
    if isinstance(model, GLNClassifier):
        chances: FloatArray = model.predict_proba(X)
        return chances
    if quantiles:
        found = model.predict_dist(X)
        parts = [found.mean, found.std, *found.quantile(list(quantiles))]
    else:
        parts = list(model.predict(X, return_std=True))
    columns = np.stack([np.reshape(part, (len(part), -1)) for part in parts], axis=2)  # [n, D, 2 + k]
    return columns.reshape(len(columns), -1)


# Kinds of batches --------------------------------------------------------------------------------------


class _Batch:
    """Columns by their names: a dict of arrays. Others say what is different."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def names(self) -> list[str]:
        """Return the names of all columns."""
        return list(self.batch)

    def rows(self) -> int:
        """Return how many rows there are."""
        return len(next(iter(self.batch.values()), ()))

    def values(self, name: str) -> Any:
        """Return a column as a sequence of values of any kind."""
        return self.batch[name]

    def numbers(self, name: str) -> FloatArray:
        """Return a column, or several beside each other, as numbers; a gap is NaN."""
        try:
            return np.asarray(self.values(name), np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the column {name!r} of the batch does not hold numbers: {error}") from error

    def check(self, names: Sequence[str], what: str) -> None:
        """Refuse names that are not there."""
        there = set(self.names())
        missing = [name for name in names if name not in there]
        if missing:
            raise ValueError(f"the batch has no column {missing[0]!r}, which is among {what}")

    def joined(self, kept: Sequence[str], added: Columns) -> Any:
        """Return the kept columns and the new ones."""
        return {**{name: self.batch[name] for name in kept}, **added}


class _Frame(_Batch):
    """A data frame of pandas."""

    def rows(self) -> int:
        return len(self.batch)

    def joined(self, kept: Sequence[str], added: Columns) -> Any:
        return self.batch[list(kept)].assign(**added)


class _Arrow(_Batch):
    """A record batch or a table of Arrow."""

    def names(self) -> list[str]:
        return list(self.batch.schema.names)

    def rows(self) -> int:
        return int(self.batch.num_rows)

    def values(self, name: str) -> Any:
        return self.batch.column(name).to_pylist()

    def numbers(self, name: str) -> FloatArray:
        column = self.batch.column(name)
        types = require("pyarrow", "Arrow").types
        if types.is_floating(column.type) or types.is_integer(column.type):
            found: FloatArray = column.to_numpy(zero_copy_only=False).astype(np.float64)
            return found
        return super().numbers(name)

    def joined(self, kept: Sequence[str], added: Columns) -> Any:
        pyarrow, schema = require("pyarrow", "Arrow"), self.batch.schema
        fields = [*map(schema.field, kept), *(pyarrow.field(name, pyarrow.float64()) for name in added)]
        arrays = [*map(self.batch.column, kept), *map(pyarrow.array, added.values())]
        return type(self.batch).from_arrays(arrays, schema=pyarrow.schema(fields, metadata=schema.metadata))


def _kind_of(batch: Any) -> _Batch:
    """Return how to read a batch; no library is imported that it is not of."""
    if isinstance(batch, Mapping):
        return _Batch(batch)
    library = type(batch).__module__.partition(".")[0]
    if library == "pandas" and hasattr(batch, "assign"):
        return _Frame(batch)
    if library == "pyarrow" and hasattr(batch, "num_rows"):
        return _Arrow(batch)
    raise TypeError(
        "a batch is a dict of arrays, a data frame of pandas, a record batch or table of pyarrow, or an "
        f"iterator of these, got {type(batch).__name__}"
    )
