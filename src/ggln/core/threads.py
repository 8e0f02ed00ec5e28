"""Running kernels that release the GIL on several threads."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Threads:
    """A number of threads that run lists of tasks; the caller's is one of them and works along."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = ThreadPoolExecutor(count - 1, "ggln") if count > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *exception: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def run(self, tasks: Sequence[Task]) -> None:
        """Run all tasks and wait for all of them; then raise what one of them raised, if any did."""
        waiting = deque(tasks)

        def work() -> None:
            while waiting:
                try:
                    function, arguments = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                function(*arguments)

        helpers = min(self.count, len(tasks)) - 1
        futures = [] if self.pool is None else [self.pool.submit(work) for _ in range(helpers)]
        try:
            work()
        finally:
            wait(futures)
        for future in futures:
            future.result()
