"""Threads that learn at once wait for each other, whatever they share; others may ask meanwhile."""

import threading

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier, TableRegressor
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0] * X[:, 1]
SMALL = {"layer_sizes": (3, 2), "n_estimators": 2, "random_state": 0}
ROUNDS, ROWS = 8, 5


def of_row(x):
    return {f"x{i}": value for i, value in enumerate(x)}


MODELS = {
    "classifier": lambda: GLNClassifier(**SMALL).partial_fit(X, Y > 0, classes=[False, True]),
    "policy": lambda: GLCB(2, random_state=0).partial_fit(X, np.arange(30) % 2, Y),
    "density": lambda: DenoisingDensity(random_state=0).partial_fit(X),
    "table": lambda: TableRegressor(GGLNRegressor(**SMALL)).partial_fit(X, Y),
}
LEARN = {  # five rows each
    "classifier": lambda m: m.learn_one(X[0], True).partial_fit(X[:4], Y[:4] > 0),
    "policy": lambda m: (m.update(X[0], 0, 0.5), m.partial_fit(X[:4], np.arange(4) % 2, Y[:4])),
    "density": lambda m: m.partial_fit(X[:5]),
    "table": lambda m: m.learn_one(of_row(X[0]), Y[0]).partial_fit(X[:4], Y[:4]),
}
ASK = {
    "classifier": lambda m: m.predict_proba(X),
    "policy": lambda m: m.predict_expectations(X),
    "density": lambda m: m.score_function(X),
    "table": lambda m: m.predict(X),
}
ROWS_OF = {
    "classifier": lambda m: m.learner_.rows,
    "policy": lambda m: m._learner.plays.sum(),
    "density": lambda m: m.denoisers_.rows,
    "table": lambda m: m.regressor_.learner_.rows,
}


@pytest.mark.parametrize("kind", MODELS)
def test_no_row_is_lost_and_nobody_fails(kind):
    model, errors = MODELS[kind](), []

    def repeat(work):
        try:
            for _ in range(ROUNDS):
                work(model)
        except Exception as error:
            errors.append(error)

    def ask(model):
        assert np.isfinite(ASK[kind](model)).all()

    threads = [threading.Thread(target=repeat, args=[work]) for work in (*[LEARN[kind]] * 3, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert ROWS_OF[kind](model) == len(X) + 3 * ROUNDS * ROWS
