"""The default density: its score where the truth is known, its samples beside kernels'.

Samples are compared with fresh data by the energy distance, in deviations of the columns, beside those of a
kernel density estimate whose bandwidth is chosen on left-out rows.

Example: ggln reproduce densities --rows 500 --seeds 1
"""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from ggln.density import DenoisingDensity
from ggln.palette import BLUE, GREEN, GREY, ORANGE
from ggln.reproduction.gradient_check import DENSITIES, TrueMixture
from ggln.reproduction.hmc import energy_distance, kernel_samples
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import Mean, average
from ggln.reproduction.shared.options import STORE, Option, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks import roll

FloatArray = NDArray[np.float64]
Draw = Callable[[int, int], FloatArray]
VERSION = "1"
TEST_ROWS = 2000
OURS, KERNEL, FRESH = "DenoisingDensity()", "kernel density estimate", "fresh data"


def random_mixture(columns: int, parts: int) -> TrueMixture:
    """Return Gaussians at random places, of random widths along each axis; always the same."""
    random = np.random.default_rng([columns, parts])
    variances = random.uniform(0.2, 1.0, (parts, columns)) ** 2
    return TrueMixture(
        random.dirichlet(np.full(parts, 3.0)), 2.0 * random.normal(size=(parts, columns)), variances
    )


SCORES: dict[str, TrueMixture] = DENSITIES | {
    "six Gaussians, 2 columns": random_mixture(2, 6),
    "four Gaussians, 5 columns": random_mixture(5, 4),
    "four Gaussians, 8 columns": random_mixture(8, 4),
}


def curved(rows: int, seed: int) -> FloatArray:
    """A parabola with noise."""
    random = np.random.default_rng(seed)
    x = random.normal(size=rows)
    return np.column_stack([x, x**2 + 0.3 * random.normal(size=rows)])


def hidden(rows: int, seed: int) -> FloatArray:
    """Eight columns that two hidden ones make, bent, with noise."""
    random = np.random.default_rng(seed)
    h = random.normal(size=(rows, 2))
    bent = np.column_stack([h, np.sin(2 * h), h**2, h[:, 0] * h[:, 1], np.tanh(h[:, 0])])
    return bent + 0.1 * random.normal(size=bent.shape)


def _drawn(truth: TrueMixture) -> Draw:
    return lambda rows, seed: truth.sample(rows, np.random.default_rng(seed))


SAMPLES: dict[str, Draw] = {
    "roll, 2 columns": roll.sample,
    "moons, 2 columns": lambda rows, seed: make_moons(rows, noise=0.1, random_state=seed)[0],
    "parabola, 2 columns": curved,
    "six Gaussians, 2 columns": _drawn(SCORES["six Gaussians, 2 columns"]),
    "four Gaussians, 8 columns": _drawn(SCORES["four Gaussians, 8 columns"]),
    "bent, 8 columns": hidden,
}


def score(name: str, rows: int, seed: int) -> Results:
    """Return the mean cosine between the learnt score and the true one of rows with noise, at fresh rows."""
    truth, random = SCORES[name], np.random.default_rng([seed, rows])
    model = DenoisingDensity(random_state=seed).fit(truth.sample(rows, random))
    test = truth.sample(TEST_ROWS, random)
    expected, found = truth.score(test, model.noise_), model.score_function(test)
    lengths = np.linalg.norm(expected, axis=1) * np.linalg.norm(found, axis=1)
    return {"cosine": float(np.mean((expected * found).sum(axis=1) / lengths))}


def sample(name: str, rows: int, seed: int) -> Results:
    """Return the energy distance of samples to fresh data, of ours, of kernels, and of other fresh data."""
    draw = SAMPLES[name]
    train, fresh, again = (draw(n, 3 * seed + i) for i, n in enumerate((rows, TEST_ROWS, TEST_ROWS)))
    size = train.std(axis=0)
    drawn = {
        OURS: DenoisingDensity(random_state=seed).fit(train).sample(TEST_ROWS, random_state=seed) / size,
        KERNEL: kernel_samples(train / size, TEST_ROWS, seed),
        FRESH: again / size,
    }
    return {method: energy_distance(own, fresh / size) for method, own in drawn.items()}


def run(
    rows: Annotated[int, Option("Rows to learn.", least=100)] = 2000,
    seeds: Repeats = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
) -> Results:
    """Learn all densities, several times; cosines and distances are means over the seeds."""
    wanted = [
        jobs.Job(function, {"name": name, "rows": rows, "seed": seed}, VERSION)
        for function, names in ((score, SCORES), (sample, SAMPLES))
        for name in names
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "densities"))
    cosines = {name: average([next(found)["cosine"] for _ in range(seeds)]) for name in SCORES}
    distances: dict[str, dict[str, Mean]] = {}
    for name in SAMPLES:
        own = [next(found) for _ in range(seeds)]
        distances[name] = {method: average(one[method] for one in own) for method in own[0]}
    return {
        "experiment": "densities",
        "rows": rows,
        "seeds": seeds,
        "machine": machine(),
        "cosines": {name: cosine.mean for name, cosine in cosines.items()},
        "cosine_errors": {name: cosine.error for name, cosine in cosines.items()},
        "distances": {
            name: {method: one.mean for method, one in own.items()} for name, own in distances.items()
        },
        "distance_errors": {
            name: {method: one.error for method, one in own.items()} for name, own in distances.items()
        },
    }


def table(results: Results) -> list[ScoreTable]:
    """Return the cosines of scores, and the distances of samples."""
    cosines = {name: {"cosine": cosine} for name, cosine in results["cosines"].items()}
    columns = dict.fromkeys((OURS, KERNEL, FRESH), ".4f")
    return [
        ScoreTable("Mean cosine of the score to the truth", {"cosine": ".3f"}, cosines),
        ScoreTable("Energy distance of samples to fresh data", columns, results["distances"]),
    ]


@styled
def draw(results: Results) -> Figure:
    """Draw the cosines of scores in one panel, and the energy distances of samples in the other."""
    figure = new_figure(9.0, 3.0)
    left, right = figure.subplots(1, 2)
    names = list(results["cosines"])
    bars = [results["cosine_errors"][name] or 0.0 for name in names]
    places = list(range(len(names)))
    left.errorbar(
        list(results["cosines"].values()), places, xerr=bars, fmt="o", color=BLUE, markersize=5, capsize=2
    )
    left.set_yticks(places, names)
    left.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    left.set(
        xlabel="mean cosine of the score to the truth", xlim=(min(0.9, *results["cosines"].values()), 1.005)
    )
    kinds = list(results["distances"])
    for number, (method, colour, marker) in enumerate(
        zip(next(iter(results["distances"].values())), (BLUE, ORANGE, GREEN), "osD", strict=True)
    ):
        heights = [place + 0.18 * (number - 1) for place in range(len(kinds))]
        values = [results["distances"][kind][method] for kind in kinds]
        errors = [results["distance_errors"][kind][method] or 0.0 for kind in kinds]
        right.errorbar(values, heights, xerr=errors, fmt=marker, color=colour, markersize=5, label=method)
    right.set_yticks(range(len(kinds)), kinds)
    right.set(xlabel="energy distance of samples to fresh data", xscale="log")
    for axes in (left, right):
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=GREY, alpha=0.3)
    figure.legend(loc="outside upper right", ncols=3)
    return figure
