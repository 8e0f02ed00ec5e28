"""Small models of every kind that a file can hold, and what is asked of each."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ggln import GGLNRegressor, GLNClassifier, TableRegressor
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

COLUMNS = 3
NEWTON = {"layer_sizes": (3, 2), "n_estimators": 2, "random_state": 1}
GRADIENT = {"layer_sizes": (3, 1), "n_estimators": 2, "context_dim": 2, "epochs": 1, "random_state": 1}


def rows(count: int, seed: int = 0) -> np.ndarray:
    """Return rows."""
    return np.random.default_rng(seed).normal(size=(count, COLUMNS))


def goals(X: np.ndarray, outputs: int = 1) -> np.ndarray:
    """Return targets of rows."""
    y = X[:, 0] * X[:, 1] + 0.1 * X[:, 2]
    return y if outputs == 1 else np.column_stack([y, X[:, 2] - y])


def labels(X: np.ndarray, classes: int) -> np.ndarray:
    """Return classes of rows."""
    return np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])


def fitted(count: int = 40, outputs: int = 1, **settings: Any) -> GGLNRegressor:
    """Return a regressor that solved a table."""
    X = rows(count)
    return GGLNRegressor(**settings).fit(X, goals(X, outputs))


def streamed(count: int, outputs: int = 1, **settings: Any) -> GGLNRegressor:
    """Return a regressor that learnt a stream."""
    X = rows(count)
    return GGLNRegressor(**settings).partial_fit(X, goals(X, outputs))


def drifted() -> GGLNRegressor:
    """Return a stream that has changed: several learners, and a form."""
    X = rows(420)
    y = goals(X)
    y[200:] = 50.0 - 20.0 * X[200:, 1]
    return GGLNRegressor(**NEWTON).partial_fit(X, y)


def classifier(classes: int, stream: bool, **settings: Any) -> GLNClassifier:
    """Return a classifier."""
    X = rows(40)
    model = GLNClassifier(**settings)
    y = labels(X, classes)
    return model.partial_fit(X, y, classes=range(classes)) if stream else model.fit(X, y)


def policy(**settings: Any) -> GLCB:
    """Return a policy that has learnt; one arm of an exact one is removed."""
    X, found = rows(30), GLCB(arms=["a", "b", "c"], random_state=1, **settings)
    for t, context in enumerate(X):
        arm = found.select(context)
        found.update(context, arm, float(t % 3 == 0))
    return found.remove_arm("c")


def density(**settings: Any) -> DenoisingDensity:
    """Return a density."""
    return DenoisingDensity(random_state=1, **settings).partial_fit(rows(50))


def table() -> TableRegressor:
    """Return a model of a table with columns of all kinds."""
    X = rows(30)
    return TableRegressor(GGLNRegressor(**NEWTON)).fit(columns(X), goals(X))


def columns(X: np.ndarray) -> dict[str, list[Any]]:
    """Return columns of all kinds, made of rows."""
    return {
        "number": X[:, 0].tolist(),
        "day": [f"2024-05-{int(9 * abs(x)) % 30 + 1:02d}" for x in X[:, 2]],
        "city": ["Oslo" if x > 0 else "Rome" for x in X[:, 1]],
        "open": ["yes" if x > 0 else "no" for x in X[:, 2]],
    }


MODELS: dict[str, Callable[[], Any]] = {
    "table of numbers": lambda: fitted(**NEWTON),
    "repeated targets": lambda: GGLNRegressor(**NEWTON).fit(rows(300), np.round(goals(rows(300)))),
    "joint outputs": lambda: fitted(outputs=2, covariance="full", **NEWTON),
    "outputs apart": lambda: streamed(20, outputs=2, **NEWTON),
    "stream": lambda: streamed(40, **NEWTON),
    "stream that changed": drifted,
    "young stream": lambda: streamed(3, **NEWTON),
    "stream that fades": lambda: streamed(60, forgetting=20, **NEWTON),
    "features alone": lambda: fitted(base_model="feature", **NEWTON),
    "capped steps": lambda: fitted(step="capped", folds=2, gating="mixed", **GRADIENT),
    "plain steps": lambda: streamed(20, step="ogd", base_model="linear", gating="sphere", **GRADIENT),
    "steps of outputs": lambda: fitted(outputs=2, step="capped", base_model="blr", gating="axis", **GRADIENT),
    "two classes": lambda: classifier(2, False, layer_sizes=(3, 2), n_estimators=2, random_state=1),
    "three classes": lambda: classifier(3, True, layer_sizes=(2, 1), n_estimators=2, random_state=1),
    "classes by steps": lambda: classifier(
        3, False, step="normalised", gating="pairs", hinges=8, **{**GRADIENT, "layer_sizes": (3, 2)}
    ),
    "policy": policy,
    "policy by steps": lambda: policy(step="capped", layer_sizes=(3, 2), context_dim=2),
    "policy of trees": lambda: policy(reward="ctree", layer_sizes=(3, 2), context_dim=2, depth=2),
    "density": density,
    "density by steps": lambda: density(step="capped", layer_sizes=(3, 1), context_dim=2, noise=[0.5, 0.2]),
    "columns": table,
}


def ask(model: Any) -> list[np.ndarray]:
    """Return what a model predicts, by every way that there is; files that are loaded answer in numbers."""
    X = np.vstack([rows(3, 9), np.full((1, COLUMNS), 1e3)])
    if isinstance(model, TableRegressor):
        values = {"number": [0.3, None], "day": ["2024-06-01", "2023-01-01"]}
        table = {**values, "city": ["Oslo", "Bonn"], "open": ["yes", None]}
        found = model.predict_dist(table)
        shown = [column.shown_range() for column in model.schema_.columns]  # as `ggln info` does
        assert all(isinstance(text, str) for text in shown)
        return [*model.predict(table, return_std=True), found.mean, found.std]
    if isinstance(model, GLNClassifier):
        return [model.predict_proba(X), model.predict_proba(X[:1])]
    if isinstance(model, GLCB):
        decided = model.predict_expectations(X, return_std=True)
        return [*decided, model.propensities(X[0]), np.array([model.select(X[0]) in model.arms_])]
    if isinstance(model, DenoisingDensity):
        return [model.score_function(X), model.anomaly_score(X[:3]), model.denoise(X[:2])]
    dist = model.predict_dist(X)
    one = model.predict_one(X[0], return_std=True)
    return [*model.predict(X, return_std=True), dist.mean, dist.std, *map(np.asarray, one)]


def teach(model: Any) -> None:
    """Let a model learn a few rows, one by one and in a block."""
    X = rows(6, 8)
    if isinstance(model, TableRegressor):
        return
    if isinstance(model, GLNClassifier):
        y = model.classes_[labels(X, model.classes_.size)]
        model.learn_one(X[0], y[0]).partial_fit(X, y)
    elif isinstance(model, GLCB):
        model.update(X[0], model.arms_[0], 0.5)
        model.partial_fit(X, model.arms_[:1] * 6, np.linspace(0.0, 1.0, 6))
    elif isinstance(model, DenoisingDensity):
        model.partial_fit(X)
    else:
        y = goals(X, model.n_outputs_)
        model.learn_one(X[0], y[0]).partial_fit(X, y)
