"""Data frames with columns that are no numbers: the same features as those of a `TableRegressor`."""

from __future__ import annotations

import itertools

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from ggln import GGLNRegressor, TableRegressor, load
from ggln.distributed import DaskGGLNRegressor, columns

pytestmark = pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
NAMES = ["area", "city", "kind", "sold", "rooms", "pool"]


@pytest.fixture(scope="module")
def client():
    local = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with local as cluster, Client(cluster) as own:
        yield own


@pytest.fixture(scope="module")
def houses():
    """Numbers, texts, categories, dates and booleans, most of them with gaps."""
    rng = np.random.default_rng(0)
    rows = 300
    area, kind = rng.uniform(20.0, 200.0, rows), rng.choice(["flat", "house", "villa"], rows)
    frame = pd.DataFrame(
        {
            "area": np.where(rng.random(rows) < 0.1, np.nan, area),
            "city": rng.choice(["Oslo", "Rome", None], rows),
            "kind": pd.Categorical(kind),
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, rows), "D"),
            "rooms": pd.Categorical(rng.integers(1, 6, rows)),
            "pool": rng.random(rows) < 0.3,
        }
    )
    price = area / 50.0 + (kind == "villa") + 0.5 * (frame["city"] == "Oslo") + 0.2 * rng.normal(size=rows)
    return frame.assign(price=price, weight=1.0 + frame["pool"])


def cut(frame):
    """Return a Dask data frame of four partitions, one of them empty and one of a single row."""
    bounds = [0, 120, 120, 121, len(frame)]
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(bounds)]
    return dd.from_delayed([columns.delayed(part.copy)() for part in parts], meta=frame.iloc[:0])


def test_all_kinds_of_columns(client, houses, small, assert_alike, tmp_path):
    X, lazy = houses[NAMES], cut(houses)
    model = DaskGGLNRegressor(client=client, **small).fit(lazy[NAMES], lazy["price"], lazy["weight"])
    local = TableRegressor(GGLNRegressor(**small)).fit(X, houses["price"], houses["weight"])
    mine = model.to_local()
    assert_alike(mine, local, X, houses["price"].to_numpy())
    assert mine.schema_.to_json() == local.schema_.to_json()
    assert (mine.typical_ == local.typical_).all()
    assert list(model.feature_names_in_) == NAMES
    assert model.n_estimators_ == 4
    found = mine.predict(X, return_std=True)
    shuffled = lazy[NAMES[::-1]]  # columns are found by their names
    for one, other in zip(model.predict(shuffled, return_std=True), found, strict=True):
        assert (one.compute() == other).all()
    assert (model.predict_dist(lazy[NAMES]).mean.compute() == mine.predict_dist(X).mean).all()
    mine.save(tmp_path / "model.ggln")
    assert (load(tmp_path / "model.ggln").predict(X) == found[0]).all()


def test_categories_that_are_numbers_are_numbers(client, houses, small, assert_alike):
    """As for `GGLNRegressor`, if there is nothing else."""
    names, lazy = ["area", "rooms", "pool"], cut(houses)
    model = DaskGGLNRegressor(client=client, **small).fit(lazy[names], lazy["price"])
    local = GGLNRegressor(**small).fit(houses[names], houses["price"])
    assert isinstance(model.to_local(), GGLNRegressor)
    assert_alike(model.to_local(), local, houses[names], houses["price"].to_numpy())


def test_a_sample_of_many_rows_tells_what_columns_are(client, houses, monkeypatch):
    monkeypatch.setattr(columns, "INFER_ROWS", 70)
    lazy = cut(houses)
    found = columns.typed(client, lazy[NAMES], lazy["price"], gaps=True)
    expected = columns.columns_of(houses[NAMES].iloc[::4])[1]
    assert found.sample == expected  # every fourth row, wherever partitions end
    assert found.schema.targets == ["price"]


def test_what_says_nothing_is_left_out_once_and_for_all(client, small):
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(40)], "a": np.arange(40.0), "c": ["x", "y"] * 20})
    lazy = dd.from_pandas(frame, npartitions=2)
    model = DaskGGLNRegressor(client=client, **small)
    with pytest.warns(UserWarning, match="'id' is left out: nearly every row has another text"):
        model.fit(lazy, da.from_array(frame["a"].to_numpy(), chunks=20))
    assert list(model.feature_names_in_) == ["a", "c"]
    with pytest.warns(UserWarning, match="never learnt, such as 'z'") as told:
        model.to_local().predict(frame.assign(c="z"))
    assert len(told) == 1


def test_what_cannot_be_is_refused(client, houses, small):
    lazy = cut(houses)
    model = DaskGGLNRegressor(client=client, **small)
    with pytest.raises(ValueError, match="has the target 'price' among its columns"):
        model.fit(lazy, lazy["price"])
    with pytest.raises(ValueError, match="no rows"):
        model.fit(cut(houses[:0])[NAMES], cut(houses[:0])["price"])
