"""Running kernels that release the GIL on several threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Threads:
    """A number of threads that run lists of tasks; with one thread, everything runs in the caller's."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = ThreadPoolExecutor(count, "ggln") if count > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *exception: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def run(self, tasks: Sequence[Task]) -> None:
        """Run all tasks and wait for all of them; then the first exception, if any, is raised here."""
        if self.pool is None or len(tasks) == 1:
            for function, arguments in tasks:
                function(*arguments)
        else:
            futures = [self.pool.submit(function, *arguments) for function, arguments in tasks]
            wait(futures)
            for future in futures:
                future.result()
