import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier

SMALL = {"layer_sizes": (4, 4), "n_estimators": 2, "random_state": 0}


@pytest.fixture
def regressor():
    """Small networks that are solved; arguments change their settings."""
    return lambda **changes: GGLNRegressor(**{**SMALL, **changes})


@pytest.fixture
def classifier():
    """The same for classes."""
    return lambda **changes: GLNClassifier(**{**SMALL, "step": "newton", "context_dim": None, **changes})


@pytest.fixture
def table():
    """Rows of four features, the last of which says nothing, and a target of the others."""

    def make(rows, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 4))
        return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=rows)

    return make


@pytest.fixture
def gappy(table):
    """The same with a fifth of the values missing."""

    def make(rows, seed=0):
        X, y = table(rows, seed)
        X[np.random.default_rng(seed + 1).random(X.shape) < 0.2] = np.nan
        return X, y

    return make
