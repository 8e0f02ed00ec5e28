"""Streams of dicts whose features come and go."""

import warnings

import numpy as np
import pandas as pd
import pytest

import ggln
from ggln import GGLNRegressor

NAMES = "a", "b", "c", "d"


def rows_of(X, late=None):
    """Dicts of rows; the last feature is there from row `late` on."""
    return [
        dict(zip(NAMES if late is None or i >= late else NAMES[:3], x, strict=False)) for i, x in enumerate(X)
    ]


def test_a_missing_key_is_a_missing_value(regressor, table):
    X, y = table(60)
    model = regressor()
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    for x, target in zip(rows_of(X), y, strict=True):
        model.learn_one(x, target)
    other = regressor().partial_fit(pd.DataFrame(X, columns=NAMES), y)
    assert model.predict_one({"a": 1.0, "c": 2.0}) == other.predict_one([1.0, np.nan, 2.0, np.nan])
    assert model.predict_one({"c": 2.0, "a": 1.0, "b": None}) == other.predict_one([1.0, np.nan, 2.0, np.nan])


def test_a_feature_joins_when_a_young_stream_is_solved_afresh(regressor, table, tmp_path):
    X, y = table(60)
    y = y + 3 * X[:, 3]
    # correctors of what may change begin with the feature; networks are those of all rows
    model, whole = regressor(forgetting=None), regressor(forgetting=None)
    for i, (x, target) in enumerate(zip(rows_of(X, late=20), y, strict=True)):
        model.predict_one(x)  # does not know it yet, and says nothing
        model.learn_one(x, target)
        assert model.n_features_in_ == (3 if i + 1 < 24 else 4)
        if i == 21:  # while it waits
            model.save(tmp_path / "model.ggln")
            model = ggln.load(tmp_path / "model.ggln")
    assert list(model.feature_names_in_) == list(NAMES)
    gaps = X.copy()
    gaps[:20, 3] = np.nan
    whole.partial_fit(gaps, y)  # from there on it is as if the feature had been missing before
    np.testing.assert_array_equal(model.predict_one(X[0]), whole.predict_one(X[0]))
    assert (
        abs(model.predict_one({**rows_of(X)[0], "d": 2.0}) - model.predict_one({**rows_of(X)[0], "d": -2.0}))
        > 1
    )


def test_frames_and_arrays_go_on_beside_dicts(regressor, table):
    X, y = table(40)
    model = regressor().partial_fit(pd.DataFrame(X[:16, :3], columns=NAMES[:3]), y[:16])
    model.learn_one(rows_of(X)[16], y[16])
    model.partial_fit(pd.DataFrame(X[17:40, :3], columns=NAMES[:3]), y[17:40])  # solved with it at row 24
    assert model.n_features_in_ == 4
    assert np.isfinite(model.predict_one(X[3]))


@pytest.mark.parametrize("fitted", [True, False])
def test_a_feature_that_comes_too_late_is_ignored_and_said_once(regressor, table, fitted, monkeypatch):
    X, y = table(60)
    if fitted:
        model = regressor().fit(pd.DataFrame(X[:, :3], columns=NAMES[:3]), y)
    else:
        monkeypatch.setattr("ggln.engine.newton.constants.WARM_ROWS", 32)
        model = regressor().partial_fit(pd.DataFrame(X[:, :3], columns=NAMES[:3]), y)
    x = {**rows_of(X)[0]}
    with pytest.warns(UserWarning, match=r"features \['d'\] appear after the networks were laid out"):
        found = model.predict_one(x)
    assert found == model.predict_one(X[0, :3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one(x, 1.0)
        model.predict_one(x)
    with pytest.warns(UserWarning, match=r"\['e'\]"):
        model.learn_one({**x, "e": 1.0}, 1.0)


def test_a_classifier_meets_features(classifier, table):
    X, y = table(40)
    model = classifier().partial_fit(
        pd.DataFrame(X[:10, :3], columns=NAMES[:3]), y[:10] > 0, classes=[False, True]
    )
    for x, label in zip(rows_of(X)[10:], y[10:] > 0, strict=True):
        model.predict_one(x)
        model.learn_one(x, label)
    assert model.n_features_in_ == 4
    assert 0.0 < model.predict_proba_one({"a": 1.0})[True] < 1.0


def test_a_row_that_is_refused_changes_nothing(regressor, table):
    X, y = table(20)
    model = regressor()
    for x, target in zip(rows_of(X[:, :3]), y, strict=True):
        model.learn_one(x, target)
    for row, target in (({**rows_of(X)[0], "b": np.inf}, 0.0), (rows_of(X)[0], np.nan), ({"d": "x"}, 0.0)):
        with pytest.raises(ValueError, match="unchanged"):
            model.learn_one(row, target)
    assert model._coming == []


def test_gradient_steps_need_every_feature_and_ignore_others(table):
    X, y = table(30)
    model = GGLNRegressor(layer_sizes=(4, 1), context_dim=2, step="capped", n_estimators=1)
    model.partial_fit(pd.DataFrame(X[:, :3], columns=NAMES[:3]), y)
    with pytest.raises(ValueError, match=r"lacks the features \['c'\]"):
        model.learn_one({"a": 1.0, "b": 2.0}, 0.0)
    with pytest.warns(UserWarning, match=r"\['d'\]"):
        model.learn_one(rows_of(X)[0], 0.0)
