"""Error bars under ten kinds of noise: tails, halves and quarters, and the CRPS of other regressors.

What is measured of intervals is the probability integral transform u = F(y) of new rows: below 0.05 a target
is below the 90 % interval, above 0.95 it is above. Where targets repeat, F jumps: u is then uniform between
F at both ends of the target's cell (`noises.CELLS`), the randomised transform, which is uniform if the
distribution is right.

Needs NGBoost and CatBoost, which the extra `peers` of the package installs, unless --models leaves them out.

Example: ggln reproduce shapes --noises normal,counts --seeds 1 --models "GGLNRegressor()"
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import GaussianMixture
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from ggln.reproduction.competitors.quantile_regressors import crps, quantile_boosting, quantile_forest
from ggln.reproduction.competitors.regressors import PEERS
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import WITHOUT, build
from ggln.reproduction.shared.averages import means, standard_error
from ggln.reproduction.shared.options import STORE, Models, NameList, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import gaussian
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks.noises import NOISES, half_cells, sample

VERSION = "4"
OURS, PLAIN = "GGLNRegressor()", "spreads alone"
GAUSSIAN = ("NGBoost", "CatBoost")
DISCRETE = {"quantile forest": quantile_forest, "quantile boosting": quantile_boosting}
RIVALS = (*GAUSSIAN, *DISCRETE)
MODELS = (OURS, PLAIN, *RIVALS)
NEW_ROWS = 2000
QUARTERS = tuple(f"quarter_{number}" for number in range(1, 5))

GOALS = {
    "below": (0.03, 0.07),
    "above": (0.03, 0.07),
    "inside_50": (0.45, 0.55),
    **dict.fromkeys(QUARTERS, (0.86, 0.94)),
}
"""What is right for rows below and above the 90 % interval, inside the 50 % one, and inside the 90 % one in
each quarter by the width of that interval, narrow to wide."""


def ranks(distribution: GaussianMixture, y: NDArray[Any], half: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return the randomised probability integral transform of targets with cells y - half to y + half."""
    low, high = distribution.cdf(y - half), distribution.cdf(y + half)
    return low + (high - low) * np.random.default_rng(seed).random(len(y))


def intervals(distribution: GaussianMixture, u: NDArray[Any]) -> Results:
    """Return the shares of rows that `GOALS` speaks of. u: [n], ranks."""
    inside = (u >= 0.05) & (u <= 0.95)
    lower, upper = distribution.interval(0.9)
    quarters = np.array_split(np.argsort(upper - lower, kind="stable"), len(QUARTERS))
    return {
        "below": np.mean(u < 0.05),
        "above": np.mean(u > 0.95),
        "inside_50": np.mean((u >= 0.25) & (u <= 0.75)),
        **{name: inside[rows].mean() for name, rows in zip(QUARTERS, quarters, strict=True)},
    }


def evaluate(noise: str, model: str, rows: int, seed: int, setting: dict[str, Any] | None) -> Results:
    """Fit one model to a table of some noise, and score it on new rows. setting: of ours."""
    X, y = sample(noise, rows, seed, 0)
    unseen, targets = sample(noise, NEW_ROWS, seed, 1)
    if model in DISCRETE:
        found = crps(DISCRETE[model](X, y, seed)(unseen), targets)
        return {"crps": found.mean()}
    if model in GAUSSIAN:
        mean, std = PEERS[model](X, (y - y.mean()) / y.std(), seed)(unseen)
        distribution: Any = gaussian(y.mean() + y.std() * mean, y.std() * std)
    else:
        distribution = build(setting or {}, seed).fit(X, y).predict_dist(unseen)
    own = intervals(distribution, ranks(distribution, targets, half_cells(noise, targets), seed))
    return own | {
        "crps": distribution.crps(targets).mean(),
        "nll": -distribution.log_prob(targets).mean(),
        "rmse": np.sqrt(np.mean((distribution.mean - targets) ** 2)),
    }


def run(
    noises: Annotated[
        Sequence[str], NameList("Names of kinds of noise, separated by commas; all by default.")
    ] = tuple(NOISES),
    rows: Annotated[int, Option("Training rows.", least=20)] = 1000,
    seeds: Annotated[int, Option("Tables of each kind, averaged.", least=1)] = 5,
    store: Store = STORE,
    n_jobs: Workers = None,
    models: Models = MODELS,
) -> Results:
    """Fit all models to `rows` rows of each noise, with so many seeds for tables and models."""
    setting = defaults.default_setting()
    own = {OURS: setting, PLAIN: setting | {WITHOUT: ("shapes",)}}
    wanted = {
        (noise, model): jobs.with_seeds(
            evaluate,
            {"noise": noise, "model": model, "rows": rows, "setting": own.get(model)},
            range(seeds),
            VERSION,
        )
        for noise in noises
        for model in models
    }
    found = jobs.run_grid(wanted, store, n_jobs, "fits")
    measured = {
        noise: {
            model: means(parts) | {"crps_error": standard_error([part["crps"] for part in parts])}
            for model, parts in cells.items()
        }
        for noise, cells in found.items()
    }
    return {
        "experiment": "shapes",
        "settings": setting,
        "rows": rows,
        "new_rows": NEW_ROWS,
        "seeds": seeds,
        "machine": machine(),
        "goals": GOALS,
        "noises": measured,
        "first_in_crps": [noise for noise, own in measured.items() if _is_first(own)],
    }


def _is_first(models: dict[str, Results]) -> bool:
    """Whether ours has the least CRPS of all but itself without shapes."""
    rivals = [own["crps"] for model, own in models.items() if model in RIVALS]
    return OURS in models and models[OURS]["crps"] < min(rivals, default=np.inf)


COLUMNS = {
    "below": "below\n90 %",
    "above": "above\n90 %",
    "inside_50": "inside\n50 %",
    **{name: f"quarter\n{number}" for number, name in enumerate(QUARTERS, start=1)},
}


def shares_table(results: Results, model: str = OURS) -> ScoreTable:
    """Return for each noise the shares of rows in percent; a star is out of its range."""
    rows = {
        noise: {
            title: f"{100 * own[model][name]:.1f}{'' if _right(name, own[model][name]) else ' *'}"
            for name, title in COLUMNS.items()
        }
        for noise, own in results["noises"].items()
    }
    return ScoreTable(
        f"{model}: new rows in percent; a star is out of its range", dict.fromkeys(COLUMNS.values(), ""), rows
    )


def _right(name: str, value: float) -> bool:
    low, high = GOALS[name]
    return low <= value <= high


def crps_table(results: Results) -> ScoreTable:
    """Return for each noise the CRPS of each model."""
    rows = {noise: {model: own[model]["crps"] for model in own} for noise, own in results["noises"].items()}
    return ScoreTable("CRPS on new rows", dict.fromkeys(next(iter(rows.values())), ".3f"), rows)


def table(results: Results) -> list[ScoreTable]:
    """Return the shares of rows of both of ours, as far as they took part, and the CRPS of all."""
    measured = next(iter(results["noises"].values()))
    return [
        *(shares_table(results, model) for model in (PLAIN, OURS) if model in measured),
        crps_table(results),
    ]


OURS, PLAIN = "GGLNRegressor()", "spreads alone"
PANELS = {
    "below and above\nthe 90 % interval, %": ("below", "above"),
    "inside the\n50 % interval, %": ("inside_50",),
    "inside the 90 % interval,\nquarters by width, %": tuple(f"quarter_{number}" for number in range(1, 5)),
}
MARKERS = {"below": "<", "above": ">"}
STYLES = {
    PLAIN: (GREY, "o"),
    "NGBoost": (ORANGE, "s"),
    "CatBoost": (GREEN, "^"),
    "quantile forest": (PURPLE, "v"),
    "quantile boosting": (RED, "D"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw what intervals hold, with and without shapes, and the CRPS of others relative to ours."""
    noises = results["noises"]
    figure = new_figure(10.0, 1.4 + 0.35 * len(noises))
    panels = figure.subplots(1, len(PANELS) + 1, sharey=True, width_ratios=[1, 1, 1, 1.3])
    for axes, (label, names) in zip(panels, PANELS.items(), strict=False):
        low, high = results["goals"][names[0]]
        axes.axvspan(100 * low, 100 * high, color=BLUE, alpha=0.12, linewidth=0)
        for model, color, shift in ((PLAIN, GREY, 0.18), (OURS, BLUE, -0.18)):
            for name in names:
                found = [100 * own[model][name] if model in own else float("nan") for own in noises.values()]
                heights = [place + shift for place in range(len(noises))]
                axes.plot(found, heights, MARKERS.get(name, "o"), color=color, markersize=4)
        axes.set_xlabel(label)
    last = panels[-1]
    last.axvline(1.0, color=BLUE, linewidth=1.0, label=OURS)
    for model, (color, marker) in STYLES.items():
        places = [(n, own) for n, own in enumerate(noises.values()) if model in own and OURS in own]
        ratios = [own[model]["crps"] / own[OURS]["crps"] for _, own in places]
        last.plot(ratios, [n for n, _ in places], marker, color=color, markersize=4, label=model)
    last.set_xlabel("CRPS relative to ours\n(right: worse)")
    for axes in panels:
        axes.grid(axis="y", color=GREY, alpha=0.2)
    name_lines(panels, list(noises))
    figure.legend(*last.get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure
