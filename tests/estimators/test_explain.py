"""Explanations: what adds up, derivatives, effects of features, gates, and similar rows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from ggln import GGLNRegressor

KINDS = [(None, "isotropic"), (3, "isotropic"), (3, "diagonal"), (3, "full")]
METHODS = ["explain", "slopes", "effects", "importance", "contexts", "active_gates"]


@pytest.fixture
def doubled(monkeypatch):
    """Let all networks compute in double precision, so that rounding is far below any real difference."""
    original = GGLNRegressor._settings

    def settings(self, *arguments):
        return dataclasses.replace(original(self, *arguments), dtype=np.float64)

    monkeypatch.setattr(GGLNRegressor, "_settings", settings)


@pytest.fixture
def step():
    """Rows whose target only jumps with the first feature, and the model of it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 2))
    y = np.where(X[:, 0] > 0.1, 3.0, -3.0) + 0.1 * rng.standard_normal(800)
    return X, y


# Contributions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
@pytest.mark.parametrize("aggregation", ["switching", "last"])
def test_contributions_add_up_to_rounding(tiny, table, doubled, outputs, covariance, aggregation):
    X, y = table(outputs=outputs)
    settings = {"covariance": covariance, "aggregation": aggregation, "n_estimators": 2}
    model = tiny(**settings).fit(X, 100 + 7 * y)
    np.testing.assert_allclose(model.explain(X).prediction, model.predict(X), rtol=1e-11)
    model.partial_fit(X[:20], 50 + y[:20])
    np.testing.assert_allclose(model.explain(X).prediction, model.predict(X), rtol=1e-11)


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
def test_precisions_add_up_to_rounding(tiny, table, doubled, outputs, covariance):
    X, y = table(outputs=outputs)
    model = tiny(covariance=covariance, aggregation="last", n_estimators=1).fit(X, 100 + 7 * y)
    covariances = model.predict(X, return_cov=True)[1]
    expected = np.diagonal(np.linalg.inv(covariances), axis1=1, axis2=2)
    found = model.explain(X).precision.sum(axis=1)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-8)


def test_precisions_of_a_mixture_add_up_to_its_components_mean(tiny, table, doubled):
    X, y = table()
    model = tiny(folds=3, context_dim=(1, 3), n_estimators=6).fit(X, y)
    assert not np.all(model.learner_.ensemble.spreads == 1.0)  # widths and shares are calibrated
    dist = model.predict_dist(X)
    expected = (dist.weights * dist.stds**-2.0).sum(axis=1)
    explanation = model.explain(X)
    np.testing.assert_allclose(explanation.precision.sum(axis=1), expected, rtol=1e-8)
    np.testing.assert_allclose(explanation.prediction, model.predict(X), rtol=1e-10, atol=1e-10)


def test_contributions_of_a_row_do_not_depend_on_those_beside_it(tiny, table):
    X, y = table()
    model = tiny().fit(X, y)
    together = model.explain(X).mean
    alone = np.concatenate([model.explain(row[None]).mean for row in X[:5]])
    np.testing.assert_allclose(alone, together[:5], rtol=1e-12, atol=1e-14)


def test_many_rows_are_explained_in_blocks(tiny, table, monkeypatch):
    X, y = table()
    model = tiny().fit(X, y)
    expected, slopes = model.explain(X).mean, model.slopes(X)
    monkeypatch.setattr("ggln.explain.layers.NUMBERS", 2000)
    np.testing.assert_allclose(model.explain(X).mean, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model.slopes(X), slopes, rtol=1e-9, atol=1e-12)


def test_regressors_of_one_kind_have_names_of_their_own(tiny, table):
    X, y = table()
    explanation = tiny(base_model=[Ridge(0.1), Ridge(10.0)], folds=2).fit(X, y).explain(X[:1])
    assert explanation.names == ["x0", "x1", "x2", "Ridge 1", "Ridge 2", "bias -", "bias +"]
    assert explanation.biases == 2


# Slopes ------------------------------------------------------------------------------------------------


def assert_slopes_are_derivatives(model, X, reach=1e-6):
    slopes = model.slopes(X)
    compared = 0
    for feature in range(X.shape[1]):
        step = np.zeros(X.shape[1])
        step[feature] = reach
        same = (model.contexts(X - step) == model.contexts(X + step)).all(axis=(1, 2))
        expected = (model.predict(X + step) - model.predict(X - step))[same] / (2 * reach)
        np.testing.assert_allclose(slopes[same, feature], expected, rtol=1e-4, atol=1e-6)
        compared += same.sum()
    assert compared > 0.9 * X.size
    assert np.abs(slopes).max() > 0.01


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
@pytest.mark.parametrize("base_model", ["feature", "blr", "linear"])
def test_slopes_are_derivatives(tiny, table, doubled, outputs, covariance, base_model):
    X, y = table(outputs=outputs)
    model = tiny(covariance=covariance, base_model=base_model).fit(10 * X, 100 + 7 * y)
    assert_slopes_are_derivatives(model, 10 * X)


@pytest.mark.parametrize(
    ("covariance", "base_model"), [("isotropic", "coordinate"), ("isotropic", "axes"), ("full", "coordinate")]
)
def test_slopes_along_coordinates_are_derivatives(tiny, table, doubled, covariance, base_model):
    X, Y = table(outputs=3)
    model = tiny(covariance=covariance, base_model=base_model, layer_sizes=(9, 5)).fit(X, X + 0.1 * Y)
    assert_slopes_are_derivatives(model, X)


def test_slopes_are_derivatives_where_predictions_are_held_in_their_range(tiny, table, doubled):
    X, y = table()
    narrow = {"bias_range": 0.7, "min_variance": 0.5, "max_variance": 0.8, "step": "ogd"}
    assert_slopes_are_derivatives(tiny(**narrow).fit(X, y), X)


@pytest.mark.parametrize("outputs", [None, 2])
def test_slopes_go_through_regressors(tiny, table, doubled, outputs):
    X, y = table(outputs=outputs)
    regressors = [MLPRegressor(hidden_layer_sizes=(8, 6), max_iter=20, random_state=0), Ridge()]
    assert_slopes_are_derivatives(tiny(base_model=regressors, folds=2).fit(X, y), X)


@pytest.mark.parametrize("outputs", [None, 2])
def test_slopes_go_through_the_regressions_of_a_stream(tiny, table, doubled, outputs):
    """By the means that these predict, and by their precisions, which depend on the row as well."""
    X, y = table(outputs=outputs)
    model = tiny(base_model="auto", n_estimators=2, gating="axis").partial_fit(10 * X, 100 + 7 * y)
    assert_slopes_are_derivatives(model, 10 * X)


def test_slopes_beyond_all_limits_vanish(tiny, table):
    X, y = table()
    assert not tiny().fit(X, y).slopes(np.full((1, 3), 1e9)).any()
    assert not tiny(base_model="none").fit(X, y).slopes(X).any()


def test_slopes_of_an_unknown_regressor_are_refused(tiny, table):
    X, y = table()
    model = tiny(base_model=[KNeighborsRegressor()], folds=2).fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsRegressor, whose derivative is not known: use effects"):
        model.slopes(X)
    assert model.effects(X[:2], X).total.shape == (2, 3)


# Effects and importance --------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, 2])
def test_effects_are_differences_of_predictions(tiny, table, outputs):
    X, y = table(outputs=outputs)
    model = tiny().fit(X, 100 + 7 * y)
    background = X[:7]
    effects = model.effects(X[:3], background)
    for row in range(3):
        for feature in range(3):
            moved = np.tile(X[row], (7, 1))
            moved[:, feature] = background[:, feature]
            expected = model.predict(X[row : row + 1])[0] - model.predict(moved).mean(axis=0)
            np.testing.assert_allclose(effects.total[row, feature], expected, atol=1e-5)
    np.testing.assert_allclose(effects.values + effects.gates, effects.total, atol=1e-12)


def test_without_gates_all_effects_go_through_values(tiny, table):
    X, y = table()
    effects = tiny(context_dim=0).fit(X, y).effects(X[:5], X)
    assert not effects.gates.any()
    assert effects.values.any()


def test_without_base_inputs_all_effects_go_through_gates(tiny, table):
    X, y = table()
    effects = tiny(base_model="none").fit(X, y).effects(X[:5], X)
    np.testing.assert_allclose(effects.values, 0.0, atol=1e-12)
    assert effects.gates.any()


def test_long_backgrounds_are_represented_by_evenly_spaced_values(tiny, table):
    from ggln.explain.effects import reference_values

    values = np.arange(100.0)[::-1, None]
    assert reference_values(values, 4).ravel().tolist() == [12.0, 37.0, 62.0, 87.0]
    assert reference_values(values, 200).ravel().tolist() == sorted(values.ravel())


def test_what_gates_do_is_credited_to_the_feature(tiny, step):
    X, y = step
    model = tiny(layer_sizes=(16, 8, 2), epochs=5, n_estimators=4, gating="axis").fit(X, y)
    importance = model.importance(X[:100])
    biases = importance.inputs[-2:].sum()
    assert biases > importance.inputs[:2].sum()  # contributions say: it was the biases
    assert importance.gates[0] > 5 * importance.gates[1]  # effects: it was the gates of the first feature
    assert importance.gates[0] > importance.values[0]
    assert importance.total[0] == pytest.approx(3.0, abs=0.6)


def test_importance_is_the_mean_size(tiny, table):
    X, Y = table(outputs=2)
    model = tiny().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    frame = pd.DataFrame(X[:10], columns=["a", "b", "c"])
    importance, effects = model.importance(frame), model.effects(frame)
    assert importance.names == ["a", "b", "c"]
    np.testing.assert_allclose(importance.total, np.abs(effects.total).mean(axis=0))
    contributions = model.explain(frame).mean
    np.testing.assert_allclose(
        importance.inputs, np.abs(contributions - contributions.mean(axis=0)).mean(axis=0)
    )


# Gates and neighbours ----------------------------------------------------------------------------------


@pytest.mark.parametrize("gating", ["axis", "sphere", "mixed"])
def test_gates_are_half_spaces_in_the_units_of_the_features(tiny, table, gating):
    X, y = table()
    X = X * [1.0, 100.0, 0.01] + [0.0, -500.0, 3.0]
    model = tiny(gating=gating, context_dim=(2, 3), n_estimators=4).fit(X, y)
    contexts = model.contexts(X)
    for row in range(5):
        gates = model.active_gates(X[row : row + 1])
        np.testing.assert_array_equal(gates.inside, X[row] @ gates.normals.T >= gates.offsets)
        np.testing.assert_allclose(gates.projections, X[row] @ gates.normals.T, rtol=1e-9, atol=1e-9)
        neurons = np.ravel_multi_index(
            (gates.network, gates.neuron + [0, 9, 14] @ (gates.layer == [[0], [1], [2]])), (4, 16)
        )
        bits = [np.count_nonzero(gates.inside[neurons == k]) for k in range(64)]
        assert bits == [int(context).bit_count() for context in contexts[row].ravel()]
        assert len(gates.conditions()) == gates.inside.size


def test_conditions_read_as_inequalities(tiny, table):
    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    gates = tiny(gating="axis").fit(frame, y).active_gates(frame[:1])
    row = frame.iloc[0].to_dict()
    for condition in gates.conditions():
        assert eval(condition, {}, row), condition


def test_within_its_bounds_a_feature_changes_no_gate(tiny, table):
    X, y = table()
    model = tiny(gating="axis", context_dim=2, layer_sizes=(4, 2), n_estimators=1).fit(X, y)
    at = model.contexts(X[:1])
    bounds = model.active_gates(X[:1]).bounds
    crossed = 0
    for feature, (low, high) in enumerate(bounds):
        for edge, inwards in ((low, 1e-9), (high, -1e-9)):
            if np.isfinite(edge):
                moved = X[:1].copy()
                moved[0, feature] = edge + inwards
                assert np.array_equal(model.contexts(moved), at)
                moved[0, feature] = edge - inwards
                assert not np.array_equal(model.contexts(moved), at)
                crossed += 1
    assert crossed >= 3


def test_gates_on_regressors_carry_their_names_and_the_targets_units(tiny, table):
    X, y = table()
    model = tiny(base_model=[Ridge()], folds=2, gating="axis", layer_sizes=(20,)).fit(X, 1000 + 50 * y)
    gates = model.active_gates(X[:1])
    assert gates.names == ["x0", "x1", "x2", "Ridge"]
    own = gates.normals[:, 3] == 1.0
    assert own.any()
    predicted = model.learner_.advise(X[:1])[0, 0, 0]
    np.testing.assert_allclose(gates.projections[own], predicted)
    assert np.abs(gates.offsets[own] - 1000).max() < 500


def test_neighbours_share_the_most_contexts(tiny, table):
    X, y = table()
    model = tiny().fit(X, y)
    found = model.neighbours(X[10:13], X, n_neighbors=4)
    own, all_rows = model.contexts(X[10:13]), model.contexts(X)
    shares = (own[:, None] == all_rows[None]).mean(axis=(2, 3))
    np.testing.assert_allclose(found.shares, -np.sort(-shares, axis=1)[:, :4])
    np.testing.assert_allclose(np.take_along_axis(shares, found.rows, 1), found.shares)
    assert found.rows[:, 0].tolist() == [10, 11, 12]
    assert (found.shares[:, 0] == 1.0).all()
    counts = (own[:, None] == all_rows[None]).sum(axis=1)
    np.testing.assert_allclose(found.support, counts.mean(axis=(1, 2)))


# Errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_an_unfitted_model_explains_nothing(tiny, method):
    with pytest.raises(NotFittedError):
        getattr(tiny(), method)([[1.0, 2.0, 3.0]])


def test_bad_arguments_are_named(tiny, table):
    X, y = table()
    model = tiny().fit(X, y)
    with pytest.raises(ValueError, match=r"single row of shape \(1, 3\), got 2 rows"):
        model.active_gates(X[:2])
    with pytest.raises(ValueError, match="n_values must be an integer of at least 1, got 0"):
        model.effects(X, n_values=0)
    with pytest.raises(ValueError, match=r"n_neighbors must be an integer of at least 1, got 2\.5"):
        model.neighbours(X, X, n_neighbors=2.5)
    with pytest.raises(ValueError, match="a single row needs a background"):
        model.effects(X[:1])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.effects(X, X[:, :2])


def test_features_of_a_group_move_together(tiny, table):
    X, y = table()
    model = tiny().fit(X, y)
    groups = {"both": ["x0", "x2"]}
    effects = model.effects(X[:3], X, n_values=100, groups=groups)
    assert effects.names == ["both", "x1"]
    moved = np.repeat(X[:1], len(X), axis=0)
    moved[:, [0, 2]] = X[:, [0, 2]]  # to values that occur together
    expected = model.predict(X[:1])[0] - model.predict(moved).mean()
    np.testing.assert_allclose(effects.total[0, 0], expected, atol=1e-5)
    alone = model.effects(X[:3], X, n_values=100)
    np.testing.assert_allclose(effects.total[:, 1], alone.total[:, 1], atol=1e-12)
    together, apart = model.explain(X[:2]).together(groups), model.explain(X[:2])
    assert together.names == ["both", "x1", "bias -", "bias +"]
    np.testing.assert_allclose(together.mean[:, 0], apart.mean[:, 0] + apart.mean[:, 2])
    assert model.importance(X[:5], X, groups=groups).names == effects.names
    with pytest.raises(ValueError, match="groups name 'x9', which is not one of the features"):
        model.effects(X[:3], X, groups={"wrong": ["x9"]})
