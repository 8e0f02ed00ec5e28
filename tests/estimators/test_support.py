import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ggln import GGLNRegressor, TableRegressor, load
from ggln.reproduction.shared.ablated import WITHOUT, build

SMALL = {"layer_sizes": (3, 3), "n_estimators": 2}


def wave(rows, seed, reach=1.0):
    random = np.random.default_rng(seed)
    X = random.uniform(-reach, reach, (rows, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=rows)


def small(**arguments):
    return GGLNRegressor(**SMALL, random_state=0, **arguments)


@pytest.fixture(scope="module")
def model():
    return small().fit(*wave(200, 0))


OUTSIDE = np.column_stack([np.linspace(1.0, 12.0, 30), np.zeros(30)])


def test_support_falls_with_the_distance(model):
    X = wave(200, 0)[0]
    assert (model.support(X) == 1.0).all()
    found = model.support(OUTSIDE)
    assert (np.diff(found) < 0.0).all()
    assert 0.0 < found[-1] < 0.001
    np.testing.assert_array_equal(model.support(OUTSIDE[5:6]), found[5:6])


def test_nothing_changes_inside_and_error_bars_widen_outside(model):
    before = build(SMALL | {WITHOUT: ("outside",)}, 0).fit(*wave(200, 0))
    X = wave(200, 0)[0]
    np.testing.assert_array_equal(model.predict(X), before.predict(X))
    np.testing.assert_array_equal(model.predict_dist(X).quantile(0.1), before.predict_dist(X).quantile(0.1))
    wide, narrow = (each.predict(OUTSIDE, return_std=True)[1] for each in (model, before))
    assert (wide[1:] > narrow[1:]).all()
    assert wide[-1] > 20 * narrow[-1]
    # a row's prediction does not depend on those beside it
    both = np.vstack([X[:3], OUTSIDE[-3:]])
    np.testing.assert_array_equal(model.predict(both, return_std=True)[1][-3:], wide[-3:])
    assert model.predict_one(OUTSIDE[-1], return_std=True)[1] == wide[-1]


def test_variance_grows_as_support_says(model):
    before = build(SMALL | {WITHOUT: ("outside",)}, 0).fit(*wave(200, 0))
    rows = OUTSIDE[3:]
    wide, narrow = (each.predict(rows, return_std=True)[1] for each in (model, before))
    typical = model.predict(wave(200, 0)[0], return_std=True)[1]
    added = np.mean(typical**2) * (1.0 / model.support(rows) - 1.0)
    assert (0.5 * added < wide**2).all()
    assert (wide**2 < 2.0 * (narrow**2 + added)).all()


@pytest.mark.parametrize("factor", [1.5, 3.0])
@pytest.mark.parametrize("function", [lambda X: X[:, 0] - X[:, 1], lambda X: np.sin(3 * X[:, 0]) + X[:, 1]])
def test_intervals_cover_outside(function, factor):
    random = np.random.default_rng(7)
    X, new = random.uniform(-1, 1, (200, 2)), factor * random.uniform(-1, 1, (500, 2))
    new = new[(np.abs(new) > 1).any(axis=1)]
    model = small().fit(X, function(X) + 0.1 * random.normal(size=200))
    low, high = model.predict_dist(new).interval(0.9)
    targets = function(new) + 0.1 * random.normal(size=len(new))
    assert np.mean((targets >= low) & (targets <= high)) >= 0.8


def test_values_that_were_never_missing_are_missed():
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 3))
    y = 3.0 * X[:, 0] + X[:, 1] + 0.3 * random.normal(size=700)
    model = GGLNRegressor(n_estimators=2, random_state=0).fit(X[:300], y[:300])
    new = X[300:].copy()
    new[:, 0] = np.nan  # what matters most
    low, high = model.predict_dist(new).interval(0.9)
    assert np.mean((low <= y[300:]) & (y[300:] <= high)) > 0.8
    assert (model.support(new) < 0.1).all()
    new[:, 0], new[:, 2] = X[300:, 0], np.nan  # what does not matter at all
    assert (model.support(new) > 0.5).mean() > 0.9


def test_values_that_often_were_missing_and_constants_are_not_outside():
    X, y = wave(100, 1)
    X = np.column_stack([X, np.full(100, 2.0)])
    X[::3, 1] = np.nan
    model = small().fit(X, y)
    new = np.array([[0.0, np.nan, 2.0], [0.0, np.nan, np.nan], [0.0, 0.0, 77.0], [9.0, np.nan, 2.0]])
    assert (model.support(new)[:3] == 1.0).all()
    assert model.support(new)[3] < 0.1


@pytest.mark.parametrize("covariance", ["apart", "isotropic"])
def test_several_outputs(covariance):
    X, y = wave(80, 2)
    model = small(covariance=covariance).fit(X, np.column_stack([y, X @ [1.0, -1.0]]))
    found = model.support(np.vstack([X[:2], OUTSIDE[-2:]]))
    assert found.shape == (4, 2)
    assert (found[:2] == 1.0).all()
    assert (found[2:] < 0.5).all()
    inside, outside = model.predict(np.vstack([X[:1], OUTSIDE[-1:]]), return_std=True)[1]
    assert (outside > 2 * inside).all()


def test_a_stream_knows_what_it_has_seen():
    X, y = wave(300, 3)
    X[:, 0] += np.linspace(0.0, 6.0, 300)
    cut, whole = small(forgetting=None), small(forgetting=None)
    found = whole.prequential(X, y)
    parts = [cut.prequential(X[part], y[part]) for part in (slice(0, 70), slice(70, 211), slice(211, 300))]
    np.testing.assert_array_equal(np.concatenate([part.std for part in parts]), found.std)
    np.testing.assert_array_equal(cut.support(OUTSIDE), whole.support(OUTSIDE))
    last = X[:, 0].max()
    at = np.array([[last - 0.01, 0.0], [last + 3.0, 0.0]])
    inside, outside = whole.support(at)
    assert inside == 1.0
    assert outside < 0.5
    whole.learn_one(at[1], 0.0)
    assert whole.support(at[1:])[0] == 1.0


def test_files_and_pickles_keep_it(model, tmp_path):
    model.save(tmp_path / "model.ggln")
    for other in (load(tmp_path / "model.ggln"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.support(OUTSIDE), model.support(OUTSIDE))
        pairs = (each.predict(OUTSIDE, return_std=True) for each in (other, model))
        for one, two in zip(*pairs, strict=True):
            np.testing.assert_array_equal(one, two)


def test_tables():
    X, y = wave(60, 4)
    model = TableRegressor(small()).fit({"a": X[:, 0], "b": X[:, 1]}, y)
    found = model.support({"b": [0.0, 0.0], "a": [0.0, 9.0]})
    assert found[0] == 1.0
    assert found[1] < 0.5


def test_who_cannot_tell():
    with pytest.raises(NotFittedError):
        small().support(OUTSIDE)
    capped = GGLNRegressor(step="capped", layer_sizes=(2,), context_dim=2, epochs=1, folds=0, random_state=0)
    with pytest.raises(ValueError, match=r'support\(X\) needs step="newton", got step=\'capped\''):
        capped.fit(*wave(30, 5)).support(OUTSIDE)
