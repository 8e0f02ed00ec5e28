"""Rows on the workers of a cluster: seconds of `fit` on one and on two, and what more workers would take.

A Dask cluster of this machine fits Friedman's first function. Its rows lie in partitions on workers, which
are processes of one thread. On one worker, what workers compute, what is sent, and how often the client waits
are counted. A model adds these up; two workers check it. Then it says what other tables would take on other
networks and on more workers.

Needs Dask, which the extra `dask` of the package installs, and a core for each worker that does nothing else.

Example: ggln reproduce workers --rows 20000 --partitions 4
"""

from collections.abc import Sequence
from typing import Annotated, Any

from ggln.extras import require, version
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, NumberList, Option, Store
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.workers.measure import fit, here, rounds
from ggln.reproduction.workers.model import HERE, NETWORKS, Costs, seconds_of

VERSION = "1"
CONTEXT_DIM = 10, 4
"""What `DaskGGLNRegressor` advises for many rows: by default, what travels grows with the rows."""
TABLES = 1, 100
"""Times as many rows as were measured: tables that the model is asked about."""


def run(
    rows: Annotated[int, Option("Rows of the table.", least=1000)] = 200_000,
    partitions: Annotated[int, Option("Partitions of the table.", least=1)] = 4,
    workers: Annotated[Sequence[int], NumberList("Workers that are measured, the first of them 1.")] = (1, 2),
    more: Annotated[Sequence[int], NumberList("Workers that the model is asked about.")] = (
        1,
        2,
        4,
        8,
        16,
        32,
        64,
    ),
    store: Store = STORE,
    **settings: Any,
) -> Results:
    """Measure a thread without a cluster, then clusters, then ask the model. `settings`: of networks."""
    require("distributed", "workers")
    if workers[0] != 1:
        raise ValueError(f"workers must begin with 1, which the model is made of, got {list(workers)}")
    settings = {"context_dim": list(CONTEXT_DIM)} | settings
    given = {"rows": rows, "settings": settings}
    fits = [
        jobs.Job(fit, {**given, "partitions": partitions, "workers": count}, VERSION) for count in workers
    ]
    others = jobs.Job(here, given, VERSION), jobs.Job(rounds, {"partitions": partitions}, VERSION)
    local, waiting, *measured = jobs.run([*others, *fits], store, 1, "measurements")
    costs = Costs.of(measured[0], waiting, partitions)
    return {
        "experiment": "workers",
        "rows": rows,
        "partitions": partitions,
        "settings": settings,
        "machine": machine() | version("distributed"),
        "local": local,
        "rounds": waiting,
        "fits": dict(zip(map(str, workers), measured, strict=True)),
        "model": {str(count): seconds_of(costs, count, NETWORKS[HERE]) for count in workers},
        "more": {
            name: {
                str(times * rows): {str(count): seconds_of(costs, count, network, times) for count in more}
                for times in TABLES
            }
            for name, network in NETWORKS.items()
            if name != HERE
        },
    }
