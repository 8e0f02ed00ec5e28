"""Bad input gets a sentence that says what is wrong, and changes nothing."""

import copy
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from ggln import GGLNRegressor, GLNClassifier, TableRegressor
from ggln.engine import memory

LEARNING = ["fit", "partial_fit", "prequential"]
PREDICTING = ["predict", "predict_dist", "neurons", "explain"]


@pytest.fixture
def assert_refused(tiny, table, assert_same):
    """Calling a method raises, and neither a fitted nor an unfitted model changes."""

    def check(method, arguments, error, message, fitted_only=False, **settings):
        model = tiny().fit(*table()).set_params(**settings)
        before = copy.deepcopy(model)
        with pytest.raises(error, match=message):
            getattr(model, method)(*arguments)
        assert_same(model, before)
        # parameters that were found to be good need not be looked at again
        assert vars(model).keys() - {"_unchecked"} == vars(before).keys() - {"_unchecked"}
        assert model.n_features_in_ == 3
        if not fitted_only:
            new = tiny(**settings)
            with pytest.raises(error, match=message):
                getattr(new, method)(*arguments)
            assert vars(new).keys() == vars(tiny()).keys()

    return check


def spoilt(array, place, value):
    array = array.copy()
    array[place] = value
    return array


# Values ------------------------------------------------------------------------------------------------

VALUES = [
    (np.nan, "NaN"),
    (np.inf, "infinity"),
    (-np.inf, "infinity"),
    (2e100, r"2e\+100, which is too large"),
]


@pytest.mark.parametrize(("value", "what"), VALUES)
@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("place", [(0, 0), (59, 2), (31, 1)])
def test_bad_features_are_refused_with_their_place(assert_refused, table, method, value, what, place):
    X, y = table()
    where = f"X contains {what}: row {place[0]}, column {place[1]}"
    assert_refused(method, (spoilt(X, place, value), y), ValueError, where)


@pytest.mark.parametrize(("value", "what"), VALUES)
@pytest.mark.parametrize("method", PREDICTING)
def test_bad_features_are_not_predicted_from(assert_refused, table, method, value, what):
    X = spoilt(table()[0], (5, 1), value)
    assert_refused(method, (X,), ValueError, f"X contains {what}: row 5, column 1", fitted_only=True)


@pytest.mark.parametrize(("value", "what"), VALUES)
@pytest.mark.parametrize("method", LEARNING)
def test_bad_targets_are_refused_with_their_place(assert_refused, table, method, value, what):
    X, y = table()
    assert_refused(method, (X, spoilt(y, 17, value)), ValueError, f"y contains {what}: row 17")


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_targets_of_several_outputs_are_refused_with_their_column(tiny, table, method):
    X, Y = table(outputs=3)
    with pytest.raises(ValueError, match="y contains NaN: row 17, column 2"):
        getattr(tiny(), method)(X, spoilt(Y, (17, 2), np.nan))


def test_the_largest_allowed_values_are_learnt(tiny, table, assert_sane):
    X, y = table()
    assert_sane(tiny().fit(X * (1e100 / abs(X).max()), y * (1e100 / abs(y).max())), X)


# Shapes and types --------------------------------------------------------------------------------------


def bad_tables(X, y):
    text = np.array([["a", "b", "c"]] * 60)
    return {
        "1-D X": ((X[:, 0], y), ValueError, "Expected 2D array, got 1D array"),
        "3-D X": ((X[:, :, None], y), ValueError, "dim 3"),
        "no rows": ((X[:0], y[:0]), ValueError, r"0 sample\(s\)"),
        "no columns": ((X[:, :0], y), ValueError, r"0 feature\(s\)|X has 0 features"),
        "text": ((text, y), ValueError, "could not convert string to float: .* in X, row 0, column 0"),
        "text in a frame": (
            (pd.DataFrame(text), y),
            ValueError,
            r"could not convert string to float: 'a' in X, row 0, column 0 \(0\)\. Encode text",
        ),
        "text in the middle": (
            (spoilt(X.astype(object), (7, 1), "much"), y),
            ValueError,
            "'much' in X, row 7, column 1",
        ),
        "complex": ((X + 1j, y), ValueError, "Complex data not supported"),
        "no targets": ((X, None), ValueError, "requires y to be passed"),
        "too few targets": ((X, y[:-1]), ValueError, r"inconsistent numbers of samples: \[60, 59\]"),
        "one target": ((X, 3.0), (ValueError, TypeError), "y|[Ss]ingleton"),
        "3-D targets": ((X, np.zeros((60, 2, 2))), ValueError, "dim 3"),
        "no outputs": ((X, np.zeros((60, 0))), ValueError, r"0 feature\(s\)"),
        "text targets": ((X, text[:, 0]), ValueError, "in y, row 0. Regression predicts .*GLNClassifier"),
        "sparse targets": ((X, scipy.sparse.csr_matrix(y)), (TypeError, ValueError), "[Ss]parse|samples"),
    }


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("case", bad_tables(np.zeros((60, 3)), np.zeros(60)))
def test_tables_that_are_none_are_refused(assert_refused, table, method, case):
    assert_refused(method, *bad_tables(*table())[case])


@pytest.mark.parametrize("method", ["partial_fit", "prequential"])
def test_a_stream_keeps_its_number_of_features(assert_refused, table, method):
    X, y = table()
    message = "X has 2 features, but GGLNRegressor is expecting 3 features"
    assert_refused(method, (X[:, :2], y), ValueError, message, fitted_only=True)


@pytest.mark.parametrize("method", ["partial_fit", "prequential"])
def test_a_stream_keeps_its_number_of_outputs(assert_refused, table, method):
    X, Y = table(outputs=2)
    message = "y has 2 outputs, but this model predicts 1"
    assert_refused(method, (X, Y), ValueError, message, fitted_only=True)


@pytest.mark.parametrize("method", PREDICTING)
@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda X: X[:, :2], "X has 2 features, but GGLNRegressor is expecting 3"),
        (lambda X: X[0], "Expected 2D array, got 1D array"),
        (lambda X: X[:0], r"0 sample\(s\)"),
        (lambda X: X.astype(str) + "?", "could not convert string to float|numeric"),
    ],
)
def test_rows_that_are_none_are_not_predicted(assert_refused, table, method, convert, message):
    assert_refused(method, (convert(table()[0]),), ValueError, message, fitted_only=True)


@pytest.mark.parametrize("method", PREDICTING)
def test_nothing_is_predicted_before_fitting(tiny, table, method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(tiny(), method)(table()[0])


def test_an_unfitted_model_is_not_saved(tiny, tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        tiny().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_stream_may_ask_before_it_learns(tiny):
    assert tiny().predict_one([1.0, 2.0]) == 0.0
    assert tiny().predict_one({"a": 1.0}, return_std=True) == (0.0, 1.0)


def test_std_and_cov_together_are_refused(tiny, table):
    X, y = table()
    with pytest.raises(ValueError, match="return_std and return_cov"):
        tiny().fit(X, y).predict(X, return_std=True, return_cov=True)


def test_coordinates_need_as_many_outputs_as_features(assert_refused, table):
    X, Y = table(outputs=2)
    message = 'base_model="coordinate" needs as many outputs as features, got 2 and 3'
    assert_refused("fit", (X, Y), ValueError, message, base_model="coordinate")


# Single rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, 2.0], 0.0, r"x has shape \(2,\), but this model expects a 1-D array of 3 features"),
        ([1.0, 2.0, 3.0, 4.0], 0.0, "expects a 1-D array of 3 features"),
        (1.0, 0.0, "expects a 1-D array of 3 features"),
        ([[1.0], [2.0], [3.0]], 0.0, "expects a 1-D array of 3 features"),
        ([1.0, np.nan, 3.0], 0.0, "x contains NaN: column 1. Networks that learn by gradient steps"),
        ([1.0, np.inf, 3.0], 0.0, "x contains infinity"),
        ([1.0, 2.0, "three"], 0.0, "string to float: 'three' in x, column 2. Encode text"),
        ([1.0, 2.0, dt.date(2024, 1, 1)], 0.0, "x holds dates in column 2, and networks take numbers"),
        ([1.0, 2.0, 3.0], "much", "'much' in y. Regression predicts numbers"),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, 0.0, "fitted without feature names"),
        ([1.0, 2.0, 3.0], np.nan, "y contains NaN: it has no number at all. Rows without a target"),
        ([1.0, 2.0, 3.0], None, "y contains NaN"),
        ([1.0, 2.0, 3.0], 1e101, "y contains 1e\\+101, which is too large"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], r"y has shape \(2,\), but this model predicts 1 outputs"),
    ],
)
def test_bad_single_rows_are_refused(assert_refused, x, y, message):
    assert_refused("learn_one", (x, y), ValueError, message, fitted_only=True)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, np.nan, 3.0], 0.0, "x contains NaN: column 1. Networks that learn by gradient steps"),
        ({"a": 1.0, "b": np.nan}, 0.0, r"x contains NaN: column 1 \('b'\)"),
        ([1.0], np.inf, "y contains infinity"),
        ([1.0], None, "y contains NaN: it has no number at all"),
        (["one"], 0.0, "string to float: 'one' in x, column 0. Encode text"),
        ({"a": "one"}, 0.0, r"string to float: 'one' in x, column 0 \('a'\). Encode text"),
        ([1.0], "much", "'much' in y. Regression predicts numbers"),
        ([], 0.0, r"0 feature\(s\)"),
        (3.0, 0.0, r"x must be a 1-D array of features, or a dict, got shape \(\)"),
        ([[1.0, 2.0], [3.0, 4.0]], 0.0, r"x must be a 1-D array of features, or a dict, got shape \(2, 2\)"),
    ],
)
def test_a_bad_first_row_leaves_no_trace(tiny, x, y, message):
    model = tiny()
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y)
    assert vars(model).keys() == vars(tiny()).keys()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1.0, "b": 2.0}, r"lacks the features \['c'\]"),
        ({"a": 1.0, "b": 2.0, "c": np.nan}, r"NaN: column 2 \('c'\)"),
    ],
)
def test_bad_dicts_are_refused_by_feature(tiny, table, assert_same, row, message):
    X, y = table()
    model = tiny().fit(pd.DataFrame(X, columns=list("abc")), y)
    before = copy.deepcopy(model)
    for call in (lambda: model.learn_one(row, 0.0), lambda: model.predict_one(row)):
        with pytest.raises(ValueError, match=message):
            call()
    assert_same(model, before)


# Parameters --------------------------------------------------------------------------------------------

PARAMETERS = {
    "layer_sizes": [
        (),
        8,
        "8",
        (8, 0),
        (8, -1),
        (8.0, 1),
        ((8,), (1,)),
        ((8,), (1, 2)),
        None,
        {"a": 1},
        (True, 2),
        (10**30,),
    ],
    "context_dim": [True, {2.5}, (True,), -1, 17, 2.5, "6", None, (), (2, 17), (2, -1), (2, 3.5), ("2",)],
    "epochs": [0, -1, 1.5, None, True, 10**30],
    "n_estimators": [0, -1, 1.5, True, 2**31],
    "forgetting": [0, 15, -3, 1.5, "never", True, 10**30],
    "gating": ["round", None, 3],
    "gating_bias": [True, -0.1, np.nan, np.inf, "rows", None],
    "base_model": ["quadratic", None, [3], ["feature"]],
    "base_variance": [0.0, -1.0, np.nan, np.inf, 1e-300, 1e300, None, "1"],
    "bias_range": [0.0, -5.0, np.nan, np.inf, 1e300, 1e-300, None],
    "bias_variance": [0.0, -1.0, np.nan, np.inf, 1e300, 1e-300, None],
    "learning_rate": [True, 0.0, -1.0, np.nan, np.inf, 1e300, None],
    "step": ["adam", None],
    "projection": ["none", None],
    "barrier": [0.0, -1.0, np.nan, np.inf, 1e300],
    "weight_range": [
        (0.0,),
        (0.0, 1.0, 2.0),
        (1.0, 0.0),
        (0.0, np.nan),
        (np.nan, 1.0),
        (0.0, np.inf),
        (0.0, 1e300),
        (0.5, 1.0),
        (0.0, 0.5),
        ("a", "b"),
        None,
        3.0,
    ],
    "min_variance": [0.0, -1.0, np.nan, np.inf, 1e-300, 100.0, 200.0, None],
    "max_variance": [0.0, -1.0, np.nan, np.inf, 1e300, 1e-5, 1e-6, None],
    "aggregation": ["mean", None],
    "covariance": ["spherical", None],
    "anneal": ["yes", None],
    "folds": [-1, 1, 2.5, None, False],
    "standardize": ["targets", None, 2],
    "shuffle": ["yes", None],
    "random_state": [True, -1, 1.5, "seed", np.random.default_rng(0)],
    "n_jobs": [True, 0, 1.5, "all"],
    "verbose": [-1, "loud"],
}


def test_every_parameter_has_its_bad_values():
    assert PARAMETERS.keys() == GGLNRegressor().get_params().keys()


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_refused_by_name(tiny, table, assert_same, name, method):
    X, y = table()
    for value in PARAMETERS[name]:
        new = tiny(**{name: value})
        with pytest.raises(ValueError, match=name):
            getattr(new, method)(X, y)
        assert vars(new).keys() == vars(tiny()).keys()
        model = tiny().fit(X, y).set_params(**{name: value})
        going_on = () if value == (0.5, 1.0) else (model.partial_fit, model.prequential)
        for call in (model.fit, *going_on):  # how many inputs share the weight, only a new network knows
            with pytest.raises(ValueError, match=name):
                call(X[:, :2], y)
        assert model.n_features_in_ == 3
        assert_same(model, tiny().fit(X, y))


# Memory ------------------------------------------------------------------------------------------------

HUGE = {"context_dim": 16, "layer_sizes": (64, 64)}


def test_more_memory_than_there_is_is_not_taken(assert_refused, table, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**30)
    message = r"can need 6\.0 GiB of memory, but 1\.0 GiB are available; use a smaller context_dim"
    X, y = table()
    settings = {"context_dim": 16, "layer_sizes": (64,) * 6, "n_estimators": 64}
    assert_refused("fit", (X[:, :2], y), MemoryError, message, **settings)


@pytest.mark.parametrize("method", ["partial_fit", "prequential"])
def test_a_stream_that_outgrows_the_memory_stops_before_it_changes(
    tiny, table, assert_same, monkeypatch, method
):
    X, y = table(rows=8000)
    model = tiny(**HUGE, n_estimators=1).partial_fit(X[:10], y[:10])
    before = copy.deepcopy(model)
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"context_dim of 16 .* can need \d+\.\d MiB .* but 1\.0 MiB"):
        getattr(model, method)(X, y)
    assert_same(model, before)
    new = tiny(**HUGE, n_estimators=1)
    with pytest.raises(MemoryError):
        getattr(new, method)(X, y)
    assert vars(new).keys() == vars(tiny()).keys()


def test_an_interrupted_fit_leaves_the_model_as_it_was(tiny, table, assert_same, monkeypatch):
    X, y = table()
    model = tiny().fit(X, y)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ggln.engine.gradient.learner.Learner.fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], y)
    monkeypatch.undo()
    assert model.n_features_in_ == 3
    assert_same(model, tiny().fit(X, y))


# What else may stand in a table ----------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("kind", [GGLNRegressor, GLNClassifier])
def test_dates_are_refused_with_a_remedy(frame, kind):
    days = [dt.datetime(2024, 1, day) for day in range(1, 11)]
    X, y = frame({"size": np.arange(10.0), "sold": days}), np.arange(10) % 2
    with pytest.raises(ValueError, match=r"dates in the column 'sold'.*ggln\.TableRegressor makes"):
        kind().fit(X, y)
    with pytest.raises(ValueError, match=r"X holds dates, .* such as days since a date"):
        kind().fit(np.array(days, "M8[D]")[:, None], y)
    late = pd.DataFrame({"size": [None, *days[1:]]}, dtype=object)  # found where numbers are made of it
    with pytest.raises(ValueError, match=r"dates in row 1, column 0 .'size'."):
        kind().fit(late, y)


def test_durations_and_times_are_told_from_dates():
    waits = pd.DataFrame({"wait": pd.to_timedelta(np.arange(10), unit="h")})
    with pytest.raises(ValueError, match=r"durations in the column 'wait'.*seconds or days.*as days; the"):
        GGLNRegressor().fit(waits, np.arange(10))
    noons = pd.DataFrame({"at": [dt.time(12, 0)] * 10})
    with pytest.raises(ValueError, match=r"times of the day in .*such as hours since midnight; the model"):
        GGLNRegressor().fit(noons, np.arange(10))


def test_text_or_nothing_in_targets_is_no_matter_for_a_table():
    for model, X in ((GGLNRegressor(), np.zeros((3, 1))), (TableRegressor(), {"a": [1, 2, 3]})):
        with pytest.raises(ValueError, match=r"in y, row 0\. Regression predicts numbers") as refused:
            model.fit(X, ["a", "b", "c"])
        assert "TableRegressor" not in str(refused.value)
        with pytest.raises(ValueError, match="y contains NaN: it has no number at all"):
            model.fit(X, [np.nan] * 3)


def test_gaps_are_refused_with_a_remedy(tiny):
    gaps = np.array([[0.0], [np.nan]])
    with pytest.raises(ValueError, match=r"row 1, column 0. Networks that learn .*newton.*SimpleImputer"):
        tiny().fit(gaps, [0.0, 1.0])
    with pytest.raises(ValueError, match=r"row 1. Leave out such rows"):
        GGLNRegressor().fit([[0.0], [1.0]], gaps[:, 0])


def test_weights_are_refused_by_classifiers_too():
    model = GLNClassifier(step="normalised", context_dim=4)
    for method in (model.fit, model.partial_fit):
        with pytest.raises(TypeError, match=r"takes no sample_weight: .* Give rows with more weight several"):
            method([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 2.0])
