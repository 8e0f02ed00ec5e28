"""Moving points along a score: denoising, in-filling, Hamiltonian and Langevin dynamics.

Plain functions of a field, rows [n, D] -> rows [n, D], in scaled units. All of them keep every coordinate in
[-BOUND, BOUND] and count the rows that had to be held back.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Field = Callable[[FloatArray], FloatArray]

BOUND = 2.0
"""Chains stay in the box of twice the data's range: beyond, no network has learnt anything."""


class Walk(NamedTuple):
    """Where rows ended, and whether each had to be held back at the bound."""

    rows: FloatArray
    held: Mask  # [n]


def hold(
    rows: FloatArray, momentum: FloatArray | None, held: Mask, bound: FloatArray | float = BOUND
) -> None:
    """Reflect rows at the bound # OUT, with their momentum # OUT, and note which # OUT held."""
    outside = ~(np.abs(rows) <= bound)
    if outside.any():
        held |= outside.any(axis=1)
        reflected = np.clip(np.sign(rows) * 2 * bound - rows, -bound, bound)
        rows[outside] = np.nan_to_num(reflected)[outside]
        if momentum is not None:
            momentum[outside] *= -1.0


def denoise(
    rows: FloatArray,
    mean: Field,
    steps: int,
    length: float,
    known: Mask | None,
    watch: Callable[[FloatArray], object] | None = None,
) -> Walk:
    """Take steps x += length * (mu(x) - x); `known` coordinates keep their value (Appendix H.4).

    watch: is called with the rows after every step.
    """
    now, held = rows.copy(), np.zeros(len(rows), np.bool_)
    if known is not None:
        # what is known does not bounce off the bound: the network sees it there
        fixed = np.clip(rows, -BOUND, BOUND)
        held |= (known & (fixed != rows)).any(axis=1)
        now = np.where(known, fixed, rows)
    for _ in range(steps):
        moved = now + length * (mean(now) - now)
        now = moved if known is None else np.where(known, fixed, moved)
        hold(now, None, held)
        if watch is not None:
            watch(now)
    return Walk(now, held)


def hamiltonian(
    rows: FloatArray, score: Field, substeps: int, size: float, random: np.random.Generator
) -> Walk:
    """One step of Hamiltonian dynamics: fresh momenta, unit mass, leapfrog, no acceptance (Appendix H.4)."""
    x, held = rows.copy(), np.zeros(len(rows), np.bool_)
    momentum = random.standard_normal(x.shape)
    force = score(x)
    for _ in range(substeps):
        momentum += 0.5 * size * force
        x += size * momentum
        hold(x, momentum, held)
        force = score(x)
        momentum += 0.5 * size * force
    return Walk(x, held)


def langevin(
    rows: FloatArray,
    score: Field,
    steps: int,
    size: float,
    random: np.random.Generator,
    bound: FloatArray | float = BOUND,
) -> Walk:
    """Take steps x += size^2 / 2 * score(x) + size * xi, xi ~ N(0, I)."""
    x, held = rows.copy(), np.zeros(len(rows), np.bool_)
    for _ in range(steps):
        x = x + 0.5 * size**2 * score(x) + size * random.standard_normal(x.shape)
        hold(x, None, held, bound)
    return Walk(x, held)
