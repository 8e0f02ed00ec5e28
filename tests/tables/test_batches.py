"""Predictions for batches of any kind, with a model that each process reads once."""

import pickle
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import ggln
from ggln import GGLNRegressor, GLNClassifier, TableRegressor, batches
from ggln.bandits import GLCB
from ggln.extras import require

pa = pytest.importorskip("pyarrow")
SMALL = {"layer_sizes": (3,), "n_estimators": 2, "random_state": 0}
RANDOM = np.random.default_rng(0)
ROWS = {"id": np.arange(60), "a": RANDOM.random(60), "b": RANDOM.random(60)}
X = np.column_stack([ROWS["a"], ROWS["b"]])
Y = 3.0 * ROWS["a"] - ROWS["b"]


@pytest.fixture(autouse=True)
def nothing_loaded():
    batches._loaded.clear()


@pytest.fixture
def model(tmp_path):
    """A regressor of an array, without names, in a file."""
    fitted = GGLNRegressor(**SMALL).fit(X, Y)
    fitted.save(tmp_path / "model.ggln")
    return fitted


def all_kinds(columns):
    frame = pd.DataFrame(columns)
    return columns, frame, pa.Table.from_pandas(frame), pa.RecordBatch.from_pandas(frame)


def column(batch, name):
    return np.asarray(batch.column(name) if hasattr(batch, "num_rows") else batch[name])


@pytest.mark.parametrize("kind", range(4), ids=["dict", "pandas", "table", "record batch"])
def test_a_batch_comes_back_as_what_it_was(kind, model, tmp_path):
    batch = all_kinds(ROWS)[kind]
    predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], quantiles=[0.05, 0.95])
    found = predict(batch)
    assert type(found) is type(batch)
    names = list(found.schema.names if hasattr(found, "num_rows") else found)
    assert names == ["id", "a", "b", "mean", "std", "q0.05", "q0.95"]
    mean, std = model.predict(X, return_std=True)
    low, high = model.predict_dist(X).quantile([0.05, 0.95])
    for name, expected in (("id", ROWS["id"]), ("mean", mean), ("std", std), ("q0.05", low), ("q0.95", high)):
        assert column(found, name) == pytest.approx(expected, rel=1e-12), name
    narrow = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], keep=["id"], prefix="new_")
    names = narrow(batch).schema.names if hasattr(batch, "num_rows") else list(narrow(batch))
    assert names == ["id", "new_mean", "new_std"]
    assert column(narrow(batch), "new_mean").tobytes() == mean.tobytes()


def test_iterators_are_answered_batch_by_batch(model, tmp_path):
    predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], keep=[])
    frame, asked = pd.DataFrame(ROWS), []

    def pieces():
        for start in range(0, 60, 20):
            asked.append(start)
            yield frame[start : start + 20]

    found = predict(pieces())
    assert asked == []
    first = next(found)
    assert asked == [0]
    assert list(first.columns) == ["mean", "std"]
    whole = pd.concat([first, *found])
    assert whole["mean"].to_numpy().tobytes() == model.predict(X).tobytes()
    assert list(whole.index) == list(frame.index)


def test_empty_batches_have_the_same_columns(model, tmp_path):
    predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"])
    for batch, whole in zip(
        all_kinds({name: own[:0] for name, own in ROWS.items()}), all_kinds(ROWS), strict=True
    ):
        found, full = predict(batch), predict(whole)
        if hasattr(found, "num_rows"):
            assert found.num_rows == 0
            assert found.schema.names == full.schema.names
        else:
            assert list(found) == list(full)
            assert len(found["mean"]) == 0


def test_a_predictor_is_sent_without_its_model(model, tmp_path, monkeypatch):
    predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"])
    predict(ROWS)
    sent = pickle.dumps(predict)
    assert len(sent) < 1000
    monkeypatch.chdir("/")
    assert pickle.loads(sent)(ROWS)["mean"].tobytes() == model.predict(X).tobytes()


def test_a_file_is_read_once_and_again_when_it_is_replaced(model, tmp_path, monkeypatch):
    read, own = [], batches.load
    monkeypatch.setattr(batches, "load", lambda path: read.append(path) or own(path))
    predictors = [ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"]) for _ in range(3)]
    first = [predict(ROWS)["mean"] for predict in predictors]
    assert len(read) == 1
    assert all(np.array_equal(one, first[0]) for one in first)
    GGLNRegressor(**SMALL).fit(X, 2.0 * Y + 1.0).save(tmp_path / "model.ggln")
    assert not np.allclose(predictors[0](ROWS)["mean"], first[0])
    assert len(read) == 2
    for number in range(2 * batches.MOST_MODELS):
        shutil.copy(tmp_path / "model.ggln", tmp_path / f"{number}.ggln")
        ggln.predict_batches(tmp_path / f"{number}.ggln", columns=["a", "b"])(ROWS)
    assert len(batches._loaded) == batches.MOST_MODELS


def test_models_of_named_features_find_their_columns(tmp_path):
    model = GGLNRegressor(**SMALL).fit(pd.DataFrame({"b": ROWS["b"], "a": ROWS["a"]}), Y)
    model.save(tmp_path / "model.ggln")
    predict = ggln.predict_batches(tmp_path / "model.ggln")
    for batch in all_kinds(ROWS):
        assert (
            column(predict(batch), "mean").tobytes()
            == model.predict(pd.DataFrame(ROWS)[["b", "a"]]).tobytes()
        )


def test_several_targets_are_told_apart(tmp_path):
    model = GGLNRegressor(**SMALL).fit(X, np.stack([Y, -Y], axis=1))
    model.save(tmp_path / "model.ggln")
    found = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], quantiles=[0.5], keep=[])(ROWS)
    assert list(found) == ["y0_mean", "y0_std", "y0_q0.5", "y1_mean", "y1_std", "y1_q0.5"]
    assert found["y1_mean"] == pytest.approx(model.predict(X)[:, 1])
    assert found["y1_q0.5"] == pytest.approx(model.predict_dist(X).quantile([0.5])[0][:, 1])


def test_classes_have_probabilities(tmp_path):
    labels = np.where(Y > 1.0, "high", "low")
    model = GLNClassifier(**SMALL).fit(X, labels)
    model.save(tmp_path / "model.ggln")
    found = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], keep=[])(ROWS)
    assert list(found) == ["probability_high", "probability_low"]
    assert found["probability_high"].tobytes() == model.predict_proba(X)[:, 0].tobytes()
    with pytest.raises(ValueError, match="no quantiles"):
        ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], quantiles=[0.5])(ROWS)


def test_tables_of_any_columns(tmp_path):
    """Texts, dates and gaps, as files of `ggln fit` know them; other columns are of no concern."""
    table = pd.DataFrame(
        {
            "id": ROWS["id"],
            "area": np.where(ROWS["a"] < 0.1, np.nan, ROWS["a"]),
            "city": np.where(ROWS["b"] < 0.5, "Oslo", "Rome"),
            "sold": pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d"),
        }
    )
    learnt = table.drop(columns="id")
    model = TableRegressor(GGLNRegressor(**SMALL)).fit(learnt, pd.Series(Y, name="price"))
    model.save(tmp_path / "model.ggln")
    expected = model.predict(learnt)
    predict = ggln.predict_batches(tmp_path / "model.ggln", keep=["id"])
    for batch in all_kinds({name: table[name].to_numpy() for name in table}):
        assert column(predict(batch), "mean") == pytest.approx(expected)
    renamed = table.rename(columns={"area": "size"})
    again = ggln.predict_batches(tmp_path / "model.ggln", columns=["size", "city", "sold"], keep=[])
    assert again(renamed)["mean"].to_numpy() == pytest.approx(expected)


def test_parquet_files_are_predicted_in_pieces(model, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    parquet = require("pyarrow.parquet")
    parquet.write_table(pa.table(ROWS), tmp_path / "rows.parquet", row_group_size=7)
    predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], quantiles=[0.9], keep=["id"])
    rows = dataset.dataset(tmp_path / "rows.parquet")
    dataset.write_dataset(
        predict(rows.to_batches(batch_size=7)),
        tmp_path / "predicted",
        format="parquet",
        schema=predict.arrow_schema(rows.schema),
    )
    found = dataset.dataset(tmp_path / "predicted").to_table().sort_by("id")
    assert found.schema.names == ["id", "mean", "std", "q0.9"]
    assert column(found, "mean") == pytest.approx(model.predict(X), rel=1e-12)


@pytest.mark.nightly  # Spark takes 400 MB to install
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark_predicts_in_its_workers(model, tmp_path, monkeypatch):
    """The example of the documentation, on two workers."""
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not there")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # which need not be the python3 of the path
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        rows = spark.createDataFrame(pd.DataFrame(ROWS)).repartition(3)
        predict = ggln.predict_batches(
            tmp_path / "model.ggln", columns=["a", "b"], keep=["id"], quantiles=[0.9]
        )
        found = rows.mapInPandas(predict, f"id long, {predict.schema}").toPandas().sort_values("id")
        arrow = rows.mapInArrow(predict, f"id long, {predict.schema}").toPandas().sort_values("id")
    finally:
        spark.stop()
    assert list(found.columns) == ["id", "mean", "std", "q0.9"]
    assert found["mean"].to_numpy() == pytest.approx(model.predict(X), rel=1e-12)
    assert arrow["q0.9"].to_numpy() == pytest.approx(found["q0.9"].to_numpy(), rel=1e-12)


@pytest.mark.nightly  # Ray takes half a minute to start, and 250 MB to install
@pytest.mark.filterwarnings("ignore")
def test_ray_data_predicts_in_its_workers(model, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    data = pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = data.from_pandas(pd.DataFrame(ROWS))
        predict = ggln.predict_batches(tmp_path / "model.ggln", columns=["a", "b"], keep=["id"])
        found = rows.map_batches(predict, batch_size=16).to_pandas().sort_values("id")
        actors = rows.map_batches(
            ggln.BatchPredictor,
            fn_constructor_args=(str(tmp_path / "model.ggln"),),
            fn_constructor_kwargs={"columns": ["a", "b"], "keep": ["id"]},
            batch_format="pyarrow",
            concurrency=1,
        )
        again = actors.to_pandas().sort_values("id")
    finally:
        ray.shutdown()
    assert found["mean"].to_numpy() == pytest.approx(model.predict(X), rel=1e-12)
    assert again["std"].to_numpy() == pytest.approx(found["std"].to_numpy(), rel=1e-12)


def test_what_is_wrong_is_said(model, tmp_path):
    path = tmp_path / "model.ggln"
    with pytest.raises(ValueError, match="no column 'c', which is among columns"):
        ggln.predict_batches(path, columns=["a", "c"])(ROWS)
    with pytest.raises(ValueError, match="no column 'c', which is among keep"):
        ggln.predict_batches(path, columns=["a", "b"], keep=["c"])(ROWS)
    with pytest.raises(ValueError, match=r"3 columns of features, 'id', 'a', 'b', .* fitted to 2: name them"):
        ggln.predict_batches(path)(ROWS)
    with pytest.raises(ValueError, match="'mean' already"):
        ggln.predict_batches(path, columns=["a", "b"])({**ROWS, "mean": Y})
    with pytest.raises(ValueError, match="'a' of the batch does not hold numbers"):
        ggln.predict_batches(path, columns=["a", "b"])({**ROWS, "a": ["x"] * 60})
    with pytest.raises(ValueError, match="between 0 and 1"):
        ggln.predict_batches(path, quantiles=[5])
    with pytest.raises(TypeError, match=r"several names, such as \['a'\]"):
        ggln.predict_batches(path, columns="a")
    with pytest.raises(TypeError, match="got ndarray"):
        ggln.predict_batches(path)(X)
    with pytest.raises(FileNotFoundError, match="all workers have to reach it"):
        ggln.predict_batches(tmp_path / "nothing.ggln")(ROWS)
    GLCB(n_arms=2, random_state=0).partial_fit(X, [0, 1] * 30, Y).save(tmp_path / "bandit.ggln")
    with pytest.raises(ValueError, match="holds a GLCB: batches are predicted by regressors"):
        ggln.predict_batches(tmp_path / "bandit.ggln", columns=["a", "b"])(ROWS)
