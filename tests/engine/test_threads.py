"""Running tasks on threads."""

from __future__ import annotations

import threading
import time

import pytest

from ggln.engine.threads import Threads


@pytest.mark.parametrize("count", [1, 3])
def test_all_tasks_run(count: int) -> None:
    done: list[int] = []
    with Threads(count) as threads:
        threads.run([(done.append, (i,)) for i in range(20)])
    assert sorted(done) == list(range(20))


def test_one_thread_is_the_callers() -> None:
    names: list[str] = []
    with Threads(1) as threads:
        threads.run([(lambda: names.append(threading.current_thread().name), ())] * 2)
    assert names == [threading.current_thread().name] * 2


def test_tasks_run_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=10)
    with Threads(3) as threads:
        threads.run([(barrier.wait, ())] * 3)  # would time out one after the other


@pytest.mark.parametrize("count", [1, 3])
def test_exceptions_propagate(count: int) -> None:
    def fail() -> None:
        raise ValueError("what the task said")

    with Threads(count) as threads, pytest.raises(ValueError, match="what the task said"):
        threads.run([(time.sleep, (0,)), (fail, ()), (time.sleep, (0,))])


def test_no_task_outlives_an_exception() -> None:
    """Whoever catches the exception may reuse the arrays that the other tasks write."""
    finished = threading.Event()

    def fail() -> None:
        raise ValueError("the first task")

    def slow() -> None:
        time.sleep(0.1)
        finished.set()

    with Threads(2) as threads:
        with pytest.raises(ValueError, match="the first task"):
            threads.run([(fail, ()), (slow, ())])
        assert finished.is_set()


@pytest.mark.parametrize("failing", [0, 2])
def test_whoever_waits_for_a_failed_task_is_released(failing: int) -> None:
    released = threading.Event()

    def task(number: int) -> None:
        if number == failing:
            raise ValueError("the one that others wait for")
        assert released.wait(timeout=10)

    with Threads(3) as threads, pytest.raises(ValueError, match="others wait for"):
        threads.run([(task, (number,)) for number in range(3)], released.set)
