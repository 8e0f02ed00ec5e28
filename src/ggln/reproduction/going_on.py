"""Half of a table by fit and the other half by partial_fit, against fit on all of it.

Both see the same training rows of the splits of Table 1, and predict the same test rows. The fits on all
rows are those of `ggln reproduce uci`. A table that is learnt in halves has the gates and the bumps of its
first half.

Example: ggln reproduce going-on --sets concrete,wine --splits 2 --n-jobs -1
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ggln import datasets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import uci
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.averages import averages, standard_error
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Seeds, Splits, Store, Workers
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores
from ggln.reproduction.shared.tables import ScoreTable

VERSION = "6"
SETS = ("concrete", "wine", "kin8nm", "power", "naval", "protein")
"""The sets of Table 1 with more than 1,000 rows."""
WHOLE, HALVES = "whole", "halves"


def evaluate(
    name: str, split: int, setting: dict[str, Any], seed: int, data_dir: Path | None = None
) -> Results:
    """Fit the first half of a split's training rows, go on with the second, and score the test rows."""
    data = datasets.load(name, data_dir)
    train, test = (np.asarray(rows) for rows in data.splits[split])
    shuffled = np.random.default_rng(split).permutation(train)  # a split may keep the order of a sorted table
    first, second = np.array_split(shuffled, 2)
    start = time.perf_counter()
    model = GGLNRegressor(**setting, random_state=seed, n_jobs=1).fit(data.X[first], data.y[first])
    fitted = time.perf_counter()
    model.partial_fit(data.X[second], data.y[second])
    learnt = time.perf_counter()
    seconds = {"seconds": learnt - start, "partial_seconds": learnt - fitted}
    return scores(model.predict_dist(data.X[test]), data.y[test]) | seconds


def run(
    sets: Annotated[
        Sequence[str],
        NameList(
            "Names of data sets, separated by commas; those above 1,000 rows by default.",
            known=lambda: tuple(uci.PAPER),
        ),
    ] = SETS,
    splits: Splits = 5,
    seeds: Seeds = 1,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    **replaced: Any,
) -> Results:
    """Learn the first `splits` splits (or all there are) of some sets in both ways.

    `replaced` arguments of the defaults make it another experiment.
    """
    uci.check_names(sets)
    setting = defaults.default_setting() | replaced
    cells = {
        name: [
            (split, seed)
            for split in range(uci.count_splits(name, splits, data_dir))
            for seed in range(seeds)
        ]
        for name in sets
    }
    wanted = [
        job
        for name, pairs in cells.items()
        for split, seed in pairs
        for job in (
            uci.job(name, split, setting, seed, data_dir=data_dir),
            jobs.Job(
                evaluate,
                {"name": name, "split": split, "setting": setting, "seed": seed},
                VERSION,
                {"data_dir": data_dir},
            ),
        )
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fits"))
    measured = {
        name: summary({pair: (next(found), next(found)) for pair in pairs}) for name, pairs in cells.items()
    }
    return {"experiment": "going-on", "settings": setting, "machine": machine(), "sets": measured}


def summary(cells: dict[tuple[int, int], tuple[Results, Results]]) -> Results:
    """Return the means of both ways over (split, seed) pairs, and how they compare on the same pairs.

    cells: what all rows at once gave, and what the halves gave. rmse_ratio: of the halves to all at once,
    mean over the pairs. nll_difference: likewise.
    """
    ratios = [halves["rmse"] / whole["rmse"] for whole, halves in cells.values()]
    differences = [halves["nll"] - whole["nll"] for whole, halves in cells.values()]
    return {
        WHOLE: averages({pair: whole for pair, (whole, _) in cells.items()}),
        HALVES: averages({pair: halves for pair, (_, halves) in cells.items()}),
        "rmse_ratio": np.mean(ratios),
        "rmse_ratio_error": standard_error(ratios),
        "nll_difference": np.mean(differences),
        "nll_difference_error": standard_error(differences),
    }


COLUMNS = {"rmse": ("RMSE", ".4g"), "nll": ("NLL", ".3f"), "seconds": ("s,", ".1f")}


def table(results: Results) -> ScoreTable:
    """Return for each set both ways side by side as text."""
    rows: dict[str, dict[str, str]] = {}
    for name, own in results["sets"].items():
        rows[name] = {
            f"{title}\n{way}": format(own[way][key], form)
            for key, (title, form) in COLUMNS.items()
            for way in (WHOLE, HALVES)
        }
        rows[name]["RMSE,\nratio"] = f"{own['rmse_ratio']:.3f}"
    return ScoreTable("Mean over the splits' test rows", dict.fromkeys(next(iter(rows.values())), ""), rows)
