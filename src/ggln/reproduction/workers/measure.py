"""What is measured, each in a process of its own: fits on clusters of this machine, and rounds of nothing."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributed.cluster import OnCluster
from ggln.distributed.regressor import DaskGGLNRegressor
from ggln.estimators.regressor import GGLNRegressor
from ggln.extras import require
from ggln.reproduction.costs import COMPILED
from ggln.reproduction.shared.process import alone
from ggln.reproduction.shared.record import Results
from ggln.reproduction.tasks.large_tables import FEATURES, friedman

TEST_ROWS = 10_000
ROUNDS = 50
PAYLOAD = 1 << 24
"""Bytes that are sent back and forth to measure a rate: 16 MB, as a round of a layer may have."""


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Give a client of workers of one thread each, which are processes."""
    distributed: Any = require("distributed", "workers")
    made = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with made as own, distributed.Client(own) as client:
        yield client


def fit(rows: int, partitions: int, workers: int, settings: dict[str, Any]) -> Results:
    """Fit rows on a cluster; return seconds, what they were spent on, what was sent, and the error."""
    return alone(_fit, rows, partitions, workers, settings)


def _fit(rows: int, partitions: int, workers: int, settings: dict[str, Any]) -> Results:
    with cluster(workers) as client:
        model = DaskGGLNRegressor(client=client, random_state=0, **settings)
        few = _table(client, COMPILED * workers, workers)
        model.fit(*few)  # kernels are compiled by a table that is not measured
        X, y = _table(client, rows, partitions)
        client.get_task_stream()  # tasks are told from now on
        began, start, used = time.time(), time.perf_counter(), time.thread_time()
        model.fit(X, y)
        seconds, client_seconds = time.perf_counter() - start, time.thread_time() - used
        tasks = client.get_task_stream(start=began)
    work: dict[str, float] = defaultdict(float)
    for task in tasks:
        work[task["worker"]] += sum(
            span["stop"] - span["start"] for span in task["startstops"] if span["action"] == "compute"
        )
    sent = {
        name: sum(getattr(stage, own) for stage in model.traffic_)
        for name, own in {
            "rounds": "rounds",
            "messages": "messages",
            "sums": "sums",
            "singles": "rows",
        }.items()
    }
    spent = {"seconds": seconds, "client": client_seconds, "work": sorted(work.values())}
    return {**spent, **sent, "rmse": _error(model.to_local())}


def _table(client: Any, rows: int, partitions: int) -> tuple[Any, Any]:
    """Return a table that lies on the workers, the same on any number of them."""
    dask, da = require("dask", "workers"), require("dask.array", "workers")
    counts = [len(own) for own in np.array_split(np.arange(rows), partitions)]
    parts = [dask.delayed(_part)(count, seed) for seed, count in enumerate(counts)]
    shapes = [(count, FEATURES + 1) for count in counts]
    blocks = [da.from_delayed(part, shape, float) for part, shape in zip(parts, shapes, strict=True)]
    table = client.persist(da.concatenate(blocks))
    found = client.persist([table[:, :FEATURES], table[:, FEATURES]])
    require("distributed", "workers").wait(found)
    return found[0], found[1]


def _part(rows: int, seed: int) -> NDArray[np.float64]:
    return np.column_stack(friedman(rows, seed))


def _error(model: GGLNRegressor) -> float:
    X, y = friedman(TEST_ROWS, seed=10**6)
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def here(rows: int, settings: dict[str, Any]) -> Results:
    """Fit as many rows without a cluster, on one thread; return seconds and the error."""
    return alone(_here, rows, settings)


def _here(rows: int, settings: dict[str, Any]) -> Results:
    model = GGLNRegressor(random_state=0, n_jobs=1, **settings)
    model.fit(*friedman(COMPILED))
    X, y = friedman(rows)
    used = time.process_time()  # of one thread: what else runs is left out
    model.fit(X, y)
    return {"seconds": time.process_time() - used, "rmse": _error(model)}


def rounds(partitions: int) -> Results:
    """Return the seconds of a round with nothing to do, those for each partition more, and bytes a second."""
    return alone(_rounds, partitions)


def _rounds(partitions: int) -> Results:
    with cluster(1) as client:
        few, many = (_seconds_of_rounds(client, count) for count in (partitions, 4 * partitions))
        one = OnCluster(client, client.map(int, [0]))
        one.settle()
        one.begin("sums")
        payload = np.zeros(PAYLOAD // 8)
        one.total(give_back, payload)
        start = time.perf_counter()
        for _ in range(ROUNDS // 10):
            one.total(give_back, payload)
        seconds = (time.perf_counter() - start) / (ROUNDS // 10)
    each = (many - few) / (3 * partitions)
    return {"seconds": few - partitions * each, "seconds_each": each, "rate": 2 * PAYLOAD / seconds}


def _seconds_of_rounds(client: Any, partitions: int) -> float:
    """Return the seconds of a round that sends a word and gets one of each partition."""
    states = OnCluster(client, client.map(int, range(partitions)))
    states.settle()
    states.begin("nothing")
    states.total(give_back, np.zeros(1))
    start = time.perf_counter()
    for _ in range(ROUNDS):
        states.total(give_back, np.zeros(1))
    return (time.perf_counter() - start) / ROUNDS


def give_back(_: int, message: Any) -> Any:
    """Return what was sent."""
    return message
