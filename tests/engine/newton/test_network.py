"""Promises of one network and of the learner: rows alone and in blocks, cuts of a stream, threads."""

import numpy as np
import pytest

from ggln.engine.newton import constants
from ggln.engine.newton.contexts import first_level
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.network import Shape
from ggln.engine.newton.neurons.univariate import Univariate
from ggln.engine.newton.online import ask
from ggln.engine.newton.settings import Settings
from ggln.engine.newton.solving import fit_network
from ggln.engine.threads import Threads

KIND = Univariate(1)
LEARNT = "tables", "gradients", "curvatures", "told", "counts", "fresh", "spread"


def draw(rows, seed=0):
    """Return features [n, 5], some of them missing, and targets [n, 1]."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 5))
    Y = (np.sin(2.0 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0))[:, None] + 0.1 * random.standard_normal((rows, 1))
    X[random.random(X.shape) < 0.02] = np.nan
    return X, Y


def base_of(Y, regressions):
    """Return what a regression that errs says, [n, R, 2]."""
    means = Y + 0.5 * np.cos(40.0 * Y)
    return np.stack([np.full(Y.shape, 4.0), 4.0 * means], axis=2)[:, :regressions]


def solve(regressions=1, seed=0, layers=(4, 4, 3)):
    """Return a network."""
    X, Y = draw(400)
    shape = Shape(layers, 3, regressions, False, 5.0, 1.0, 1.0, 1e-2, 1e7)
    random, rest, weights = np.random.default_rng(seed), Y - Y.mean(), np.ones(400)
    return fit_network(KIND, shape, X, base_of(Y, 1), Y, weights, random, rest, lambda _: None)


def go(network, parts, learning):
    """Return what a network says of some more rows, in parts of so many rows."""
    X, Y = draw(sum(parts), 1)
    base, weights = base_of(Y, network.regressions), np.ones(len(X))
    weights[::7], weights[1::5] = 0.0, 2.5
    found, start = np.empty((len(X), 2)), 0
    for count in parts:
        own = slice(start, start + count)
        found[own] = ask(KIND, network, X[own], base[own], Y[own], weights[own], learning)
        start += count
    assert np.isfinite(found).all()
    return found


@pytest.mark.parametrize("regressions", [0, 1])
@pytest.mark.parametrize("learning", [False, True])
def test_cuts_of_a_stream_do_not_matter(regressions, learning):
    whole, cut = solve(regressions), solve(regressions)
    expected = go(whole, [300], learning)
    np.testing.assert_array_equal(go(cut, [1] * 100 + [7, 93, 64, 33, 3], learning), expected)
    for name in LEARNT:
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))
    changed = not np.array_equal(whole.tables, solve(regressions).tables)
    assert changed == learning


def test_layers_of_other_sizes_leave_nothing_in_the_padding():
    network = solve(layers=(4, 9, 2))
    go(network, [300], True)
    for layer, (first, size) in enumerate(zip(network.first, network.sizes, strict=True)):
        own = slice(first, first + size)
        assert not network.tables[own, :, network.inputs[layer] :].any()
        assert not network.gradients[own, :, network.inputs[layer] :].any()


def test_rows_of_weight_0_teach_nothing():
    network, before = solve(), solve()
    X, Y = draw(50, 1)
    ask(KIND, network, X, base_of(Y, 1), Y, np.zeros(50), True)
    for name in LEARNT:
        np.testing.assert_array_equal(getattr(network, name), getattr(before, name))


def learner(**changes):
    """Return a small learner."""
    values = {
        "layer_sizes": (4, 3),
        "context_dims": (3, 2),
        "n_estimators": 4,
        "regressions": True,
        "base_variance": 1.0,
        "bias_range": 5.0,
        "bias_variance": 1.0,
        "min_variance": 1e-10,
        "max_variance": 1e2,
        "covariance": "isotropic",
        "standardize": True,
        "features": 5,
        "outputs": 1,
        "seed": 0,
    }
    return ExactLearner(Settings(**(values | changes)))


def same(one, other):
    """Say whether two learners know the same, bit for bit."""
    (_, first), (_, second) = one.state(), other.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array, name)


def test_threads_do_not_matter():
    X, Y = draw(300)
    found = []
    for count in (1, 2):
        own = learner()
        with Threads(count) as threads:
            own.fit(X, Y, np.ones(300), threads, lambda _: None)
            own.partial_fit(*draw(100, 1), np.ones(100), threads, False)
            found.append((own, own.predictions(X, threads)))
    same(found[0][0], found[1][0])
    for one, other in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_alone_is_predicted_as_in_a_block():
    X, Y = draw(200)
    own = learner()
    with Threads(1) as threads:
        own.fit(X, Y, np.ones(200), threads, lambda _: None)
        whole, one = own.predictions(X, threads), own.predictions(X[7:8], threads)
    alone = [own.predictions(X[t : t + 1], None) for t in range(200)]
    np.testing.assert_array_equal(one.means, whole.means[7:8])
    for name in ("means", "covariances"):
        found = np.concatenate([getattr(row, name) for row in alone])
        np.testing.assert_array_equal(found, getattr(whole, name))


def test_a_stream_may_be_cut_anywhere():
    X, Y = draw(160)
    learners = []
    for parts in ([160], [1] * 30 + [50, 3, 77]):
        own, start = learner(online=True), 0
        with Threads(1) as threads:
            for count in parts:
                rows = slice(start, start + count)
                own.partial_fit(X[rows], Y[rows], np.ones(count), None if count == 1 else threads, False)
                start += count
        learners.append(own)
    same(*learners)


def test_parts_of_a_large_table_are_solved_apart_with_the_same_bits(monkeypatch):
    """The copy of the inputs, by far the largest array, is then that of one part."""
    X, Y = draw(100_000)
    shape = Shape((2,), 10, 0, False, 5.0, 1.0, 1.0, 1e-2, 1e7, mixing=False)

    def fit():
        table = X, np.empty((len(X), 0, 2)), Y, np.ones(len(X))
        return fit_network(KIND, shape, *table, np.random.default_rng(0), Y - Y.mean(), lambda _: None)

    whole = fit()
    monkeypatch.setattr(constants, "PART_ROWS", 1)
    for name, array in fit()._asdict().items():
        if name != "gates":
            np.testing.assert_array_equal(array, getattr(whole, name), name)


def test_levels_of_ample_rows_are_skipped_where_nobody_looks_at_them():
    level = getattr(first_level, "py_func", first_level)
    assert [level(levels, 10_000, False) for levels in range(9)] == [0, 1, 2, 1, 2, 1, 2, 1, 2]
    assert [level(levels, 10_000, True) for levels in (4, 8)] == [2, 2]
    # 100,000 and 1,000,000 rows: as many levels are solved as for 10,000
    assert [level(11, 100_000, False), level(15, 1_000_000, False)] == [5, 9]
    assert level(11, 100_000, True) == 1
