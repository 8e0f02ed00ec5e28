from itertools import pairwise

import numpy as np
import pytest

from ggln import GGLNRegressor
from ggln.tables.online import Worker

GRADIENT = {"step": "capped", "gating": "tree"}


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    "settings", [{}, GRADIENT, GRADIENT | {"aggregation": "last"}, GRADIENT | {"folds": 5}]
)
def test_moments_before_learning_are_those_of_prequential(outputs, settings, small):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(200, 3)), random.normal(size=(200, outputs))
    models = [GGLNRegressor(**small | settings, random_state=0) for _ in range(2)]
    for model in models:
        model.fit(X, Y) if settings.get("folds") else model.partial_fit(X, Y)
    found = Worker(models[0]).prequential_moments(X[:50], Y[:50])
    expected = models[1].prequential(X[:50], Y[:50])
    assert np.allclose(found.mean, expected.mean.reshape(50, -1), rtol=1e-9)
    assert np.allclose(found.std, expected.std.reshape(50, -1), rtol=1e-6)
    assert np.array_equal(models[0].predict(X), models[1].predict(X))


def test_moments_do_not_depend_on_how_a_stream_is_cut(small):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(300, 3)), random.normal(size=(300, 1))
    whole = Worker(GGLNRegressor(**small, random_state=0)).prequential_moments(X, Y)
    worker, parts = Worker(GGLNRegressor(**small, random_state=0)), []
    edges = [0, 1, 2, 19, 36, 100, 101, 300]
    for start, stop in pairwise(edges):
        parts.append(worker.prequential_moments(X[start:stop], Y[start:stop]))
    for i in range(2):
        assert np.array_equal(whole[i], np.concatenate([part[i] for part in parts]))
