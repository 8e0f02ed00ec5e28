import matplotlib.pyplot as plt
import numpy as np
import pytest

from ggln import GGLNRegressor

SMALL = {
    "layer_sizes": (8, 4, 2),
    "context_dim": 3,
    "step": "capped",
    "min_variance": 1e-5,
    "epochs": 4,
    "n_estimators": 2,
    "folds": 0,
}


@pytest.fixture(scope="session")
def data():
    """Rows of three features, and a target whose noise grows with the first of them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (400, 3))
    return X, np.sin(4 * X[:, 0]) + X[:, 1] + 0.3 * X[:, 0] * rng.standard_normal(400)


@pytest.fixture(scope="session")
def model(data):
    return GGLNRegressor(**SMALL, gating="mixed", base_model="feature", random_state=0).fit(*data)


@pytest.fixture(scope="session")
def solved(data):
    """A small model that learns exactly, in networks of two kinds."""
    settings = {"layer_sizes": (8, 4, 2), "context_dim": (3, 2), "n_estimators": 2}
    return GGLNRegressor(**settings, random_state=0).fit(*data)


@pytest.fixture(scope="session")
def two_outputs(data):
    X, y = data
    settings = {**SMALL, "gating": "mixed", "base_model": "feature"}
    return GGLNRegressor(**settings, random_state=0).fit(X, np.stack([y, -2 * y], axis=1))


@pytest.fixture(scope="session")
def stream_settings():
    return {**SMALL, "gating": "mixed", "base_model": "feature", "random_state": 0}


@pytest.fixture
def stream():
    """A model that has learnt nothing yet."""
    return GGLNRegressor(**SMALL, gating="mixed", base_model="feature", random_state=0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
