"""Many small independent jobs, run through joblib, each finished one kept in a file of its own.

A run that is killed goes on where it was: what is in the store is not computed again. Where the jobs run is
joblib's business, so ``with joblib.parallel_config("dask")`` around an experiment takes it to a cluster.
Only this process writes to the store; workers need no file system in common with it.
"""

import hashlib
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from ggln.reproduction.shared.record import Results, plain, write


class Job(NamedTuple):
    """A call of a module-level function with JSON-able arguments, whose result is a JSON-able dict.

    `arguments`, the function's name and `version` are the job's identity. What is in `places` is passed as
    well but changes no result: folders, for example. A new `version` disowns all results of older ones.
    """

    function: Callable[..., Results]
    arguments: dict[str, Any]
    version: str = "1"
    places: dict[str, Any] = {}  # noqa: RUF012  never written to

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.function.__name__}({arguments})"

    @property
    def identity(self) -> Results:
        """Return what makes this job this job, as JSON gives it back."""
        arguments: Results = json.loads(json.dumps(self.arguments))
        return {"function": _name(self.function), "version": self.version, "arguments": arguments}

    @property
    def file_name(self) -> str:
        """Return the name of the job's file: the hash of its identity."""
        identity = json.dumps(self.identity, sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()[:32] + ".json"


def with_seeds(
    function: Callable[..., Results],
    arguments: Mapping[str, Any],
    seeds: Iterable[int],
    version: str,
    places: Mapping[str, Any] | None = None,
) -> list[Job]:
    """Return one job for each seed, with all other arguments the same."""
    return [Job(function, {**arguments, "seed": seed}, version, dict(places or {})) for seed in seeds]


class JobError(ValueError):
    """Some jobs raised an exception; all others are finished and kept."""


def run(jobs: Sequence[Job], store: Path, n_jobs: int | None = None, title: str = "jobs") -> list[Results]:
    """Return the results in the order of the jobs, running those that `store` does not hold yet.

    n_jobs: workers, as in joblib; None takes what `joblib.parallel_config` says, or one.
    """
    results: dict[str, Results] = {}
    for job in jobs:
        found = _read(store / job.file_name)
        if found is not None and found["job"] == job.identity:
            results[job.file_name] = found["result"]
    missing = list({job.file_name: job for job in jobs if job.file_name not in results}.values())
    failures: list[tuple[Job, str]] = []
    with _progress() as bar:
        task = bar.add_task(title, total=len(jobs), completed=len(jobs) - len(missing))
        for number, result, error in _unordered(missing, n_jobs):
            job = missing[number]
            if error:
                failures.append((job, error))
            else:
                results[job.file_name] = plain(result)
                write(store / job.file_name, {"job": job.identity, "result": result})
            bar.advance(task)
    if failures:
        raise _failure(failures, len(jobs), store)
    return [results[job.file_name] for job in jobs]


def run_grid(
    wanted: Mapping[tuple[str, str], Sequence[Job]], store: Path, n_jobs: int | None, title: str
) -> dict[str, dict[str, list[Results]]]:
    """Return the results of the jobs of each cell, by its row and its column: of all seeds, for example."""
    found = iter(run([job for own in wanted.values() for job in own], store, n_jobs, title))
    grid: dict[str, dict[str, list[Results]]] = {}
    for (row, column), own in wanted.items():
        grid.setdefault(row, {})[column] = [next(found) for _ in own]
    return grid


def stored(function: Callable[..., Results], version: str, store: Path) -> list[tuple[Results, Results]]:
    """Return arguments and results of all finished jobs of a function, whichever run they belong to."""
    found = [entry for path in sorted(store.glob("*.json")) if (entry := _read(path)) is not None]
    return [
        (entry["job"]["arguments"], entry["result"])
        for entry in found
        if (entry["job"]["function"], entry["job"]["version"]) == (_name(function), version)
    ]


def _name(function: Callable[..., Results]) -> str:
    """Return a function's name with that of its experiment, which may be a module or a package of several."""
    experiment = ".".join(function.__module__.split(".")[:3])
    return f"{experiment}.{function.__qualname__}"


def _unordered(jobs: list[Job], n_jobs: int | None) -> Iterator[tuple[int, Results, str]]:
    """Give each job's number and its result, or what went wrong, as they finish."""
    # One job at a time: in a batch, a finished job would wait for the others, and be lost with them.
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    calls = (
        delayed(_attempt)(number, job.function, job.arguments | job.places) for number, job in enumerate(jobs)
    )
    finished: Iterator[tuple[int, Results, str]] = parallel(calls)
    return finished


def _attempt(
    number: int, function: Callable[..., Results], arguments: dict[str, Any]
) -> tuple[int, Results, str]:
    """Run a job in its worker, on one thread. An exception comes back as text, which can always be sent."""
    try:
        with threadpool_limits(1):
            return number, function(**arguments), ""
    except Exception:
        return number, {}, traceback.format_exc()


def _read(path: Path) -> Results | None:
    """Return what a file of the store holds; None if there is none or it is not whole."""
    try:
        entry = json.loads(path.read_bytes())
        whole = {"function", "version", "arguments"} <= entry["job"].keys() and isinstance(
            entry["result"], dict
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return entry if whole else None


def _failure(failures: list[tuple[Job, str]], total: int, store: Path) -> JobError:
    job, trace = failures[0]
    last_line = trace.strip().splitlines()[-1]
    error = JobError(
        f"{len(failures)} of {total} jobs failed, the others are kept in {store}; "
        f"the first was {job}: {last_line}"
    )
    error.add_note(trace)
    return error


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True)
    )
