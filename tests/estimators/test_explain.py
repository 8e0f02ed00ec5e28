"""Explanations: what adds up, derivatives, effects of features, gates, and similar rows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsRegressor

from ggln import GGLNRegressor
from ggln.explain.shapley import coalitions, contributions

KINDS = [(None, "isotropic"), (3, "isotropic"), (3, "diagonal"), (3, "full")]
METHODS = ["explain", "slopes", "effects", "importance", "contexts", "active_gates", "neurons"]


@pytest.fixture
def solved(tiny):
    """As `tiny`, learning exactly, in networks of two kinds."""
    return lambda **changes: tiny(exact=True, **{"context_dim": (3, 2), **changes})


@pytest.fixture
def doubled(monkeypatch):
    """Let networks of gradient steps compute in double precision: rounding is far below any difference."""
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


@pytest.fixture(scope="module")
def additive():
    """A model of y = sin(3 a) + b^2 + noise, with a feature that does nothing, and new rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (600, 3)), columns=["a", "b", "c"])
    y = np.sin(3 * X["a"]) + X["b"] ** 2 + 0.1 * rng.standard_normal(600)
    return GGLNRegressor(random_state=0).fit(X[:500], y[:500]), X[:500], X[500:540]


# Contributions of networks that were solved ------------------------------------------------------------


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
@pytest.mark.parametrize("base_model", ["auto", "feature"])
def test_contributions_of_features_add_up(solved, table, outputs, covariance, base_model):
    X, y = table(outputs=outputs)
    model = solved(covariance=covariance, base_model=base_model).fit(X, 100 + 7 * y)
    explanation = model.explain(X[:9])
    assert explanation.names == ["x0", "x1", "x2"]
    assert explanation.precision is None
    assert explanation.biases == 0
    assert explanation.mean.shape == (9, 3) if outputs is None else (9, 3, 3)
    np.testing.assert_allclose(explanation.prediction, model.predict(X[:9]), rtol=1e-12)
    model.partial_fit(X[:20], 50 + y[:20])
    np.testing.assert_allclose(model.explain(X[:9]).prediction, model.predict(X[:9]), rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 60])
def test_streams_are_explained_from_their_first_row_on(solved, table, rows):
    X, y = table()
    model = solved().partial_fit(X[:rows], y[:rows])
    np.testing.assert_allclose(model.explain(X).prediction, model.predict(X), rtol=1e-12)
    for method in METHODS:
        assert getattr(model, method)(X[:1]) is not None


def test_the_intercept_is_the_mean_prediction_of_the_background(solved, table):
    X, y = table()
    model = solved().fit(X, y)
    assert model.explain(X[:1], X[5:9]).intercept == pytest.approx(model.predict(X[5:9]).mean())
    few = model.explain(X[:1], X, n_background=4)
    assert few.intercept == pytest.approx(model.predict(X[[7, 22, 37, 52]]).mean())
    # rows that the model keeps, spread evenly over what is predicted of them
    assert model.explain(X[:1]).intercept == pytest.approx(model.predict(X).mean(), abs=0.05)
    bare = solved(base_model="feature").fit(X, y)
    assert bare.explain(X[:1]).intercept == pytest.approx(bare.predict(X.mean(axis=0)[None])[0])


@pytest.mark.nightly
def test_contributions_to_an_additive_function_are_its_parts(additive):
    model, X, rows = additive
    background = X[:50]
    found = model.explain(rows, background, n_background=50)
    effects = model.effects(rows, background, n_values=50)
    assert found.names == effects.names == ["a", "b", "c"]
    np.testing.assert_allclose(found.mean, effects.total, atol=0.05)
    parts = (
        [np.sin(3 * some["a"]) for some in (rows, background)],
        [some["b"] ** 2 for some in (rows, background)],
    )
    true = np.stack([own - other.mean() for own, other in parts], axis=1)
    assert np.abs(found.mean[:, :2] - true).mean() < 0.03
    assert np.abs(found.mean[:, 2]).max() < 0.05
    default = model.explain(rows)
    np.testing.assert_allclose(default.mean, model.effects(rows).total, atol=0.08)
    assert default.intercept == pytest.approx(model.predict(X).mean(), abs=0.02)


def test_contributions_are_given_to_the_feature_whose_gates_did_it(solved, step):
    X, y = step
    found = solved(base_model="feature", gating="residual").fit(X, y).explain(X[:50], X)
    np.testing.assert_allclose(found.mean[:, 0], y[:50] - y.mean(), atol=1.0)
    assert np.abs(found.mean[:, 1]).mean() < 0.1


@pytest.mark.parametrize("players", [1, 2, 3, 4, 5, 9])
def test_coalitions_divide_the_whole_difference(players):
    sets, weights = coalitions(players, 3)
    assert not sets[:, 0].any()
    assert sets[:, -1].all()
    np.testing.assert_allclose(weights[:, 1:-1].sum(axis=2), 0.0, atol=1e-15)
    np.testing.assert_allclose(weights[:, 0].sum(axis=1), -1.0)
    np.testing.assert_allclose(weights[:, -1].sum(axis=1), 1.0)


@pytest.mark.parametrize("features", [2, 4, 7])
def test_what_two_features_do_together_is_shared_evenly(features):
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(5, features)), rng.normal(size=(6, features))

    def mean(X):
        return np.stack([X[:, 0] * X[:, 1] + 2.0 * X[:, -1], X[:, 0]], axis=1)

    found, start = contributions(mean, rows, background, [[i] for i in range(features)])
    np.testing.assert_allclose(start, mean(background).mean(axis=0))
    (a, b), (other, another) = rows.T[:2, :, None], background.T[:2, None]
    # Shapley values of a product, by hand
    expected = (
        0.5 * ((a - other) * (b + another)).mean(axis=1),
        0.5 * ((a + other) * (b - another)).mean(axis=1),
    )
    tail = 2.0 * (rows[:, -1] - background[:, -1].mean())
    np.testing.assert_allclose(found[:, 0, 0], expected[0], atol=1e-12)
    np.testing.assert_allclose(found[:, 1, 0], expected[1] + (tail if features == 2 else 0.0), atol=1e-12)
    if features > 2:
        np.testing.assert_allclose(found[:, -1, 0], tail, atol=1e-12)
        np.testing.assert_allclose(found[:, 2:-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(found[:, 1:, 1], 0.0, atol=1e-12)


def test_contributions_do_not_depend_on_calls_or_threads(solved, table, monkeypatch):
    X, y = table()
    X = np.hstack([X, X[:, ::-1] ** 2])
    model = solved(n_jobs=1).fit(X, y)
    expected = model.explain(X[:6]).mean
    monkeypatch.setattr("ggln.explain.shapley.BLOCK", 700)
    np.testing.assert_allclose(model.set_params(n_jobs=2).explain(X[:6]).mean, expected, atol=1e-12)
    alone = np.concatenate([model.explain(row[None]).mean for row in X[:6]])
    np.testing.assert_allclose(alone, expected, atol=1e-12)


def test_groups_change_together(solved, table):
    X, y = table()
    model = solved().fit(X, y)
    found = model.explain(X[:4], X[:8], groups={"both": ["x0", "x2"]})
    assert found.names == ["both", "x1"]
    np.testing.assert_allclose(found.prediction, model.predict(X[:4]), rtol=1e-12)
    with pytest.raises(ValueError, match="groups name 'x9', which is not one of the features"):
        model.explain(X[:4], groups={"wrong": ["x9"]})


def test_outputs_apart_are_explained_together(solved, table):
    outputs = pytest.importorskip("ggln.engine.newton.outputs")
    X, Y = table(outputs=2)
    model = solved().fit(X, Y)
    settings = dataclasses.replace(model.learner_.settings, covariance="apart")
    model.learner_ = outputs.ApartLearner(settings)
    with model._threads() as threads:
        model.learner_.fit(X, Y, np.ones(len(X)), threads, lambda _: None)
    np.testing.assert_allclose(model.explain(X[:4]).prediction, model.predict(X[:4]), rtol=1e-12)
    assert_slopes_are_derivatives(model, X + 0.005, reach=1e-5)
    effects = model.effects(X[:3])
    np.testing.assert_allclose(effects.values + effects.gates, effects.total, atol=1e-12)
    assert effects.total.shape == (3, 3, 2)
    assert model.contexts(X).shape == (60, 4, 16)
    assert set(model.active_gates(X[:1]).network) == {0, 1, 2, 3}
    assert [layer.mean.shape for layer in model.neurons(X)] == [(60, 18, 2), (60, 10, 2), (60, 4, 2)]


# Contributions of networks that learn by gradient steps -----------------------------------------------


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
def test_slopes_of_gradient_networks_are_derivatives(tiny, table, doubled, outputs, covariance, base_model):
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


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
@pytest.mark.parametrize("base_model", ["auto", "feature"])
def test_slopes_of_solved_networks_are_derivatives(solved, table, outputs, covariance, base_model):
    X, y = table(outputs=outputs)
    model = solved(covariance=covariance, base_model=base_model).fit(10 * X, 100 + 7 * y)
    assert_slopes_are_derivatives(model, 10 * X + 0.05, reach=1e-4)  # gates go through rows that were learnt


def test_slopes_through_regressors_of_the_user_are_refused(solved, table):
    X, y = table()
    model = solved(base_model=[KNeighborsRegressor()]).fit(X, y)
    with pytest.raises(ValueError, match="regressors whose derivatives are not known: use effects"):
        model.slopes(X)
    assert model.effects(X[:2], X).total.shape == (2, 3)
    np.testing.assert_allclose(model.explain(X[:2]).prediction, model.predict(X[:2]), rtol=1e-12)


def test_slopes_beyond_all_limits_vanish(tiny, solved, table):
    X, y = table()
    assert not solved().fit(X, y).slopes(np.full((1, 3), 1e9)).any()
    assert not tiny().fit(X, y).slopes(np.full((1, 3), 1e9)).any()
    assert not tiny(base_model="none").fit(X, y).slopes(X).any()


# Effects and importance --------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_effects_are_differences_of_predictions(tiny, table, learning, outputs):
    X, y = table(outputs=outputs)
    model = tiny(step=learning).fit(X, 100 + 7 * y)
    background = X[:7]
    effects = model.effects(X[:3], background)
    for row in range(3):
        for feature in range(3):
            moved = np.tile(X[row], (7, 1))
            moved[:, feature] = background[:, feature]
            expected = model.predict(X[row : row + 1])[0] - model.predict(moved).mean(axis=0)
            np.testing.assert_allclose(effects.total[row, feature], expected, atol=1e-5)
    np.testing.assert_allclose(effects.values + effects.gates, effects.total, atol=1e-12)


@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_without_gates_all_effects_go_through_values(tiny, table, learning):
    X, y = table()
    effects = tiny(step=learning, context_dim=0).fit(X, y).effects(X[:5], X)
    assert not effects.gates.any()
    assert effects.values.any()


def test_without_base_inputs_all_effects_go_through_gates(tiny, table):
    X, y = table()
    effects = tiny(base_model="none").fit(X, y).effects(X[:5], X)
    np.testing.assert_allclose(effects.values, 0.0, atol=1e-12)
    assert effects.gates.any()


def test_effects_compare_with_rows_that_the_model_keeps(solved, table):
    X, y = table()
    model = solved().fit(X, y)
    alone = model.effects(X[:1], n_values=60)
    # but for their last bits, which may be on the other side of a gate
    np.testing.assert_allclose(alone.total, model.effects(X[:1], X, n_values=60).total, atol=1e-3)


def test_long_backgrounds_are_represented_by_evenly_spaced_values():
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


@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_importance_is_the_mean_size(tiny, table, learning):
    X, Y = table(outputs=2)
    model = tiny(step=learning).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    frame = pd.DataFrame(X[:10], columns=["a", "b", "c"])
    importance, effects = model.importance(frame), model.effects(frame)
    assert importance.names == ["a", "b", "c"]
    np.testing.assert_allclose(importance.total, np.abs(effects.total).mean(axis=0))
    contributions = model.explain(frame).mean
    np.testing.assert_allclose(
        importance.inputs, np.abs(contributions - contributions.mean(axis=0)).mean(axis=0)
    )


# Gates and neighbours ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learning", "gating"),
    [
        ("capped", "axis"),
        ("capped", "sphere"),
        ("capped", "mixed"),
        ("newton", "residual"),
        ("newton", "mixed"),
    ],
)
def test_gates_are_half_spaces_in_the_units_of_the_features(tiny, table, learning, gating):
    X, y = table()
    X = X * [1.0, 100.0, 0.01] + [0.0, -500.0, 3.0]
    settings = {"gating": gating, "context_dim": (2, 3), "base_model": "auto", "n_estimators": 4}
    model = tiny(step=learning, **settings).fit(X, y)
    X = X + 1e-3 * X.std(axis=0)  # gates may go right through a row that was learnt
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


@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_conditions_read_as_inequalities(tiny, table, learning):
    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    new = frame[:1] + 1e-3  # gates may go right through a row that was learnt
    gates = tiny(step=learning, gating="axis").fit(frame, y).active_gates(new)
    row = new.iloc[0].to_dict()
    assert gates.conditions()
    for condition in gates.conditions():
        assert eval(condition, {}, row), condition


@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_within_its_bounds_a_feature_changes_no_gate(tiny, table, learning):
    X, y = table()
    model = tiny(step=learning, gating="axis", context_dim=2, layer_sizes=(4, 2), n_estimators=1).fit(X, y)
    X = X + 1e-3
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


def test_bits_of_contexts_are_gates(solved, table):
    X, y = table()
    model = solved(context_dim=(3, 2)).fit(X, y)
    contexts, gates = model.contexts(X[:1]), model.active_gates(X[:1])
    assert contexts[:, 0].max() < 8
    assert contexts[:, 1].max() < 4
    for network, dims in ((0, 3), (1, 2)):
        compared, places = (
            0,
            [(layer, k) for layer, size in enumerate(model.layer_sizes) for k in range(size)],
        )
        for place, (layer, neuron) in enumerate(places):
            own = (gates.network == network) & (gates.layer == layer) & (gates.neuron == neuron)
            inside = gates.inside[own]
            if inside.size == dims:  # a node of few rows has no gate
                assert contexts[0, network, place] == inside @ (1 << np.arange(dims))
                compared += 1
        assert compared >= 8


@pytest.mark.parametrize(("outputs", "covariance"), KINDS)
def test_neurons_of_the_last_layer_make_the_prediction(solved, table, outputs, covariance):
    X, Y = table(outputs=outputs)
    model = solved(covariance=covariance, n_estimators=2).fit(X, 100 + 7 * Y)
    layers = model.neurons(X)
    assert [layer.mean.shape[1] for layer in layers] == [18, 10, 4]
    assert all(layer.mean.shape == layer.variance.shape for layer in layers)
    assert all((layer.variance > 0).all() for layer in layers)
    if covariance == "full":
        return  # precisions are matrices, of which variances do not tell
    last = layers[-1]
    dist = model.predict_dist(X)
    each = [dist] if outputs is None else [dist.marginal(d) for d in range(outputs)]
    means = np.stack([own.means for own in each], axis=-1)
    means = means[:, ::6][:, 1:]  # six spreads of each kind; the first is the regression
    for network in range(2):
        own = slice(2 * network, 2 * network + 2)
        precision = 1.0 / last.variance[:, own]
        expected = (precision * last.mean[:, own]).sum(axis=1) / precision.sum(axis=1)
        np.testing.assert_allclose(means[:, network].reshape(expected.shape), expected, rtol=1e-9)


@pytest.mark.parametrize("learning", ["newton", "capped"])
def test_neighbours_share_the_most_contexts(tiny, table, learning):
    X, y = table()
    model = tiny(step=learning).fit(X, y)
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
    with pytest.raises(ValueError, match="background needs step=\"newton\", got step='capped'"):
        model.explain(X[:2], X)
    with pytest.raises(ValueError, match="n_background must be an integer of at least 1, got 0"):
        model.explain(X[:2], n_background=0)


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
