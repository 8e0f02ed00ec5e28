"""Figure 3B: Hamiltonian dynamics along the learnt scores of the Swiss roll.

Needs JAX and Optax, which the extra `peers` of the package installs.

Example: ggln reproduce hmc --steps 1500
"""

import time
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KernelDensity

from ggln import extras
from ggln.density import dynamics
from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from ggln.reproduction import swiss_roll
from ggln.reproduction.shared.options import Option, Seed, Threads
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks import roll

FloatArray = NDArray[np.float64]
MLP = "MLP, batch 100, rate 0.01"
KERNEL = "kernel density estimate"
COMPARED = 2000
"""Samples that enter the energy distance, thinned evenly from all."""
BANDWIDTHS = np.geomspace(0.01, 0.5, 15)


def energy_distance(first: FloatArray, second: FloatArray) -> float:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'| of two samples [n, D]: zero for equal distributions."""
    return float(2 * cdist(first, second).mean() - cdist(first, first).mean() - cdist(second, second).mean())


def follow(
    mean: swiss_roll.Field, chains: int, steps: int, substeps: int, size: float, seed: int
) -> FloatArray:
    """Return every step of `chains` chains that start on the roll, `steps` of them together."""
    random = np.random.default_rng(seed)
    now, kept = roll.sample(chains, seed + 7), []
    for _ in range(-(-steps // chains)):
        now = dynamics.hamiltonian(now, lambda x: (mean(x) - x) / roll.NOISE**2, substeps, size, random).rows
        kept.append(now)
    return np.concatenate(kept)[:steps]


def kernel_samples(rows: FloatArray, count: int, seed: int) -> FloatArray:
    """Return samples of a kernel density estimate, its bandwidth chosen on a fifth of the rows."""
    cut = len(rows) * 4 // 5
    scores = [KernelDensity(bandwidth=b).fit(rows[:cut]).score(rows[cut:]) for b in BANDWIDTHS]
    best = KernelDensity(bandwidth=BANDWIDTHS[int(np.argmax(scores))]).fit(rows)
    samples: FloatArray = best.sample(count, random_state=seed)
    return samples


def run(
    rows: Annotated[int, Option("Samples to learn from.", least=100)] = 5000,
    steps: Annotated[int, Option("Hamiltonian steps of all chains together.", least=100)] = 15_000,
    substeps: Annotated[int, Option("Leapfrog steps in each.", least=1)] = 150,
    size: float = 0.003,
    chains: Annotated[int, Option("Chains that run side by side.", least=1)] = 100,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    **replaced: Any,
) -> Results:
    """Train on `rows` samples, run the chains, and compare with fresh samples of the smoothed roll."""
    extras.require("optax")
    settings = swiss_roll.SETTINGS | replaced
    noise = np.random.default_rng([seed, 3]).standard_normal((steps, 2))
    fresh = roll.sample(steps, seed + 2000) + roll.NOISE * noise
    every = max(1, steps // COMPARED)
    again = roll.sample(steps, seed + 3000) + roll.NOISE * noise[::-1]
    samples: dict[str, Any] = {"fresh samples": {"rows": again, "seconds": 0.0}}
    for method in (swiss_roll.OURS, MLP, swiss_roll.TRUTH):
        began = time.perf_counter(), time.process_time()
        mean = swiss_roll.field(method, settings, rows, seed, n_jobs)
        walked = follow(mean, chains, steps, substeps, size, seed)
        samples[method] = {
            "rows": walked,
            "seconds": time.perf_counter() - began[0],
            "cpu_seconds": time.process_time() - began[1],
        }
    clean = roll.sample(rows, seed)
    noisy = clean + roll.NOISE * np.random.default_rng([seed, 1]).standard_normal(clean.shape)
    samples[KERNEL] = {"rows": kernel_samples(noisy, steps, seed), "seconds": 0.0}
    for own in samples.values():
        own["energy_distance"] = energy_distance(own["rows"][::every], fresh[::every])
        own["inside"] = float((np.abs(own["rows"]) <= 1.5).all(axis=1).mean())
        own["rows"] = own["rows"][::every][:1000]
    return {
        "experiment": "hmc",
        "paper": "Figure 3B (a picture; the paper gives no numbers)",
        "settings": settings,
        "rows": rows,
        "steps": steps,
        "substeps": substeps,
        "step_size": size,
        "chains": chains,
        "seed": seed,
        "machine": machine() | extras.version("jax"),
        "samples": samples,
    }


def table(results: Results) -> ScoreTable:
    """Return how far the samples of each method are from fresh ones."""
    names = {
        "energy_distance": ("energy distance to fresh samples", ".4f"),
        "inside": ("within 1.5 times the range", ".1%"),
        "seconds": ("seconds", ".0f"),
    }
    rows = {
        method: {title: own[key] for key, (title, _) in names.items()}
        for method, own in results["samples"].items()
    }
    return ScoreTable(
        f"{results['steps']} steps of {results['substeps']} sub-steps", dict(names.values()), rows
    )


COLOURS = (GREY, GREEN, ORANGE, BLUE, PURPLE)


def draw(results: Results) -> Figure:
    """Draw the samples of each method in a panel of its own, with its energy distance to fresh ones."""
    samples = results["samples"]
    figure = new_figure(2.3 * len(samples), 2.7)
    panels = figure.subplots(1, len(samples), sharex=True, sharey=True)
    for axes, colour, (name, own) in zip(panels, COLOURS, samples.items(), strict=True):
        x, y = np.array(own["rows"]).T
        axes.scatter(x, y, s=3, color=colour, alpha=0.6, linewidths=0)
        axes.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        axes.set_title(f"{name}\nenergy distance {own['energy_distance']:.4f}", fontsize=8)
    return figure
