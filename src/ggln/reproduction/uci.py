"""Table 1: regression on nine data sets, with the paper's network and twelve settings, and with the defaults.

The paper gives the best of its settings and names no validation set. Here the setting is chosen twice: on the
test rows, which is the paper's way and flatters, and on a tenth of the training rows, which does not.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import ParameterGrid

from ggln import datasets, presets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores

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
    return {**grid(**replaced), DEFAULTS: default_setting() | replaced}


def default_setting() -> Setting:
    """Return what `GGLNRegressor()` learns with, spelt out.

    When the defaults change, a job with the old ones is then not taken for one with the new.
    """
    setting: Setting = GGLNRegressor().get_params()
    return {name: v for name, v in setting.items() if name not in ("random_state", "n_jobs", "verbose")}


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
    sets: Sequence[str] = tuple(PAPER),
    splits: int = 20,
    seeds: int = 1,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    networks: str = "all",
    **replaced: Any,
) -> Results:
    """Evaluate settings on the first `splits` splits (or all there are) of some sets.

    networks: "all", or only the "paper"'s or the "defaults". What the store holds of other sets, splits and
    seeds goes into the results too, and what it holds of other networks unless only the paper's are asked
    for. `replaced` arguments make it another experiment.
    """
    check_names(sets)
    named = settings(**replaced)
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


def averages(cells: Mapping[tuple[int, int], Results]) -> Results:
    """Return means over (split, seed) pairs, with their standard errors over splits and over seeds."""
    first, *others = cells.values()
    names = [name for name in first if all(name in cell for cell in others)]  # older jobs lack new measures
    result: Results = {"splits": len({s for s, _ in cells}), "seeds": len({s for _, s in cells})}
    for name in names:
        result[name] = np.mean([cell[name] for cell in cells.values()])
        result[f"{name}_error_splits"] = _error({pair: cell[name] for pair, cell in cells.items()}, 0)
        result[f"{name}_error_seeds"] = _error({pair: cell[name] for pair, cell in cells.items()}, 1)
    return result


def _error(values: Mapping[tuple[int, int], float], axis: int) -> float | None:
    """Return the standard error of the mean over splits (axis 0) or seeds (1); None for a single one."""
    groups = defaultdict(list)
    for pair, value in values.items():
        groups[pair[axis]].append(value)
    return standard_error([float(np.mean(group)) for group in groups.values()])


COLUMNS = {
    CHOICES[0]: ("best\non test", None),
    CHOICES[1]: ("chosen\non train", "NLL\nchosen"),
    DEFAULTS: ("defaults", "NLL\ndefaults"),
}
"""Short names of the choices' RMSE and NLL in the table."""


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the columns, and for each set its RMSE and NLL as text, the paper's beside ours."""
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
    return dict.fromkeys(columns, ""), rows


def _with_errors(own: Results, paper: float) -> str:
    digits = 2 if paper >= 0.5 else 4
    kind = f".{digits}f" if own["rmse"] >= 10.0 ** (1 - digits) else ".1e"  # more than one digit has to show
    errors = own["rmse_error_splits"], own["rmse_error_seeds"]
    return f"{own['rmse']:{kind}}" + "".join(f"±{e:{kind}}" for e in errors if e is not None)
