"""What is measured, each in a process of its own and once: a fit, a stream, and a file as it comes."""

import csv
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ggln.engine.newton.constants import WARM_ROWS
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.competitors.point_regressors import OURS, fit
from ggln.reproduction.costs import COMPILED
from ggln.reproduction.shared.process import MEGABYTE, alone, peak
from ggln.reproduction.shared.record import Results
from ggln.reproduction.tasks.large_tables import FEATURES, TABLES, friedman
from ggln.tables.plan import Input, Plan
from ggln.tables.train import Training

TEST_ROWS = 10_000
PIECE = 1000
"""Rows that a stream learns at a time."""
TARGET = "y"
FITS, SHORT = 3, 10.0
"""Short times vary: the best of three fits counts, or of those that ten seconds leave time for."""


def measure(
    table: str, rows: int, features: int, model: str, threads: int, settings: dict[str, Any]
) -> Results:
    """Fit a table; return seconds, those of all threads, the error on new rows, and the peak of memory."""
    return alone(_measure, table, rows, features, model, threads, settings)


def _measure(
    table: str, rows: int, features: int, model: str, threads: int, settings: dict[str, Any]
) -> Results:
    more = {"features": features} if TABLES[table] is friedman else {}
    new, truths = TABLES[table](TEST_ROWS, seed=1, **more)
    if model == OURS:  # kernels are compiled by a table that is not measured
        fit(model, new[:COMPILED], truths[:COMPILED], threads, settings)
    X, y = TABLES[table](rows, seed=0, **more)
    before, most, spans = peak(), 0.0, list[tuple[float, float]]()
    while not spans or (len(spans) < FITS and sum(own[0] for own in spans) < SHORT):
        start, used = time.perf_counter(), time.process_time()
        predict = fit(model, X, y, threads, settings)
        spans.append((time.perf_counter() - start, time.process_time() - used))
        most = most or peak()  # later fits hold the model before them as well
    seconds, processor = (min(own) for own in zip(*spans, strict=True))
    error = float(np.sqrt(np.mean((predict(new) - truths) ** 2)))
    megabytes = {"megabytes": most / MEGABYTE, "grown": (most - before) / MEGABYTE}
    return {
        "seconds": seconds,
        "processor": processor,
        "rmse": error,
        "features": X.shape[1],
        "fits": len(spans),
        **megabytes,
    }


def stream(rows: int, threads: int, settings: dict[str, Any]) -> Results:
    """Learn a stream; return seconds and the peak of memory at powers of ten, after its first rows."""
    return alone(_stream, rows, threads, settings)


def _stream(rows: int, threads: int, settings: dict[str, Any]) -> Results:
    model = GGLNRegressor(**settings, random_state=0, n_jobs=threads)
    marks = [2 * WARM_ROWS, *(10**power for power in range(4, 10) if 10**power <= rows)]
    learnt, found, start = 0, {}, time.perf_counter()
    while learnt < marks[-1]:
        model.partial_fit(*friedman(PIECE, seed=learnt))
        for mark in marks:
            if learnt < mark <= learnt + PIECE:
                found[mark] = {"megabytes": peak() / MEGABYTE, "seconds": time.perf_counter() - start}
        learnt += PIECE
    return {"marks": found}


class Once(Input):
    """A file that is read as a pipe is: once."""

    @property
    def repeatable(self) -> bool:
        """Whether it can be read twice."""
        return False


def file(rows: int, together: int, threads: int, settings: dict[str, Any]) -> Results:
    """Learn a file as `ggln fit` does, with a sample of it in memory, and as a stream; return both times."""
    names = [f"x{i}" for i in range(FEATURES)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        with path.open("w", newline="") as text:
            writer = csv.writer(text)
            writer.writerow([*names, TARGET])
            for first in range(0, rows, PIECE):
                X, y = friedman(min(PIECE, rows - first), seed=first)
                writer.writerows(np.column_stack([X, y]).round(6).tolist())
        ways = "stream", "fit", "read"
        own = {how: alone(_file, str(path), how, together, threads, settings) for how in ways}
    return {"rows": rows, "together": together, **own}


def _file(path: str, how: str, together: int, threads: int, settings: dict[str, Any]) -> Results:
    """Learn a file, or only read it."""
    _warm(threads, settings)
    start, used = time.perf_counter(), time.process_time()
    if how == "read":
        with Input(path).open() as table:
            for _ in table.chunks(PIECE):
                pass
    else:
        source, size = (Input(path), together) if how == "fit" else (Once(path), 0)
        Training(source, Plan([TARGET], settings=settings, in_memory=size), n_jobs=threads).run()
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "megabytes": peak() / MEGABYTE,
    }


def _warm(threads: int, settings: dict[str, Any]) -> None:
    """Have all kernels compiled that a table or a stream needs."""
    X, y = friedman(2 * COMPILED)
    GGLNRegressor(**settings, n_jobs=threads).fit(X, y).partial_fit(X[:PIECE], y[:PIECE])
    GGLNRegressor(**settings, n_jobs=threads).partial_fit(X, y)
