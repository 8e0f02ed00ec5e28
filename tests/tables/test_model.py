import numpy as np
import pandas as pd
import polars as pl
import pytest

import ggln
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
    with pytest.raises(TypeError, match="a data frame or a mapping"):
        model.predict(np.zeros((3, 5)))
