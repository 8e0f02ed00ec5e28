"""The Gaussian process among the default regressors, held against scikit-learn's and finite differences."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

from ggln.core.lengths import LENGTHS
from ggln.processes import GaussianProcess, Process
from ggln.regressors import PROCESS_FEATURES, default_regressors


@pytest.fixture
def smooth():
    """Rows of five features, of which three count, and a smooth target with little noise."""

    def make(n, seed=0):
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, 5))
        return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=n)

    return make


def noise_of(model, X, y):
    """The noise for which weights satisfy (K + noise) w = y."""
    covariance = Matern(model.process_.lengths, nu=2.5)(X)
    weights = model.process_.weights[:, 0]
    return np.median((y - y.mean() - covariance @ weights) / weights)


def test_predictions_are_those_of_scikit_learn_with_the_same_covariance(smooth):
    X, y = smooth(80)
    model = GaussianProcess(random_state=0).fit(X, y)
    order = np.random.RandomState(0).permutation(80)
    noise = noise_of(model, X[order], y[order])
    kernel = Matern(model.process_.lengths, nu=2.5)
    theirs = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y - y.mean())
    rows = smooth(30, 1)[0]
    np.testing.assert_allclose(model.predict(rows), y.mean() + theirs.predict(rows), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("outputs", [1, 2])
def test_slopes_are_derivatives(smooth, outputs):
    X, y = smooth(100)
    process = GaussianProcess(random_state=0).fit(X, np.stack([y, -2 * y][:outputs], axis=1)).process_
    rows = smooth(7, 1)[0]
    slopes = process.slopes(rows)
    assert slopes.shape == (7, outputs, 5)
    for i, step in enumerate(1e-4 * np.eye(5)):
        difference = (process.predict(rows + step) - process.predict(rows - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, :, i], difference, rtol=1e-4, atol=1e-5)


def test_what_is_smooth_is_learnt_from_few_rows(smooth):
    (X, y), (rows, targets) = smooth(150), smooth(500, 1)

    def error(model):
        return np.mean((model.fit(X, y).predict(rows) - targets) ** 2)

    assert error(GaussianProcess(random_state=0)) < 0.2 * error(ExtraTreesRegressor(random_state=0))


def test_features_without_use_get_long_scales(smooth):
    X, y = smooth(200)
    lengths = GaussianProcess(random_state=0).fit(X, y).process_.lengths
    assert lengths[3:].min() > 3 * lengths[:3].max()


def test_noise_is_not_learnt():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 4)), random.normal(size=300)
    predicted = GaussianProcess(random_state=0).fit(X[:200], y[:200]).predict(X[200:])
    assert predicted.std() < 0.3


def test_of_many_rows_a_sample_is_learnt_that_the_seed_draws(smooth):
    X, y = smooth(300)
    sample = GaussianProcess(rows=60, search_rows=30, random_state=3)
    first, again = (sample.fit(X, y).process_ for _ in range(2))
    assert first.centres.shape == (5, 60)
    for ours, theirs in zip(first, again, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    other = sample.set_params(random_state=4).fit(X, y).process_
    assert not np.array_equal(first.lengths, other.lengths)


@pytest.mark.parametrize(
    "case",
    {
        "constant target": (np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50)),
        "constant features": (np.zeros((50, 2)), np.arange(50.0)),
        "one row, many times": (np.ones((50, 2)), np.ones(50)),
        "far away": (1e3 * np.random.default_rng(0).normal(size=(50, 2)), np.arange(50.0)),
    }.values(),
)
def test_odd_tables_are_learnt(case):
    X, y = case
    model = GaussianProcess(random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict(1e6 * X)).all()
    assert (model.process_.lengths >= LENGTHS[0] * (1 - 1e-12)).all()


def test_arrays_bring_a_process_back(smooth):
    X, y = smooth(40)
    process = GaussianProcess(random_state=0).fit(X, y).process_
    restored = Process.from_arrays(dict(process.arrays()))
    np.testing.assert_array_equal(restored.predict(X), process.predict(X))


def test_many_features_go_without():
    few, many = (default_regressors(500, d, 1) for d in (PROCESS_FEATURES, PROCESS_FEATURES + 1))
    assert isinstance(few[-1], GaussianProcess)
    assert not any(isinstance(regressor, GaussianProcess) for regressor in many)
