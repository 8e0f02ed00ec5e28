"""Figure 3B: Hamiltonian dynamics along learnt scores of the Swiss roll, beside a kernel density estimate."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KernelDensity

from ggln import extras
from ggln.density import dynamics
from ggln.reproduction import swiss_roll
from ggln.reproduction.shared.record import Results, machine
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
    rows: int = 5000,
    steps: int = 15_000,
    substeps: int = 150,
    size: float = 0.003,
    chains: int = 100,
    seed: int = 0,
    n_jobs: int | None = None,
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
