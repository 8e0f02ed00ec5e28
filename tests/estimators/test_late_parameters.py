"""Parameters that are set after something was learnt: what they do, and when they are refused."""

import copy

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier, TableRegressor, load
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity, MissingValues

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0] * X[:, 1]
SMALL = {"layer_sizes": (2,), "n_estimators": 2, "random_state": 1}
STEPS = {**SMALL, "context_dim": 2, "gating": "mixed", "epochs": 1}
COLUMNS = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist()}


def learnt(model):
    """A model that has learnt, and how it learns more."""
    if isinstance(model, TableRegressor):
        return model.fit(COLUMNS, Y), [
            lambda m: m.partial_fit(COLUMNS, Y),
            lambda m: m.learn_one({"a": 1.0, "b": 2.0}, 0.0),
        ]
    if isinstance(model, GLNClassifier):
        return model.fit(X, Y > 0), [
            lambda m: m.partial_fit(X, Y > 0),
            lambda m: m.prequential(X, Y > 0),
            lambda m: m.learn_one(X[0], True),
        ]
    if isinstance(model, DenoisingDensity):
        return model.fit(X), [lambda m: m.partial_fit(X)]
    return model.fit(X, Y), [
        lambda m: m.partial_fit(X, Y),
        lambda m: m.prequential(X, Y),
        lambda m: m.learn_one(X[0], Y[0]),
    ]


MODELS = [
    (lambda: GGLNRegressor(**SMALL), "n_estimators", -1),
    (lambda: GGLNRegressor(**SMALL), "n_estimators", True),
    (lambda: GGLNRegressor(**SMALL), "layer_sizes", "ten"),
    (lambda: GGLNRegressor(**STEPS, step="capped"), "learning_rate", float("nan")),
    (lambda: GLNClassifier(**SMALL), "gating", "round"),
    (lambda: GLNClassifier(**STEPS, step="normalised"), "hinges", False),
    (lambda: DenoisingDensity(random_state=0), "noise", "loud"),
    (lambda: TableRegressor(GGLNRegressor(**SMALL)), "categories", "a"),
    (lambda: TableRegressor(GGLNRegressor(**SMALL)), "regressor__n_jobs", 0),
]


@pytest.mark.parametrize(("make", "name", "value"), MODELS)
def test_a_bad_value_is_refused_by_whatever_learns_next(make, name, value, tmp_path):
    model, calls = learnt(make())
    model.save(tmp_path / "before")
    good = model.get_params()[name]
    model.set_params(**{name: value})
    for call in (*calls, lambda m: m.save(tmp_path / "after")):
        with pytest.raises(ValueError, match=name.rpartition("__")[2]):
            call(model)
    assert not (tmp_path / "after").exists()
    model.set_params(**{name: good}).save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    for call in calls:
        call(model)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({**SMALL}, {"step": "ogd", "context_dim": 2, "gating": "mixed"}),
        ({**STEPS, "step": "capped"}, {"step": "newton", "context_dim": None}),
    ],
)
def test_a_file_knows_how_its_model_learns_whatever_was_set_since(before, after, tmp_path):
    model = GGLNRegressor(**before).fit(X, Y)
    twin = copy.deepcopy(model)
    model.set_params(**after).save(tmp_path / "model")
    for other in (model, load(tmp_path / "model")):
        assert other.get_params()["step"] == after["step"]
        expected = copy.deepcopy(twin).partial_fit(X, Y).predict(X)
        np.testing.assert_array_equal(other.partial_fit(X, Y).predict(X), expected)


def test_a_density_knows_it_too(tmp_path):
    model = DenoisingDensity(random_state=0).fit(X)
    expected = model.anomaly_score(X)
    model.set_params(step="capped").save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").anomaly_score(X), expected)


def test_threads_count_at_once():
    model = GGLNRegressor(**SMALL).fit(X, Y).set_params(n_jobs=0)
    for call in (model.predict, model.predict_dist, model.neurons):
        with pytest.raises(ValueError, match="n_jobs"):
            call(X)
    assert model.set_params(n_jobs=1).predict(X).shape == (30,)


def test_a_policy_may_explore_in_another_way_but_stays_what_it_is():
    policy = GLCB(2, random_state=0).partial_fit(X, [0, 1] * 15, Y)
    expected = policy.predict_expectations(X)
    assert policy.set_params(exploration="thompson", n_jobs=1).select(X[0]) in (0, 1)
    for name, value in (("exploration", "none"), ("exploration_weight", True), ("pseudo_count", 3)):
        good = policy.get_params()[name]
        policy.set_params(**{name: value})
        for call in (policy.select, policy.predict, policy.propensities):
            with pytest.raises(ValueError, match=name):
                call(X[0])
        policy.set_params(**{name: good})
    for name, value in (("step", "capped"), ("reward", "bernoulli"), ("n_arms", 3), ("random_state", 7)):
        good = policy.get_params()[name]
        policy.set_params(**{name: value})
        with pytest.raises(ValueError, match=f"{name} was {good!r} when the policy began and cannot be"):
            policy.update(X[0], 0, 1.0)
        policy.set_params(**{name: good})
    np.testing.assert_array_equal(policy.predict_expectations(X), expected)


def test_what_is_shown_of_a_policy_needs_no_right_parameters():
    assert repr(GLCB("three")) == "GLCB(n_arms='three')"
    with pytest.raises(ValueError, match="n_arms"):
        GLCB(2**40).select(X[0])


def test_draws_of_missing_values_count_at_once():
    model = MissingValues(random_state=0).fit(X).set_params(sample="often")
    for call in (model.transform, model.draws):
        with pytest.raises(ValueError, match="sample"):
            call(X)
