"""What each ingredient of `GGLNRegressor()` is worth: the defaults with one of them changed, all else equal.

For `fit`, test rows are never used: of the training rows of each split, four fifths are learnt and the others
predicted. For a stream, every row is predicted before it is learnt.

Some ingredients are arguments of the regressor. The others are parts of exact learning that no argument
switches off: `ablated.Ablated` leaves them out.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ggln import datasets
from ggln.reproduction import one_pass, uci
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.ablated import WITHOUT, build
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores

VERSION = "6"
HELD_OUT = 0.2  # of the training rows
DEFAULTS = "defaults"
SETS = tuple(uci.PAPER)

PARTS = {
    "rows go up as fitted": "left-out",
    "contexts pulled to their layer": "parents",
    "contexts always believed": "shares of contexts",
    "features in the first layer only": "features above",
    "weights taken for certain": "widths",
    "means may stray": "reach",
    "one factor on the variances": "spreads",
    "spreads alone": "shapes",
    "regression below all networks": "features-only networks",
    "one gate a level": "gates of their own",
    "layers take whole steps": "shared steps",
}
"""What each variant does without. In their order: a row goes up as it is predicted without itself; a context
is pulled to its parent's weights, not to those of all rows; it is mixed with its parent, as far as each is
believed; every layer sees the features; uncertain weights widen predictions; means stay in reach of those
below; six factors on the variances take part in the mixture; so do components placed by residuals; half of
the networks see features alone; half of the neurons have a gate of their own for each node; going on, layers
share the Newton steps."""

VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULTS: {},
    "no regression": {"base_model": "feature"},
    "gates at random": {"gating": "mixed"},
    **{label: {WITHOUT: (part,)} for label, part in PARTS.items()},
    **{f"{count} networks": {"n_estimators": count} for count in (2, 4, 16)},
    **{f"all contexts {count}": {"context_dim": count} for count in (2, 4, 6)},
    "3 layers": {"layer_sizes": (8,) * 3},
    "12 layers": {"layer_sizes": (8,) * 12},
    "4 neurons a layer": {"layer_sizes": (4,) * 6},
    "16 neurons a layer": {"layer_sizes": (16,) * 6},
}
"""What replaces the defaults, of `fit` and of a stream alike."""


def evaluate(
    name: str, split: int, setting: dict[str, Any], seed: int, rows: int | None, data_dir: Path | None = None
) -> Results:
    """Fit a variant to four fifths of a split's training rows, or of `rows` of them; score it on the rest."""
    data = datasets.load(name, data_dir)
    train = np.asarray(data.splits[split][0])
    shuffled = np.random.default_rng(split).permutation(train)[:rows]  # the same rows for all variants
    held_out = max(1, round(HELD_OUT * len(shuffled)))
    rest, slice_ = shuffled[held_out:], shuffled[:held_out]
    model = build(setting, seed).fit(data.X[rest], data.y[rest])
    return scores(model.predict_dist(data.X[slice_]), data.y[slice_], crps=False)


def run(
    sets: Sequence[str] = SETS,
    splits: int = 5,
    rows: int | None = None,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    stream: bool = False,
    **replaced: Any,
) -> Results:
    """Evaluate all variants on the training rows of the first `splits` splits of some sets.

    rows: at most so many training rows of each split. stream: instead, learn all rows, or `rows` of them, as
    a stream, in as many orders. `replaced` arguments change the defaults that all variants begin with.
    """
    uci.check_names(sets)
    settings = {label: uci.default_setting() | replaced | own for label, own in VARIANTS.items()}
    counts = {name: splits if stream else uci.count_splits(name, splits, data_dir) for name in sets}
    wanted = [
        one_pass.job(name, one_pass.OURS, setting, split, rows, data_dir)
        if stream
        else jobs.Job(
            evaluate,
            {"name": name, "split": split, "setting": setting, "seed": 0, "rows": rows},
            VERSION,
            {"data_dir": data_dir},
        )
        for name in sets
        for setting in settings.values()
        for split in range(counts[name])
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "streams" if stream else "fits"))
    measured: Results = {}
    for name in sets:
        own = {label: [next(found) for _ in range(counts[name])] for label in settings}
        measured[name] = {label: against(cells, own[DEFAULTS]) for label, cells in own.items()}
    return {
        "experiment": "ablation-stream" if stream else "ablation",
        "settings": settings,
        "rows": rows,
        "held_out": None if stream else HELD_OUT,
        "machine": machine(),
        "sets": measured,
        "overall": {label: overall([own[label] for own in measured.values()]) for label in settings},
    }


def against(cells: Sequence[Results], defaults: Sequence[Results]) -> Results:
    """Return the mean RMSE and NLL over splits, and both against the defaults on the same splits.

    rmse_ratio: mean over splits of the ratio. nll_difference: mean over splits, with its standard error.
    """
    ratios = np.array([a["rmse"] / b["rmse"] for a, b in zip(cells, defaults, strict=True)])
    differences = np.array([a["nll"] - b["nll"] for a, b in zip(cells, defaults, strict=True)])
    return {
        "splits": len(cells),
        "rmse": np.mean([cell["rmse"] for cell in cells]),
        "nll": np.mean([cell["nll"] for cell in cells]),
        "coverage_90": np.mean([cell["coverage_90"] for cell in cells]),
        "rmse_ratio": ratios.mean(),
        "rmse_ratio_error": standard_error(ratios),
        "nll_difference": differences.mean(),
        "nll_difference_error": standard_error(differences),
    }


def overall(sets: Sequence[Results]) -> Results:
    """Return the geometric mean of the ratios of some sets, and the mean of the differences."""
    return {
        "rmse_ratio": np.exp(np.mean([np.log(own["rmse_ratio"]) for own in sets])),
        "nll_difference": np.mean([own["nll_difference"] for own in sets]),
    }


COLUMNS = ("RMSE, %", "of sets", "NLL", "of sets ")
"""Over all sets, and from the best to the worst of them."""


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the columns, and for each variant its errors less those of the defaults as text."""
    rows = {}
    for label in results["settings"]:
        if label != DEFAULTS:
            own, sets = results["overall"][label], [each[label] for each in results["sets"].values()]
            ratios = [100 * (each["rmse_ratio"] - 1) for each in sets]
            differences = [each["nll_difference"] for each in sets]
            texts = (
                f"{100 * (own['rmse_ratio'] - 1):+.1f}",
                f"{min(ratios):+.0f} … {max(ratios):+.0f}",
                f"{own['nll_difference']:+.3f}",
                f"{min(differences):+.2f} … {max(differences):+.2f}",
            )
            rows[label] = dict(zip(COLUMNS, texts, strict=True))
    return dict.fromkeys(COLUMNS, ""), rows
