import numpy as np
import pytest

from ggln.engine.lengths import shapes_of
from ggln.engine.newton import constants
from ggln.engine.newton.support import (
    Edges,
    _likeliest,
    extra_variance,
    find_edges,
    follow_edges,
    no_edges,
    shell_errors,
    widened,
)

NOBODY = np.empty(0)


@pytest.fixture
def edges():
    return Edges(
        features=np.array([0, 2]),
        low=np.array([-1.0, 0.0]),
        high=np.array([1.0, 2.0]),
        furthest=np.array([20.0, 20.0]),
        factors=np.array([0.5 * 20.0**2, 2.0 * 20.0**3]),
        powers=np.array([2.0, 3.0]),
        needed=np.array([0.25, 8.0]),
        gaps=np.array([0.0, constants.GAP_ROWS / 2]),
        typical=np.ones(1),
    )


def extra_of(edges, rows, weights=NOBODY):
    extra = np.empty(len(rows))
    found = follow_edges(edges, rows, weights, extra)
    assert found == (extra > 0.0).any()
    return extra


def test_the_kernel_is_its_twin(edges):
    rows = 3.0 * np.random.default_rng(0).normal(size=(300, 3))
    rows[::7, 2], rows[::11] = np.nan, 100.0
    np.testing.assert_allclose(extra_of(edges, rows), extra_variance(edges, rows), rtol=1e-14)


def test_what_is_outside(edges):
    rows = np.array(
        [[1.0, 99.0, 0.0], [-1.0, 0.0, 2.0], [np.nan, 0.0, np.nan], [3.0, 0.0, 1.0], [-3.0, 0.0, 3.0]]
    )
    # inside, on the edge, nothing known; two beyond; and one more in the other feature
    np.testing.assert_allclose(extra_of(edges, rows), [0.0, 0.0, 0.25 + 4.0, 2.0, 4.0])
    far = extra_of(edges, np.array([[25.0, 0.0, 1.0], [1e6, 0.0, 1.0]]))
    assert far[0] == far[1] == 0.5 * 20.0**2
    assert not extra_of(no_edges(), rows).any()


def test_rows_that_lack_a_feature_teach_to_do_without_it(edges):
    rows, weights = np.full((3, 3), np.nan), np.array([1.0, 0.0, constants.GAP_ROWS])
    first, second, third = extra_of(edges, rows, weights)
    assert first == 0.25 + 4.0 > second == third > 0.0
    assert extra_of(edges, rows[:1])[0] == 0.0


def test_derivatives(edges):
    rows, step = np.array([[2.0, 0.0, -1.5], [-4.0, 0.0, 2.5], [0.5, 0.0, 1.0]]), 1e-6
    for j in range(3):
        moved = step * np.eye(3)[j]
        slope = (extra_variance(edges, rows + moved) - extra_variance(edges, rows - moved)) / (2 * step)
        exact = extra_variance(edges, rows + 1e-20j * np.eye(3)[j]).imag / 1e-20
        np.testing.assert_allclose(exact, slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cuts", [(), (1,), (3, 4, 9)])
def test_rows_that_are_learnt_move_the_edges_one_by_one(edges, cuts):
    rows = np.cumsum(np.ones((12, 3)), axis=0)
    weights = np.where(np.arange(12) == 5, 0.0, 1.0)
    parts = zip(np.split(rows, cuts), np.split(weights, cuts), strict=True)
    found = np.concatenate([extra_of(edges, *part) for part in parts])
    # each row is one beyond the last in the first feature; the one after a row of no weight is two beyond
    expected = [0.0] + [0.5] * 5 + [0.5 * 4.0] + [0.5] * 5
    np.testing.assert_allclose(found - 2.0 * np.array([0, 0, 1, 1, 1, 1, 8, 1, 1, 1, 1, 1]), expected)
    assert (edges.high == 12.0).all()
    assert list(edges.low) == [-1.0, 0.0]


def test_further_variance_leaves_means_as_they_are():
    planes = np.array([[4.0, 8.0], [0.5, -1.0]])  # precisions, and times means
    found = widened(planes, 1.0 / planes[:, 0], np.array([0.75, 2.0]))
    np.testing.assert_allclose(1.0 / found[:, 0], [1.0, 4.0])
    np.testing.assert_allclose(found[:, 1] / found[:, 0], [2.0, -2.0])


def test_errors_of_shells_are_those_of_regressions_without_them():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(40, 1)), random.normal(size=(40, 1))
    covariance = shapes_of(X)[0] + 0.1 * np.eye(40)
    inverse = np.linalg.inv(covariance)
    distances, squares = shell_errors(X[:, 0], inverse, inverse @ y)
    expected = []
    for side in (X[:, 0], -X[:, 0]):
        for share in constants.SHELL_CUTS:
            out = side > np.quantile(side, share)
            known = covariance[np.ix_(~out, ~out)]
            means = covariance[np.ix_(out, ~out)] @ np.linalg.solve(known, y[~out])
            expected.append((side[out] - side[~out].max(), np.sum((y[out] - means) ** 2, axis=1)))
    np.testing.assert_allclose(distances, np.concatenate([at for at, _ in expected]))
    np.testing.assert_allclose(squares, np.concatenate([error for _, error in expected]))


@pytest.mark.parametrize("power", constants.SHELL_POWERS)
def test_laws_are_found_again(power):
    random = np.random.default_rng(2)
    distances = random.uniform(0.0, 0.5, 5000)
    squares = (0.01 + 9.0 * distances**power) * random.normal(size=5000) ** 2
    level, found = _likeliest(distances, squares, 0.01)
    assert found == power
    assert 6.0 < level < 13.0


def test_errors_that_do_not_grow_leave_little():
    squares = 0.01 * np.random.default_rng(3).normal(size=500) ** 2
    level, _ = _likeliest(np.linspace(0.0, 0.5, 500), squares, 0.01)
    assert level == pytest.approx(0.01)


def test_edges_are_those_of_rows_that_count():
    random = np.random.default_rng(4)
    X, weights = random.uniform(-1.0, 1.0, (100, 4)), np.ones(100)
    X[:, 2], X[0, 0], X[1, 1], weights[1] = (
        0.0,
        np.nan,
        50.0,
        0.0,
    )  # a constant, a gap, and a row of no weight
    y = X[:, 1:2] ** 2 + 0.05 * random.normal(size=(100, 1))
    edges = find_edges(X, X, y, weights, None, random)
    assert list(edges.features) == [0, 1, 3]
    np.testing.assert_array_equal(edges.high, np.nanmax(X[weights > 0][:, edges.features], axis=0))
    np.testing.assert_array_equal(edges.low, np.nanmin(X[weights > 0][:, edges.features], axis=0))
    # errors grow along the feature that matters
    rows = np.zeros((3, 4))
    rows[[0, 1, 2], edges.features] = 2.0
    first, second, last = extra_variance(edges, rows)
    assert second > 10 * max(first, last)
    few = find_edges(X[:20], X[:20], X[:20, 1:2], weights[:20], None, random)
    assert few.features.size == 0


def test_a_narrow_part_of_what_was_seen_tells_nothing_of_the_whole():
    random = np.random.default_rng(0)
    X = 1.0 + 0.01 * random.random((200, 1))  # the rows since a restart
    Y = np.sin(3e3 * X) + X
    own, seen = (
        find_edges(X, X, Y, np.ones(200), None, random, range_)
        for range_ in (None, np.array([[0.0], [1.02]]))
    )
    new = np.array([[1.03]])
    assert extra_of(own, new) > 100.0 * extra_of(seen, new) > 0.0
    assert seen.low == 0.0
    assert seen.high == 1.02
