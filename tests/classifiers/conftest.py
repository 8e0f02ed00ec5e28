import numpy as np
import pytest

from ggln import GLNClassifier

TINY = {
    "layer_sizes": (9, 5, 2),
    "context_dim": 3,
    "epochs": 2,
    "n_estimators": 2,
    "gating": "mixed",
    "step": "normalised",
    "random_state": 0,
}


@pytest.fixture
def tiny():
    """A classifier small enough to learn thousands of rows in no time; arguments change its settings."""
    return lambda **changes: GLNClassifier(**{**TINY, **changes})


@pytest.fixture
def table():
    """Rows, and a label for each that depends on them."""

    def make(rows=60, classes=3, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 3))
        scores = np.stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2]), X[:, 0] - X[:, 2]], axis=1)[:, :classes]
        return X, (scores + 0.1 * rng.normal(size=scores.shape)).argmax(axis=1)

    return make


@pytest.fixture
def assert_same():
    """Two models know exactly the same: every array of their states, bit for bit."""

    def compare(one, other):
        np.testing.assert_array_equal(one.classes_, other.classes_)
        values, arrays = one.learner_.state()
        other_values, other_arrays = other.learner_.state()
        assert values == other_values
        assert arrays.keys() == other_arrays.keys()
        for name, array in arrays.items():
            assert np.array_equal(array, other_arrays[name]), name

    return compare
