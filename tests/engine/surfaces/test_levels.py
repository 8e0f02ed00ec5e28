"""How far arms' levels differ is found by the rewards of all."""

import numpy as np

from ggln.engine.surfaces import solve
from ggln.engine.surfaces.learner import SurfaceLearner
from ggln.engine.surfaces.rows import Rows


def test_rows_in_two_parts_teach_what_all_of_them_do():
    random = np.random.default_rng(0)
    units = solve.Units(np.array([[0.5, -1.0], [2.0, 0.7]]), np.array([3.0, 1.5]))
    X = random.normal(size=(9, 2))
    rows = Rows(X, X @ [0.7, -1.0] + random.normal(size=9), random.uniform(0.5, 2.0, size=9))
    given = "line", units, np.array([1.0, 1.4, 0.0]), np.ones(2), np.empty((2, 0))
    whole, half = solve.blank(*given), solve.blank(*given)
    solve.condition(whole, rows)
    for cut in (slice(4), slice(4, None)):
        solve.condition(half, Rows(*(part[cut] for part in rows)))
    np.testing.assert_allclose(half.mean, whole.mean)
    np.testing.assert_allclose(half.spread, whole.spread)
    np.testing.assert_allclose(half.noise, whole.noise)


def learnt(slopes, levels, rows=240):
    random, learner = np.random.default_rng(1), SurfaceLearner(slopes.shape[1], len(slopes), 0)
    for t in range(rows):
        arm, x = t % (len(slopes) - 1), random.normal(size=slopes.shape[1])
        reward = levels[arm] + x @ slopes[arm] + random.normal()
        learner.learn(x, arm, float(reward), 1.0)
    return learner


def test_levels_are_as_wide_as_those_of_arms():
    random = np.random.default_rng(3)
    slopes, levels = random.normal(size=(6, 4)), random.normal(size=6)
    for deviation, least, most in ((0.1, 0.0, 1.0), (4.0, 2.0, 8.0)):
        line = learnt(slopes, deviation * levels).surfaces[0]
        noise = line.noise[1] / line.noise[0] * line.paid[1] ** 2
        found = line.widths[0] / np.sqrt(4) * np.sqrt(noise)
        assert least < found < most
