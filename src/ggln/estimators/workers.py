"""Who does the work: threads of this process or, where `joblib.parallel_config` says so, workers elsewhere.

Without a backend of joblib, or with one of threads, all work is done by threads here. Under any other, such
as "loky", "dask" or "ray", `fit` hands the networks over to it, each as one task; the rest is small, and
stays.
Inside a worker, a task has one thread unless `n_jobs` says otherwise: others run beside it.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from ggln.engine import memory
from ggln.engine.threads import Progress, Threads, one_blas_thread


class Elsewhere(Threads):
    """Threads of this process, and the workers of joblib's active backend for what can be sent there."""

    def __init__(self, count: int, n_jobs: int | None) -> None:
        super().__init__(count)
        self.n_jobs = n_jobs

    def gather(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], progress: Progress
    ) -> list[Any]:
        """As `Threads.gather`, in the workers.

        An array that several calls share is an argument of its own: joblib writes it to a file once, which
        processes of this machine map, and Dask scatters it once.
        """
        backend, _ = get_active_backend(prefer="threads")
        one_by_one = getattr(backend, "supports_return_generator", False)  # Ray's gives all at the end
        parallel = joblib.Parallel(self.n_jobs, batch_size=1, return_as="generator" if one_by_one else "list")
        found = []
        for result, steps in parallel(joblib.delayed(_call)(function, *arguments) for arguments in calls):
            progress(steps)
            found.append(memory.writeable(result))  # what came over a network may be read-only
        return found


def _call(function: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    """Return a result, and how many steps were done on the way."""
    done = 0

    def count(steps: int) -> None:
        nonlocal done
        done += steps

    with one_blas_thread():
        result = function(*arguments, count)
    return result, done


def threads_for(n_jobs: int | None) -> Threads:
    """Return as many threads as `n_jobs`, which is as in joblib, says in the place where this is called."""
    return Threads(_place(n_jobs)[0])


def workers_for(n_jobs: int | None) -> Threads:
    """Return who solves networks: these threads or, beside them, the workers of joblib's active backend."""
    count, elsewhere = _place(n_jobs)
    return Elsewhere(count, n_jobs) if elsewhere else Threads(count)


def _place(n_jobs: int | None) -> tuple[int, bool]:
    """Return how many threads there are here, and whether work is to be handed over to workers elsewhere."""
    backend, _ = get_active_backend(prefer="threads")  # which holds only where nobody has named another
    if getattr(backend, "uses_threads", False):
        return joblib.effective_n_jobs(n_jobs), False
    if _in_dask_worker():
        # joblib would send our tasks out again, and take the cores of the whole cluster for those of this one
        with joblib.parallel_config("threading"):
            return joblib.effective_n_jobs(n_jobs), False
    return min(joblib.effective_n_jobs(n_jobs), joblib.cpu_count()), True


def _in_dask_worker() -> bool:
    """Return whether this thread runs a task of Dask, which has then been imported."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
