"""The defaults with one ingredient changed, on slices of the training rows of Table 1, or in a stream.

For `fit`, test rows are never used: of the training rows of each split, four fifths are learnt and the
others predicted. For a stream, every row is predicted before it is learnt.

Some ingredients are arguments of the regressor. The others are parts of exact learning that no argument
switches off: `ablated.Ablated` leaves them out.

Example: ggln reproduce ablation --sets yacht,boston --splits 2 --rows 400 --n-jobs -1
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ggln import datasets
from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction import one_pass, uci
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.ablated import WITHOUT, build
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.options import STORE, DataDir, Option, Sets, Splits, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores
from ggln.reproduction.shared.tables import ScoreTable

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
    sets: Sets = SETS,
    splits: Splits = 5,
    rows: Annotated[int | None, Option("Training rows of each split; all by default.", least=20)] = None,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    stream: Annotated[bool, Option("Learn each set in one pass, in as many orders as splits.")] = False,
    **replaced: Any,
) -> Results:
    """Evaluate all variants on the training rows of the first `splits` splits of some sets.

    rows: at most so many training rows of each split. stream: instead, learn all rows, or `rows` of them, as
    a stream, in as many orders. `replaced` arguments change the defaults that all variants begin with.
    """
    uci.check_names(sets)
    settings = {label: defaults.default_setting() | replaced | own for label, own in VARIANTS.items()}
    counts = {name: splits if stream else uci.count_splits(name, splits, data_dir) for name in sets}
    wanted = {
        (name, label): [
            one_pass.job(name, one_pass.OURS, setting, split, rows, data_dir)
            if stream
            else jobs.Job(
                evaluate,
                {"name": name, "split": split, "setting": setting, "seed": 0, "rows": rows},
                VERSION,
                {"data_dir": data_dir},
            )
            for split in range(counts[name])
        ]
        for name in sets
        for label, setting in settings.items()
    }
    found = jobs.run_grid(wanted, store, n_jobs, "streams" if stream else "fits")
    measured = {
        name: {label: against(cells, own[DEFAULTS]) for label, cells in own.items()}
        for name, own in found.items()
    }
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


def table(results: Results) -> ScoreTable:
    """Return for each variant its errors less those of the defaults as text."""
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
    return ScoreTable(
        "Errors less the defaults': over all sets, and of the best … worst set",
        dict.fromkeys(COLUMNS, ""),
        rows,
    )


PANELS = {
    "rmse_ratio": "RMSE relative to the defaults'\n(right: worse than the defaults)",
    "nll_difference": "NLL less the defaults', nats\n(right: worse; logarithmic beyond 0.1)",
}
DIFFERENCES = (-2, -1, -0.3, -0.1, -0.05, 0, 0.05, 0.1, 0.3, 1, 3, 10)


@styled
def draw(results: Results) -> Figure:
    """Draw for each variant one dot for each set, and the overall mean."""
    from ggln.reproduction.shared.dots import label_ticks

    variants = [label for label in results["settings"] if label != "defaults"]
    figure = new_figure(8.5, 1.2 + 0.4 * len(variants))
    panels = figure.subplots(1, 2, sharey=True)
    sets = list(results["sets"].values())
    heights = np.linspace(-0.15, 0.15, len(sets)) if len(sets) > 1 else np.zeros(1)
    for axes, (measure, label) in zip(panels, PANELS.items(), strict=True):
        axes.axvline(1.0 if measure == "rmse_ratio" else 0.0, color=GREY, linewidth=0.8)
        for place, variant in enumerate(variants):
            values = [own[variant][measure] for own in sets]
            axes.plot(
                values,
                place + heights,
                color=BLUE,
                marker="o",
                markersize=3.5,
                alpha=0.6,
                linestyle="",
                label="one data set" if place == 0 else None,
            )
            axes.plot(
                results["overall"][variant][measure],
                place,
                color=ORANGE,
                marker="D",
                markersize=7,
                markeredgecolor="black",
                linestyle="",
                label="mean over the sets" if place == 0 else None,
            )
        axes.set_xlabel(label)
    panels[1].set_xscale("symlog", linthresh=0.1)
    label_ticks(panels[1], DIFFERENCES)
    panels[0].set_yticks(range(len(variants)), variants)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
