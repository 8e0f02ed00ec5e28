import numpy as np
import pytest

from ggln import GGLNRegressor

TINY = {
    "layer_sizes": (9, 5, 2),
    "context_dim": 3,
    "epochs": 2,
    "n_estimators": 2,
    "gating": "mixed",
    "base_model": "feature",
    "step": "capped",
    "min_variance": 1e-5,
    "folds": 0,
    "random_state": 0,
}
EXACT = {"step": "newton", "gating": "residual", "base_model": "auto", "min_variance": 1e-10}
"""What a tiny regressor learns exactly with."""


@pytest.fixture
def tiny():
    """A regressor small enough to learn thousands of rows in no time; arguments change its settings.

    It takes gradient steps, unless it is told to be `exact`.
    """
    return lambda exact=False, **changes: GGLNRegressor(**{**TINY, **(EXACT if exact else {}), **changes})


@pytest.fixture
def table():
    """Rows, and a target for each that depends on them."""

    def make(rows=60, outputs=None, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 3))
        Y = np.stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2]), X[:, 0] - X[:, 2]], axis=1)
        Y += 0.1 * rng.normal(size=Y.shape)
        return X, Y[:, 0] if outputs is None else Y[:, :outputs]

    return make


@pytest.fixture
def assert_same():
    """Two models know exactly the same: every array of their states, bit for bit."""

    def compare(one, other):
        values, arrays = one.learner_.state()
        other_values, other_arrays = other.learner_.state()
        assert values == other_values
        assert arrays.keys() == other_arrays.keys()
        for name, array in arrays.items():
            assert array.dtype == other_arrays[name].dtype, name
            assert np.array_equal(array, other_arrays[name]), name

    return compare


@pytest.fixture
def assert_sane():
    """Everything a model can say about some rows is finite, and no standard deviation vanishes."""

    def check(model, X):
        mean, std = model.predict(X, return_std=True)
        dist = model.predict_dist(X)
        for values in (mean, dist.mean, dist.log_prob(dist.mean), dist.quantile([0.01, 0.5, 0.99])):
            assert np.isfinite(values).all()
        assert np.isfinite(std).all()
        assert (std > 0).all()
        assert (dist.std > 0).all()
        one, one_std = model.predict_one(np.asarray(X, np.float64)[0], return_std=True)
        assert np.isfinite(one).all()
        assert np.all(one_std > 0)

    return check
