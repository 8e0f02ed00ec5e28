"""How time, memory and errors grow with rows and features, on one machine, beside other regressors.

`fit` of Friedman's first function from a thousand to a million rows, and of ten to 2,000 features; memory of
a stream; a file that is learnt by `ggln fit` with a part of it in memory, beside the same as a stream; and
time and RMSE of `GGLNRegressor()`, LightGBM, CatBoost and River on three kinds of large tables. Each is
measured in a process of its own, after kernels are compiled; fits that take a few seconds are repeated, and
the best counts. River learns row by row in Python, and is left out above 10,000 rows.

Needs LightGBM, CatBoost and River, which the extra `peers` of the package installs, and a machine that does
nothing else. All of it takes about half an hour on two cores.

Example: ggln reproduce scaling --rows 1000,10000,100000 --peer-rows 10000 --file-rows 100000
"""

from collections.abc import Sequence
from typing import Annotated, Any

from ggln.extras import require, version
from ggln.reproduction.competitors.point_regressors import LIBRARIES, OURS, RIVER
from ggln.reproduction.scaling.measure import file, measure, stream
from ggln.reproduction.scaling.table import GOALS, figures_of
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, Models, NumberList, Option, Store
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks.large_tables import FEATURES, TABLES
from ggln.tables.plan import IN_MEMORY

VERSION = "1"
MODELS = (OURS, *LIBRARIES)
RIVER_ROWS = 10_000
"""River takes no more: a million rows would take it hours."""


def run(
    rows: Annotated[Sequence[int], NumberList("Rows of Friedman's function.")] = (
        1000,
        10_000,
        100_000,
        1_000_000,
    ),
    features: Annotated[Sequence[int], NumberList("Features of the wide tables.")] = (10, 50, 200, 500, 2000),
    wide_rows: Annotated[int, Option("Rows of the wide tables.", least=20)] = 10_000,
    peer_rows: Annotated[Sequence[int], NumberList("Rows of the tables for all models.")] = (
        10_000,
        100_000,
        1_000_000,
    ),
    stream_rows: Annotated[int, Option("Rows of the stream.", least=1)] = 1_000_000,
    file_rows: Annotated[int, Option("Rows of the file.", least=1)] = 1_000_000,
    models: Models = MODELS,
    threads: Annotated[int, Option("Threads of each fit.", least=1)] = 2,
    store: Store = STORE,
    in_memory: int = IN_MEMORY,
    **settings: Any,
) -> Results:
    """Measure everything, one after the other.

    in_memory: rows of the file that are fitted together. `settings` replace our defaults.
    """
    needed: dict[str, str] = {}
    for library in (LIBRARIES[model] for model in models if model in LIBRARIES):
        require(library)  # what is missing is missed before any work starts
        needed |= version(library)

    def job(table: str, count: int, width: int, model: str) -> jobs.Job:
        own = settings if model == OURS else {}
        given = {"table": table, "rows": count, "features": width, "model": model}
        return jobs.Job(measure, {**given, "threads": threads, "settings": own}, VERSION)

    first, common = next(iter(TABLES)), {"threads": threads, "settings": settings}
    wanted = {("rows", str(count)): [job(first, count, FEATURES, OURS)] for count in rows}
    wanted |= {("features", str(width)): [job(first, wide_rows, width, OURS)] for width in features}
    wanted["stream", ""] = [jobs.Job(stream, {"rows": stream_rows, **common}, VERSION)]
    wanted["file", ""] = [jobs.Job(file, {"rows": file_rows, "together": in_memory, **common}, VERSION)]
    for table in TABLES:
        for count in peer_rows:
            for model in models:
                if model != RIVER or count <= RIVER_ROWS:
                    wanted[f"{table}: {count:,} rows", model] = [job(table, count, FEATURES, model)]
    grid: Results = {
        row: {column: own[0] for column, own in columns.items()}
        for row, columns in jobs.run_grid(wanted, store, 1, "measurements").items()
    }
    results = {
        "experiment": "scaling",
        "threads": threads,
        "river_rows": RIVER_ROWS,
        "settings": settings,
        "machine": machine() | needed,
        "rows": grid.pop("rows"),
        "features": {"rows": wide_rows, "fits": grid.pop("features")},
        "stream": grid.pop("stream")[""]["marks"],
        "file": grid.pop("file")[""],
        "tables": grid,
    }
    figures = figures_of(results)
    goals = {name: goal._asdict() for name, goal in GOALS.items() if name in figures}
    return results | {"figures": figures, "goals": goals}
