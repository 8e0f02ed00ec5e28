"""Arms against networks of their own, and their pseudo-counts against counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ggln.engine.arms.networks import Arms
from ggln.engine.gradient import inspect, reference
from ggln.engine.gradient.build import Settings, build, draw_gates
from ggln.engine.threads import Threads

Array = NDArray[Any]
ROWS, ARMS = 50, 3


@pytest.fixture(scope="module")
def chosen(make_settings: Callable[..., Settings]) -> Settings:
    return make_settings(base_model="linear", n_estimators=2, dtype=np.float32)


@pytest.fixture(scope="module")
def rows(chosen: Settings, make_rows: Callable[..., tuple[Array, Array]]) -> tuple[Array, Array, Array]:
    side, targets = make_rows(chosen, ROWS)
    return side, targets, np.random.default_rng(1).integers(ARMS - 1, size=ROWS)  # one is never played


@pytest.fixture
def learnt(chosen: Settings, rows: tuple[Array, Array, Array]) -> Arms:
    side, targets, arms = rows
    found = Arms(chosen, draw_gates(chosen, side), ARMS)
    found.learn(arms, side, targets, Threads(1))
    return found


def assert_same(one: Arms, other: Arms) -> None:
    mine, theirs = one.state(), other.state()
    assert mine.keys() == theirs.keys()
    for name in mine:
        assert np.array_equal(mine[name], theirs[name]), name


def test_an_arm_is_a_network_of_its_own(
    chosen: Settings, rows: tuple[Array, Array, Array], learnt: Arms
) -> None:
    side, targets, arms = rows
    found = learnt.ask(side)
    for arm in range(ARMS):
        alone = build(chosen, learnt.gates)
        own = arms == arm
        if own.any():
            alone.learn(side[own], targets[own], Threads(1))
        alone.shares[:] = 1 / alone.networks  # an arm believes its networks alike
        mean, variance = alone.moments(side, Threads(1))
        np.testing.assert_allclose(found.first[arm], mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found.second[arm] - found.first[arm] ** 2, variance, rtol=1e-4)
        assert np.array_equal(alone.weights, learnt.table.weights[2 * arm : 2 * arm + 2])
        for e in range(2):
            for z in side[:5]:
                kept = inspect.active_weights(alone, e, z[None])
                slots = learnt.table.pool.index[
                    learnt.group * arm + alone.neurons * e + np.arange(alone.neurons),
                    [reference.context(learnt.gates, alone.neurons * e + k, z) for k in range(alone.neurons)],
                ]
                first = learnt.table.pool.numbers[slots[0] * 8 : slots[0] * 8 + kept[0].shape[1]]
                assert np.array_equal(np.float32(kept[0][0]), first + learnt.table.shape.priors[0])


def test_single_rows_learn_what_blocks_do(rows: tuple[Array, Array, Array], learnt: Arms) -> None:
    side, targets, arms = rows
    for threads in (None, Threads(2)):
        other = Arms(learnt.settings, learnt.gates, ARMS)
        if threads is None:
            for t, arm in enumerate(arms):
                other.learn_one(int(arm), side[t : t + 1], targets[t : t + 1], 1.0)
        else:
            with threads:
                other.learn(arms[:20], side[:20], targets[:20], threads)
                other.learn(arms[20:], side[20:], targets[20:], threads)
        assert_same(other, learnt)


def test_pseudo_counts_are_visits_to_the_active_contexts(
    rows: tuple[Array, Array, Array], learnt: Arms
) -> None:
    side, _, arms = rows
    neurons = range(learnt.group)
    contexts = np.array([[reference.context(learnt.gates, k, z) for k in neurons] for z in side])  # [n, N]
    found = learnt.ask(side)
    for arm in range(ARMS):
        played = contexts[arms == arm]
        visits = np.array([(played == row).sum(axis=0) for row in contexts])
        np.testing.assert_allclose(found.visits[arm], visits.mean(axis=1))
        soft = np.mean((1.0 + visits) ** -0.5, axis=1) ** -2.0 - 1.0
        np.testing.assert_allclose(found.soft_visits[arm], soft, atol=1e-12)
        assert (found.soft_visits[arm] <= found.visits[arm] + 1e-9).all()
    assert (found.visits[ARMS - 1] == 0).all()
    assert (found.soft_visits[ARMS - 1] == 0).all()


def test_a_row_is_asked_as_in_a_block(rows: tuple[Array, Array, Array], learnt: Arms) -> None:
    side = rows[0]
    block = learnt.ask(side)
    for t in (0, 7):
        for single, many in zip(learnt.ask(side[t : t + 1]), block, strict=True):
            assert np.array_equal(single[:, 0], many[:, t])


def test_arms_come_and_go(rows: tuple[Array, Array, Array], learnt: Arms) -> None:
    side, targets, _ = rows
    before = learnt.ask(side)
    other = learnt.with_arms([1, 2], 1)
    for was, now in zip(before, other.ask(side), strict=True):
        assert np.array_equal(was[1:], now[:2])
        assert np.array_equal(was[2], now[2])  # arm 2 was never played, and knows as little as a new one
    learnt.learn_one(1, side[:1], targets[:1], 1.0)
    other.learn_one(0, side[:1], targets[:1], 1.0)
    assert np.array_equal(learnt.ask(side).first[1], other.ask(side).first[0])
    assert other.plays.tolist() == [*learnt.plays[1:], 0]


def test_state_is_all_there_is(rows: tuple[Array, Array, Array], learnt: Arms) -> None:
    side, targets, _ = rows
    other = Arms(learnt.settings, learnt.gates, ARMS)
    other.restore(learnt.state())
    for arms in (learnt, other):
        arms.learn_one(2, side[:1], targets[:1], 0.5)
    assert_same(other, learnt)


def test_a_slower_pace_moves_less(rows: tuple[Array, Array, Array], learnt: Arms) -> None:
    side, targets, _ = rows
    before = learnt.state()["weights.0"]
    moved = []
    for pace in (1.0, 0.25):
        other = Arms(learnt.settings, learnt.gates, ARMS)
        other.restore(learnt.state())
        other.learn_one(0, side[:1], targets[:1] + 3, pace)
        moved.append(np.abs(other.state()["weights.0"] - before).sum())
    assert 0 < moved[1] < 0.5 * moved[0]
