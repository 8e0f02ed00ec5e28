"""Dates, durations, masks and integers beyond all floats: one answer from every entry point."""

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier, TableRegressor
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

X = np.random.default_rng(0).normal(size=(12, 2))
Y = X[:, 0]
SMALL = {"layer_sizes": (2, 1), "n_estimators": 1, "random_state": 0}
DAYS = np.array("2024-01-01", "M8[D]") + np.arange(24).reshape(12, 2)
LATE = {  # a cell in the middle, of a list or among objects
    "dates": np.datetime64("2024-01-01"),
    "durations": np.timedelta64(3, "D"),
    "too large": 10**400,
}
TABLES = {
    "dates": DAYS,
    "durations": DAYS - DAYS[0, 0],
    "masked array": np.ma.array(X, mask=X > 1.0),
    "too large": [[10**400, 1]] * 12,
}


@pytest.fixture(scope="module")
def models():
    return {
        "regressor": GGLNRegressor(**SMALL).partial_fit(X, Y),
        "classifier": GLNClassifier(**SMALL).partial_fit(X, Y > 0, classes=[False, True]),
        "policy": GLCB(2, random_state=0).partial_fit(X, np.arange(12) % 2, Y),
        "density": DenoisingDensity(random_state=0).fit(X),
    }


def with_late(what, kind):
    table = X.tolist()
    table[5][1] = LATE[what]
    return table if kind is list else np.array(table, object)


def row(table):
    return table[0] if not isinstance(table, list) else list(table[0])


def column(table):
    return [row[0] for row in table] if isinstance(table, list) else table[:, 0]


WAYS = {
    "regressor": {
        "fit": lambda m, X: GGLNRegressor(**SMALL).fit(X, Y),
        "partial_fit": lambda m, X: m.partial_fit(X, Y),
        "prequential": lambda m, X: m.prequential(X, Y),
        "learn_one": lambda m, X: m.learn_one(row(X), 0.0),
        "first row": lambda m, X: GGLNRegressor(**SMALL).learn_one(row(X), 0.0),
        "predict": lambda m, X: m.predict(X),
        "predict_one": lambda m, X: m.predict_one(row(X)),
        "predict_dist": lambda m, X: m.predict_dist(X),
        "support": lambda m, X: m.support(X),
        "targets": lambda m, X: m.partial_fit(
            np.zeros((12, 2)), [r[0] for r in X] if isinstance(X, list) else X[:, 0]
        ),
        "target": lambda m, X: m.learn_one([0.0, 0.0], row(X)[0] if not np.ma.isMA(X) else X[0, :1]),
    },
    "classifier": {
        "fit": lambda m, X: GLNClassifier(**SMALL).fit(X, Y > 0),
        "partial_fit": lambda m, X: m.partial_fit(X, Y > 0),
        "prequential": lambda m, X: m.prequential(X, Y > 0),
        "learn_one": lambda m, X: m.learn_one(row(X), True),
        "predict_proba": lambda m, X: m.predict_proba(X),
    },
    "policy": {
        "select": lambda m, X: m.select(row(X)),
        "update": lambda m, X: m.update(row(X), 0, 1.0),
        "partial_fit": lambda m, X: m.partial_fit(X, np.zeros(12, int), Y),
        "predict": lambda m, X: m.predict(X),
        "rewards": lambda m, X: m.partial_fit(np.zeros((12, 2)), np.zeros(12, int), column(X)),
    },
    "density": {
        "fit": lambda m, X: DenoisingDensity(random_state=0).fit(X),
        "partial_fit": lambda m, X: m.partial_fit(X),
        "score_samples": lambda m, X: m.score_samples(X),
        "infill": lambda m, X: m.infill(X),
        "infill by a mask": lambda m, X: m.infill(X, np.zeros((12, 2), bool)),
        "anomaly_score": lambda m, X: m.anomaly_score(X),
    },
}


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize(("kind", "way"), [(kind, way) for kind, ways in WAYS.items() for way in ways])
def test_what_is_no_number_is_refused_in_the_same_words(models, kind, way, what):
    with pytest.raises(ValueError, match=rf"{what}.*; the model is unchanged$"):
        WAYS[kind][way](models[kind], TABLES[what])


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("what", LATE)
def test_a_cell_in_the_middle_is_found(models, kind, what):
    table = with_late(what, kind)
    column = [own[1] for own in table]
    row, whole = table[5], rf"{what}.*; the model is unchanged$"
    with pytest.raises(ValueError, match=whole):
        models["regressor"].partial_fit(table, Y)
    with pytest.raises(ValueError, match=whole):
        models["regressor"].learn_one(row, 0.0)
    with pytest.raises(ValueError, match=whole):
        models["regressor"].partial_fit(X, column)
    with pytest.raises(ValueError, match=whole):
        models["regressor"].partial_fit(X, Y, sample_weight=column)
    with pytest.raises(ValueError, match=whole):
        models["classifier"].predict_proba(table)
    with pytest.raises(ValueError, match=whole):
        models["policy"].select(row)
    with pytest.raises(ValueError, match=whole):
        models["policy"].predict(table)
    with pytest.raises(ValueError, match=whole):
        models["density"].partial_fit(table)


def test_where_a_date_stands_is_said():
    for table in (with_late("dates", list), with_late("dates", np.array)):
        with pytest.raises(ValueError, match="dates in row 5, column 1, and"):
            GGLNRegressor().fit(table, Y)


def test_a_table_of_columns_refuses_masks():
    """Masked values would be taken for numbers; dates and durations have a meaning there."""
    model = TableRegressor(GGLNRegressor(**SMALL)).fit(X, Y)
    masked = np.ma.array(X, mask=X > 1.0)
    for use in (
        lambda: TableRegressor(GGLNRegressor(**SMALL)).fit(masked, Y),
        lambda: model.partial_fit(masked, Y),
        lambda: model.predict(masked),
        lambda: model.predict_dist({"x0": X[:, 0], "x1": masked[:, 1]}),
        lambda: model.prequential(X, masked[:, 0]),
    ):
        with pytest.raises(ValueError, match=r"masked array.*; the model is unchanged$"):
            use()


def test_complex_numbers_are_refused_row_by_row_too(models):
    row = X[0] + 1j
    for use in (
        models["regressor"].predict_one,
        models["classifier"].predict_proba_one,
        models["policy"].select,
    ):
        with pytest.raises(ValueError, match="Complex data not supported"):
            use(row)
