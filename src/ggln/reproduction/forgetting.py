"""Learn region after region, and task after task: what is left of the first ones.

Rows sorted by one feature are cut into regions, and learnt region by region, each row once. Or clusters of
rows have different functions as targets, and are learnt one after the other. After each part, the error on
held-out rows of every part is measured. Rows and targets are standardised beforehand, with the statistics of
all parts, so that forgetting is not mixed up with changing units.

Weights are shared by all rows on the same sides of a neuron's half-spaces. By default these are few, and
picked from the first rows of a stream, which is solved afresh as they grow: here over the first parts. "Fine
gates" are ten for each neuron, drawn without data, so that parts share fewer weights from the beginning;
their networks learn every row by a gradient step, and solve nothing afresh.

Example: ggln reproduce forgetting --sets regions,tasks --seeds 2
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln import datasets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.competitors import online_regressors
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Option, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable, table_of_methods

FloatArray = NDArray[np.float64]

VERSION = "7"
PARTS = 8
HELD_OUT = 0.2  # of the rows of each part
SYNTHETIC = {"regions": 4000, "tasks": 4000}
"""Synthetic data and their rows."""
UCI = ("power", "kin8nm")
DATA = (*SYNTHETIC, *UCI)
FEATURES = 8
CLUSTER_SPREAD = 0.5
"""Of a cluster in each direction; centres have spread 1."""

FINE_GATES: dict[str, Any] = {
    "step": "capped",
    "layer_sizes": (16,) * 6,
    "n_estimators": 15,
    "gating": "mixed",
    "gating_bias": 1.0,  # of the size of standardised rows
    "context_dim": 10,
    "base_model": "linear",
    "min_variance": 1e-5,  # single precision
    "standardize": False,
}
OURS = {"GGLNRegressor()": {}, "GGLNRegressor, fine gates": FINE_GATES}
"""Networks and what they have instead of the defaults."""
METHODS = (*OURS, online_regressors.MULTILAYER, online_regressors.LINEAR)


class Part(NamedTuple):
    """A region or a task: rows to learn, and rows to measure with."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray


def parts_of(data: str, seed: int, rows: int | None, data_dir: Path | None = None) -> list[Part]:
    """Return the parts of one of `DATA`, in the order in which they are learnt."""
    random = np.random.default_rng(seed)
    if data == "tasks":
        X, y, groups = _tasks(random, rows or SYNTHETIC[data])
    else:
        if data == "regions":
            X, y = _curve(random, rows or SYNTHETIC[data])
            feature = 0
        else:
            table = datasets.load(data, data_dir)
            chosen = random.permutation(len(table.y))[:rows]
            X, y = table.X[chosen], table.y[chosen]
            feature = _most_telling(X, y)
        groups = np.array_split(np.argsort(X[:, feature], kind="stable"), PARTS)
    spread = X.std(axis=0)
    X, y = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), (y - y.mean()) / y.std()
    return [_cut(X, y, random.permutation(group)) for group in groups]


def _curve(random: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
    """A function that bends along feature 0, by which the rows are sorted."""
    X = random.uniform(-2.0, 2.0, (rows, FEATURES))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 0] * X[:, 1] + 0.5 * np.abs(X[:, 2])
    return X, y + 0.1 * random.standard_normal(rows)


def _tasks(random: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray, list[NDArray[np.intp]]]:
    """Clusters of rows, each with a random function of its own: linear, through a tanh, plus an offset."""
    groups = np.array_split(np.arange(rows), PARTS)
    X = CLUSTER_SPREAD * random.standard_normal((rows, FEATURES))
    y = 0.1 * random.standard_normal(rows)
    for group in groups:
        slope, bend, offset = random.normal(size=FEATURES), random.normal(size=FEATURES), random.normal()
        y[group] += X[group] @ slope + np.tanh(2.0 * X[group] @ bend) + offset
        X[group] += random.standard_normal(FEATURES)
    return X, y, groups


def _most_telling(X: FloatArray, y: FloatArray) -> int:
    """Return the feature that the target's rank correlates with most, so that regions differ in it."""
    ranks, goal = (np.argsort(np.argsort(values, axis=0), axis=0) for values in (X, y))
    return int(np.argmax([abs(np.corrcoef(rank, goal)[0, 1]) for rank in ranks.T]))


def _cut(X: FloatArray, y: FloatArray, group: NDArray[np.intp]) -> Part:
    held_out = max(1, round(HELD_OUT * len(group)))
    train, test = group[held_out:], group[:held_out]
    return Part(X[train], y[train], X[test], y[test])


def follow(
    data: str,
    method: str,
    setting: dict[str, Any] | None,
    seed: int,
    rows: int | None,
    data_dir: Path | None = None,
) -> Results:
    """Learn part after part; return the RMSE on part j after learning part i as errors[i][j].

    setting: arguments of the network, None for the others. Errors are in units of the targets' deviation.
    """
    parts = parts_of(data, seed, rows, data_dir)
    learn, predict = _learner(method, setting, seed)
    errors = np.empty((len(parts), len(parts)))
    for i, part in enumerate(parts):
        learn(part.X, part.y)
        errors[i] = [np.sqrt(np.mean((predict(other.X_test) - other.y_test) ** 2)) for other in parts]
    return {"errors": errors}


Learn = Callable[[FloatArray, FloatArray], object]


def _learner(
    method: str, setting: dict[str, Any] | None, seed: int
) -> tuple[Learn, Callable[[FloatArray], FloatArray]]:
    """Return what learns rows once, one after the other, and what predicts."""
    if setting is not None:
        model = GGLNRegressor(**setting, random_state=seed, n_jobs=1)
        return model.partial_fit, model.predict
    other = online_regressors.build(method, seed)

    def learn(X: FloatArray, y: FloatArray) -> None:
        for x, goal in zip(X, y, strict=True):
            other.learn(x, goal)

    return learn, other.predict


def run(
    sets: Annotated[
        Sequence[str], NameList("Of regions, tasks, power, kin8nm, separated by commas; all by default.")
    ] = DATA,
    seeds: Repeats = 5,
    rows: Annotated[int | None, Option("Rows of each set; all by default.", least=80)] = None,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    **replaced: Any,
) -> Results:
    """Follow all methods through all parts; matrices of errors are averaged over the seeds."""
    unknown = [name for name in sets if name not in DATA]
    if unknown:
        raise ValueError(f"sets must be among {', '.join(DATA)}, got {', '.join(unknown)}")
    for name in set(sets) & set(UCI):
        datasets.load(name, data_dir)  # what is missing is missed before any job starts
    settings = {method: defaults.default_setting() | own | replaced for method, own in OURS.items()}
    wanted = {
        (name, method): [
            jobs.Job(
                follow,
                {
                    "data": name,
                    "method": method,
                    "setting": settings.get(method),
                    "seed": seed,
                    "rows": rows,
                },
                VERSION,
                {"data_dir": data_dir},
            )
            for seed in range(seeds)
        ]
        for name in sets
        for method in METHODS
    }
    found = jobs.run_grid(wanted, store, n_jobs, "streams")
    measured = {
        name: {method: summary([part["errors"] for part in parts]) for method, parts in own.items()}
        for name, own in found.items()
    }
    return {
        "experiment": "forgetting",
        "settings": settings,
        "seeds": seeds,
        "rows": rows,
        "machine": machine(),
        "sets": measured,
    }


def summary(matrices: Sequence[Any]) -> Results:
    """Return the mean matrix, and what it says about forgetting.

    first: RMSE on the first half of the parts after all were learnt. learnt: on the same parts, right
    after each was learnt. forgotten: the difference. all: RMSE on all parts at the end. All are means over
    parts.
    """
    errors = np.mean(matrices, axis=0)
    half = len(errors) // 2
    first, learnt = errors[-1, :half].mean(), np.diag(errors)[:half].mean()
    return {
        "errors": errors,
        "first": first,
        "learnt": learnt,
        "forgotten": first - learnt,
        "all": errors[-1].mean(),
    }


COLUMNS = {
    "learnt": "first half,\nwhen learnt",
    "first": "first half,\nat the end",
    "forgotten": "forgotten",
    "all": "all,\nat the end",
}


def table(results: Results) -> ScoreTable:
    """Return a line for each set and method."""
    title, forms = "RMSE on held-out rows, in deviations of the target", dict.fromkeys(COLUMNS, ".3f")
    return table_of_methods(title, results["sets"], COLUMNS, forms)


NAMES = {"regions": "regions (synthetic)", "tasks": "tasks (synthetic)"}
WORST = 1.5
"""End of the colour scale, in deviations of the target: predicting the mean of all targets would give 1."""


@styled
def draw(results: Results) -> Figure:
    """Draw a matrix for each set and method: rows are time, columns the parts; all with the same colours."""
    sets = results["sets"]
    methods = list(next(iter(sets.values())))
    figure = new_figure(2.3 * len(methods) + 1.0, 0.8 + 2.2 * len(sets))
    panels = figure.subplots(len(sets), len(methods), squeeze=False, sharex=True, sharey=True)
    for line, name in zip(panels, sets, strict=True):
        for axes, method in zip(line, methods, strict=True):
            own = sets[name][method]
            errors = np.array(own["errors"])
            count = len(errors)
            image = axes.imshow(errors, cmap="cividis", vmin=0.0, vmax=WORST)
            for i in range(count):  # the part that was learnt last
                axes.plot(i, i, color="white", marker="o", markersize=2.5)
            axes.set_xticks(range(count), range(1, count + 1))
            axes.set_yticks(range(count), range(1, count + 1))
            axes.tick_params(length=0)
            axes.set_xlabel(f"forgotten: {own['forgotten']:+.2f}")
        line[0].set_ylabel(f"{NAMES.get(name, name)}\nafter part")
    for axes, method in zip(panels[0], methods, strict=True):
        axes.set_title(method.replace(", ", ",\n").replace(" (", "\n("), fontsize=9)
    bar = figure.colorbar(image, ax=panels, shrink=0.5, extend="max")
    bar.set_label("RMSE on held-out rows of each part\nin deviations of the target")
    return figure
