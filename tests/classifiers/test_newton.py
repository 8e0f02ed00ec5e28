"""Networks that are solved, `step="newton"`: what they learn, the promises, and what they do not have."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

import ggln
from ggln import GLNClassifier
from ggln.engine.newton.classes import ClassLearner

EVERY = pytest.mark.parametrize("classes", [2, 3])


@pytest.fixture
def solved(tiny):
    """As `tiny`, of networks that are solved."""
    return lambda **changes: tiny(**{"step": "newton", "layer_sizes": (3, 2), "context_dim": 2, **changes})


def test_it_is_the_default_and_iris_is_learnt():
    X, y = load_iris(return_X_y=True)
    model = GLNClassifier(random_state=0)
    assert model.step == "newton"
    assert cross_val_score(model, X, load_iris().target_names[y], scoring="neg_log_loss").mean() > -0.25


def test_it_beats_logistic_regression_where_lines_do_not_part_classes():
    X, y = make_moons(500, noise=0.25, random_state=0)
    models = GLNClassifier(random_state=0), LogisticRegression()
    exact, linear = (log_loss(y[300:], m.fit(X[:300], y[:300]).predict_proba(X[300:])) for m in models)
    assert exact < 0.7 * linear


def test_it_is_as_good_as_logistic_regression_where_lines_do():
    """The truth is linear: what all else costs is little, with rows few."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1150, 6))
    y = (random.random(1150) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1]))).astype(int)
    models = GLNClassifier(random_state=0), LogisticRegression()
    exact, linear = (log_loss(y[150:], m.fit(X[:150], y[:150]).predict_proba(X[150:])) for m in models)
    assert exact < 1.1 * linear


def test_wide_tables_and_many_classes_are_bounded():
    random = np.random.default_rng(0)
    y = np.arange(120) % 12
    X = 3 * np.eye(12, 300)[y] + random.normal(size=(120, 300))
    model = GLNClassifier(random_state=0).fit(X, y)
    networks = model.learner_.networks
    assert len(networks) == 12 * (5 + 3)  # 16 * 4 // 12 with gates, and as many linear ones as deep ones
    assert max(int(network.inputs.max()) for network in networks) == 129
    assert (
        sum(part.nbytes for part in model.learner_.state()[1].values()) < 250e6
    )  # a megabyte or two for each network
    assert log_loss(y, model.predict_proba(X)) < 1.5


@EVERY
def test_all_that_predicts_agrees(solved, table, classes):
    X, y = table(200, classes)
    y = np.array(["no", "yes", "who knows"])[y]
    model = solved(context_dim=(1, 3)).fit(X, y)
    assert isinstance(model.learner_, ClassLearner)
    assert model.score(X, y) > 0.7
    chances, scores = model.predict_proba(X), model.decision_function(X)
    assert chances.shape == (200, classes)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.log(chances), model.predict_log_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[chances.argmax(axis=1)])
    if classes == 2:
        np.testing.assert_array_equal(scores > 0, chances[:, 1] > 0.5)
    else:
        np.testing.assert_array_equal(scores.argmax(axis=1), chances.argmax(axis=1))
    one = model.predict_proba_one(X[4])
    np.testing.assert_array_equal([one[label] for label in model.classes_], chances[4])
    assert model.predict_one(X[4]) == model.predict(X[4:5])[0]


@EVERY
def test_threads_do_not_matter(solved, table, assert_same, classes):
    X, y = table(80, classes)
    one, other = (solved(n_estimators=3, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert_same(one, other)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@EVERY
def test_cuts_do_not_matter(solved, table, assert_same, classes):
    X, y = table(60, classes)
    labels = np.arange(classes)
    whole = solved()
    before = whole.prequential(X, y, classes=labels)
    np.testing.assert_allclose(before.sum(axis=1), 1.0)
    np.testing.assert_allclose(before[0], 1 / classes)
    other = solved()
    parts = np.split(np.arange(60), [1, 3, 17, 40])
    recorded = [other.prequential(X[part], y[part], classes=labels) for part in parts]
    assert_same(whole, other)
    np.testing.assert_array_equal(np.concatenate(recorded), before)
    single = solved().partial_fit(X[:1], y[:1], classes=labels)
    for row, label in zip(X[1:], y[1:], strict=True):
        single.learn_one(row, label)
    assert_same(whole, single)


@EVERY
@pytest.mark.parametrize("streamed", [True, False])
def test_files_hold_all_there_is_and_learning_goes_on(
    solved, table, assert_same, tmp_path, classes, streamed
):
    X, y = table(60, classes)
    model = solved(context_dim=None)
    if streamed:
        model.partial_fit(X[:41], y[:41], classes=np.arange(classes))
    else:
        model.fit(X[:41], y[:41])
    model.save(tmp_path / "model.ggln")
    joblib.dump(model, tmp_path / "model")
    loaded = ggln.load(tmp_path / "model.ggln")
    assert loaded.get_params() == model.get_params()
    others = loaded, pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model", mmap_mode="r")
    again = copy.deepcopy(model).partial_fit(X[41:], y[41:])
    for other in others:
        assert_same(model, other)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert_same(again, other.partial_fit(X[41:], y[41:]))


def test_a_file_knows_how_its_model_learns_whatever_was_set_since(solved, tiny, table, assert_same, tmp_path):
    X, y = table()
    for model, other in ((solved(), "ogd"), (tiny(), "newton")):
        model.fit(X, y).set_params(step=other).save(tmp_path / "model.ggln")
        assert_same(model.partial_fit(X, y), ggln.load(tmp_path / "model.ggln").partial_fit(X, y))


def test_fit_starts_afresh(solved, table, assert_same):
    X, y = table()
    model = solved().partial_fit(X, y, classes=[0, 1, 2])
    assert_same(model.fit(X, y), solved().fit(X, y))


def test_rows_count_by_their_weights(solved, table, assert_same):
    X, y = table(80)
    weights = np.ones(80)
    assert_same(solved().fit(X, y, sample_weight=weights), solved().fit(X, y))
    weights[50:] = 0.0
    assert_same(solved().fit(X, y, sample_weight=weights), solved().fit(X[:50], y[:50]))
    few, many = (solved().fit(X, y, sample_weight=np.where(y == 1, w, 1.0)) for w in (0.2, 5.0))
    assert many.predict_proba(X)[:, 1].mean() > few.predict_proba(X)[:, 1].mean() + 0.05
    streamed = solved().partial_fit(X, y, classes=[0, 1, 2], sample_weight=weights)
    assert np.isfinite(streamed.partial_fit(X, y, sample_weight=weights).predict_log_proba(X)).all()


def test_a_row_of_weight_three_is_the_row_three_times(solved, table):
    """Of a table to the last bit; a stream is solved afresh after other rows."""
    X, y = table(200, 2)
    y = np.where(np.random.default_rng(1).random(200) < 0.3, 1 - y, y)  # otherwise weights tell nothing
    weights = np.where(y == 1, 3, 1)
    often = np.repeat(np.arange(200), weights)
    new = table(500, 2, seed=7)[0]

    def chances(model):
        return model.predict_proba(new)[:, 1]

    plain, weighted = chances(solved().fit(X, y)), chances(solved().fit(X, y, sample_weight=weights))
    np.testing.assert_array_equal(weighted, chances(solved().fit(X[often], y[often])))
    assert weighted.mean() > plain.mean() + 0.15
    one = chances(solved().partial_fit(X, y, [0, 1], sample_weight=weights))
    other = chances(solved().partial_fit(X[often], y[often], [0, 1]))
    assert abs(one.mean() - other.mean()) < 0.05
    assert one.mean() > plain.mean() + 0.1


def test_wrong_weights_are_refused_and_change_nothing(solved, tiny, table, assert_same):
    X, y = table()
    model = solved().partial_fit(X, y, classes=[0, 1, 2])
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        model.fit(X, y, sample_weight=np.zeros(60))
    model.partial_fit(X, y, sample_weight=np.zeros(60))  # as if there were no rows
    for wrong in (-np.ones(60), np.full(60, 1e200), np.ones(59), np.full(60, np.nan)):
        for call in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=r"(?i)sample.weight"):
                call(X, y, sample_weight=wrong)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(TypeError, match="'weights'"):
            call(X, y, weights=np.ones(60))
    assert_same(before, model)
    with pytest.raises(TypeError, match="sample_weight"):
        tiny().partial_fit(X, y, classes=[0, 1, 2], sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hinges": 5}, 'hinges=5 needs step="normalised" or "ogd".*leave hinges at 0'),
        ({"gating": "sphere"}, "gating='sphere' needs step=\"normalised\" or \"ogd\".*'residual'"),
        ({"gating": "pairs"}, "gating='pairs' needs step="),
        ({"step": "normalised", "context_dim": None}, 'context_dim=None needs step="newton"'),
        ({"context_dim": ()}, "context_dim must be one or several integers"),
    ],
)
def test_what_does_not_go_together_is_named(solved, table, changes, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        solved(**changes).fit(X, y)
    with pytest.raises(ValueError, match=message):
        solved(**changes).partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize("gating", ["tree", "residual", "axis", "mixed"])
def test_gates_that_it_takes(solved, table, gating):
    X, y = table(100)
    model = solved(gating=gating).fit(X, y)
    assert model.learner_.settings.gating == ("residual" if gating == "tree" else gating)
    assert model.score(X, y) > 0.6


def test_bad_values_change_nothing(solved, table, assert_same):
    X, y = table()
    model = solved().partial_fit(X, y, classes=[0, 1, 2])
    before, worse = copy.deepcopy(model), X.copy()
    worse[7, 2] = np.inf
    for call in (model.fit, model.partial_fit, model.prequential):
        with pytest.raises(ValueError, match="row 7, column 2"):
            call(worse, y)
    with pytest.raises(ValueError, match=r"labels \[3\]"):
        model.learn_one(X[0], 3)
    assert_same(before, model)


@pytest.mark.parametrize(
    "make_hostile",
    [
        lambda X: X * 1e30,
        lambda X: X * 1e-30,
        lambda X: np.zeros_like(X),
        lambda X: np.where(np.arange(len(X))[:, None] == 5, 1e30, X),
        lambda X: X + 1e12,
    ],
    ids=["huge", "tiny", "zeros", "outlier", "shifted"],
)
@pytest.mark.parametrize("standardize", [True, False])
def test_hostile_input_yields_probabilities(solved, table, make_hostile, standardize):
    X, y = table()
    hostile = make_hostile(X)
    fitted = solved(standardize=standardize).fit(hostile, y)
    streamed = solved(standardize=standardize).partial_fit(hostile, y, classes=[0, 1, 2])
    for model in (fitted, streamed):
        for rows in (hostile, X, -1e3 * hostile):
            chances = model.predict_proba(rows)
            assert (chances > 0).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0)
            assert np.isfinite(model.decision_function(rows)).all()


def test_progress_is_shown_on_demand(solved, table, capsys):
    solved(verbose=1).fit(*table())
    assert "learning" in capsys.readouterr().out
