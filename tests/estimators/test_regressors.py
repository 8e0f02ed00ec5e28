"""Regressors of the user as base models, and gates from the splits of trees."""

import copy

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from ggln import GGLNRegressor
from ggln.engine.gating import NO_SPLITS
from ggln.engine.newton.constants import FOLDS
from ggln.engine.threads import Threads
from ggln.estimators.base_regressors import cross_fit, find_splits

QUICK = {"layer_sizes": (4, 4), "context_dim": (2, 3), "n_estimators": 4}
REGRESSORS = [
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    MLPRegressor(hidden_layer_sizes=(5, 4), max_iter=20, random_state=0),
]


@pytest.fixture
def quick():
    return lambda **changes: GGLNRegressor(
        **{**QUICK, "base_model": REGRESSORS, "random_state": 0, **changes}
    )


# Regressors below networks --------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_fold_is_predicted_by_those_that_did_not_see_it(table, outputs):
    X, Y = table(60, outputs)
    folds = np.arange(60) % FOLDS
    found = cross_fit([Ridge()], X, Y, folds, Threads(1), lambda _: None)
    for fold in range(FOLDS):
        out = folds == fold
        expected = Ridge().fit(X[~out], Y[~out]).predict(X[out]).reshape(-1, 1, outputs)
        np.testing.assert_allclose(found.left[out], expected, rtol=1e-10, atol=1e-12)
    mean = np.mean([Ridge().fit(X[folds != k], Y[folds != k]).predict(X) for k in range(FOLDS)], axis=0)
    np.testing.assert_allclose(found.predict(X)[:, 0], mean.reshape(60, outputs), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("outputs", [None, 2])
def test_threads_and_cuts_do_not_matter(quick, table, outputs):
    X, y = table(130, outputs)
    regressors = REGRESSORS[outputs is not None :]  # boosted trees have one output
    expected = quick(base_model=regressors).fit(X[:90], y[:90])
    other = quick(base_model=regressors, n_jobs=3).fit(X[:90], y[:90])
    np.testing.assert_array_equal(other.predict(X), expected.predict(X))
    expected.partial_fit(X[90:], y[90:])
    other.partial_fit(X[90:101], y[90:101])
    for row, target in zip(X[101:], y[101:], strict=True):
        other.learn_one(row, target)
    # a perceptron's matrix products round by how many rows there are
    np.testing.assert_allclose(other.predict(X), expected.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.nightly
def test_what_a_regressor_knows_is_made_use_of():
    """A feature that only the regressor can make sense of."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(600, 1))
    y = np.sign(np.sin(40 * X[:, 0]))
    model = GGLNRegressor(base_model=[KNeighborsRegressor(2)], random_state=0).fit(X[:500], y[:500])
    alone = GGLNRegressor(base_model="feature", random_state=0).fit(X[:500], y[:500])
    errors = [np.mean((some.predict(X[500:]) - y[500:]) ** 2) for some in (model, alone)]
    assert errors[0] < 0.7 * errors[1]


def test_any_regressor_may_be_a_base_model_but_such_models_cannot_be_saved(quick, table, tmp_path):
    X, y = table(90)
    model = quick(base_model=[KNeighborsRegressor(), *REGRESSORS]).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match=r"base_model holds KNeighborsRegressor, .* use base_model=\"auto\""):
        model.save(tmp_path / "model.ggln")
    assert not list(tmp_path.iterdir())


def test_a_stream_cannot_begin_with_regressors(quick, table):
    X, y = table(60)
    model = quick()
    for call in (lambda: model.partial_fit(X, y), lambda: model.learn_one(X[0], y[0])):
        with pytest.raises(ValueError, match="are fitted by fit: call it before partial_fit"):
            call()
    assert not hasattr(model, "learner_")


@pytest.mark.parametrize("step", ["capped", "ogd"])
def test_gradient_steps_take_no_regressors(quick, table, step):
    with pytest.raises(ValueError, match='regressors as base_model need step="newton"'):
        quick(step=step).fit(*table(60))


def test_an_error_in_a_regressor_changes_nothing(quick, table):
    class Broken(LinearRegression):
        def fit(self, X, y):
            raise RuntimeError("no")

    X, y = table(60)
    model = quick().fit(X, y)
    before = copy.deepcopy(model)
    model.set_params(base_model=[Broken()])
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict(X), before.predict(X))
    assert model.n_features_in_ == 3


def test_an_interruption_stops_the_fit_of_a_perceptron(quick, table, monkeypatch):
    """scikit-learn's perceptron takes an interruption for the end of its own training."""

    def interrupted(*_arguments, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPRegressor, "_backprop", interrupted)
    X, y = table(60)
    with pytest.raises(KeyboardInterrupt):
        quick(base_model=[MLPRegressor(hidden_layer_sizes=(4,))]).fit(X, y)


# Splits --------------------------------------------------------------------------------------------------


def test_splits_are_found_where_the_target_changes():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 8))
    splits = find_splits(X, (X[:, 5:6] > 0.25).astype(float), seed=0)
    gain = np.bincount(splits.features, np.maximum(splits.gains, 0), minlength=8)
    assert gain[5] > 0.95 * gain.sum()
    best = splits.thresholds[splits.gains.argmax()]
    assert abs(best - 0.25) < 0.02


def test_few_rows_have_no_splits():
    assert find_splits(np.zeros((5, 2)), np.zeros((5, 1)), seed=0) is NO_SPLITS


def test_gates_from_trees_ignore_noise(tiny):
    """Of thirty features one counts: gates from trees find it, random ones hardly do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 30))
    y = np.sin(3 * X[:, 7])
    errors = {}
    for gating in ("tree", "axis"):
        settings = {"layer_sizes": (16,) * 6, "context_dim": (2, 4, 6), "epochs": 20, "n_estimators": 15}
        model = tiny(**settings, gating=gating).fit(X[:600], y[:600])
        errors[gating] = np.mean((model.predict(X[600:]) - y[600:]) ** 2)
    assert errors["tree"] < 0.3 * errors["axis"]


def test_a_stream_finds_splits_as_it_goes(tiny):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    model = tiny(gating="tree").partial_fit(X, np.sign(X[:, 3]))
    codes = model.learner_.ensemble.gates.codes
    assert np.mean(codes == 3) > 0.5
