"""Displays show what they say: the numbers drawn are the model's, and every picture can be drawn."""

import copy
import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ggln import GGLNRegressor, TableRegressor, palette, plots
from ggln.distributions import GaussianMixture
from ggln.plots import (
    BandDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    EffectsDisplay,
    GatingDisplay,
    IntervalsDisplay,
    NeuronsDisplay,
    PrequentialDisplay,
    SwitchingDisplay,
    style,
)


@pytest.fixture
def named(data):
    """The rows as a data frame."""
    return pd.DataFrame(data[0], columns=["a", "b", "c"])


def drawn(display):
    """Draw the picture for good; return how many of its points are not white."""
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3]
    return np.count_nonzero((pixels != 255).any(axis=2))


ALL = {
    "band": lambda m, s, X, y, ax: BandDisplay.from_estimator(m, X, y, ax=ax),
    "intervals": lambda m, s, X, y, ax: IntervalsDisplay.from_estimator(m, X, y, ax=ax),
    "coverage": lambda m, s, X, y, ax: CalibrationDisplay.from_estimator(m, X, y, ax=ax),
    "quantiles": lambda m, s, X, y, ax: CalibrationDisplay.from_estimator(m, X, y, kind="quantiles", ax=ax),
    "pit": lambda m, s, X, y, ax: CalibrationDisplay.from_estimator(m, X, y, kind="pit", ax=ax),
    "prequential": lambda m, s, X, y, ax: PrequentialDisplay.from_estimator(s, X, y, ax=ax),
    "switching": lambda m, s, X, y, ax: SwitchingDisplay.from_estimator(s, X, y, ax=ax),
    "contributions": lambda m, s, X, y, ax: ContributionsDisplay.from_estimator(m, X, ax=ax),
    "effects": lambda m, s, X, y, ax: EffectsDisplay.from_estimator(m, X[:1], X, ax=ax),
    "importance": lambda m, s, X, y, ax: EffectsDisplay.from_estimator(m, X[:5], X, ax=ax),
    "layer": lambda m, s, X, y, ax: GatingDisplay.from_estimator(m, X, grid_resolution=40, ax=ax),
    "neuron": lambda m, s, X, y, ax: GatingDisplay.from_estimator(m, X, neuron=1, grid_resolution=40, ax=ax),
}


@pytest.mark.parametrize("name", ALL)
def test_every_display_draws_where_it_is_told_to(name, model, stream, data):
    before = dict(mpl.rcParams)
    own = ALL[name](model, stream, *data, None)
    assert drawn(own) > 2000
    assert own.ax_.get_xlabel()
    figure, axes = plt.subplots()
    given = ALL[name](model, stream, *data, axes)
    assert given.ax_ is axes
    assert given.figure_ is figure
    assert drawn(given) > 2000
    assert dict(mpl.rcParams) == before


def test_all_displays_are_public():
    for name in plots.__all__:
        display = getattr(plots, name)
        for method in ("plot", "from_estimator", "from_predictions"):
            assert callable(getattr(display, method))


# Bands and intervals -----------------------------------------------------------------------------------


def test_a_band_is_what_the_model_predicts_with_the_other_features_held(model, data):
    X, y = data
    display = BandDisplay.from_estimator(model, X, y, feature=1, levels=[0.8], grid_resolution=50)
    rows = np.tile(np.median(X, axis=0), (50, 1))
    rows[:, 1] = np.linspace(X[:, 1].min(), X[:, 1].max(), 50)
    dist = model.predict_dist(rows)
    np.testing.assert_array_equal(display.mean, dist.mean)
    np.testing.assert_array_equal(display.intervals[0.8], dist.interval(0.8))
    (line,) = display.ax_.lines
    np.testing.assert_array_equal(line.get_ydata(), dist.mean)


def test_a_band_may_be_asked_for_by_name_at_a_row_and_in_a_pipeline(stream, data, named):
    X, y = data
    steps = make_pipeline(StandardScaler(), stream).fit(named, y)
    display = BandDisplay.from_estimator(steps, named, feature="b", at=X[3], grid_resolution=9)
    rows = pd.DataFrame(np.tile(X[3], (9, 1)), columns=["a", "b", "c"])
    rows["b"] = display.x
    np.testing.assert_allclose(display.mean, steps.predict(rows), rtol=1e-6)
    assert display.ax_.get_xlabel() == "b"


def test_a_band_of_one_output_of_several(two_outputs, data):
    X, y = data
    second = BandDisplay.from_estimator(two_outputs, X, np.stack([y, -2 * y], 1), output=1)
    np.testing.assert_allclose(second.samples[1], -2 * y)
    assert second.mean.mean() < 0


def test_estimators_of_scikit_learn_with_a_deviation_have_bands(data):
    X, y = data
    process = GaussianProcessRegressor(alpha=0.1).fit(X[:50], y[:50])
    display = BandDisplay.from_estimator(process, X, levels=[0.9], grid_resolution=5)
    mean, std = process.predict(
        np.column_stack([display.x, *np.median(X, axis=0)[1:, None] * np.ones(5)]), True
    )
    np.testing.assert_allclose(display.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(display.intervals[0.9][1], mean + 1.6448536 * std, rtol=1e-6)


def test_what_cannot_be_drawn_is_refused(model, data, named):
    X, y = data
    with pytest.raises(ValueError, match="Ridge predicts no distribution: expected a method predict_dist"):
        BandDisplay.from_estimator(Ridge().fit(X, y), X)
    with pytest.raises(ValueError, match=r"feature 'd' is not a column of X, which has \['a', 'b', 'c'\]"):
        BandDisplay.from_estimator(model, named, feature="d")
    with pytest.raises(ValueError, match="feature must be from 0 to 2, got 3"):
        BandDisplay.from_estimator(model, X, feature=3)
    with pytest.raises(ValueError, match="at must be a row of 3 features"):
        BandDisplay.from_estimator(model, X, at=[1.0])


def test_coverage_of_intervals_is_counted(model, data):
    X, y = data
    display = IntervalsDisplay.from_estimator(model, X, y, level=0.5)
    lower, upper = model.predict_dist(X).interval(0.5)
    assert display.coverage == np.mean((lower <= y) & (y <= upper))
    assert f"{100 * display.coverage:.0f} %" in display.ax_.get_title()


def test_places_that_are_not_there_are_refused(model, data):
    X, y = data
    explanation = model.explain(X[:2])
    for call, message in {
        lambda: GatingDisplay.from_estimator(model, X, neuron=8): "neuron must be from 0 to 7, got 8",
        lambda: GatingDisplay.from_estimator(model, X, layer=3): "layer must be from 0 to 2, got 3",
        lambda: GatingDisplay.from_estimator(model, X, network=-1): "network must be from 0 to 1, got -1",
        lambda: GatingDisplay.from_estimator(model, X, features=(0, 3)): "feature must be from 0 to 2, got 3",
        lambda: NeuronsDisplay.from_estimator(model, X, layers=[3]): "layers must be from 0 to 2, got 3",
        lambda: NeuronsDisplay.from_estimator(model, X, output=1): "output must be from 0 to 0, got 1",
        lambda: BandDisplay.from_estimator(model, X, output=1): "output must be from 0 to 0, got 1",
        lambda: BandDisplay.from_estimator(model, X, y[:9]): "inconsistent numbers of samples",
        lambda: ContributionsDisplay.from_predictions(explanation, row=2): "row must be from 0 to 1, got 2",
        lambda: ContributionsDisplay.from_predictions(explanation, output=1): "output must be from 0 to 0",
        lambda: PrequentialDisplay.from_estimator(Ridge(), X, y): "Ridge has no method prequential: expected",
        lambda: ContributionsDisplay.from_estimator(Ridge(), X): "Ridge has no method explain: expected",
    }.items():
        with pytest.raises(ValueError, match=message):
            call()


# Calibration -------------------------------------------------------------------------------------------


def gaussians(std, rows=2000):
    return GaussianMixture([1.0], np.zeros((rows, 1)), np.full((rows, 1), std))


@pytest.mark.parametrize("kind", ["coverage", "quantiles", "pit"])
def test_a_calibrated_model_lies_on_the_diagonal_and_a_sure_one_does_not(kind):
    y = np.random.default_rng(0).standard_normal(2000)
    levels = np.linspace(0.1, 0.9, 9)
    right = CalibrationDisplay.from_predictions(y, gaussians(1.0), kind=kind)
    np.testing.assert_allclose(right.coverage(levels), levels, atol=0.03)
    np.testing.assert_allclose(right.below(levels), levels, atol=0.03)
    sure = CalibrationDisplay.from_predictions(y, gaussians(0.5), kind=kind)
    assert (sure.coverage(levels) < levels - 0.04).all()
    unsure = CalibrationDisplay.from_predictions(y, gaussians(2.0), kind=kind)
    assert (unsure.coverage(levels) > levels + 0.05).all()


def test_the_mark_at_a_hundred_percent_is_not_cut():
    display = CalibrationDisplay.from_predictions(np.zeros(50), gaussians(1.0, 50))
    mark = display.ax_.lines[-1]
    assert mark.get_ydata()[0] == 1.0
    assert not mark.get_clip_on()


def test_titles_fit_into_small_axes(model, data):
    figure, axes = plt.subplots(figsize=(2.6, 2.0), layout="constrained")
    title = IntervalsDisplay.from_estimator(model, *data, ax=axes).ax_.title
    figure.canvas.draw()
    assert title.get_window_extent().width < figure.bbox.width


def test_calibration_of_one_output_of_several(two_outputs, data):
    X, y = data
    Y = np.stack([y, -2 * y], axis=1)
    second = CalibrationDisplay.from_estimator(two_outputs, X, Y, output=1)
    np.testing.assert_allclose(second.pit, two_outputs.predict_dist(X).marginal(1).cdf(-2 * y))
    assert CalibrationDisplay.from_estimator(two_outputs, X, Y).pit.size == 800


def test_the_grey_band_holds_nineteen_in_twenty():
    from ggln.plots.calibration import _band

    low, high = _band(200, 0.3)
    shares = np.random.default_rng(0).binomial(200, 0.3, 20_000) / 200
    assert 0.945 < np.mean((low <= shares) & (shares <= high)) < 0.975


def test_unknown_kinds_and_losses_are_refused(model, data):
    X, y = data
    with pytest.raises(
        ValueError, match=r"kind must be one of \['coverage', 'quantiles', 'pit'\], got 'pdf'"
    ):
        CalibrationDisplay.from_estimator(model, X, y, kind="pdf")
    with pytest.raises(ValueError, match=r"loss must be one of .*, got 'log'"):
        PrequentialDisplay.from_estimator(model, X, y, loss="log")
    with pytest.raises(ValueError, match="window must be from 1 to the 400 rows, got 401"):
        PrequentialDisplay.from_estimator(model, X, y, window=401)
    with pytest.raises(ValueError, match="quantity must be 'mean' or 'precision', got 'std'"):
        ContributionsDisplay.from_estimator(model, X, quantity="std")


# Streams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["nll", "squared_error", "absolute_error", "crps"])
def test_losses_are_those_before_each_row_was_learnt(stream, data, monkeypatch, loss):
    X, y = data
    monkeypatch.setattr("ggln.plots.prequential.CHUNK", 150)  # several chunks
    display = PrequentialDisplay.from_estimator(stream, X, y, loss=loss, window=10)
    assert not hasattr(stream, "learner_")
    dist = copy.deepcopy(stream).prequential(X, y)
    expected = {
        "nll": -dist.log_prob(y),
        "squared_error": (y - dist.mean) ** 2,
        "absolute_error": abs(y - dist.mean),
        "crps": dist.crps(y),
    }[loss]
    np.testing.assert_allclose(display.losses, expected, rtol=1e-9)
    np.testing.assert_allclose(display.moving[0], expected[:10].mean())
    np.testing.assert_allclose(display.moving[-1], expected[-10:].mean())
    np.testing.assert_allclose(display.running[-1], expected.mean())


def test_rows_of_frames_are_taken_by_place(stream, data, named, monkeypatch):
    X, y = data
    monkeypatch.setattr("ggln.plots.prequential.CHUNK", 150)
    shuffled = named.set_axis(np.random.default_rng(0).permutation(400) / 2, axis=0)
    display = PrequentialDisplay.from_estimator(stream, shuffled, pd.Series(y, shuffled.index))
    np.testing.assert_array_equal(display.losses, PrequentialDisplay.from_estimator(stream, X, y).losses)
    in_steps = make_pipeline(StandardScaler().fit(X), stream)
    assert SwitchingDisplay.from_estimator(in_steps, X, y).shares.shape == (400, 3)


def test_losses_of_several_outputs(two_outputs, data):
    X, y = data
    Y = np.stack([y, -2 * y], 1)
    before = two_outputs.predict(X)
    crps = PrequentialDisplay.from_estimator(two_outputs, X, Y, loss="crps")
    assert crps.losses.shape == (400,)
    np.testing.assert_array_equal(two_outputs.predict(X), before)


def test_switching_shares_are_the_mixtures(stream, data, monkeypatch):
    X, y = data
    monkeypatch.setattr("ggln.plots.prequential.CHUNK", 150)
    display = SwitchingDisplay.from_estimator(stream, X, y)
    np.testing.assert_allclose(display.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(display.shares[0], np.array([8, 4, 2]) / 14)
    dist = copy.deepcopy(stream).prequential(X, y)
    again = SwitchingDisplay.from_predictions(dist, stream.layer_sizes)
    np.testing.assert_array_equal(display.shares, again.shares)
    layers = dist.weights.reshape(400, 2, 14)
    np.testing.assert_allclose(display.shares[:, 1], layers[:, :, 8:12].sum(axis=(1, 2)))


def test_weights_that_do_not_move_are_not_drawn(stream, data):
    X, y = data
    with pytest.raises(
        ValueError, match="switching weights of this estimator do not move: it has aggregation"
    ):
        SwitchingDisplay.from_estimator(stream.set_params(aggregation="last"), X, y)
    with pytest.raises(ValueError, match=r"weights must have shape \(n, networks \* 7\)"):
        SwitchingDisplay.from_predictions(GaussianMixture([1.0], [[0.0]], [[1.0]]), (4, 3))


# Explanations ------------------------------------------------------------------------------------------


def test_bars_lead_from_the_intercept_to_the_prediction(model, data):
    X, _ = data
    for count in (2, 3, 12):
        display = ContributionsDisplay.from_estimator(model, X[5:6], max_display=count)
        bars = display.ax_.patches
        assert bars[0].get_x() == pytest.approx(display.intercept)
        assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(model.predict(X[5:6])[0], rel=1e-5)
        assert len(bars) == min(count, 4)
    assert {text.get_text() for text in display.ax_.get_yticklabels()} == {"x0", "x1", "x2", "biases"}


def test_bars_of_a_model_that_learns_exactly_are_its_features(solved, data):
    X, _ = data
    display = ContributionsDisplay.from_estimator(solved, X[5:6])
    assert {text.get_text() for text in display.ax_.get_yticklabels()} == {"x0", "x1", "x2"}
    assert display.intercept + display.contributions.sum() == pytest.approx(solved.predict(X[5:6])[0])
    against = ContributionsDisplay.from_estimator(solved, X[5:6], background=X[:10])
    assert against.intercept == pytest.approx(solved.predict(X[:10]).mean())
    with pytest.raises(ValueError, match='contributions to precisions for step="capped" and "ogd" only'):
        ContributionsDisplay.from_estimator(solved, X[5:6], quantity="precision")
    assert drawn(EffectsDisplay.from_estimator(solved, X[:1])) > 2000  # against rows that it keeps


@pytest.mark.parametrize(
    "name", ["band", "intervals", "coverage", "effects", "importance", "layer", "neuron"]
)
def test_displays_of_a_model_that_learns_exactly(name, solved, data):
    assert drawn(ALL[name](solved, None, *data, None)) > 2000


def test_precisions_and_other_outputs_are_drawn(two_outputs, data):
    X, _ = data
    explanation = two_outputs.explain(X[:3])
    display = ContributionsDisplay.from_predictions(explanation, row=2, output=1)
    assert display.intercept + display.contributions.sum() == pytest.approx(
        two_outputs.predict(X[2:3])[0, 1], rel=1e-5
    )
    precision = ContributionsDisplay.from_predictions(explanation, row=2, quantity="precision", output=1)
    assert precision.contributions.sum() == pytest.approx(explanation.precision[2, :, 1].sum())
    assert precision.intercept == 0.0


def test_effects_are_drawn_largest_first(model, data):
    X, _ = data
    display = EffectsDisplay.from_estimator(model, X[:5], X, max_display=2)
    importance = model.importance(X[:5], X)
    largest = np.argsort(-np.maximum(importance.values, importance.gates))[:2]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [f"x{i}" for i in largest]
    with pytest.raises(ValueError, match="a single row needs a background"):
        EffectsDisplay.from_estimator(model, X[:1])


# Gates and neurons -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "network", "gates"), [("model", 0, 3), ("solved", 0, 3), ("solved", 1, 2)])
def test_regions_are_the_models_contexts_and_lines_their_boundaries(name, network, gates, data, request):
    (X, _), model = data, request.getfixturevalue(name)
    place = {"features": (2, 0), "neuron": 3, "layer": 1, "network": network}
    display = GatingDisplay.from_estimator(model, X, **place, grid_resolution=30)
    assert display.context_dim == gates
    rows = np.tile(np.median(X, axis=0), (30, 1))
    rows[:, 2], rows[:, 0] = display.x, display.y[7]
    np.testing.assert_array_equal(display.contexts[0, 7], model.contexts(rows)[:, network, 8 + 3])
    points = np.stack(np.meshgrid(display.x, display.y), axis=-1)
    if name == "solved":  # a tree: boundaries end at each other
        assert not display.normals.size
        other = GatingDisplay.from_estimator(model, X, **place | {"neuron": 2}, grid_resolution=30)
        inside, held = points @ other.normals.T >= other.offsets, other.inside
    else:
        inside, held = points @ display.normals.T >= display.offsets, display.inside
    np.testing.assert_array_equal(inside.sum(axis=2), held)
    assert display.regions == np.unique(display.contexts).size


@pytest.mark.parametrize("name", ["model", "solved"])
def test_best_neurons_are_drawn_with_their_bands(name, data, request):
    (X, y), model = data, request.getfixturevalue(name)
    display = NeuronsDisplay.from_estimator(model, X, y, layers=[0, 2], grid_resolution=30)
    assert len(display.axes_) == 2
    layer = model.neurons(X)[2]
    nll = 0.5 * np.mean(
        np.log(2 * np.pi * layer.variance) + (y[:, None] - layer.mean) ** 2 / layer.variance, 0
    )
    assert display.best[1] == nll.argmin()
    assert display.scores[1] == pytest.approx(nll.min())
    assert drawn(display) > 2000
    plain = NeuronsDisplay.from_predictions(display.x, model.neurons(np.tile(X[:1], (30, 1))))
    assert [axes.get_title() for axes in plain.axes_] == ["layer 1", "layer 2", "layer 3"]
    with pytest.raises(ValueError, match="ax must hold 3 axes, one for each layer, got 1"):
        plain.plot(ax=[plt.subplots()[1]])


# Colours -----------------------------------------------------------------------------------------------

# What people without one kind of cone see, in linear RGB (Machado, Oliveira and Fernandes, 2009).
SIGHT = {
    "full": np.eye(3),
    "no long": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no short": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
TOGETHER = [
    (palette.BLUE, palette.ORANGE, palette.GREY),
    (palette.SKY, palette.GREEN),
    tuple(style.in_order(6)),
]


def seen(color, sight):
    red_green_blue = np.array(mpl.colors.to_rgb(color))
    return np.clip(np.asarray(SIGHT[sight]) @ red_green_blue**2.2, 0, 1) ** (1 / 2.2)


@pytest.mark.parametrize(
    ("colors", "sight"),
    # a photocopy has to show an order; kinds are told apart by place or line as well
    [*itertools.product(TOGETHER, list(SIGHT)[:-1]), (style.in_order(6), "grey")],
)
def test_colours_used_together_can_be_told_apart(colors, sight):
    for i, one in enumerate(colors):
        for other in colors[:i]:
            assert np.linalg.norm(seen(one, sight) - seen(other, sight)) > 0.12


def test_a_band_over_categories_stands_at_their_names():
    mixture = GaussianMixture([1.0], np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]]))
    samples = np.array(["Rome", "Oslo", "Paris"]), np.array([1.0, 2.0, 3.0])
    display = BandDisplay.from_predictions(np.array(["Oslo", "Rome"]), mixture, samples=samples)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["Oslo", "Rome"]
    (low, high) = display.intervals[0.9]
    bars = display.ax_.collections[1].get_segments()  # after the samples
    np.testing.assert_allclose([bar[:, 1] for bar in bars], np.column_stack([low, high]))


def test_intervals_are_told_apart_in_the_legend():
    mixture = GaussianMixture([1.0], np.zeros((5, 1)), np.ones((5, 1)))
    display = BandDisplay.from_predictions(np.arange(5.0), mixture)
    shades = {area.get_label(): area.get_alpha() for area in display.ax_.collections}
    assert shades["50 % predicted"] > 2 * shades["90 % predicted"]


# Tables ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def houses():
    """A table with a column of each kind, gaps among them, and prices."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "city": random.choice(["Oslo", "Rome"], 150),
            "area": random.uniform(20, 200, 150),
            "garden": random.choice([True, False], 150),
            "rooms": random.choice([1, 2, 3, None], 150),
            "sold": pd.date_range("2024-01-01", periods=150),
        }
    )
    price = frame["area"] * np.where(frame["city"] == "Oslo", 9.0, 6.0) + random.normal(0, 25, 150)
    return frame, price.rename("price")


@pytest.fixture(scope="module")
def agent(stream_settings, houses):
    return TableRegressor(GGLNRegressor(**stream_settings)).fit(*houses)


TABLES = {
    "number": lambda m, s, X, y: BandDisplay.from_estimator(m, X, y, feature="area"),
    "category": lambda m, s, X, y: BandDisplay.from_estimator(m, X, y, feature="city"),
    "date": lambda m, s, X, y: BandDisplay.from_estimator(m, X, y, feature="sold", at=X.iloc[3]),
    "intervals": lambda m, s, X, y: IntervalsDisplay.from_estimator(m, X, y),
    "coverage": lambda m, s, X, y: CalibrationDisplay.from_estimator(m, X, y),
    "prequential": lambda m, s, X, y: PrequentialDisplay.from_estimator(m, X, y),
    "switching": lambda m, s, X, y: SwitchingDisplay.from_estimator(s, X, y),
    "contributions": lambda m, s, X, y: ContributionsDisplay.from_estimator(m, X),
    "effects": lambda m, s, X, y: EffectsDisplay.from_estimator(m, X[:1]),
    "importance": lambda m, s, X, y: EffectsDisplay.from_estimator(m, X[:5], X),
    "layer": lambda m, s, X, y: GatingDisplay.from_estimator(m, X, grid_resolution=40),
    "neurons": lambda m, s, X, y: NeuronsDisplay.from_estimator(m, X, y, feature="area"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_display_takes_a_table(name, agent, stream_settings, houses):
    new = TableRegressor(GGLNRegressor(**stream_settings))
    before = agent.regressor_.learner_.rows
    assert drawn(TABLES[name](agent, new, *houses)) > 2000
    assert not hasattr(new, "regressor_")
    assert agent.regressor_.learner_.rows == before


def test_a_pipeline_may_end_with_a_table(agent, stream_settings, houses):
    frame, price = houses
    steps = make_pipeline("passthrough", agent)
    assert BandDisplay.from_estimator(steps, frame, feature="city").x_name == "city"
    assert NeuronsDisplay.from_estimator(steps, frame, feature="area").x_name == "area"
    new = make_pipeline(FunctionTransformer().fit(frame), TableRegressor(GGLNRegressor(**stream_settings)))
    assert SwitchingDisplay.from_estimator(new, frame, price).shares.shape == (150, 3)


def test_a_band_of_a_table_is_what_its_model_predicts(agent, houses):
    frame, price = houses
    at = frame.iloc[5]
    display = BandDisplay.from_estimator(agent, frame, price, feature="area", at=at, grid_resolution=7)
    moved = pd.DataFrame([at] * 7).assign(area=np.linspace(frame["area"].min(), frame["area"].max(), 7))
    np.testing.assert_allclose(display.mean, agent.predict(moved), rtol=1e-6)
    assert (display.x_name, display.y_name) == ("area", "price")
    cities = BandDisplay.from_estimator(agent, frame, feature="city", at=at)
    moved = pd.DataFrame([at] * 2).assign(city=cities.x)
    np.testing.assert_allclose(cities.mean, agent.predict(moved), rtol=1e-6)
    for table in (pl.from_pandas(frame), {name: list(frame[name]) for name in frame}):
        again = BandDisplay.from_estimator(agent, table, feature=1, at=dict(at), grid_resolution=7)
        np.testing.assert_array_equal(again.mean, display.mean)


def test_a_display_of_a_stream_of_a_table_is_that_of_its_features(agent, houses, monkeypatch):
    monkeypatch.setattr("ggln.plots.prequential.CHUNK", 40)
    frame, price = houses
    losses = PrequentialDisplay.from_estimator(agent, frame, price).losses
    expected = PrequentialDisplay.from_estimator(agent.networks, agent.features(frame), price).losses
    np.testing.assert_array_equal(losses, expected)
    columns = {name: frame[name].to_numpy() for name in frame}
    np.testing.assert_array_equal(PrequentialDisplay.from_estimator(agent, columns, price).losses, expected)


def test_what_cannot_be_drawn_of_a_table_is_refused(agent, houses):
    frame, price = houses
    for call, message in {
        lambda: BandDisplay.from_estimator(
            agent, frame, feature="aria"
        ): "no column 'aria': did you mean 'area'",
        lambda: BandDisplay.from_estimator(agent, frame, feature=5): "feature must be from 0 to 4, or a name",
        lambda: BandDisplay.from_estimator(agent, frame, price[:3]): "inconsistent numbers of samples",
        lambda: NeuronsDisplay.from_estimator(agent, frame, feature="city"): "'city' has no order to draw",
        lambda: GatingDisplay.from_estimator(agent, frame, features=("area", "x")): "has no column 'x'",
    }.items():
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(NotFittedError):
        NeuronsDisplay.from_estimator(TableRegressor(), frame)


def test_names_of_targets_and_values_of_features_are_shown(model, data, named, agent, houses):
    frame, price = houses
    assert IntervalsDisplay.from_estimator(agent, frame, price).ax_.get_ylabel() == "price"
    y = pd.Series(data[1], name="yield")
    assert BandDisplay.from_estimator(model, named.to_numpy(), y).ax_.get_ylabel() == "yield"
    labels = [
        text.get_text() for text in EffectsDisplay.from_estimator(agent, frame[:1]).ax_.get_yticklabels()
    ]
    assert f"area = {frame['area'][0]:.4g}" in labels
    assert f"city = {frame['city'][0]}" in labels


def test_rows_and_targets_of_different_numbers_are_refused(model, data):
    X, y = data
    with pytest.raises(ValueError, match="y has 5 rows, but 400 were predicted"):
        IntervalsDisplay.from_estimator(model, X, y[:5])


def test_a_row_without_its_brackets_is_refused_as_such(model, data):
    with pytest.raises(ValueError, match=r"X has one dimension: give rows, as in X\[:1\]"):
        ContributionsDisplay.from_estimator(model, data[0][0])
