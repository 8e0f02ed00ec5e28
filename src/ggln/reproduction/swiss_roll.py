"""Figures 3A and 4: a grid through 24 denoising steps, beside the paper's perceptrons.

Needs JAX and Optax, which the extra `peers` of the package installs.

Example: ggln reproduce swiss-roll --samples 500 --seeds 1
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ggln import extras
from ggln.density import DenoisingDensity
from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction.competitors import denoising_perceptron
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import Mean, average
from ggln.reproduction.shared.options import STORE, NumberList, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks import roll

FloatArray = NDArray[np.float64]
Field = Callable[[FloatArray], FloatArray]

VERSION = "2"
STEPS = 24
SHOWN = (0, 1, 3, 8, 24)
TEST_ROWS = 500
SETTINGS: dict[str, Any] = {"noise": roll.NOISE, "noise_unit": "data"}
PASS: dict[str, Any] = {
    "step": "split",
    "layer_sizes": (50,) * 3 + (1,),
    "context_dim": 12,
    "anneal": True,
    "shuffle": False,
}
"""Networks of the paper's kind, by gradient steps in one pass."""
OURS, NETWORKS, TRUTH = "G-GLN", "G-GLN, one pass", "the true score"
LEARNING_RATES, BATCHES = (0.01, 0.0005), (1, 10, 100)
MLPS = {f"MLP, batch {batch}, rate {rate:g}": (rate, batch) for rate in LEARNING_RATES for batch in BATCHES}
METHODS = (OURS, NETWORKS, *MLPS)
MEASURES = ("distance", "coverage", "cosine_error")


def field(method: str, settings: dict[str, Any], rows: int, seed: int, n_jobs: int | None = 1) -> Field:
    """Learn `rows` samples; return x -> mu(x). All methods see the same samples."""
    if method == TRUTH:
        return roll.true_mean
    clean = roll.sample(rows, seed)
    if method in (OURS, NETWORKS):
        settings = settings | (PASS if method == NETWORKS else {})
        model = DenoisingDensity(**settings, random_state=seed, n_jobs=n_jobs).fit(clean)
        return model.denoise
    noisy = clean + roll.NOISE * np.random.default_rng([seed, 1]).standard_normal(clean.shape)
    return denoising_perceptron.train(clean, noisy, *MLPS[method], seed)


def follow(method: str, settings: dict[str, Any], rows: int, seed: int) -> Results:
    """Return the grid at some of the denoising steps, how far it and the roll are apart, the score's error.

    Points that gather in pieces of the roll are near to it; the roll is not near to them (`coverage`).
    """
    mean = field(method, settings, rows, seed)
    points, path = roll.grid(), []
    distances = [roll.distance(points)]
    for step in range(STEPS + 1):
        if step in SHOWN:
            path.append(points)
        if step < STEPS:
            points = np.clip(mean(points), -2.0, 2.0)
            distances.append(roll.distance(points))
    noise = np.random.default_rng([seed, 2]).standard_normal((TEST_ROWS, 2))
    noisy = roll.sample(TEST_ROWS, seed + 1000) + roll.NOISE * noise
    return {
        "distance": distances[-1],
        "distances": distances,
        "coverage": roll.coverage(points),
        "cosine_error": roll.cosine_error(noisy, mean(noisy)),
        "path": path,
    }


def run(
    samples: Annotated[Sequence[int], NumberList("Numbers of samples to learn from.")] = (500, 5000),
    seeds: Repeats = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
    **replaced: Any,
) -> Results:
    """Follow all methods for all numbers of samples; numbers are means over seeds, pictures of the first."""
    extras.require("optax")  # what is missing is missed before any job starts
    settings = SETTINGS | replaced
    wanted = [
        jobs.Job(
            follow, {"method": m, "settings": {} if m in MLPS else settings, "rows": n, "seed": seed}, VERSION
        )
        for n in samples
        for m in (*METHODS, TRUTH)
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "fields"))
    measured: dict[str, Any] = {}
    for n in samples:
        measured[str(n)] = {}
        for method in (*METHODS, TRUTH):
            own = [next(found) for _ in range(seeds)]
            numbers: Results = {}
            for name in MEASURES:
                numbers[name], numbers[f"{name}_standard_error"] = average(one[name] for one in own)
            worst = {"worst_distance": max(one["distance"] for one in own)}
            path = np.round(own[0]["path"], 3)  # enough for a picture
            measured[str(n)][method] = {**numbers, **worst, "path": path, "distances": own[0]["distances"]}
    return {
        "experiment": "swiss-roll",
        "paper": "Figures 3A and 4 (pictures; the paper gives no numbers)",
        "settings": settings,
        "noise": roll.NOISE,
        "steps": STEPS,
        "shown": SHOWN,
        "seeds": seeds,
        "machine": machine() | extras.version("jax") | extras.version("optax"),
        "samples": measured,
    }


def table(results: Results) -> ScoreTable:
    """Return a line for each method."""
    cells = {
        f"{measure.replace('_', ' ')}, {n}": (n, measure) for n in results["samples"] for measure in MEASURES
    }
    rows = {
        method: {
            column: Mean(own[measure], own[f"{measure}_standard_error"])
            for column, (n, measure) in cells.items()
            for own in [results["samples"][n][method]]
        }
        for method in (*METHODS, TRUTH)
    }
    return ScoreTable("Denoised grid to the roll, and the score's error", dict.fromkeys(cells, ""), rows)


def draw(results: Results) -> Figure:
    """Draw a line for each method: the grid after some steps, for each number of samples."""
    samples, shown = results["samples"], results["shown"]
    methods = list(next(iter(samples.values())))
    width = len(shown) * len(samples)
    figure = new_figure(1.1 * width + 1.4, 1.2 * len(methods))
    panels = figure.subplots(len(methods), width, squeeze=False, sharex=True, sharey=True)
    for line, method in zip(panels, methods, strict=True):
        colour = BLUE if method.startswith("G-GLN") else ORANGE if "MLP" in method else GREY
        for block, own in enumerate(samples.values()):
            for i, points in enumerate(own[method]["path"]):
                axes = line[block * len(shown) + i]
                axes.scatter(*np.array(points).T, s=1.5, color=colour, linewidths=0)
                axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[], yticks=[], aspect="equal")
            apart = f"to the roll {own[method]['distance']:.3f}, from it {own[method]['coverage']:.3f}"
            axes.set_xlabel(apart, fontsize=7, loc="right")
        label = method.replace(", ", ",\n")
        line[0].set_ylabel(label, fontsize=8, rotation=0, ha="right", va="center")
    for block, n in enumerate(samples):
        for i, step in enumerate(shown):
            title = f"{n} samples:\nthe grid" if step == 0 else f"step {step}"
            panels[0, block * len(shown) + i].set_title(title, fontsize=8)
    return figure
