"""Learnt scores against true ones, known in closed form: Gaussians and mixtures of them, with noise added."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ggln.density import DenoisingDensity
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import average
from ggln.reproduction.shared.record import Results, machine

FloatArray = NDArray[np.float64]
VERSION = "4"
TEST_ROWS = 1000
SETTINGS: dict[str, Any] = {"noise": 0.5}


class Mixture(NamedTuple):
    """A mixture of Gaussians with diagonal covariances."""

    weights: FloatArray  # [k]
    means: FloatArray  # [k, D]
    variances: FloatArray  # [k, D]

    def sample(self, rows: int, random: np.random.Generator) -> FloatArray:
        """Return random rows [n, D]."""
        parts = random.choice(len(self.weights), rows, p=self.weights)
        drawn: FloatArray = self.means[parts] + np.sqrt(self.variances[parts]) * random.standard_normal(
            (rows, self.means.shape[1])
        )
        return drawn

    def score(self, rows: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the score of rows with noise of deviations [D]: sum_k r_k (m_k - x) / v_k."""
        variances = self.variances + noise**2
        apart = self.means - rows[:, None]
        log = np.log(self.weights) - 0.5 * (apart**2 / variances + np.log(variances)).sum(axis=-1)
        score: FloatArray = (softmax(log, axis=1)[..., None] * apart / variances).sum(axis=1)
        return score


def gaussian(columns: int) -> Mixture:
    """Return one Gaussian, its deviations from 1 down to 0.3."""
    return Mixture(np.ones(1), np.zeros((1, columns)), np.linspace(1.0, 0.3, columns)[None] ** 2)


DENSITIES = {
    "Gaussian, 2 columns": gaussian(2),
    "Gaussian, 8 columns": gaussian(8),
    "three Gaussians": Mixture(
        np.array([0.5, 0.3, 0.2]), np.array([[-2.0, 0.0], [2.0, 1.0], [1.0, -2.0]]), np.full((3, 2), 0.3)
    ),
}


def check(density: str, rows: int, seed: int, settings: dict[str, Any]) -> Results:
    """Return the error of the learnt score, relative to the true one, at fresh noisy rows."""
    truth, random = DENSITIES[density], np.random.default_rng([seed, rows])
    model = DenoisingDensity(**settings, random_state=seed, n_jobs=1).fit(truth.sample(rows, random))
    noise = model.noise_
    test = truth.sample(TEST_ROWS, random)
    test = test + noise * random.standard_normal(test.shape)
    expected, found = truth.score(test, noise), model.score_function(test)
    return {"error": float(np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2)))}


def run(
    sizes: Sequence[int] = (100, 300, 1000, 3000, 10_000),
    seeds: int = 3,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    **replaced: Any,
) -> Results:
    """Check all densities with all numbers of rows; errors are means over the seeds."""
    settings = SETTINGS | replaced
    wanted = [
        jobs.Job(check, {"density": name, "rows": n, "seed": seed, "settings": settings}, VERSION)
        for name in DENSITIES
        for n in sizes
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "densities"))
    errors = {
        name: [average([next(found)["error"] for _ in range(seeds)]) for _ in sizes] for name in DENSITIES
    }
    return {
        "experiment": "gradient-check",
        "settings": settings,
        "sizes": list(sizes),
        "seeds": seeds,
        "machine": machine(),
        "errors": {name: [each.mean for each in own] for name, own in errors.items()},
        "standard_errors": {name: [each.error for each in own] for name, own in errors.items()},
    }
