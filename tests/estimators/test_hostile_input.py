"""Legal input of any kind never gives NaN, infinity, or a standard deviation that is not positive."""

import numpy as np
import pytest

KINDS = {
    "default": {},
    "sphere, unscaled": {"gating": "sphere", "gating_bias": 0.5, "standardize": False},
    "blr": {"base_model": "blr", "base_variance": None},
    "plain steps": {"step": "ogd", "learning_rate": 1.0, "aggregation": "last"},
    "exact": {"projection": "exact"},
    "log_barrier": {"projection": "log_barrier"},
    "isotropic": {"outputs": 2, "covariance": "isotropic"},
    "full": {"outputs": 2, "covariance": "full"},
    "full, exact": {"outputs": 2, "covariance": "full", "projection": "exact"},
    "solved": {"exact": True},
    "solved, full": {"exact": True, "outputs": 2, "covariance": "full"},
    "diagonal, log_barrier": {"outputs": 2, "covariance": "diagonal", "projection": "log_barrier"},
}
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = np.stack([X[:, 0] * X[:, 1], X[:, 2] + 0.1 * rng.normal(size=40)], axis=1)
OUTLIER = np.where(np.arange(40)[:, None] == 20, 1e6, 1.0)
TABLES = {
    "constant feature": (X * [1.0, 0.0, 1.0] + [0.0, 0.1, 0.0], Y),
    "constant features": (np.full((40, 3), 0.1), Y),
    "constant target": (X, np.full((40, 2), 0.1)),
    "constant target 0": (X, np.zeros((40, 2))),
    "large constant target": (X, np.full((40, 2), -1e30)),
    "everything constant": (np.full((40, 3), 1e30), np.full((40, 2), 1e-30)),
    "one row": (X[:1], Y[:1]),
    "two identical rows": (X[[0, 0]], Y[[0, 0]]),
    "identical rows with different targets": (np.tile(X[:1], (40, 1)), Y),
    "duplicated rows": (np.tile(X[:4], (10, 1)), np.tile(Y[:4], (10, 1))),
    "tiny features": (X * 1e-30, Y),
    "large features": (X * 1e30, Y),
    "features of all scales": (X * [1e-30, 1.0, 1e30], Y),
    "one feature's values of all scales": (X * 10.0 ** np.linspace(-30, 30, 40)[:, None], Y),
    "tiny targets": (X, Y * 1e-30),
    "large targets": (X, Y * 1e30),
    "targets of all scales": (X, Y * 10.0 ** np.linspace(-30, 30, 40)[:, None]),
    "outputs of all scales": (X, Y * [1e-30, 1e30]),
    "features with a large offset": (X + 1e15, Y),
    "targets with a large offset": (X, Y + 1e15),
    "an outlier among targets": (X, Y * OUTLIER),
    "an outlier among features": (X * OUTLIER, Y),
    "integers": (rng.integers(-3, 4, (40, 3)), rng.integers(-3, 4, (40, 2))),
    "large integers": (rng.integers(-(2**62), 2**62, (40, 3)), rng.integers(-(2**62), 2**62, (40, 2))),
    "booleans": (X > 0, Y > 0),
    "single precision": (X.astype(np.float32), Y.astype(np.float32)),
    "half precision": (X.astype(np.float16), Y.astype(np.float16)),
    "subnormal numbers": (X * 1e-310, Y * 1e-310),
}


CORE = "default", "plain steps", "full", "solved", "solved, full"
EVERY = [name if name in CORE else pytest.param(name, marks=pytest.mark.nightly) for name in KINDS]


@pytest.fixture(params=EVERY)
def kind(request, tiny):
    """A maker of models, and the targets they are for."""
    settings = dict(KINDS[request.param])
    outputs = settings.pop("outputs", 1)
    return lambda: tiny(**settings), lambda Y: Y[:, 0] if outputs == 1 else Y


@pytest.mark.parametrize("case", TABLES)
def test_predictions_stay_finite(kind, assert_sane, case):
    make, targets = kind
    rows, Y = TABLES[case]
    model = make().fit(rows, targets(Y))
    assert_sane(model, rows)
    assert_sane(model, X)
    assert_sane(model, X * 1e30)


@pytest.mark.parametrize("case", TABLES)
def test_streams_stay_finite(kind, assert_sane, case):
    make, targets = kind
    rows, Y = TABLES[case]
    y = targets(Y)
    recorded = make().prequential(rows, y)
    assert np.isfinite(recorded.mean).all()
    assert np.isfinite(recorded.std).all()
    assert (recorded.std > 0).all()
    assert np.isfinite(recorded.log_prob(recorded.mean)).all()
    assert np.isfinite(recorded.quantile([0.05, 0.95])).all()
    model = make()
    for x, target in zip(rows, y, strict=True):
        mean, std = model.predict_one(x, return_std=True)
        assert np.isfinite(mean).all()
        assert np.all(np.isfinite(std) & (np.asarray(std) > 0))
        model.learn_one(x, target)
    assert_sane(model, rows)


@pytest.mark.parametrize("scale", [1e-162, 1e-161, 1e-160, 1e-155, 1e-100])
def test_targets_whose_squares_underflow_stay_finite(tiny, assert_sane, scale):
    assert_sane(tiny().fit(X, Y[:, 0] * scale), X)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: np.flip(np.flip(a, 0).copy(), 0),
        lambda a: a.tolist(),
        lambda a: a.astype(object),
        lambda a: a.astype(">f8"),
        lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),  # read-only
    ],
)
def test_any_layout_of_arrays_is_read(tiny, convert):
    for method in ("fit", "partial_fit"):
        expected = getattr(tiny(), method)(X, Y).predict(X)
        model = getattr(tiny(), method)(convert(X), convert(Y))
        assert np.array_equal(model.predict(convert(X)), expected)


def test_input_is_not_written_to(tiny):
    rows, targets = X.copy(), Y.copy()
    model = tiny().fit(rows, targets).partial_fit(rows, targets)
    model.prequential(rows, targets)
    model.predict(rows)
    model.explain(rows)
    model.learn_one(rows[0], targets[0]).predict_one(rows[0])
    assert np.array_equal(rows, X)
    assert np.array_equal(targets, Y)


def test_a_stream_does_not_see_what_happens_to_its_rows_later(tiny, assert_same):
    model, rows, targets = tiny(), X.copy(), Y.copy()
    model.partial_fit(rows, targets)
    rows[:], targets[:] = 1e9, 1e9
    assert_same(model.partial_fit(X, Y), tiny().partial_fit(X, Y).partial_fit(X, Y))


def test_a_column_of_targets_gives_a_column_of_predictions(tiny, assert_same):
    flat, column = tiny().fit(X, Y[:, 0]), tiny().fit(X, Y[:, :1])
    assert_same(flat, column)
    mean, std = column.predict(X, return_std=True)
    assert mean.shape == std.shape == (40, 1)
    assert np.array_equal(mean[:, 0], flat.predict(X))


def test_a_long_stream_of_one_value_stays_finite(tiny, assert_sane):
    # 200_000 rows, all the same: weights, counts and switching weights run into their limits
    model = tiny(layer_sizes=(4, 1), n_estimators=1)
    model.partial_fit(np.full((200_000, 2), 0.1), np.full(200_000, 0.1))
    assert_sane(model, [[0.1, 0.1], [0.0, 1e6]])
    assert model.predict([[0.1, 0.1]]) == pytest.approx(0.1, abs=1e-6)


# Outliers ----------------------------------------------------------------------------------------------


def test_a_constant_column_is_constant_however_it_is_rounded(tiny):
    # 0.1 summed 50_000 times is not 5000; what is left must not be taken for a signal
    rows = np.stack([np.linspace(-1, 1, 50_000), np.full(50_000, 0.1)], axis=1)
    model = tiny(epochs=1, layer_sizes=(4, 1)).fit(rows, np.full((50_000, 2), 0.1))
    scaler = model.learner_.inputs
    assert scaler.transform(np.array([[0.0, 0.1]]))[0, 1] == pytest.approx(0.0, abs=1e-9)
    assert (model.predict(rows[:5], return_std=True)[1] > 1e-3).all()


def errors(model, rows, targets):
    return np.sqrt(np.mean((model.predict(rows) - targets) ** 2))


@pytest.mark.parametrize("standardize", [True, "inputs", False])
@pytest.mark.parametrize("where", ["features", "target"])
def test_a_stream_recovers_from_an_outlier(tiny, table, standardize, where):
    rows, y = table(rows=3000)
    y = 2 * rows[:, 0] + 0.1 * y
    model = tiny(standardize=standardize).partial_fit(rows[:2000], y[:2000])
    before = errors(model, rows[2500:], y[2500:])
    if where == "target":
        model.learn_one(rows[0], 1e6 * y.std())
    else:
        model.learn_one(rows[0] * 1e6, y[0])
    assert errors(model, rows[2500:], y[2500:]) < 5 * y.std()
    model.partial_fit(rows[2000:2500], y[2000:2500])
    assert errors(model, rows[2500:], y[2500:]) < 2 * before
    assert model.predict(rows[2500:], return_std=True)[1].mean() < y.std()
