"""Steps that take long are foreseen."""

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier
from ggln.engine.newton import shapes
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.pauses import looks_back_within

SMALL = {"layer_sizes": (3, 1), "n_estimators": 1, "random_state": 0}
ROWS = 420


@pytest.fixture
def steps(monkeypatch):
    """Note whenever a learner is solved, or looks for a form."""
    found = []
    solve, look = ExactLearner._solve, shapes.find_form

    def solved(*arguments):
        found.append("solved")
        return solve(*arguments)

    def looked(*arguments):
        found.append("form")
        return look(*arguments)

    monkeypatch.setattr(ExactLearner, "_solve", solved)
    monkeypatch.setattr(shapes, "find_form", looked)
    return found


@pytest.mark.parametrize("rows", [1, 8])
def test_what_takes_long_is_foreseen(steps, rows):
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 2))
    y = np.abs(X[:, 0]) + 0.1 * random.normal(size=ROWS)
    model = GGLNRegressor(**SMALL).partial_fit(X[:1], y[:1])
    foreseen = came = 0
    for start in range(1, ROWS - rows, rows):
        long = looks_back_within(model.learner_, rows)
        steps.clear()
        model.partial_fit(X[start : start + rows], y[start : start + rows])
        assert long or not steps, (start, steps)
        foreseen, came = foreseen + long, came + bool(steps)
    assert 5 < came <= foreseen < 0.7 * ROWS / rows  # not always, either


def test_a_change_is_foreseen(steps):
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 2))
    y = np.where(np.arange(700) < 500, 1.0, -1.0) * X[:, 0] + 0.1 * random.normal(size=700)
    model = GGLNRegressor(**SMALL).partial_fit(X[:512], y[:512])
    for start in range(512, 700):
        long = looks_back_within(model.learner_, 1)
        steps.clear()
        model.learn_one(X[start], y[start])
        assert long or not steps, start
    assert model.learner_.changed > 0


def test_classifiers_are_solved_where_they_say():
    random = np.random.default_rng(0)
    X = random.normal(size=(64, 2))
    y = (X[:, 0] > 0).astype(int)
    model = GLNClassifier(**SMALL).partial_fit(X[:1], y[:1], classes=[0, 1])
    for start in range(1, 64):
        before, long = model.learner_.networks, looks_back_within(model.learner_, 1)
        model.partial_fit(X[start : start + 1], y[start : start + 1])
        assert long or model.learner_.networks is before
    assert not looks_back_within(model.learner_, 1)  # 64 rows: the next time is at 96
