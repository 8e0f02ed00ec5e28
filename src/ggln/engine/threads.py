"""Running kernels that release the GIL on several threads, and libraries of numerics on one."""

import functools
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController

Task = tuple[Callable[..., Any], tuple[Any, ...]]
Progress = Callable[[int], object]


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

    def run(self, tasks: Sequence[Task], release: Callable[[], object] = lambda: None) -> None:
        """Run all tasks and wait for all of them; then raise what one of them raised, if any did.

        Up to `count` tasks run at the same time, so that they may wait for each other; then `release` has to
        end their waiting, and is called as soon as one fails.
        """
        waiting = deque(tasks)

        def work() -> None:
            while waiting:
                try:
                    function, arguments = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                try:
                    function(*arguments)
                except BaseException:
                    release()
                    raise

        futures: list[Future[None]] = []
        try:
            if self.pool is not None:
                futures.extend(self.pool.submit(work) for _ in range(min(self.count, len(tasks)) - 1))
            work()
        except BaseException:
            release()
            raise
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def gather(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], progress: Progress
    ) -> list[Any]:
        """Return what `function` returns for the arguments of each call, and `progress` behind them.

        Calls share nothing but arrays that they only read, and the function belongs to a module: whoever
        replaces this method may run them in other processes.
        """
        found: list[Any] = [None] * len(calls)

        def call(place: int) -> None:
            found[place] = function(*calls[place], progress)

        with one_blas_thread():
            self.run([(call, (place,)) for place in range(len(calls))])
        return found


@functools.cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of numerics in this process; to look for them takes a millisecond."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Let NumPy's and SciPy's BLAS work on one thread: on several, sums are cut and rounded otherwise."""
    found: AbstractContextManager[object] = _libraries().limit(limits=1)
    return found
