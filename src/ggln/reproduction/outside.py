"""Error bars outside the data: what 90 % intervals cover at 1.5 and 3 times the range learnt.

Features of the rows learnt are uniform in a box. New rows are uniform in that box, scaled about its middle
by each factor; what is measured are the rows of it that lie outside the box learnt, in one feature at least.

Friedman's second and third functions have a pole and a change of sign where features pass zero, at the edge
of the box on which they are defined. They are learnt in the middle third of it, so that three times the
range is where they are defined; and, to see what nobody can know, on the whole of it.

Needs NGBoost and CatBoost, which the extra `peers` of the package installs, unless --models leaves them out.

Example: ggln reproduce outside --functions "line,fast sine" --seeds 1 --models "GGLNRegressor()"
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from ggln.reproduction.competitors.quantile_regressors import quantile_forest
from ggln.reproduction.competitors.regressors import PEERS
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import WITHOUT, build
from ggln.reproduction.shared.averages import means
from ggln.reproduction.shared.options import STORE, Models, NameList, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
VERSION = "4"
OURS, BEFORE = "GGLNRegressor()", "without widening"
GAUSSIAN = ("Gaussian process", "NGBoost", "CatBoost")
FOREST = "quantile forest"
MODELS = (OURS, BEFORE, *GAUSSIAN, FOREST)
FACTORS = (1.0, 1.5, 3.0)
LEVEL, GOAL = 0.9, 0.8
"""The intervals that are measured, and what they are to cover outside at least."""
NEW_ROWS = 2000
NOISE = 0.1
"""In deviations of the function inside."""
FIRST_SEED = 1000
"""Seeds from here on had no part in any choice."""

SLOPES = np.array([1.0, -0.8, 0.6, 0.4, 0.2])
DOMAIN = np.array([[0.0, 40 * np.pi, 0.0, 1.0], [100.0, 560 * np.pi, 1.0, 11.0]])
"""Where Friedman's second and third functions are defined."""


class BoxedFunction(NamedTuple):
    """A function of rows [n, d], and the box [2, d] in which it is learnt."""

    function: Callable[[FloatArray], NDArray[Any]]
    box: FloatArray


def friedman_1(X: FloatArray) -> FloatArray:
    """Friedman's first function, of five of ten features."""
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    found: FloatArray = waves + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return found


def _reactance(X: FloatArray) -> FloatArray:
    found: FloatArray = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    return found


def friedman_2(X: FloatArray) -> FloatArray:
    """Friedman's second function."""
    found: FloatArray = np.hypot(X[:, 0], _reactance(X))
    return found


def friedman_3(X: FloatArray) -> FloatArray:
    """Friedman's third function."""
    found: FloatArray = np.arctan(_reactance(X) / X[:, 0])
    return found


def cube(features: int) -> FloatArray:
    """Return the box from -1 to 1 in every feature."""
    return np.array([[-1.0], [1.0]]) * np.ones(features)


def middle_third(box: FloatArray) -> FloatArray:
    """Return the middle of a box [2, d]."""
    found: FloatArray = box + np.array([[1.0], [-1.0]]) * (box[1] - box[0]) / 3
    return found


TASKS = {
    "line": BoxedFunction(lambda X: X[:, 0], cube(1)),
    "line of 5": BoxedFunction(lambda X: X @ SLOPES, cube(5)),
    "slow sine": BoxedFunction(lambda X: np.sin(3 * X[:, 0]), cube(1)),
    "fast sine": BoxedFunction(lambda X: np.sin(6 * X[:, 0] + 0.5), cube(1)),
    "sines of 5": BoxedFunction(
        lambda X: np.sin(3 * X[:, 0]) + 0.5 * np.sin(2 * X[:, 1] + 1) + 0.5 * X[:, 2], cube(5)
    ),
    "Friedman 1": BoxedFunction(friedman_1, np.array([[0.0], [1.0]]) * np.ones(10)),
    "Friedman 2": BoxedFunction(friedman_2, middle_third(DOMAIN)),
    "Friedman 3": BoxedFunction(friedman_3, middle_third(DOMAIN)),
    "parabola": BoxedFunction(lambda X: X[:, 0] ** 2, cube(1)),
    "step": BoxedFunction(lambda X: (X[:, 0] > 0.2) * 1.0, cube(1)),
    "Friedman 2 past zero": BoxedFunction(friedman_2, DOMAIN),
    "Friedman 3 past zero": BoxedFunction(friedman_3, DOMAIN),
}
"""The first eight are those of the goal; the others show how far it goes. `Of 5`: of five features."""


def sample(name: str, rows: int, seed: int) -> tuple[FloatArray, FloatArray, dict[float, Any]]:
    """Return rows to learn, their targets, and for each factor new rows, targets and which are outside."""
    function, box = TASKS[name]
    random = np.random.default_rng([seed, list(TASKS).index(name)])
    middle, half = box.mean(axis=0), 0.5 * (box[1] - box[0])

    def draw(count: int, factor: float) -> tuple[FloatArray, FloatArray]:
        places = factor * random.uniform(-1.0, 1.0, (count, half.size))
        return places, middle + half * places

    X = draw(rows, 1.0)[1]
    clean = function(X)
    noise, new = NOISE * clean.std(), {}
    y = clean + noise * random.normal(size=rows)
    for factor in FACTORS:
        places, at = draw(NEW_ROWS, factor)
        targets = function(at) + noise * random.normal(size=NEW_ROWS)
        new[factor] = at, targets, (np.abs(places) > 1.0).any(axis=1)
    return X, y, new


Intervals = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def intervals(
    model: str, X: FloatArray, y: FloatArray, seed: int, setting: dict[str, Any] | None
) -> Intervals:
    """Fit a model; return what gives the ends of its central intervals [n]."""
    tail = 0.5 * (1.0 - LEVEL)
    if model in GAUSSIAN:
        shift, scale = X.mean(axis=0), X.std(axis=0)
        fitted = PEERS[model]((X - shift) / scale, (y - y.mean()) / y.std(), seed)

        def of_gaussians(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
            mean, std = fitted((rows - shift) / scale)
            reach = -ndtri(tail) * std
            return y.mean() + y.std() * (mean - reach), y.mean() + y.std() * (mean + reach)

        return of_gaussians
    if model == FOREST:
        forest = quantile_forest(X, y, seed)

        def of_forest(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
            values, weights = forest(rows)
            upto = np.cumsum(weights, axis=1)
            low, high = ((upto < level).sum(axis=1) for level in (tail, 1.0 - tail))
            return values[0, low], values[0, np.minimum(high, len(y) - 1)]

        return of_forest
    ours = build(setting or {}, seed).fit(X, y)
    return lambda rows: ours.predict_dist(rows).interval(LEVEL)


def evaluate(name: str, model: str, rows: int, seed: int, setting: dict[str, Any] | None) -> Results:
    """Fit one model; return for each factor what its intervals cover, and how wide they are."""
    X, y, new = sample(name, rows, seed)
    predict = intervals(model, X, y, seed, setting)
    found: Results = {}
    for factor, (at, targets, outside) in new.items():
        counted = outside if factor > 1.0 else np.ones(len(at), bool)
        low, high = predict(at)
        inside = (targets >= low) & (targets <= high)
        found[f"covered_{factor:g}"] = float(inside[counted].mean())
        found[f"width_{factor:g}"] = float(np.mean((high - low)[counted]) / y.std())
    return found


def run(
    functions: Annotated[
        Sequence[str], NameList("Names of functions, separated by commas; all by default.")
    ] = tuple(TASKS),
    rows: Annotated[int, Option("Rows to learn.", least=50)] = 300,
    seeds: Annotated[int, Option("Tables of each function, averaged.", least=1)] = 2,
    store: Store = STORE,
    n_jobs: Workers = None,
    models: Models = MODELS,
) -> Results:
    """Fit all models to `rows` rows of each function, with so many seeds for tables and models."""
    setting = defaults.default_setting()
    own = {OURS: setting, BEFORE: setting | {WITHOUT: ("outside",)}}
    wanted = {
        (name, model): jobs.with_seeds(
            evaluate,
            {"name": name, "model": model, "rows": rows, "setting": own.get(model)},
            range(FIRST_SEED, FIRST_SEED + seeds),
            VERSION,
        )
        for name in functions
        for model in models
    }
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    measured = {
        name: {model: means(parts) for model, parts in cells.items()} for name, cells in found.items()
    }
    return {
        "experiment": "outside",
        "settings": setting,
        "rows": rows,
        "new_rows": NEW_ROWS,
        "noise": NOISE,
        "seeds": seeds,
        "machine": machine(),
        "goal": GOAL,
        "factors": list(FACTORS),
        "tasks": measured,
    }


def table(results: Results) -> ScoreTable:
    """Return each model's coverage in percent inside, and outside at each factor.

    Of ours, also how much wider intervals are inside than without widening. A star misses the goal.
    """
    models = list(next(iter(results["tasks"].values())))
    lines = {
        name: {model: _shown(own[model], results["goal"]) for model in models} | _inside(own)
        for name, own in results["tasks"].items()
    }
    columns = [*models, *([WIDER] if {OURS, BEFORE} <= set(models) else [])]
    return ScoreTable(
        "Percent within 90 % intervals: inside, and outside at 1.5 and 3 times the range (*: below 80)",
        dict.fromkeys(columns, ""),
        lines,
    )


WIDER = "wider inside"


def _shown(own: Results, goal: float) -> str:
    covered = [own[f"covered_{factor:g}"] for factor in FACTORS]
    return " ".join(f"{100 * each:.0f}{'' if each >= goal else '*'}" for each in covered)


def _inside(own: dict[str, Results]) -> dict[str, str]:
    if not {OURS, BEFORE} <= own.keys():
        return {}
    return {WIDER: f"{own[OURS]['width_1'] / own[BEFORE]['width_1']:.3f}"}


OURS, BEFORE, FOREST = "GGLNRegressor()", "without widening", "quantile forest"
STYLES = {
    OURS: (BLUE, "o"),
    BEFORE: (GREY, "o"),
    "Gaussian process": (RED, "D"),
    "NGBoost": (ORANGE, "s"),
    "CatBoost": (GREEN, "^"),
    FOREST: (PURPLE, "v"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw each model's coverage, a panel for each multiple of the range and a line for each function."""
    tasks = results["tasks"]
    figure = new_figure(9.0, 1.3 + 0.32 * len(tasks))
    panels = figure.subplots(1, len(results["factors"]), sharey=True)
    models = list(next(iter(tasks.values())))
    for axes, factor in zip(panels, results["factors"], strict=True):
        axes.axvspan(100 * results["goal"], 100, color=BLUE, alpha=0.12, linewidth=0)
        for model in reversed(models):  # ours on top
            color, marker = STYLES[model]
            found = [100 * own[model][f"covered_{factor:g}"] for own in tasks.values()]
            axes.plot(found, range(len(tasks)), marker, color=color, markersize=5, label=model, clip_on=False)
        axes.set_xlim(0, 100)
        axes.set_xlabel("inside" if factor == 1.0 else f"outside, at {factor:g} times the range")
        axes.grid(axis="y", color=GREY, alpha=0.2)
    name_lines(panels, list(tasks))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=6)
    figure.supxlabel("percent of new rows within 90 % intervals", fontsize="medium")
    return figure
