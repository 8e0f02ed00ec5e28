"""How fast the installed package is on this machine, in a few seconds: what `ggln bench` prints.

Timings of single calls vary; each figure is the best of a few repetitions. The benchmarks of the repository
(`make bench`) are longer, and compare with a plain loop.
"""

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.shared.record import Results, machine
from ggln.tables.columns import Column, Number
from ggln.tables.lines import Lines, Source
from ggln.tables.model import TableRegressor
from ggln.tables.read import separated
from ggln.tables.schema import Schema
from ggln.tables.stream import LONGEST, TableStream
from ggln.tables.write import Convention, Separated, prediction_names

FloatArray = NDArray[np.float64]

ROWS, FEATURES, REPEATS = 1024, 10, 3
SMALL: dict[str, Any] = {"layer_sizes": (32,) * 3, "context_dim": 4, "n_estimators": 1}


def run(n_jobs: int | None = None, rows: int = ROWS, **settings: Any) -> Results:
    """Return the speeds of the default networks and of a small one on rows of ten features."""
    random = np.random.default_rng(0)
    X = random.standard_normal((2 * rows, FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * random.standard_normal(2 * rows)
    model = GGLNRegressor(random_state=0, n_jobs=n_jobs, **settings)
    small = GGLNRegressor(random_state=0, **SMALL).partial_fit(X, y)
    model.fit(X[:100], y[:100])  # compiles
    start = time.perf_counter()
    model.fit(X[:rows], y[:rows])
    fit = time.perf_counter() - start
    stream = GGLNRegressor(random_state=0, n_jobs=n_jobs, **settings).partial_fit(X, y)
    blocks: dict[str, Callable[[], object]] = {
        "predict": lambda: model.predict(X[:rows]),
        "partial_fit": lambda: stream.partial_fit(X[:rows], y[:rows]),
        "prequential": lambda: stream.prequential(X[:rows], y[:rows]).mean,
    }
    singles: dict[str, Callable[[int], object]] = {
        "learn_one": lambda i: small.learn_one(X[i], y[i]),
        "predict_one": lambda i: small.predict_one(X[i]),
    }
    text = _csv(X, y)
    piped = GGLNRegressor(random_state=0, n_jobs=n_jobs, **settings).partial_fit(X, y)
    blocks["stream"] = lambda: _stream(piped, text, n_jobs)
    rates = {name: rows / _best(block, REPEATS) for name, block in blocks.items()}
    rates["stream"] *= 2  # it takes all rows
    return {
        "machine": machine(),
        "fit": {"rows": rows, "seconds": fit},
        "rows_per_second": rates,
        "microseconds": {name: 1e6 * _median(single, rows) for name, single in singles.items()},
    }


def _csv(X: FloatArray, y: FloatArray) -> bytes:
    """Return rows as a table whose last column is the target."""
    header = ",".join([*(f"x{i}" for i in range(X.shape[1])), "y"])
    lines = (",".join(f"{value:.5f}" for value in row) for row in np.column_stack([X, y]))
    return "\n".join([header, *lines, ""]).encode()


def _stream(regressor: GGLNRegressor, text: bytes, n_jobs: int | None) -> None:
    """Do what `ggln stream` does with a table: read, predict, learn and write every row."""
    table = separated("memory", Lines(Source(io.BytesIO(text))), "csv")
    columns: list[Column] = [Number(name) for name in table.columns[:-1]]
    model = TableRegressor.of(regressor, Schema(columns, ["y"]))
    writer = Separated(io.StringIO(), [*table.columns, *prediction_names(["y"], [])], Convention())
    stream = TableStream(model, table, writer, [], lambda _: None, n_jobs)
    for chunk in table.chunks(LONGEST, wait=False):
        stream.take(chunk)


def _best(function: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of a call, after one that compiles."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def _median(function: Callable[[int], object], calls: int) -> float:
    """Return the median time of calls for one row each."""
    function(0)
    times = []
    for i in range(calls):
        start = time.perf_counter()
        function(i)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def table(results: Results) -> list[tuple[str, str]]:
    """Return what was measured, and the figure."""
    fit, rates, singles = results["fit"], results["rows_per_second"], results["microseconds"]
    return [
        (f"fit, {fit['rows']:,} rows with the defaults", f"{fit['seconds']:.1f} s"),
        ("predict, the same model", f"{rates['predict']:,.0f} rows/s"),
        ("partial_fit, a stream with the defaults", f"{rates['partial_fit']:,.0f} rows/s"),
        ("prequential, predicting before learning", f"{rates['prequential']:,.0f} rows/s"),
        ("ggln stream, reading and writing included", f"{rates['stream']:,.0f} rows/s"),
        ("learn_one, one network of 3 layers of 32", f"{singles['learn_one']:.0f} microseconds"),
        ("predict_one, the same", f"{singles['predict_one']:.0f} microseconds"),
    ]
