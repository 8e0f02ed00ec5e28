"""The estimator on clusters: in this process, where it is fast, and on processes that may die."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ggln import GGLNRegressor, load
from ggln.distributed import DaskGGLNRegressor, cluster

pytestmark = pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
CHUNKS = (120, 0, 1, 179)
SMALL = {"layer_sizes": (3, 2), "n_estimators": 2, "context_dim": 2, "random_state": 0}


@pytest.fixture
def small():
    return dict(SMALL)


@pytest.fixture(scope="module")
def client():
    with in_this_process(2) as own:
        yield own


@contextmanager
def in_this_process(workers):
    local = LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None)
    with local as cluster, Client(cluster) as own:
        yield own


@pytest.fixture(scope="module")
def table(friedman):
    return friedman(300)


@pytest.fixture(scope="module")
def lazy(table):
    X, y = table
    return da.from_array(X, chunks=(CHUNKS, -1)), da.from_array(y, chunks=(CHUNKS,))


@pytest.fixture(scope="module")
def fitted(client, lazy):
    return DaskGGLNRegressor(client=client, **SMALL).fit(*lazy)


def bits(model):
    """All that a model knows."""
    values, arrays = model.to_local().learner_.state()
    return repr(values), {name: array.tobytes() for name, array in arrays.items()}


def test_arrays(fitted, table, lazy, small, fit_in_parts, assert_alike):
    X, y = table
    assert_alike(fitted.to_local(), GGLNRegressor(**small).fit(X, y), X, y)
    here = fit_in_parts(X, y, np.cumsum(CHUNKS[:-1]), **small)
    assert (fitted.to_local().predict(X) == here.predict(X)).all()  # the same as without a cluster
    mean, std = fitted.predict(lazy[0], return_std=True)
    assert isinstance(mean, da.Array)
    assert mean.chunks == ((120, 1, 179),)
    found = fitted.to_local().predict(X, return_std=True)
    assert (mean.compute() == found[0]).all()
    assert (std.compute() == found[1]).all()


def test_distributions(fitted, table, lazy):
    X, y = table
    here, there = fitted.to_local().predict_dist(X), fitted.predict_dist(lazy[0])
    assert (there.mean.compute() == here.mean).all()
    assert (there.std.compute() == here.std).all()
    for name in ("log_prob", "cdf", "sf", "crps"):
        assert np.allclose(getattr(there, name)(lazy[1]).compute(), getattr(here, name)(y))
    assert np.allclose(there.quantile([0.1, 0.5]).compute(), here.quantile([0.1, 0.5]))
    for mine, theirs in zip(there.interval(0.9), here.interval(0.9), strict=True):
        assert np.allclose(mine.compute(), theirs)
    assert [None if part is None else len(part) for part in dask.compute(*there.to_delayed())] == [
        120,
        None,
        1,
        179,
    ]


def test_data_frames(client, table, small, assert_alike):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, w=1.0 + (X[:, 0] > 0.5))
    frame.loc[::7, "b"] = np.nan
    lazy = dd.from_pandas(frame, npartitions=3)
    lazy = dd.concat(
        [lazy, lazy.partitions[:1].map_partitions(lambda part: part[:0])], interleave_partitions=True
    )
    model = DaskGGLNRegressor(client=client, **small).fit(lazy[list("abcdef")], lazy["y"], lazy["w"])
    local = GGLNRegressor(**small).fit(frame[list("abcdef")], y, sample_weight=frame["w"])
    assert list(model.feature_names_in_) == list("abcdef")
    assert_alike(model.to_local(), local, frame[list("abcdef")], y)
    assert (
        model.predict(lazy[list("abcdef")]).compute() == model.to_local().predict(frame[list("abcdef")])
    ).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy[list("bacdef")]).compute()


@pytest.mark.nightly
def test_rows_of_weight_zero_do_not_count(client, lazy, small, fitted):
    X, y = lazy
    more = da.concatenate([X, X[:50] + 7.0]), da.concatenate([y, y[:50] * 9.0])
    weights = da.from_array(np.repeat([1.0, 0.0], [300, 50]), chunks=more[1].chunks)
    model = DaskGGLNRegressor(client=client, **small).fit(*more, sample_weight=weights)
    assert bits(model)[1].keys() == bits(fitted)[1].keys()
    assert np.allclose(model.predict(X).compute(), fitted.predict(X).compute(), atol=1e-9)


@pytest.mark.nightly
def test_several_outputs(client, table, lazy, small, assert_alike):
    X, y = table
    Y = np.stack([y, X[:, 0] - 0.2 * y], axis=1)
    small |= {"n_estimators": 2}
    model = DaskGGLNRegressor(client=client, **small).fit(lazy[0], da.from_array(Y, chunks=(CHUNKS, 1)))
    assert_alike(model.to_local(), GGLNRegressor(**small).fit(X, Y), X, Y)
    assert model.predict(lazy[0]).shape == (300, 2)
    assert model.predict_dist(lazy[0]).interval(0.9)[0].compute().shape == (300, 2)


def test_very_few_rows(client, small):
    X, y = np.arange(5.0)[:, None], np.arange(5.0)
    model = DaskGGLNRegressor(client=client, **small).fit(
        da.from_array(X, chunks=2), da.from_array(y, chunks=2)
    )
    assert (model.to_local().predict(X) == GGLNRegressor(**small).fit(X, y).predict(X)).all()


def test_saved_and_gone_on_with(fitted, table, tmp_path):
    X, y = table
    fitted.to_local().save(tmp_path / "model.ggln")
    local = load(tmp_path / "model.ggln").partial_fit(X[:20], y[:20])
    assert (local.predict(X) == fitted.to_local().partial_fit(X[:20], y[:20]).predict(X)).all()


def test_pickled_and_cloned(fitted, lazy, client):
    other = pickle.loads(pickle.dumps(fitted))
    assert other.client is None
    other.client = client
    assert (other.predict(lazy[0]).compute() == fitted.predict(lazy[0]).compute()).all()
    assert clone(fitted).client is client
    assert clone(fitted).get_params() == fitted.get_params()
    assert clone(fitted).set_params(n_estimators=3).n_estimators == 3
    with pytest.raises(NotFittedError):
        clone(fitted).predict(lazy[0])


def test_predicts_without_a_cluster(fitted, lazy, table, monkeypatch):
    def nobody(self):
        raise ValueError

    monkeypatch.setattr(DaskGGLNRegressor, "_client", nobody)
    found = fitted.predict(lazy[0]).compute(scheduler="threads")
    assert (found == fitted.to_local().predict(table[0])).all()


def test_a_model_is_sent_once_and_never_with_a_partition(fitted, lazy):
    first = fitted.predict(lazy[0])
    sent = dict(fitted._sent)
    first.compute()
    again = fitted.predict(lazy[0])
    assert fitted._sent == sent
    assert len(sent) == 1
    model, graph = len(pickle.dumps(fitted._local)), len(pickle.dumps(again.__dask_graph__()))
    assert graph - lazy[0].nbytes < 0.1 * model


@pytest.mark.nightly
def test_many_contexts_are_warned_of(client, lazy, small, monkeypatch):
    monkeypatch.setattr("ggln.distributed.regressor.LARGE_SUMS", 1000)
    with pytest.warns(UserWarning, match=r"set context_dim"):
        DaskGGLNRegressor(client=client, **small | {"layer_sizes": (1,), "context_dim": 1}).fit(*lazy)


def test_traffic_is_what_is_sent(client, lazy, small, monkeypatch):
    sent = []

    def packed(client, value, name, send=cluster.send):
        sent.append(len(pickle.dumps(value, protocol=5)))
        return send(client, value, name)

    monkeypatch.setattr(cluster, "send", packed)
    model = DaskGGLNRegressor(client=client, **small).fit(*lazy)
    told = sum(stage.messages for stage in model.traffic_)
    assert told < sum(sent) < 1.2 * told + 2000 * len(sent)


def test_what_cannot_be_is_refused(client, lazy, table, small):
    X, y = lazy
    model = DaskGGLNRegressor(client=client, **small)
    for parameters in (
        {"step": "ogd", "context_dim": 2},
        {"forgetting": 100},
        {"covariance": "full"},
        {"base_model": [1]},
    ):
        with pytest.raises(ValueError, match=r"DaskGGLNRegressor|base_model"):
            clone(model).set_params(**parameters).fit(X, y)
    with pytest.raises(TypeError, match="must be a Dask array or data frame, got ndarray"):
        model.fit(*table)
    with pytest.raises(ValueError, match="X has 300 rows, but y has 200"):
        model.fit(X, y[:200])
    with pytest.raises(ValueError, match=r"partition 3.*NaN"):
        model.fit(X, da.where(da.arange(300, chunks=y.chunks) == 200, np.nan, y))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        model.fit(X, y, sample_weight=0.0 * y)
    with pytest.raises(ValueError, match="no rows"):
        model.fit(X[:0], y[:0])


def kill_one(cluster):
    """Return an observer that kills a worker in the middle of `fit`."""
    killed = []

    @contextmanager
    def observe(what, steps, learner):
        done = 0

        def advance(count):
            nonlocal done
            done += count
            if done * 2 >= steps and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        yield advance
        assert killed

    return observe


def on_processes(workers, lazy, dies):
    """Return all that a model of workers in processes of their own knows, one of which may die."""
    local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with local as cluster, Client(cluster) as own:
        model = DaskGGLNRegressor(client=own, **SMALL)
        if dies:
            model._observer = kill_one(cluster)
        return bits(model.fit(*lazy))


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_workers_changes_no_bit(workers, lazy, fitted):
    with in_this_process(workers) as own:
        assert bits(DaskGGLNRegressor(client=own, **SMALL).fit(*lazy)) == bits(fitted)


def test_a_worker_that_dies_changes_no_bit(lazy, fitted):
    assert on_processes(2, lazy, dies=True) == bits(fitted)


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_processes_changes_no_bit(workers, lazy, fitted):
    assert on_processes(workers, lazy, dies=False) == bits(fitted)
