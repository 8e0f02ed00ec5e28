"""What rows of a stream tell of curvature."""

import numpy as np
import pytest

from ggln.engine.newton import constants
from ggln.engine.newton.online import curvature_weight

WEIGHTS = {
    "rows": lambda random, count: np.ones(count),
    "halves": lambda random, count: np.full(count, 0.5),
    "any": lambda random, count: random.exponential(size=count) * 10.0 ** random.uniform(-3, 3, count),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_rows_that_tell_stand_for_those_that_do_not(kind):
    told = curved = 0.0
    heard = 0
    for share in WEIGHTS[kind](np.random.default_rng(0), 20_000):
        weight = curvature_weight(told, share)
        told, curved, heard = told + share, curved + weight, heard + (weight > 0)
        assert abs(told - curved) <= max(1e-9 * told, told / constants.CURVED_ROWS)
    if kind == "rows":
        assert heard < 20 * constants.CURVED_ROWS


def test_the_first_rows_tell_each_for_itself():
    told = 0.0
    while told < 2 * constants.CURVED_ROWS:
        assert curvature_weight(told, 0.7) == 0.7
        told += 0.7
