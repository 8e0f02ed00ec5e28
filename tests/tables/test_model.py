import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ggln
from ggln import GGLNRegressor, TableRegressor
from ggln.engine.newton.drift import DriftLearner
from ggln.tables.frames import unnamed_rows
from ggln.tables.plan import Input, Plan
from ggln.tables.train import Training


@pytest.fixture
def model(houses, small):
    return Training(Input(houses()), Plan(["price"], settings=small)).run()


def test_a_file_gives_the_same_model_back(model, houses, tmp_path):
    model.save(tmp_path / "model.ggln")
    again = ggln.load(tmp_path / "model.ggln")
    frame = pd.read_csv(houses())
    assert np.array_equal(model.predict(frame), again.predict(frame))
    assert again.targets == ["price"]
    assert repr(again) == repr(model)
    again.save(tmp_path / "again.ggln")
    assert (tmp_path / "model.ggln").read_bytes() == (tmp_path / "again.ggln").read_bytes()


def test_frames_of_all_kinds_say_the_same(model, houses):
    path = houses()
    frames = [
        pd.read_csv(path),
        pd.read_csv(path, parse_dates=["sold"], true_values=["yes"], false_values=["no"]),
        pl.read_csv(path, try_parse_dates=True),
        dict(pd.read_csv(path)),
        pd.read_csv(path)[["rooms", "price", "garden", "area", "city", "sold"]],
    ]
    expected = model.predict(frames[0])
    for frame in frames[1:]:
        assert np.array_equal(model.predict(frame), expected)


def test_all_that_a_model_says_of_a_frame(model, houses):
    frame = pd.read_csv(houses()).head(20)
    mean, std = model.predict(frame, return_std=True)
    assert np.allclose(model.predict_dist(frame).mean, mean)
    assert np.allclose(model.explain(frame).prediction, mean, atol=1e-3 * std.max())
    assert model.effects(frame.head(1)).names == ["sold", "city", "area", "garden", "rooms"]
    assert model.importance(frame).names == model.explain(frame).names[:5]
    learnt = model.regressor_.learner_.rows
    frame.loc[3, "price"] = np.nan
    assert model.partial_fit(frame).regressor_.learner_.rows == learnt + 19


def test_frames_that_do_not_fit(model, houses):
    frame = pd.read_csv(houses()).head(3)
    with pytest.raises(ValueError, match="no column 'area'"):
        model.predict(frame.rename(columns={"area": "size"}))
    with pytest.raises(ValueError, match="row 1: 'area' is 'big', which is not a number"):
        model.predict(frame.assign(area=["1", "big", "2"]))
    with pytest.raises(ValueError, match="X has 4 features, but TableRegressor is expecting 5 features"):
        model.predict(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="Complex data"):
        TableRegressor().fit(np.zeros((3, 2)) + 1j, [0.0, 1.0, 2.0])


def test_conventions_of_scikit_learn(houses, small):
    frame = pd.read_csv(houses(120))
    X, y = frame.drop(columns="price"), frame["price"]
    model = TableRegressor(GGLNRegressor(**small, random_state=0))
    assert clone(model).get_params()["regressor__epochs"] == 1
    search = GridSearchCV(model, {"regressor__layer_sizes": [(4, 4), (4, 1)]}, cv=2).fit(X, y)
    assert search.best_estimator_.targets == ["price"]
    assert len(cross_val_score(model, X, y, cv=2)) == 2
    fitted = model.fit(X, y)
    assert fitted is model
    assert np.array_equal(fitted.predict(X), clone(model).fit(pl.from_pandas(X), y.to_numpy()).predict(X))
    with pytest.raises(ValueError, match="X has the target 'price' among its columns: drop it there"):
        model.fit(frame, y)
    assert model.fit(X, 2 * X["area"]).targets == ["y"]  # whose name is that of the column it was made of
    assert model.fit(X, frame[["price", "rooms"]].fillna(0).to_numpy()).targets == ["y0", "y1"]
    with pytest.raises(NotFittedError):
        TableRegressor().predict(X)


def test_python_learns_what_the_shell_learns(model, houses, small, tmp_path):
    frame = pd.read_csv(houses())
    X, y = frame.drop(columns="price"), frame["price"]
    again = TableRegressor(GGLNRegressor(**small, random_state=0)).fit(X, y)
    assert np.array_equal(again.predict(frame), model.predict(frame))
    for some, name in ((again, "python.ggln"), (model, "shell.ggln")):
        some.save(tmp_path / name)
    assert (tmp_path / "python.ggln").read_bytes() == (tmp_path / "shell.ggln").read_bytes()


def test_rows_one_by_one_are_rows_at_once(houses, small):
    frame = pd.read_csv(houses(60))
    X, y = frame.drop(columns="price"), frame["price"]
    one, all_at_once = (TableRegressor(GGLNRegressor(**small, random_state=0)) for _ in range(2))
    assert one.predict_one({}) == 0.0  # before anything was learnt
    for i, target in enumerate(y):
        one.learn_one(X.iloc[i], target)
    all_at_once.partial_fit(X[:7], y[:7]).partial_fit(frame[7:])  # with the target among the columns
    assert np.array_equal(one.predict(X), all_at_once.predict(X))
    assert np.array_equal(one.predict(X), one.predict(X))  # predicting changes nothing, not even for gaps
    mean, std = one.predict_one(dict(X.iloc[4]), return_std=True)
    assert np.allclose([mean, std], [values[4] for values in one.predict(X, return_std=True)], rtol=1e-6)
    with pytest.raises(ValueError, match="no column 'sold'"):
        one.learn_one({"area": 3.0}, 1.0)
    with pytest.raises(TypeError, match="a row is a mapping"):
        one.predict_one([1.0, 2.0])


def test_the_features_of_a_column_move_together(model, houses):
    frame = pd.read_csv(houses())
    effects = model.effects(frame.head(30))
    city = effects.total[:, effects.names.index("city")]
    dearest = frame.head(30).groupby("city").apply(lambda rows: city[rows.index].mean(), include_groups=False)
    assert dearest["Paris"] > dearest["Oslo"]  # a letter more, which is dearer
    explanation = model.explain(frame.head(3), frame)
    assert explanation.names == effects.names
    with unnamed_rows():
        rows = [model.features(some) for some in (frame.head(3), frame)]
        parts = model.regressor_.explain(*rows, groups=model._groups())
    np.testing.assert_array_equal(explanation.mean, parts.mean)


def test_arrays_are_tables_without_names(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ [1.0, 2.0, 3.0]
    exact = GGLNRegressor(layer_sizes=(4, 4), n_estimators=2, random_state=0)
    model = TableRegressor(exact).fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    named = TableRegressor(exact).fit(frame, y)
    expected = named.predict(frame)
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(model.predict(X.astype(object)), expected)
    assert np.array_equal(model.predict(frame.rename(columns={"x1": "other"})), expected)  # by their order
    assert np.array_equal(named.predict(X), expected)
    model.save(tmp_path / "model.ggln")
    assert np.array_equal(ggln.load(tmp_path / "model.ggln").predict(X), expected)
    stream = TableRegressor(exact).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert np.array_equal(stream.predict(X), TableRegressor(exact).partial_fit(X, y).predict(X))
    mixed = np.array([["a", 1], ["b", 2], ["a", 3]] * 10, dtype=object)
    assert TableRegressor(exact).fit(mixed, np.arange(30.0)).schema_.columns[0].kind == "category"


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_scaler_may_come_before(output):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    y = X["a"] * X["b"]
    exact = GGLNRegressor(layer_sizes=(4, 4), n_estimators=2, random_state=0)
    model = make_pipeline(StandardScaler().set_output(transform=output), TableRegressor(exact))
    assert np.corrcoef(model.fit(X, y).predict(X), y)[0, 1] > 0.9


def test_what_was_never_learnt_is_said_once(houses, small):
    frame = pd.read_csv(houses(120)).drop(columns="price")
    y = np.arange(120.0)
    model = TableRegressor(GGLNRegressor(**small, random_state=0)).fit(frame, y)
    strange = frame.head(5).assign(city="Atlantis", colour="red")
    with pytest.warns(UserWarning, match="learnt") as said:
        model.predict(strange)
    assert sorted(str(one.message).split(":")[0] for one in said) == [
        "the column 'city' has values that were never learnt, such as 'Atlantis'",
        "the column 'colour' is none of those that were learnt",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(strange.assign(city="Utopia"))
        model.partial_fit(strange, y[:5])
        model.predict_one(dict(strange.iloc[0]))
    with pytest.warns(UserWarning, match="'taste' is none"):
        model.learn_one({**dict(frame.iloc[0]), "taste": 1}, 1.0)


def test_an_interruption_leaves_the_model_of_the_rows_that_were_learnt(monkeypatch, tmp_path):
    random = np.random.default_rng(0)
    rows = {"a": random.normal(size=2000).tolist(), "b": [f"n{i // 400}" for i in range(2000)]}
    y = np.array(rows["a"]) + np.arange(2000) // 400
    half = {name: column[:1024] for name, column in rows.items()}
    make = partial(TableRegressor, GGLNRegressor(layer_sizes=(3, 2), n_estimators=2, random_state=0))
    expected, model = make().partial_fit(half, y[:1024]), make()
    learn, calls = DriftLearner.partial_fit, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return learn(*arguments)

    monkeypatch.setattr(DriftLearner, "partial_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows, y)
    expected.save(tmp_path / "expected")
    model.save(tmp_path / "found")
    assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
