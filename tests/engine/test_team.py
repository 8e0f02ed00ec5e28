"""Threads that wait for each other inside a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ggln.engine.jit import exact_kernel
from ggln.engine.team import ALONE, give_up, meet, share, team_of
from ggln.engine.threads import Threads


@exact_kernel
def add_up(numbers: Any, sums: Any, stages: Any, team: Any) -> None:
    """Let every stage add the sum of all numbers, whoever wrote them, to each of them, modulo a prime."""
    start, stop = share(numbers.size, 1, team)
    for stage in range(stages):
        sums[stage % 2, team.member] = numbers[start:stop].sum()
        meet(team, 2 * stage + 1)
        total = sums[stage % 2, : team.size].sum()
        for i in range(start, stop):
            numbers[i] = (numbers[i] + total) % 10007
        meet(team, 2 * stage + 2)


@exact_kernel
def shares(count: Any, unit: Any, team: Any) -> Any:
    return share(count, unit, team)


def after(members: int) -> np.ndarray[Any, Any]:
    numbers, sums = np.arange(50), np.zeros((2, members), np.int64)
    with Threads(members) as threads:
        threads.run([(add_up, (numbers, sums, 300, member)) for member in team_of(members)])
    return numbers


@pytest.mark.parametrize("members", [2, 3, 7])
def test_nobody_goes_on_before_all_have_come(members: int) -> None:
    """Each of 300 stages needs what all members did in the one before; they may outnumber the cores."""
    np.testing.assert_array_equal(after(members), after(1))


@pytest.mark.parametrize(("count", "unit"), [(0, 1), (1, 1), (3, 4), (256, 4), (23, 4), (7, 1)])
@pytest.mark.parametrize("members", [1, 2, 7])
def test_shares_cover_everything_once(count: int, unit: int, members: int) -> None:
    edges = [shares(count, unit, member) for member in team_of(members)]
    assert [i for start, stop in edges for i in range(start, stop)] == list(range(count))
    assert all(start % unit == 0 for start, stop in edges if start < stop)


def test_nobody_waits_for_a_member_that_failed() -> None:
    team, numbers = team_of(2), np.arange(50)

    def fail() -> None:
        raise ValueError("before the first meeting")

    tasks = [(add_up, (numbers, np.zeros((2, 2), np.int64), 3, team[1])), (fail, ())]
    with Threads(2) as threads, pytest.raises(ValueError, match="the first meeting"):
        threads.run(tasks, lambda: give_up(team))


def test_one_alone_never_waits() -> None:
    numbers = np.arange(5)
    add_up(numbers, np.zeros((2, 1), np.int64), 1, ALONE)
    np.testing.assert_array_equal(numbers, np.arange(5) + 10)
