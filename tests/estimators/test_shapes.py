"""Distributions that need not be Gaussian: skewed, with atoms, on lattices; in tables and in streams."""

import pickle

import numpy as np
import pytest

import ggln
from ggln import GGLNRegressor

SMALL = {"layer_sizes": (4, 4), "n_estimators": 4, "random_state": 0, "n_jobs": 1}
NOISES = {
    "skewed": lambda random, f: f + random.exponential(size=f.size),
    "zeros": lambda random, f: np.where(random.random(f.size) < 0.3, 0.0, np.exp(f)),
    "lattice": lambda random, f: np.round(2 * f + random.normal(size=f.size)),
}
EVERY = pytest.mark.parametrize("noise", NOISES)


def table(noise, rows, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((rows, 3))
    return X, NOISES[noise](random, 3 * X[:, 0] + np.sin(6 * X[:, 1]))


@EVERY
def test_all_answers_are_of_one_distribution(noise):
    model = GGLNRegressor(**SMALL).fit(*table(noise, 400))
    X, y = table(noise, 50, seed=1)
    dist = model.predict_dist(X)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, dist.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(std, dist.std, rtol=1e-9)
    assert model.predict_one(X[0], return_std=True) == (mean[0], std[0])
    drawn = dist.sample(4000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=6 * std.max() / 4000**0.5)
    for level in (0.1, 0.5, 0.9):
        q = dist.quantile(level)
        np.testing.assert_allclose(dist.cdf(q), level, atol=1e-6)
        assert np.abs(np.mean(drawn <= q, axis=0) - level).max() < 0.04
    assert dist.means.shape[1] <= 64
    by_draws = np.abs(drawn - y).mean(axis=0) - np.abs(drawn[:2000] - drawn[2000:]).mean(axis=0) / 2
    np.testing.assert_allclose(dist.crps(y), by_draws, atol=0.06 * std.max())


def test_skewed_noise_has_two_honest_tails():
    model = GGLNRegressor(**SMALL).fit(*table("skewed", 800))
    X, y = table("skewed", 3000, seed=1)
    lower, upper = model.predict_dist(X).interval(0.9)
    assert 0.02 < np.mean(y < lower) < 0.08
    assert 0.02 < np.mean(y > upper) < 0.08


def test_zeros_are_an_atom_and_lattices_are_met():
    dist = GGLNRegressor(**SMALL).fit(*table("zeros", 600)).predict_dist(table("zeros", 200, seed=1)[0])
    jump = dist.cdf(0.3) - dist.cdf(-0.3)
    assert 0.2 < jump.mean() < 0.45
    dist = GGLNRegressor(**SMALL).fit(*table("lattice", 600)).predict_dist(table("lattice", 200, seed=1)[0])
    drawn = dist.sample(50, random_state=0)
    assert np.mean(np.abs(drawn - np.round(drawn)) < 0.35) > 0.95


@EVERY
def test_streams_do_not_depend_on_cuts_files_or_pickles(noise, tmp_path):
    X, y = table(noise, 300)
    whole = GGLNRegressor(**SMALL).fit(X[:150], y[:150])
    pieces = pickle.loads(pickle.dumps(whole))
    before = whole.prequential(X[150:], y[150:])
    found = []
    for start, stop in ((150, 151), (151, 200), (200, 300)):
        found.append(pieces.prequential(X[start:stop], y[start:stop]))
        pieces.save(tmp_path / "model.ggln")
        pieces = ggln.load(tmp_path / "model.ggln").set_params(n_jobs=1)
    for part in ("weights", "means", "stds"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(own, part) for own in found]), getattr(before, part)
        )
    expected, other = whole.predict_dist(X), pieces.predict_dist(X)
    np.testing.assert_array_equal(other.weights, expected.weights)
    np.testing.assert_array_equal(other.stds, expected.stds)


@pytest.mark.nightly
def test_the_shape_of_a_stream_follows_its_rows():
    """Noise that becomes skewed after `fit` is learnt from predictions before each row."""
    random = np.random.default_rng(0)
    X = random.random((3000, 3))
    f = 3 * X[:, 0]
    y = f + random.normal(size=3000)
    y[300:] = f[300:] + random.exponential(size=2700) * 2 - 2
    model = GGLNRegressor(**SMALL).fit(X[:300], y[:300])
    early = model.predict_dist(X[2500:])
    model.partial_fit(X[300:2500], y[300:2500])
    late = model.predict_dist(X[2500:])
    off = [abs(np.mean(dist.cdf(y[2500:]) < 0.1) - 0.1) for dist in (early, late)]
    assert off[1] < 0.05 < off[0] + 0.02


def test_effects_add_up_with_every_shape():
    for noise in NOISES:
        X, y = table(noise, 300)
        model = GGLNRegressor(**SMALL).fit(X, y)
        explanation = model.explain(X[:5], background=X[100:110])
        np.testing.assert_allclose(explanation.prediction, model.predict(X[:5]), rtol=1e-6, atol=1e-6)
