"""Regressors as base models, gates from their splits, and calibration on the rows that networks leave out."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

import ggln
from ggln import GGLNRegressor
from ggln.core.constants import RECURSIONS
from ggln.core.gating import NO_SPLITS
from ggln.processes import GaussianProcess
from ggln.regressors import PLANE_ROWS, WIDE_ROWS, Live, default_regressors, find_splits, fit_frozen

QUICK = {"layer_sizes": (8, 8), "context_dim": (1, 3), "epochs": 5, "n_estimators": 6, "folds": 3}
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


# Frozen regressors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(n_estimators=30, max_depth=4, random_state=0),
        GradientBoostingRegressor(n_estimators=30, subsample=0.5, max_leaf_nodes=7, random_state=0),
        ExtraTreesRegressor(7, random_state=0),
        RandomForestRegressor(7, random_state=0),
        MLPRegressor(hidden_layer_sizes=(6, 5), max_iter=30, random_state=0),
        LinearRegression(),
        Ridge(),
        GaussianProcess(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_frozen_regressors_predict_what_the_estimator_does(table, estimator, outputs):
    X, Y = table(120, outputs)
    frozen = fit_frozen(estimator, X[:90], Y[:90])
    assert not isinstance(frozen, Live)
    if isinstance(estimator, GradientBoostingRegressor):
        mean = Y[:90].mean(axis=0)
        estimator = copy.deepcopy(estimator).set_params(init="zero")
        columns = [estimator.fit(X[:90], y).predict(X[90:]) for y in (Y[:90] - mean).T]
        expected = mean + np.stack(columns, axis=1)
    else:
        expected = estimator.fit(X[:90], Y[:90] if outputs > 1 else Y[:90, 0]).predict(X[90:])
    found = frozen.predict(X[90:])
    assert found.shape == (30, outputs)
    np.testing.assert_allclose(found, expected.reshape(30, outputs), rtol=1e-10, atol=1e-12)
    restored = type(frozen).from_arrays(dict(frozen.arrays()))
    np.testing.assert_array_equal(restored.predict(X[90:]), found)


def test_frozen_regressors_do_not_depend_on_the_company_of_a_row(table):
    X, Y = table(120, 2)
    for estimator in (*REGRESSORS, Ridge(), GaussianProcess(random_state=0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frozen = fit_frozen(estimator, X, Y)
        rows = [frozen.predict(X[t : t + 1]) for t in range(len(X))]
        np.testing.assert_array_equal(np.concatenate(rows), frozen.predict(X))


@pytest.mark.parametrize("rows", [50, WIDE_ROWS - 1, WIDE_ROWS, 10**6])
def test_the_default_perceptron_grows_with_the_outputs_where_there_are_rows_enough(rows):
    one, several = (default_regressors(rows, 5, outputs)[2] for outputs in (1, 7))
    assert one.hidden_layer_sizes == (64, 64)
    assert one.n_iter_no_change == MLPRegressor().n_iter_no_change
    assert (several.hidden_layer_sizes > one.hidden_layer_sizes) == (rows >= WIDE_ROWS)
    assert several.max_iter >= one.max_iter


@pytest.mark.parametrize("outputs", [1, 2])
def test_of_few_rows_a_plane_is_learnt_as_well(outputs):
    """Ten coefficients from sixty rows, which trees cannot tell from noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(560, 10))
    Y = X @ rng.normal(size=(10, outputs)) + rng.normal(size=(560, outputs))
    model = GGLNRegressor(random_state=0).fit(X[:60], Y[:60])
    errors = np.mean((model.predict(X[60:]).reshape(500, outputs) - Y[60:]) ** 2)
    expected = np.mean((Ridge().fit(X[:60], Y[:60]).predict(X[60:]) - Y[60:]) ** 2)
    assert errors < 1.5 * expected
    kinds = [type(regressor) for regressor in default_regressors(PLANE_ROWS - 1, 10, outputs)]
    assert kinds[-1] is (BayesianRidge if outputs == 1 else Ridge)
    assert kinds[-1] not in [type(r) for r in default_regressors(PLANE_ROWS, 10, outputs)]


def test_any_regressor_may_be_a_base_model_but_not_all_can_be_saved(quick, table, tmp_path):
    X, y = table(90)
    model = quick(base_model=[KNeighborsRegressor(), *REGRESSORS]).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="base_model holds a KNeighborsRegressor, which a model file cannot"):
        model.save(tmp_path / "model.ggln")
    assert not list(tmp_path.iterdir())


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


def test_gates_from_trees_ignore_noise():
    """Of thirty features one counts: gates from trees find it, random ones hardly do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 30))
    y = np.sin(3 * X[:, 7])
    errors = {}
    for gating in ("tree", "axis"):
        model = GGLNRegressor(gating=gating, base_model="feature", folds=0, random_state=0).fit(
            X[:600], y[:600]
        )
        errors[gating] = np.mean((model.predict(X[600:]) - y[600:]) ** 2)
    assert errors["tree"] < 0.3 * errors["axis"]


def test_a_stream_finds_splits_as_it_goes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    model = GGLNRegressor(random_state=0).partial_fit(X, np.sign(X[:, 3]))
    codes = model.learner_.ensemble.gates.codes
    assert np.mean(codes == 3) > 0.5


# Promises with regressors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, 2])
def test_threads_do_not_matter(quick, table, assert_same, outputs):
    X, y = table(130, outputs)
    expected = quick().fit(X, y)
    for n_jobs in (2, 7):
        other = quick(n_jobs=n_jobs).fit(X, y)
        assert_same(expected, other)
        np.testing.assert_array_equal(other.predict(X), expected.predict(X))


@pytest.mark.parametrize("base_model", ["auto", REGRESSORS], ids=["auto", "regressors"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_saving_and_cutting_do_not_matter(quick, table, assert_same, tmp_path, outputs, base_model):
    X, y = table(160, outputs)
    whole = quick(base_model=base_model).fit(X[:90], y[:90])
    whole.save(tmp_path / "model.ggln")
    cut = ggln.load(tmp_path / "model.ggln")
    assert_same(whole, cut)
    whole.partial_fit(X[90:], y[90:])
    cut.partial_fit(X[90:117], y[90:117])
    cut.save(tmp_path / "model.ggln")
    cut = ggln.load(tmp_path / "model.ggln")
    for row, target in zip(X[117:], y[117:], strict=True):
        cut.learn_one(row, target)
    assert_same(whole, cut)
    np.testing.assert_array_equal(whole.predict(X), cut.predict(X))
    np.testing.assert_array_equal(whole.predict_one(X[3]), cut.predict_one(X[3]))
    np.testing.assert_allclose(whole.predict_one(X[3]), whole.predict(X)[3], rtol=1e-12)


def test_contributions_add_up_with_regressors(quick, table):
    X, y = table(90)
    model = quick().fit(X, y)
    explanation = model.explain(X[:5])
    assert explanation.names[3:6] == [type(regressor).__name__ for regressor in REGRESSORS]
    np.testing.assert_allclose(
        explanation.mean.sum(axis=1) + explanation.intercept, model.predict(X[:5]), 1e-5
    )


def test_moments_and_mixture_agree(quick, table):
    X, y = table(90)
    model = quick().fit(X, y)
    mean, std = model.predict(X, return_std=True)
    mixture = model.predict_dist(X)
    np.testing.assert_allclose(mixture.mean, mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mixture.std, std, rtol=1e-8)


def test_regressors_need_folds_and_rows(quick, table):
    X, y = table(60)
    with pytest.raises(ValueError, match=r"regressors as base_model need folds >= 2 and at least 40 rows"):
        quick(folds=0).fit(X, y)
    with pytest.raises(ValueError, match=r"got folds=3 and 20 rows"):
        quick().fit(X[:20], y[:20])
    assert np.isfinite(quick(base_model="auto").fit(X[:20], y[:20]).predict(X)).all()


def test_a_stream_cannot_begin_with_regressors_that_do_not_learn_on(quick, table):
    X, y = table(60)
    model = quick()
    for call in (lambda: model.partial_fit(X, y), lambda: model.learn_one(X[0], y[0])):
        with pytest.raises(ValueError, match=r"of a stream need partial_fit, which \w+ has not"):
            call()
    assert not hasattr(model, "learner_")


@pytest.mark.parametrize("outputs", [None, 2])
def test_regressors_that_learn_on_join_a_stream(quick, table, outputs):
    X, y = table(90, outputs)
    regressors = [MLPRegressor(hidden_layer_sizes=(4,), random_state=0)]
    if outputs is None:
        regressors.append(SGDRegressor(random_state=0))
    whole = quick(base_model=regressors)
    predicted = whole.prequential(X, y).mean
    cut = quick(base_model=regressors).partial_fit(X[:33], y[:33])
    for row, target in zip(X[33:50], y[33:50], strict=True):
        cut.learn_one(row, target)
    np.testing.assert_array_equal(cut.prequential(X[50:], y[50:]).mean, predicted[50:])
    np.testing.assert_array_equal(cut.predict(X), whole.predict(X))
    assert "MLPRegressor" in whole.explain(X[:1]).names
    assert not hasattr(regressors[0], "coefs_")


def test_a_stream_with_own_regressors_says_that_it_cannot_be_saved(quick, table, tmp_path):
    X, y = table(60)
    model = quick(base_model=[SGDRegressor()]).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"own regressors \(SGDRegressor\) cannot be saved"):
        model.save(tmp_path / "model.ggln")
    assert not list(tmp_path.iterdir())


# Regressions of a stream ---------------------------------------------------------------------------------


def test_a_stream_learns_its_own_regressions(table):
    X, y = table(80)
    model = GGLNRegressor(random_state=0).partial_fit(X, y)
    explanation = model.explain(X[:5])
    assert explanation.names[3:7] == [
        "linear regression",
        "regression on 64 steps of up to 3 features",
        "regression on 300 steps of up to 3 features",
        "regression on 400 steps of all features",
    ]
    np.testing.assert_allclose(
        explanation.mean.sum(axis=1) + explanation.intercept, model.predict(X[:5]), 1e-5
    )


@pytest.mark.parametrize("outputs", [None, 2])
def test_saving_and_cutting_a_default_stream_do_not_matter(table, assert_same, tmp_path, outputs):
    X, y = table(150, outputs)
    settings = {"n_estimators": 3, "layer_sizes": (4, 2), "random_state": 0}
    whole = GGLNRegressor(**settings)
    predicted = whole.prequential(X, y).mean
    cut = GGLNRegressor(**settings, n_jobs=2).partial_fit(X[:70], y[:70])
    cut.save(tmp_path / "model.ggln")
    cut = ggln.load(tmp_path / "model.ggln")
    for row, target in zip(X[70:100], y[70:100], strict=True):
        cut.learn_one(row, target)
    np.testing.assert_array_equal(cut.prequential(X[100:], y[100:]).mean, predicted[100:])
    assert_same(whole, cut)
    np.testing.assert_array_equal(whole.predict_one(X[3]), cut.predict_one(X[3]))
    np.testing.assert_allclose(whole.predict_one(X[3]), whole.predict(X)[3], rtol=1e-12)


def test_a_stream_believes_the_networks_that_predict_best():
    """Targets that jump: calm networks follow the regressions, the others correct both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    model = GGLNRegressor(random_state=0).partial_fit(X, np.sign(X[:, 0]) * np.sign(X[:, 1]))
    shares = model.learner_.ensemble.shares
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() > 0
    assert shares.size == 15 + len(RECURSIONS)
    assert shares[:15:2].sum() > 0.8


def test_regressions_are_components_of_a_streams_mixture(table):
    X, y = table(100)
    model = GGLNRegressor(n_estimators=2, layer_sizes=(4, 2), random_state=0).partial_fit(X, y)
    learner, found = model.learner_, model.predict_dist(X)
    assert found.means.shape[1] == 2 * 6 + len(RECURSIONS)
    means, precisions = learner.companions.predict(learner.inputs.transform(X))
    shift, scale = learner.targets.shift_and_scale()
    np.testing.assert_allclose(found.means[:, 12:], shift + scale * means[..., 0], rtol=1e-10)
    np.testing.assert_allclose(found.stds[:, 12:], scale / np.sqrt(precisions), rtol=1e-10)
    np.testing.assert_allclose(found.weights[12:], learner.ensemble.shares[2:], rtol=1e-10)
    np.testing.assert_allclose(found.mean, model.predict(X), rtol=1e-5)
    np.testing.assert_allclose(found.std, model.predict(X, return_std=True)[1], rtol=1e-5)


def test_a_mixture_of_the_last_neuron_has_no_other_members(table):
    X, y = table(60)
    model = GGLNRegressor(n_estimators=2, layer_sizes=(4, 1), aggregation="last", random_state=0)
    assert model.partial_fit(X, y).predict_dist(X).means.shape[1] == 2


def test_a_file_of_another_kind_of_stream_is_refused(table, tmp_path):
    X, y = table(30)
    model = GGLNRegressor(n_estimators=2, layer_sizes=(4, 2), random_state=0).partial_fit(X, y)
    model.learner_.ensemble.shares = np.full(2, 0.5)
    model.save(tmp_path / "old.ggln")
    with pytest.raises(ValueError, match="mixture has 2 members, expected 6"):
        ggln.load(tmp_path / "old.ggln")


def test_a_stream_of_many_features_does_without_regressions():
    X = np.random.default_rng(0).normal(size=(20, 300))
    model = GGLNRegressor(n_estimators=1, random_state=0).partial_fit(X, X[:, 0])
    assert len(model.explain(X[:1]).names) == 300 + 2
    assert np.isfinite(model.predict(X)).all()


def test_an_error_in_a_regressor_changes_nothing(quick, table, assert_same):
    class Broken(LinearRegression):
        def fit(self, X, y):
            raise RuntimeError("no")

    X, y = table(60)
    model = quick().fit(X, y)
    before = copy.deepcopy(model)
    model.set_params(base_model=[Broken()])
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X[:, :2], y)
    assert_same(model, before)
    assert model.n_features_in_ == 3


HOSTILE = {
    "constant features": lambda X, y: (np.ones_like(X), y),
    "constant target": lambda X, y: (X, np.full_like(y, 3.0)),
    "one row, many times": lambda X, y: (np.repeat(X[:1], len(X), axis=0), np.full_like(y, y[0])),
    "tiny and huge": lambda X, y: (X * [1e-30, 1.0, 1e30], 1e30 * y),
    "an outlier": lambda X, y: (np.vstack([1e6 * X[:1], X[1:]]), np.append(y[1:], 1e6)),
    "two values": lambda X, y: (np.sign(X), np.sign(y)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_tables_are_learnt(table, assert_sane, case):
    X, y = table(80)
    model = GGLNRegressor(random_state=0).fit(*HOSTILE[case](X, y))
    for rows in (X, 1e3 * X, HOSTILE[case](X, y)[0]):
        assert_sane(model, rows)
    model.partial_fit(X, y)
    assert_sane(model, X)


# Calibration ---------------------------------------------------------------------------------------------


def test_intervals_cover_what_they_say():
    """Pure noise is where networks that see rows many times grow too sure."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 5)), rng.normal(size=1200)
    covered = {}
    for folds in (0, 5):
        model = GGLNRegressor(base_model="feature", folds=folds, random_state=0).fit(X[:600], y[:600])
        low, high = model.predict_dist(X[600:]).interval(0.9)
        covered[folds] = np.mean((low <= y[600:]) & (y[600:] <= high))
    assert covered[0] < 0.85
    assert 0.86 < covered[5] < 0.94


def test_few_rows_give_wide_intervals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(530, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=530)
    model = GGLNRegressor(random_state=0).fit(X[:30], y[:30])
    low, high = model.predict_dist(X[30:]).interval(0.9)
    assert np.mean((low <= y[30:]) & (y[30:] <= high)) > 0.8


def test_learning_on_keeps_what_fit_has_calibrated():
    """More rows of the same kind may not hurt, neither the means nor the widths."""
    X, y = make_friedman1(900, noise=1.0, random_state=0)
    model = GGLNRegressor(random_state=0).fit(X[:300], y[:300])
    before = model.predict_dist(X[600:])
    after = model.partial_fit(X[300:600], y[300:600]).predict_dist(X[600:])
    assert np.mean((after.mean - y[600:]) ** 2) < 1.05 * np.mean((before.mean - y[600:]) ** 2)
    assert after.log_prob(y[600:]).mean() > before.log_prob(y[600:]).mean() - 0.06


def test_prequential_after_fit_predicts_as_predict_does(quick, table):
    X, y = table(90)
    model = quick().fit(X[:80], y[:80])
    expected = model.predict(X[80:81])
    np.testing.assert_allclose(model.prequential(X[80:81], y[80:81]).mean, expected, rtol=1e-10)


def test_every_network_leaves_out_its_fold(quick, table):
    """What a network does not see cannot matter to it."""
    X, y = table(90)
    changed = y.copy()
    unscaled = {"base_model": "feature", "gating": "axis", "standardize": False}
    model = quick(**unscaled).fit(X, y)
    folds = model.learner_.settings.assign_folds(90)
    changed[folds == 0] += 1.0
    other = quick(**unscaled).fit(X, changed)
    ours, theirs = model.neurons(X)[0].mean, other.neurons(X)[0].mean
    per_network = QUICK["layer_sizes"][0]
    same = [
        np.array_equal(*pair) for pair in zip(*(np.split(a, 6, axis=1) for a in (ours, theirs)), strict=True)
    ]
    assert ours.shape[1] == 6 * per_network
    assert same == [True, False, False, True, False, False]


def test_networks_of_a_kind_share_their_calibration(quick, table):
    X, y = table(90)
    ensemble = quick().fit(X, y).learner_.ensemble
    assert np.unique(ensemble.spreads[:3]).size == np.unique(ensemble.spreads[3:]).size == 1
    np.testing.assert_allclose(ensemble.shares.sum(), 1.0)
    assert np.unique(ensemble.shares[:3]).size == np.unique(ensemble.shares[3:]).size == 1
    contexts = [np.count_nonzero(index.any(axis=0)) for index in np.split(ensemble.pool.index, 6)]
    assert max(contexts[:3]) <= 2 < max(contexts[3:]) <= 8


def test_an_interruption_stops_the_fit_of_a_perceptron(quick, table, monkeypatch):
    """scikit-learn's perceptron takes an interruption for the end of its own training."""

    def interrupted(*_arguments, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPRegressor, "_backprop", interrupted)
    X, y = table(60)
    with pytest.raises(KeyboardInterrupt):
        quick(base_model=[MLPRegressor(hidden_layer_sizes=(4,))]).fit(X, y)
