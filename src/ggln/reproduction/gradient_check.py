"""Learnt scores against true ones, for Gaussians and mixtures of them.

Example: ggln reproduce gradient-check --samples 100,1000 --seeds 1
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ggln.density import DenoisingDensity
from ggln.palette import BLUE, GREEN, ORANGE, PURPLE
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import Mean, average
from ggln.reproduction.shared.options import STORE, NumberList, Repeats, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
VERSION = "4"
TEST_ROWS = 1000
SETTINGS: dict[str, Any] = {"noise": 0.5}


class TrueMixture(NamedTuple):
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


def gaussian(columns: int) -> TrueMixture:
    """Return one Gaussian, its deviations from 1 down to 0.3."""
    return TrueMixture(np.ones(1), np.zeros((1, columns)), np.linspace(1.0, 0.3, columns)[None] ** 2)


DENSITIES = {
    "Gaussian, 2 columns": gaussian(2),
    "Gaussian, 8 columns": gaussian(8),
    "three Gaussians": TrueMixture(
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
    samples: Annotated[Sequence[int], NumberList("Numbers of rows to learn from.")] = (
        100,
        300,
        1000,
        3000,
        10000,
    ),
    seeds: Repeats = 3,
    store: Store = STORE,
    n_jobs: Workers = None,
    **replaced: Any,
) -> Results:
    """Check all densities with all numbers of rows; errors are means over the seeds."""
    settings = SETTINGS | replaced
    wanted = [
        jobs.Job(check, {"density": name, "rows": n, "seed": seed, "settings": settings}, VERSION)
        for name in DENSITIES
        for n in samples
        for seed in range(seeds)
    ]
    found = iter(jobs.run(wanted, store, n_jobs, "densities"))
    errors = {
        name: [average([next(found)["error"] for _ in range(seeds)]) for _ in samples] for name in DENSITIES
    }
    return {
        "experiment": "gradient-check",
        "settings": settings,
        "sizes": list(samples),
        "seeds": seeds,
        "machine": machine(),
        "errors": {name: [each.mean for each in own] for name, own in errors.items()},
        "standard_errors": {name: [each.error for each in own] for name, own in errors.items()},
    }


def table(results: Results) -> ScoreTable:
    """Return the error of each density's score by the rows learnt."""
    columns = {str(size): "" for size in results["sizes"]}
    rows = {
        name: dict(zip(columns, map(Mean, errors, results["standard_errors"][name]), strict=True))
        for name, errors in results["errors"].items()
    }
    return ScoreTable("Error of the score over its size, by rows learnt", columns, rows)


@styled
def draw(results: Results) -> Figure:
    """Draw the error over the number of rows, a line for each density."""
    figure = new_figure(5.0, 3.2)
    axes = figure.subplots()
    for colour, marker, (name, errors) in zip(
        (BLUE, GREEN, ORANGE, PURPLE), "osD^", results["errors"].items(), strict=False
    ):
        bars = [error or 0.0 for error in results["standard_errors"][name]]
        axes.errorbar(results["sizes"], errors, bars, color=colour, marker=marker, capsize=2, label=name)
    axes.set(xscale="log", yscale="log", ylim=(None, 1.3))
    ticks = [
        share for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0) if share >= axes.get_ylim()[0]
    ]
    axes.set_yticks(ticks, [f"{share:g}" for share in ticks])
    axes.tick_params(axis="y", which="minor", left=False, labelleft=False)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.text(results["sizes"][0], 1.03, "a score of zero", fontsize=7, va="bottom")
    axes.set(xlabel="rows learnt", ylabel="error of the score, over its size")
    axes.legend()
    return figure
