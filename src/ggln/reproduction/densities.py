"""The default density, nothing given but the data: its score where the truth is known, and its samples.

Samples are compared with fresh data by the energy distance, in deviations of the columns, beside those of a
kernel density estimate whose bandwidth is chosen on left-out rows.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from ggln.density import DenoisingDensity
from ggln.reproduction.gradient_check import DENSITIES, Mixture
from ggln.reproduction.hmc import energy_distance, kernel_samples
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import Mean, average
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.tasks import roll

FloatArray = NDArray[np.float64]
Draw = Callable[[int, int], FloatArray]
VERSION = "1"
TEST_ROWS = 2000
OURS, KERNEL, FRESH = "DenoisingDensity()", "kernel density estimate", "fresh data"


def random_mixture(columns: int, parts: int) -> Mixture:
    """Return Gaussians at random places, of random widths along each axis; always the same."""
    random = np.random.default_rng([columns, parts])
    variances = random.uniform(0.2, 1.0, (parts, columns)) ** 2
    return Mixture(
        random.dirichlet(np.full(parts, 3.0)), 2.0 * random.normal(size=(parts, columns)), variances
    )


SCORES: dict[str, Mixture] = DENSITIES | {
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


def _drawn(truth: Mixture) -> Draw:
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
    rows: int = 2000, seeds: int = 3, store: Path = Path("results/.jobs"), n_jobs: int | None = None
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
