"""Tables that lack values: left as they are, or filled, beside gradient boosting that takes gaps, too.

Values are taken away from tables in four ways. Only where they go at random does their place say nothing;
where high values go, or more of them with high targets, a gap tells something.

Example: ggln reproduce missing --seeds 1
"""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from ggln import GGLNRegressor, TableRegressor
from ggln.palette import GREY
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
Rows = tuple[FloatArray, FloatArray]
VERSION = "5"
TEST_ROWS = 1000


def friedman(random: np.random.Generator, rows: int) -> Rows:
    """Friedman's first function, of five of eight features."""
    X = random.uniform(size=(rows, 8))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + random.normal(size=rows)


def steps(random: np.random.Generator, rows: int) -> Rows:
    """A step, and slopes that steps switch."""
    X = random.normal(size=(rows, 6))
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.5) * X[:, 2] + np.where(X[:, 3] > 0, X[:, 4], -X[:, 4])
    return X, y + 0.3 * random.normal(size=rows)


def correlated(random: np.random.Generator, rows: int) -> Rows:
    """Eight features that three hidden ones make: others tell what is missing."""
    hidden = random.normal(size=(rows, 3))
    X = hidden @ random.normal(size=(3, 8)) + 0.3 * random.normal(size=(rows, 8))
    y = 2 * np.sin(hidden[:, 0]) + hidden[:, 1] * hidden[:, 2]
    return X, y + 0.3 * random.normal(size=rows)


def linear(random: np.random.Generator, rows: int) -> Rows:
    """A plane."""
    X = random.normal(size=(rows, 6))
    return X, X @ [2.0, -1.0, 1.0, 0.5, 0.0, 0.0] + 0.5 * random.normal(size=rows)


def diabetes(random: np.random.Generator, _rows: int) -> Rows:
    """Scikit-learn's table of 442 patients, in a random order."""
    X, y = load_diabetes(return_X_y=True)
    order = random.permutation(len(y))
    return X[order], y[order]


SETS: dict[str, Callable[[np.random.Generator, int], Rows]] = {
    "friedman": friedman,
    "steps": steps,
    "correlated": correlated,
    "linear": linear,
    "diabetes": diabetes,
}


def at_random(random: np.random.Generator, X: FloatArray, _: FloatArray) -> NDArray[np.bool_]:
    """A quarter of all values."""
    return random.random(X.shape) < 0.25


def high_values(random: np.random.Generator, X: FloatArray, _: FloatArray) -> NDArray[np.bool_]:
    """Most of the upper two fifths of each feature."""
    gone: NDArray[np.bool_] = (np.quantile(X, 0.6, axis=0) < X) & (random.random(X.shape) < 0.7)
    return gone


def high_targets(random: np.random.Generator, X: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Two fifths of the values where the target is above its median, a tenth elsewhere."""
    return random.random(X.shape) < np.where(y > np.median(y), 0.4, 0.1)[:, None]


def together(random: np.random.Generator, X: FloatArray, _: FloatArray) -> NDArray[np.bool_]:
    """The first and the fourth feature, both of them in two fifths of the rows."""
    gone = np.zeros(X.shape, np.bool_)
    gone[:, 0] = gone[:, 3] = random.random(len(X)) < 0.4
    return gone


WAYS: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "at random": at_random,
    "high values": high_values,
    "high targets": high_targets,
    "together": together,
}


def _ours(seed: int) -> GGLNRegressor:
    return GGLNRegressor(random_state=seed, n_jobs=1)


MODELS: dict[str, Callable[[int], Any]] = {
    "as they are": _ours,
    "means": lambda seed: make_pipeline(SimpleImputer(), _ours(seed)),
    "means and flags": lambda seed: make_pipeline(SimpleImputer(add_indicator=True), _ours(seed)),
    "TableRegressor": lambda seed: TableRegressor(_ours(seed)),
    "gradient boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
}


def evaluate(name: str, way: str, model: str, rows: int, seed: int) -> Results:
    """Fit a model to a table with gaps; return its error on new rows, in deviations of the target."""
    random = np.random.default_rng([seed, list(SETS).index(name), list(WAYS).index(way)])
    X, y = SETS[name](random, rows + TEST_ROWS)
    train = min(rows, 3 * len(y) // 4)
    X = np.where(WAYS[way](random, X, y), np.nan, X)
    fitted = MODELS[model](seed).fit(X[:train], y[:train])
    errors = fitted.predict(X[train:]) - y[train:]
    return {"rmse": float(np.sqrt(np.mean(errors**2)) / y.std())}


def run(
    rows: Annotated[int, Option("Rows to learn.", least=100)] = 800,
    seeds: Annotated[int, Option("Draws of each table and its gaps, averaged.", least=1)] = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
) -> Results:
    """Take values away from all tables in all ways, and compare all models."""
    places = [(name, way, model) for name in SETS for way in WAYS for model in MODELS]
    wanted = [
        jobs.Job(evaluate, {"name": name, "way": way, "model": model, "rows": rows, "seed": seed}, VERSION)
        for name, way, model in places
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fits"))
    scores: dict[str, dict[str, dict[str, float]]] = {name: {way: {} for way in WAYS} for name in SETS}
    for name, way, model in places:
        scores[name][way][model] = float(np.mean([next(found)["rmse"] for _ in range(seeds)]))
    return {
        "experiment": "missing",
        "rows": rows,
        "seeds": seeds,
        "machine": machine(),
        "sets": scores,
        "mean": {
            way: {model: _geometric(scores[name][way][model] for name in SETS) for model in MODELS}
            for way in WAYS
        },
    }


def _geometric(values: Any) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def table(results: Results) -> ScoreTable:
    """Return every model's error for each table and way, and for each way over tables."""
    lines = {
        f"{name}, {way}": scores for name, ways in results["sets"].items() for way, scores in ways.items()
    }
    lines |= {f"all, {way}": scores for way, scores in results["mean"].items()}
    return ScoreTable("RMSE in deviations of the target", dict.fromkeys(MODELS, ".3f"), lines)


@styled
def draw(results: Results) -> Figure:
    """Draw each model's error, a line for each way in which values went missing, the mean over tables."""
    from ggln.plots.style import in_order

    ways = list(results["mean"])
    models = list(results["mean"][ways[0]])
    figure = new_figure(7.0, 1.4 + 0.5 * len(ways))
    axes = figure.subplots()
    for number, (model, color) in enumerate(zip(models, in_order(len(models)), strict=True)):
        heights = [place + 0.12 * (number - len(models) // 2) for place in range(len(ways))]
        axes.plot([results["mean"][way][model] for way in ways], heights, "o", color=color, label=model)
    name_lines([axes], ways)
    axes.set_xlabel("RMSE in deviations of the target, geometric mean over tables (less is better)")
    axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3)
    return figure
