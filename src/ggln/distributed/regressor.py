"""`DaskGGLNRegressor`: the networks for rows that lie on the workers of a Dask cluster."""

from __future__ import annotations

import copy
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ggln.distributed import rows
from ggln.distributed.cluster import OnCluster, quiet, send
from ggln.distributed.collections import aligned, delayed, is_frame, joined, lengths_of, partitions_of
from ggln.distributed.columns import all_numbers, features, typed
from ggln.distributed.distribution import DaskDistribution
from ggln.distributed.partitions import Stage
from ggln.distributed.solve import solve_table, sums_of
from ggln.engine import memory
from ggln.engine.newton.constants import FEWEST_ROWS
from ggln.engine.newton.learner import make_learner
from ggln.estimators.base import refuse_nothing, those_that_count
from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require
from ggln.tables.model import TableRegressor
from ggln.tables.schema import Schema

LARGE_SUMS = 1 << 28
"""Bytes that a partition adds to a round, beyond which somebody should know: 256 MB."""
Local = GGLNRegressor | TableRegressor


class DaskGGLNRegressor(RegressorMixin, BaseEstimator):
    """`GGLNRegressor` for rows that lie on the workers of a Dask cluster.

    Rows stay where they are. Sums over them, gates and weights travel, and samples of rows where one machine
    would look at a sample as well. The result is that of `GGLNRegressor.fit` up to rounding, and bit for bit
    the same on any number of workers for the same partitions.

    Parameters
    ----------
    client : distributed.Client, optional
        Of the cluster; the client that is active, if there is none.
    **parameters
        Those of `GGLNRegressor`, with step="newton", a base_model by name, and forgetting that is no number.
        Several outputs are learnt apart.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    n_outputs_ : int
        Targets per row.
    n_estimators_ : int
        Number of networks for each target.
    traffic_ : list of Stage
        What `fit` sent in each of its stages: `rounds`, in which the client waited for an answer, and bytes.
        Every worker receives `messages` once, every partition gives `sums` to an addition, and `rows` is
        what all partitions sent of single rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from ggln.distributed import DaskGGLNRegressor
    >>> X = da.random.default_rng(0).normal(size=(1000, 3), chunks=(250, 3))  # doctest: +SKIP
    >>> with Client() as client:  # doctest: +SKIP
    ...     model = DaskGGLNRegressor(random_state=0).fit(X, X.sum(axis=1))
    ...     mean = model.predict(X).compute()
    >>> model.to_local().save("model.ggln")  # doctest: +SKIP
    """

    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        self.client = client
        for name, value in GGLNRegressor(**parameters).get_params(deep=False).items():
            setattr(self, name, value)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*GGLNRegressor._get_param_names(), "client"])

    def __sklearn_clone__(self) -> Self:
        # a client is a connection, of which there are no copies
        parameters = copy.deepcopy({k: v for k, v in self.get_params(deep=False).items() if k != "client"})
        return type(self)(client=self.client, **parameters)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the client and what is on its cluster."""
        return {**vars(self), "client": None} | ({"_sent": {}} if hasattr(self, "_sent") else {})

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a table from scratch, whatever was learnt before.

        Parameters
        ----------
        X : Dask array or data frame of n rows
            NaN is a missing value. Columns of texts, categories, dates become features as `TableRegressor`
            makes them, by all rows or, of more than 10,000, by a sample.
        y : Dask array, series or data frame of n rows
            Cut at the same rows as X.
        sample_weight : Dask array or series of n rows, optional
            How much each row counts, as in `GGLNRegressor.fit`.
        """
        model = self._new_local()
        others = {"y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
        parts, client = aligned(X, **others), self._client()
        table = None if all_numbers(X) else typed(client, X, y, model._takes_gaps())
        schema = None
        if table is not None:
            parts[0], schema = table.parts, table.schema
        take = partial(take_part, model.get_params(deep=False) | {"random_state": None}, schema)
        states = [delayed(take)(i, *own) for i, own in enumerate(zip(*parts, strict=True))]
        with quiet():
            cluster = OnCluster(client, client.compute(states))
        cluster.settle()
        cluster.begin("checks")
        given, counted = np.sum(cluster.each(rows.count_given), axis=0)
        if not given:
            raise ValueError("Found array with 0 sample(s): X has no rows")
        refuse_nothing(np.ones(counted))
        shape = int(counted), X.shape[1] if schema is None else len(schema.features())
        self._fit_parts(cluster, model, shape, np.empty((0, *y.shape[1:])))
        names = list(X.columns) if is_frame(X) and table is None else []
        if names and all(isinstance(name, str) for name in names):
            model.feature_names_in_ = np.array(names, dtype=object)
        model._observer = None
        self._take_over(model if table is None else table.table(model), cluster.traffic)
        return self

    def _fit_parts(self, cluster: OnCluster, model: Any, shape: tuple[int, int], targets: Any) -> None:
        """Fit the local model by rows on the cluster. targets: none, in the shape that they have."""
        if shape[0] < FEWEST_ROWS:  # there are no networks, and nothing to add up
            X, Y, weights = map(np.concatenate, zip(*cluster.each(rows.show), strict=True))
            model.fit(X, Y[:, 0] if targets.ndim == 1 else Y, weights)
            return
        learner = make_learner(model._exact_settings(shape, 1 if targets.ndim == 1 else targets.shape[1]))
        needed = sums_of(learner.settings, shape[0])
        if needed > LARGE_SUMS:
            warnings.warn(
                f"every partition adds {memory.readable(needed)} to each round of a layer, because networks "
                f"for {shape[0]} rows have many contexts: set context_dim, for example context_dim=(10, 4)",
                stacklevel=3,
            )
        with model._progress("learning", learner.steps(shape[0]), learner) as progress:
            solve_table(cluster, learner, progress)
        model.n_features_in_ = shape[1]
        model._keep(learner, targets)

    def _new_local(self) -> GGLNRegressor:
        """Return a regressor for one machine with the same parameters, if there can be one."""
        parameters = self.get_params(deep=False)
        del parameters["client"]
        model = GGLNRegressor(**parameters)
        model._check_parameters()
        if model.step != "newton":
            raise ValueError(f'DaskGGLNRegressor needs step="newton", got step={model.step!r}')
        if not isinstance(model.base_model, str):
            raise ValueError(
                "DaskGGLNRegressor takes no regressors as base_model: they need all rows in one place"
            )
        if not isinstance(model.forgetting, str | None):
            raise ValueError(
                f'DaskGGLNRegressor takes forgetting="auto" or None, got {model.forgetting!r}: rows that '
                "count less with age need one order of all rows"
            )
        if model.covariance != "apart":
            raise ValueError(f'DaskGGLNRegressor needs covariance="apart", got {model.covariance!r}')
        model._observer = getattr(self, "_observer", None)
        return model

    def _take_over(self, model: Local, traffic: list[Stage]) -> None:
        for name in [name for name in vars(self) if name.endswith("_in_")]:
            delattr(self, name)
        for name in ("n_features_in_", "feature_names_in_", "n_outputs_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.n_estimators_ = networks_of(model).n_estimators_
        self.traffic_, self._local = traffic, model
        self._sent: dict[str, Any] = {}

    def to_local(self) -> Local:
        """Return a regressor with what was learnt, to be saved and to learn further rows one by one.

        It is a `GGLNRegressor`, or a `TableRegressor` if there were columns that are no numbers.
        """
        check_is_fitted(self)
        return copy.deepcopy(self._local)

    # Predicting ----------------------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean and, if asked for, its standard deviation: lazy Dask arrays."""
        if not return_std:
            return self._moment(X, "mean")
        return self._moment(X, "mean"), self._moment(X, "std")

    def predict_dist(self, X: Any) -> DaskDistribution:
        """Return the predictive distribution of each row, which computes nothing before it has to."""
        parts, lengths = self._later(X, foretell), lengths_of(X)
        return DaskDistribution(parts, lengths, self.n_outputs_, X)

    def _moment(self, X: Any, which: str) -> Any:
        check_is_fitted(self)
        after = () if networks_of(self._local)._flat_target else (self.n_outputs_,)
        return joined(self._later(X, partial(predict_part, which=which)), lengths_of(X), 0, (), after)

    def _later(self, X: Any, answer: Any) -> list[Any]:
        """Return what a function of the model and of a partition gives, later."""
        check_is_fitted(self)
        parts, model = partitions_of("X", X), self._model()
        return [delayed(answer)(model, part) for part in parts]

    def _model(self) -> Any:
        """Return the model as workers have it: sent once to a cluster, or part of a graph without one."""
        try:
            client = self._client()
        except ValueError:
            return delayed(copy.copy)(self._local)
        if client.id not in self._sent:
            self._sent[client.id] = send(client, self._local, "model")
        return self._sent[client.id]

    def _client(self) -> Any:
        """Return the client that was given, or the one that is active."""
        distributed: Any = require("distributed", type(self).__name__)
        if self.client is not None:
            return self.client
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask client: make one before, with distributed.Client(), or give client="
            ) from error


# On workers --------------------------------------------------------------------------------------------


def take_part(
    parameters: dict[str, Any], schema: Schema | None, index: int, X: Any, y: Any, sample_weight: Any = None
) -> rows.Part:
    """Return the rows of a partition, checked as `GGLNRegressor.fit` does, without those of weight 0.

    schema: how columns become features; None for numbers.
    """
    if len(X) != len(y):
        raise ValueError(f"partition {index} of X has {len(X)} rows, but that of y has {len(y)}")
    columns = 1 if y.ndim == 1 else y.shape[1]
    if not len(X):
        width = X.shape[1] if schema is None else len(schema.features())
        return rows.Part(index, np.empty((0, width)), np.empty((0, columns)), np.empty(0), 0)
    model = GGLNRegressor(**parameters)
    try:
        X = X if schema is None else features(schema, X)
        table, targets = model._check_table(X, y, reset=True)
        weights = model._check_weights(sample_weight, table, True)
    except ValueError as error:
        raise ValueError(f"partition {index}: {error}") from error
    own = those_that_count(weights, table, targets.reshape(-1, columns), weights)
    X_counted, y_counted, weights = map(np.ascontiguousarray, own)
    return rows.Part(index, X_counted, y_counted, weights, len(X))


def networks_of(model: Local) -> GGLNRegressor:
    """Return the networks of a model."""
    return model.networks if isinstance(model, TableRegressor) else model


def predict_part(model: Local, X: Any, which: str) -> Any:
    """Return the means of a partition, or the standard deviations."""
    if not len(X):
        return np.empty((0,) if networks_of(model)._flat_target else (0, model.n_outputs_))
    return model.predict(X, return_std=True)[which == "std"]


def foretell(model: Local, X: Any) -> Any:
    """Return the distribution of a partition; None without rows."""
    return model.predict_dist(X) if len(X) else None
