"""Samples by following a learnt score: Hamiltonian chains, and annealed Langevin dynamics."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.density import dynamics
from ggln.density.denoiser import Denoiser
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
LANGEVIN_STEPS = 40
"""Steps at each strength of the noise that `sample` takes by default."""
LANGEVIN_SIZE = 0.3
"""Step of the Langevin dynamics, as a fraction of the noise's deviation."""
LANGEVIN_REACH = 5.0
"""Deviations of the noise that Langevin chains may go beyond the bound: noisy rows lie outside the data."""
INFILL_STEPS = 3000
"""Denoising steps in which gradient-trained networks fill in missing values by default, as in the paper."""
HMC_SIZE = 0.003
"""The paper's step of the Hamiltonian dynamics, in scaled units."""
START_STEPS = 24
"""Denoising steps that bring random starting points of Hamiltonian chains to the data, as in Figure 4."""


class Leaps(NamedTuple):
    """How Hamiltonian chains run: steps from one sample to the next, leapfrog steps in each, their size."""

    chains: int
    steps: int
    substeps: int
    size: float
    burn_in: int


def hamiltonian(
    network: Denoiser, n: int, leaps: Leaps, random: np.random.Generator, threads: Threads
) -> dynamics.Walk:
    """Return n samples of chains that start at random points, denoised."""
    start = random.uniform(-1.0, 1.0, (leaps.chains, network.noise.size))
    now = dynamics.denoise(start, lambda x: network.predict(x, threads)[0], START_STEPS, 1.0, None)
    rows, held = [], [now.held]
    needed = -(-n // leaps.chains)
    for step in range(leaps.burn_in + needed * leaps.steps):
        now = dynamics.hamiltonian(
            now.rows, lambda x: network.score(x, threads), leaps.substeps, leaps.size, random
        )
        if step >= leaps.burn_in and (step - leaps.burn_in) % leaps.steps == leaps.steps - 1:
            rows.append(now.rows)
            held.append(now.held)
    kept = np.concatenate(held[1:])[:n] | held[0].any()
    return dynamics.Walk(np.concatenate(rows)[:n], kept)


def langevin(
    networks: list[Denoiser], n: int, steps: int, size: float, random: np.random.Generator, threads: Threads
) -> dynamics.Walk:
    """Return n samples that went from white noise through the networks in turn, denoised at the end."""
    rows, held = random.uniform(-1.0, 1.0, (n, networks[0].noise.size)), np.zeros(n, np.bool_)
    for network in networks:
        noise = network.noise
        # in units of the noise, in which one step suits all columns
        walk = dynamics.langevin(
            rows / noise,
            scaled_score(network, threads),
            steps,
            size,
            random,
            bound=dynamics.BOUND / noise + LANGEVIN_REACH,
        )
        rows, held = walk.rows * noise, held | walk.held
    return dynamics.Walk(networks[-1].predict(rows, threads)[0], held)


def scaled_score(network: Denoiser, threads: Threads) -> dynamics.Field:
    """Return the score of rows in units of the noise."""
    return lambda x: network.noise * network.score(x * network.noise, threads)
