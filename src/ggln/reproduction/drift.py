"""Streams that change: errors, coverage window by window, and how fast a change is made up for.

Errors and densities are those of the target divided by the scale in force. Models without a distribution get
a Gaussian with the mean squared error of their latest predictions.

CapyMOA's SOKNL takes part if it is installed, and Java with it; so does ondil, with a distribution. Needs
River (the extra `peers`).

Example: ggln reproduce drift --streams "no change,alternating" --rows 3000 --models "GGLNRegressor()"
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributions import GaussianMixture
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from ggln.reproduction.competitors import drift_regressors
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import build
from ggln.reproduction.shared.options import STORE, NameList, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import by_row, gaussian
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks.changing_streams import NAMES, SCALE, Changing, sample

FloatArray = NDArray[np.float64]
OURS, NEVER = "GGLNRegressor()", "forgetting=None"
VERSION, OUR_VERSION = "1", "6"
UNSCORED = 50
"""First rows, which are predicted and learnt but not scored."""
AFTER = 300
"""Rows after a change, in which a stream is compared with a model started there."""
FIRST = 10
"""Of these, the first ones, which are not: a model started there knows nothing yet."""
STARTED = 3
"""Changes of a stream with which this is done."""
WINDOW = 1000
"""Rows of which the 90 % interval shall cover `COVERED`."""
COVERED = 0.86, 0.94
RATIO = 1.2
"""Of the errors after a change to those of a model started there, at most."""
BLOCK = 256
LEAST_STD = 1e-3


def _ours(stream: Changing, setting: dict[str, Any], seed: int) -> dict[str, FloatArray]:
    model, parts = build(setting, seed), []
    for first in range(0, len(stream.y), BLOCK):
        block = slice(first, first + BLOCK)
        found: Any = model.prequential(stream.X[block], stream.y[block])
        scale = stream.scales[block, None]
        relative = GaussianMixture(found.weights, found.means / scale, found.stds / scale)
        parts.append(by_row(relative, stream.y[block] / scale[:, 0]))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _others(stream: Changing, name: str, seed: int) -> dict[str, FloatArray]:
    model: Any = drift_regressors.peers()[name](seed)
    mean, own = np.empty(len(stream.y)), np.full(len(stream.y), np.nan)
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        mean[i] = model.predict(x[None])[0]
        if hasattr(model, "deviations"):
            own[i] = model.deviations(x[None])[0]
        model.learn(x, float(y))
    errors = np.nan_to_num(stream.y - mean, nan=1e9, posinf=1e9, neginf=-1e9)
    std = np.where(np.isfinite(own), np.maximum(own, LEAST_STD), _latest_errors(errors))
    return by_row(
        gaussian((stream.y - errors) / stream.scales, std / stream.scales), stream.y / stream.scales
    )


def _latest_errors(errors: FloatArray) -> FloatArray:
    """Return the root mean square of the latest errors before each row, [n]."""
    count = np.arange(len(errors))
    begin = np.maximum(count - drift_regressors.WINDOW, 0)
    squares = np.array([np.mean(errors[b:c] ** 2) if c else 1.0 for b, c in zip(begin, count, strict=True)])
    found: FloatArray = np.maximum(np.sqrt(squares), LEAST_STD)
    return found


def follow(name: str, model: str, setting: dict[str, Any] | None, seed: int, rows: int) -> Results:
    """Let one model predict and learn a stream."""
    stream = sample(name, rows, seed)
    start = time.perf_counter()
    scored = _others(stream, model, seed) if setting is None else _ours(stream, setting, seed)
    seconds = time.perf_counter() - start
    counted = _counted(stream)
    inside = scored["off_centre"] <= 0.9
    return {
        "rmse": float(np.sqrt(scored["squared"][counted].mean())),
        "nll": scored["nll"][counted].mean(),
        "coverage": [inside[first : first + WINDOW].mean() for first in range(0, rows - WINDOW + 1, WINDOW)],
        "after": [_after(scored, change) for change in stream.changes[:STARTED]],
        "curve": [float(np.sqrt(part.mean())) for part in np.array_split(scored["squared"], rows // 100)],
        "microseconds": 1e6 * seconds / rows,
    }


def _counted(stream: Changing) -> NDArray[np.bool_]:
    """Return which rows are scored: not the first ones, nor those after a change of scale."""
    counted = np.arange(len(stream.y)) >= UNSCORED
    if stream.scales.max() == SCALE:
        for change in stream.changes:
            counted[change : change + AFTER] = False
    return counted


def _after(scored: dict[str, FloatArray], change: int) -> float:
    return float(np.sqrt(scored["squared"][change + FIRST : change + AFTER].mean()))


def begin(name: str, setting: dict[str, Any], seed: int, rows: int) -> Results:
    """Return the errors of models started at the changes of a stream."""
    stream = sample(name, rows, seed)
    found = []
    for change in stream.changes[:STARTED]:
        part = slice(change, change + AFTER)
        own = Changing(stream.X[part], stream.y[part], stream.scales[part], [])
        found.append(_after(_ours(own, setting, seed), 0))
    return {"after": found}


def known_models() -> tuple[str, ...]:
    """Return the names of the models that are installed."""
    return (OURS, NEVER, *drift_regressors.peers())


def run(
    streams: Annotated[
        Sequence[str], NameList("Names of streams, separated by commas; all by default.")
    ] = NAMES,
    rows: Annotated[int, Option("Rows of each stream.", least=1000)] = 10_000,
    seeds: Annotated[int, Option("Draws of each stream, averaged.", least=1)] = 1,
    store: Store = STORE,
    n_jobs: Workers = None,
    models: Annotated[
        Sequence[str] | None,
        NameList("Names of models, separated by commas; all by default.", known=lambda: known_models()),
    ] = None,
) -> Results:
    """Let all models follow all streams, each drawn with so many seeds."""
    setting = defaults.default_setting()
    own = {OURS: setting, NEVER: setting | {"forgetting": None}}
    chosen = known_models() if models is None else models
    places = [(name, model) for name in streams for model in chosen]
    wanted = [
        _job(name, model, own.get(model), seed, rows) for name, model in places for seed in range(seeds)
    ]
    starts = [
        jobs.Job(begin, {"name": name, "setting": setting, "seed": seed, "rows": rows}, OUR_VERSION)
        for name in streams
        for seed in range(seeds)
    ]
    found = iter(jobs.run([*wanted, *starts], store, n_jobs, "streams"))
    measured: dict[str, dict[str, Results]] = {name: {} for name in streams}
    for name, model in places:
        measured[name][model] = _averages([next(found) for _ in range(seeds)])
    started = {name: _averages([next(found) for _ in range(seeds)])["after"] for name in streams}
    return {
        "experiment": "drift",
        "settings": setting,
        "rows": rows,
        "seeds": seeds,
        "machine": machine() | drift_regressors.versions(),
        "streams": measured,
        "started": started,
        "first": {
            score: [name for name in streams if _is_first(measured[name], score)] for score in ("rmse", "nll")
        },
    }


def _job(name: str, model: str, setting: dict[str, Any] | None, seed: int, rows: int) -> jobs.Job:
    arguments = {"name": name, "model": model, "setting": setting, "seed": seed, "rows": rows}
    return jobs.Job(follow, arguments, VERSION if setting is None else OUR_VERSION)


def _averages(parts: list[Results]) -> Results:
    """Return means over seeds; of the windows' coverages, all of them."""
    found = {
        key: np.mean([part[key] for part in parts], axis=0).tolist() for key in parts[0] if key != "coverage"
    }
    if "coverage" in parts[0]:
        found["coverage"] = [value for part in parts for value in part["coverage"]]
    return found


def _is_first(models: dict[str, Results], score: str) -> bool:
    """Whether ours is the best of all; without forgetting it is no rival."""
    rivals = [own[score] for model, own in models.items() if model not in (OURS, NEVER)]
    return OURS in models and models[OURS][score] <= min(rivals, default=np.inf)


def scores_table(results: Results, score: str) -> ScoreTable:
    """Return for each stream the score of each model."""
    rows = {
        name: {model: own[score] for model, own in models.items()}
        for name, models in results["streams"].items()
    }
    return ScoreTable(
        f"{score.upper()} of each row before it is learnt",
        dict.fromkeys(next(iter(rows.values())), ".3g"),
        rows,
    )


def own_table(results: Results) -> ScoreTable:
    """Return for each stream what ours promises."""
    columns = ("windows cover, %", "error after a change", "of a model started there")
    rows = {}
    for name, models in results["streams"].items():
        own, started = models[OURS], results["started"][name]
        covered = f"{100 * min(own['coverage']):.1f} - {100 * max(own['coverage']):.1f}"
        after = ", ".join(f"{value:.3g}" for value in own["after"])
        rows[name] = dict(
            zip(columns, (covered, after, ", ".join(f"{value:.3g}" for value in started)), strict=True)
        )
    return ScoreTable(
        f"Windows of {WINDOW:,} rows, and the RMSE of {AFTER} rows after a change",
        dict.fromkeys(columns, ""),
        rows,
    )


def table(results: Results) -> list[ScoreTable]:
    """Return both scores of all models, and what ours promises, if it took part."""
    found = [scores_table(results, score) for score in ("rmse", "nll")]
    ours = all(OURS in models for models in results["streams"].values())
    return [*found, own_table(results)] if ours else found


OURS, NEVER = "GGLNRegressor()", "forgetting=None"
COLORS = ORANGE, GREEN, PURPLE, RED, "black", "brown"
COVERED = 86, 94
COLUMNS = 4


@styled
def draw(results: Results) -> Figure:
    """Draw the error of each hundred rows, and in the last panel what windows of 1,000 rows cover."""
    streams = results["streams"]
    lines = -(-(len(streams) + 1) // COLUMNS)
    figure = new_figure(12.0, 0.6 + 2.2 * lines)
    panels = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    models = list(next(iter(streams.values())))
    rivals = [model for model in models if model not in (OURS, NEVER)]
    looks = dict(zip(rivals, COLORS, strict=False)) | {NEVER: GREY, OURS: BLUE}
    for axes, (name, own) in zip(panels, streams.items(), strict=False):
        for model, color in looks.items():
            if model in own:
                curve = own[model]["curve"]
                at = (np.arange(len(curve)) + 0.5) * results["rows"] / len(curve)
                wide = 1.6 if model == OURS else 0.8
                axes.plot(
                    at, curve, color=color, linewidth=wide, zorder=3 if model == OURS else 2, label=model
                )
        axes.set_yscale("log")
        axes.set_title(name, fontsize="medium")
    last = panels[len(streams)]
    if all(OURS in own for own in streams.values()):
        _coverage(last, {name: own[OURS]["coverage"] for name, own in streams.items()})
    for axes in panels[len(streams) + 1 :]:
        axes.set_axis_off()
    figure.supxlabel("row", fontsize="medium")
    figure.supylabel("RMSE of 100 rows", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _coverage(axes: Any, windows: dict[str, list[float]]) -> None:
    axes.axvspan(*COVERED, color=BLUE, alpha=0.12, linewidth=0)
    for place, found in enumerate(windows.values()):
        axes.plot(100 * np.array(found), np.full(len(found), place), "o", color=BLUE, markersize=3, alpha=0.5)
    axes.set_yticks(range(len(windows)), list(windows), fontsize="x-small")
    axes.set_ylim(len(windows) - 0.5, -0.5)
    axes.set_xlim(80, 100)
    axes.set_title("windows of 1,000 rows cover, %", fontsize="medium")
