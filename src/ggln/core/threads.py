"""Running kernels that release the GIL on several threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
        """Run all tasks and wait for them; an exception of any is raised here."""
        if self.pool is None or len(tasks) == 1:
            for function, arguments in tasks:
                function(*arguments)
        else:
            for future in [self.pool.submit(function, *arguments) for function, arguments in tasks]:
                future.result()
