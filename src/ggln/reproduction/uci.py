"""Table 1: nine data sets, the paper's network with twelve settings, and the defaults.

The paper gives the best of its settings and names no validation set. Here the setting is chosen twice: on
the test rows, which is the paper's way and flatters, and on a tenth of the training rows, which does not.

Finished jobs of other sets and splits are part of the table, so it can be filled piece by piece.

Example: ggln reproduce uci --sets yacht,boston --splits 5 --n-jobs -1
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.model_selection import ParameterGrid

from ggln import datasets, presets
from ggln.estimators.regressor import GGLNRegressor
from ggln.palette import BLUE, GREEN, GREY, ORANGE
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.averages import averages
from ggln.reproduction.shared.options import STORE, DataDir, Option, Seeds, Sets, Splits, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores
from ggln.reproduction.shared.tables import ScoreTable

PAPER: dict[str, tuple[float, float]] = {
    "boston": (2.84, 0.03),
    "concrete": (5.84, 0.03),
    "energy": (1.31, 0.01),
    "kin8nm": (0.09, 0.00),
    "naval": (0.00, 0.00),
    "power": (3.90, 0.01),
    "protein": (3.77, 0.01),
    "wine": (0.57, 0.00),
    "yacht": (3.76, 0.04),
}
"""The paper's test RMSE and standard error, with the two digits it gives."""

DEFAULTS = "defaults"
"""The name of `GGLNRegressor()` among the settings."""

CHOICES = ("best on the test rows", "chosen on training rows", DEFAULTS)
"""The columns: the paper's network with its setting chosen in two ways, and `GGLNRegressor()`."""

VERSION = "7"  # to be raised when a setting comes to mean something else, as "auto" may
VALIDATION = 0.1  # of the training rows

Part = Literal["test", "validation"]
Setting = dict[str, Any]


def grid(**replaced: Any) -> dict[str, Setting]:
    """Return the arguments of the paper's twelve networks by name."""
    return {
        f"rate {point['learning_rate']:g}, context {point['context_dim']}": presets.PAPER_UCI
        | point
        | replaced
        for point in ParameterGrid(presets.UCI_GRID)
    }


def settings(**replaced: Any) -> dict[str, Setting]:
    """Return the arguments of all networks by name: the paper's twelve, and the package's defaults."""
    return {**grid(**replaced), DEFAULTS: defaults.default_setting() | replaced}


def evaluate(
    name: str, split: int, setting: Setting, seed: int, part: Part, data_dir: Path | None = None
) -> Results:
    """Fit one network on one split and score it on a part of the rows that it has not seen.

    part: the "test" rows, learning all training rows; or for "validation" a tenth of the training rows,
    learning the others.
    """
    data = datasets.load(name, data_dir)
    train, unseen = (np.asarray(rows) for rows in data.splits[split])
    if part == "validation":
        shuffled = np.random.default_rng(split).permutation(train)  # the same rows for all settings
        held_out = max(1, round(VALIDATION * train.size))
        train, unseen = shuffled[held_out:], shuffled[:held_out]
    start = time.perf_counter()
    model = GGLNRegressor(**setting, random_state=seed, n_jobs=1).fit(data.X[train], data.y[train])
    learnt = time.perf_counter()
    distribution = model.predict_dist(data.X[unseen])
    seconds = {"seconds": learnt - start, "predict_seconds": time.perf_counter() - learnt}
    return scores(distribution, data.y[unseen], crps=part == "test") | seconds


def job(
    name: str, split: int, setting: Setting, seed: int, part: Part = "test", data_dir: Path | None = None
) -> jobs.Job:
    """Return the job of `evaluate`, by which all experiments know it."""
    arguments = {"name": name, "split": split, "setting": setting, "seed": seed, "part": part}
    return jobs.Job(evaluate, arguments, VERSION, {"data_dir": data_dir})


def check_names(sets: Sequence[str]) -> None:
    """Raise ValueError if one of the names is not in Table 1."""
    unknown = [name for name in sets if name not in PAPER]
    if unknown:
        raise ValueError(f"sets must be among {', '.join(PAPER)}, got {', '.join(unknown)}")


def count_splits(name: str, splits: int, data_dir: Path | None) -> int:
    """Return how many of the wanted splits a set has."""
    return min(splits, len(datasets.load(name, data_dir).splits))


def run(
    sets: Sets = tuple(PAPER),
    splits: Splits = 20,
    seeds: Seeds = 1,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    networks: Annotated[
        Literal["all", "paper", "defaults"], Option("The paper's network, the defaults, or both.")
    ] = "all",
    epochs: Annotated[int | None, Option("Instead of the settings' own numbers.", least=1)] = None,
    **replaced: Any,
) -> Results:
    """Evaluate settings on the first `splits` splits (or all there are) of some sets.

    networks: "all", or only the "paper"'s or the "defaults". What the store holds of other sets, splits and
    seeds goes into the results too, and what it holds of other networks unless only the paper's are asked
    for. `replaced` arguments make it another experiment.
    """
    check_names(sets)
    named = settings(**replaced, **({} if epochs is None else {"epochs": epochs}))
    parts: tuple[Part, ...] = ("test", "validation")
    wanted = [
        job(name, split, setting, seed, part, data_dir)
        for part in parts  # a run that is stopped has the paper's column first
        for name in sets
        for split in range(count_splits(name, splits, data_dir))
        for label, setting in named.items()
        if networks in ("all", DEFAULTS if label == DEFAULTS else "paper")
        and not (label == DEFAULTS and part == "validation")  # nothing is chosen there
        for seed in range(seeds)
    ]
    jobs.run(wanted, store, n_jobs, "fits")
    counted = {label: own for label, own in named.items() if networks != "paper" or label != DEFAULTS}
    rows = _rows(counted, jobs.stored(evaluate, VERSION, store))
    return {
        "experiment": "uci",
        "paper": {name: {"rmse": rmse, "error": error} for name, (rmse, error) in PAPER.items()},
        "settings": named,
        "validation": VALIDATION,
        "machine": machine(),
        "sets": {name: own for name in PAPER if (own := summary([r for r in rows if r["set"] == name]))},
        "jobs": rows,
    }


def _rows(named: Mapping[str, Setting], found: Iterable[tuple[Results, Results]]) -> list[Results]:
    """Return one row for each network of these settings that was scored, in a fixed order."""
    labels = {repr(_sorted(setting)): label for label, setting in named.items()}
    rows: dict[tuple[str, int, int, int], Results] = {}
    for arguments, result in found:
        label = labels.get(repr(_sorted(arguments["setting"])))
        if label is None:
            continue
        name, split, seed = (arguments[key] for key in ("name", "split", "seed"))
        row = {"set": name, "split": split, "seed": seed, "setting": label}
        place = (name, split, seed, list(named).index(label))
        rows.setdefault(place, row)[arguments["part"]] = result
    return [rows[place] for place in sorted(rows)]


def _sorted(setting: Setting) -> list[tuple[str, Any]]:
    """Return a setting as it is after a visit to JSON, in a fixed order."""
    return sorted((name, list(v) if isinstance(v, tuple) else v) for name, v in setting.items())


def summary(rows: list[Results]) -> Results:
    """Return the scores of one set, for each way to choose the setting that all its rows allow.

    Only those pairs of split and seed count for which the whole grid is there; for the choice on training
    rows, with its scores on these.
    """
    cells: dict[tuple[int, int], dict[str, Results]] = defaultdict(dict)
    for row in rows:
        cells[row["split"], row["seed"]][row["setting"]] = row
    own = {pair: cell[DEFAULTS]["test"] for pair, cell in cells.items() if DEFAULTS in cell}
    grids = {pair: {k: r for k, r in cell.items() if k != DEFAULTS} for pair, cell in cells.items()}
    grids = _whole(grids, "test")
    result: Results = {}
    if grids:
        means = {
            label: np.mean([grid[label]["test"]["rmse"] for grid in grids.values()])
            for label in next(iter(grids.values()))
        }
        best = min(means, key=lambda label: means[label])
        result[CHOICES[0]] = {"setting": best} | averages(
            {p: grid[best]["test"] for p, grid in grids.items()}
        )
    chosen = {
        pair: min(grid, key=lambda label: grid[label]["validation"]["rmse"])
        for pair, grid in _whole(grids, "validation").items()
    }
    if chosen:
        result[CHOICES[1]] = {
            "setting": {f"split {p[0]}, seed {p[1]}": label for p, label in chosen.items()}
        } | averages({p: grids[p][label]["test"] for p, label in chosen.items()})
    if own:
        result[DEFAULTS] = averages(own)
    return result


def _whole(grids: Mapping[Any, dict[str, Results]], part: Part) -> dict[Any, dict[str, Results]]:
    """Return the grids of which every setting has been scored on a part of the rows."""
    full = len(ParameterGrid(presets.UCI_GRID))
    return {pair: grid for pair, grid in grids.items() if sum(part in row for row in grid.values()) == full}


COLUMNS = {
    CHOICES[0]: ("best\non test", None),
    CHOICES[1]: ("chosen\non train", "NLL\nchosen"),
    DEFAULTS: ("defaults", "NLL\ndefaults"),
}
"""Short names of the choices' RMSE and NLL in the table."""


def table(results: Results) -> ScoreTable:
    """Return for each set its RMSE and NLL as text, the paper's beside ours."""
    shown = [
        columns
        for choice, columns in COLUMNS.items()
        if any(choice in own for own in results["sets"].values())
    ]
    columns = ["paper", *(rmse for rmse, _ in shown), *(nll for _, nll in shown if nll)]
    rows: dict[str, dict[str, str]] = {}
    for name, choices in results["sets"].items():
        paper = results["paper"][name]["rmse"]
        rows[name] = dict.fromkeys(columns, "") | {"paper": f"{paper:.2f}"}
        for choice, own in choices.items():
            rmse, nll = COLUMNS[choice]
            rows[name][rmse] = _with_errors(own, paper)
            if nll:
                rows[name][nll] = f"{own['nll']:.2f}"
    return ScoreTable(
        "Test RMSE, and its standard error over splits (and over seeds)", dict.fromkeys(columns, ""), rows
    )


def file_name(results: Results) -> str:
    """Return the name of the files: results of the paper's networks alone do not replace those of all."""
    return "uci" if any(DEFAULTS in own for own in results["sets"].values()) else "uci-paper"


def _with_errors(own: Results, paper: float) -> str:
    digits = 2 if paper >= 0.5 else 4
    kind = f".{digits}f" if own["rmse"] >= 10.0 ** (1 - digits) else ".1e"  # more than one digit has to show
    errors = own["rmse_error_splits"], own["rmse_error_seeds"]
    return f"{own['rmse']:{kind}}" + "".join(f"±{e:{kind}}" for e in errors if e is not None)


ROUNDING = 0.005  # the paper gives two digits

MARKS = {
    "best on the test rows": (ORANGE, "o", "paper's network, best of 12 on the test rows (as the paper did)"),
    "chosen on training rows": (BLUE, "s", "paper's network, chosen on a tenth of the training rows"),
    "defaults": (GREEN, "D", "GGLNRegressor()"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw each set's RMSE relative to the paper's, with standard errors over the splits."""
    sets = results["sets"]
    figure = new_figure(7.5, 1.6 + 0.5 * len(sets))
    axes = figure.subplots()
    named: set[str] = set()  # in the legend
    for place, name in enumerate(sets):
        paper = results["paper"][name]["rmse"]
        unit = max(paper, ROUNDING)  # naval's 0.00 may be anything up to 0.005
        low, high = max(0.0, paper - ROUNDING) / unit, (paper + ROUNDING) / unit
        label = "the paper's value, as far as rounded" if place == 0 else None
        axes.fill_between([low, high], place - 0.4, place + 0.4, color=GREY, alpha=0.35, lw=0, label=label)
        for number, (choice, (color, marker, text)) in enumerate(MARKS.items()):
            if choice not in sets[name]:
                continue
            own = sets[name][choice]
            axes.errorbar(
                own["rmse"] / unit,
                place + 0.22 * (number - 1),
                xerr=(own["rmse_error_splits"] or 0.0) / unit,
                color=color,
                marker=marker,
                markersize=5,
                linestyle="",
                capsize=2,
                label=None if choice in named else text,
            )
            named.add(choice)
    axes.axvline(1.0, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(sets)), [_label(name, results["paper"][name]["rmse"]) for name in sets])
    axes.invert_yaxis()
    axes.set(xlabel="test RMSE relative to the paper's (less is better)", xlim=(0.0, None))
    figure.legend(loc="outside upper left")
    return figure


def _label(name: str, rmse: float) -> str:
    return f"{name}\n{rmse:.2f}" if rmse >= ROUNDING else f"{name}\n< {ROUNDING}"
