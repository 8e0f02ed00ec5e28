"""Find the digit that was left out of training, beside scikit-learn's detectors.

Example: ggln reproduce anomaly --n-jobs -1
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from ggln.density import DenoisingDensity
from ggln.palette import BLUE, GREEN, ORANGE
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import Mean, average
from ggln.reproduction.shared.options import STORE, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

VERSION = "4"
SETTINGS: dict[str, Any] = {}
"""The defaults: nothing was chosen on these digits."""
OURS = "DenoisingDensity()"


def detect(digit: int, settings: dict[str, Any], seed: int) -> Results:
    """Learn all digits but one; return each detector's area under the ROC curve on held-out rows."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:1200], order[1200:]
    train = train[y[train] != digit]
    scores = {
        OURS: DenoisingDensity(**settings, random_state=seed, n_jobs=1).fit(X[train]).anomaly_score(X[test]),
        "isolation forest": -IsolationForest(random_state=seed).fit(X[train]).score_samples(X[test]),
        "local outlier factor": -LocalOutlierFactor(novelty=True).fit(X[train]).score_samples(X[test]),
    }
    return {name: float(roc_auc_score(y[test] == digit, own)) for name, own in scores.items()}


def run(
    seeds: Repeats = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
    **replaced: Any,
) -> Results:
    """Leave out each digit in turn; a seed cuts the rows anew. Areas are means over the seeds."""
    settings = SETTINGS | replaced
    wanted = [
        jobs.Job(detect, {"digit": digit, "settings": settings, "seed": seed}, VERSION)
        for digit in range(10)
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "digits"))
    areas: dict[str, list[Mean]] = {}
    for _ in range(10):
        own = [next(found) for _ in range(seeds)]
        for name in own[0]:
            areas.setdefault(name, []).append(average(one[name] for one in own))
    means = {name: [area.mean for area in own] for name, own in areas.items()}
    ahead = sum(mine > max(others) for mine, *others in zip(*means.values(), strict=True))
    return {
        "experiment": "anomaly",
        "settings": settings,
        "seeds": seeds,
        "machine": machine(),
        "areas": means,
        "standard_errors": {name: [area.error for area in own] for name, own in areas.items()},
        "mean_areas": {name: float(np.mean(own)) for name, own in means.items()},
        "ahead_of_both": ahead,
    }


def table(results: Results) -> ScoreTable:
    """Return each detector's area by the digit left out, and the mean of all."""
    rows = {
        str(digit): dict(zip(results["areas"], areas, strict=True))
        for digit, areas in enumerate(zip(*results["areas"].values(), strict=True))
    }
    columns = dict.fromkeys(results["areas"], ".3f")  # a digit for each line: it fits a narrow window
    return ScoreTable(
        "Area under the ROC curve, by the digit left out",
        columns,
        rows | {"mean": results["mean_areas"]},
        (f"Ahead of both: {results['ahead_of_both']} of 10 digits",),
    )


@styled
def draw(results: Results) -> Figure:
    """Draw a mark for each digit and detector."""
    figure = new_figure(6.0, 3.0)
    axes = figure.subplots()
    for number, (colour, marker, (name, areas)) in enumerate(
        zip((BLUE, ORANGE, GREEN), "osD", results["areas"].items(), strict=True)
    ):
        bars = [error or 0.0 for error in results["standard_errors"][name]]
        places = [digit + 0.15 * (number - 1) for digit in range(len(areas))]  # beside each other
        axes.errorbar(places, areas, bars, fmt=marker, color=colour, markersize=5, capsize=2, label=name)
    axes.set(xlabel="the digit left out of training", ylabel="area under the ROC curve", xticks=range(10))
    figure.legend(loc="outside upper center", ncols=3)  # areas may lie anywhere
    return figure
