"""Anomaly scores from the denoising error: how much worse a row is restored than rows like it."""

import numpy as np
from numpy.typing import NDArray

from ggln.core.threads import Threads
from ggln.density.denoiser import Denoiser, draw_noise

FloatArray = NDArray[np.float64]
FAR = 1e100
"""Scaled values are cut off here: the squares of larger ones might overflow."""


def relative_errors(network: Denoiser, rows: FloatArray, draws: int, threads: Threads) -> FloatArray:
    """Return the squared error [n] of mu(x + xi), a mean over columns and draws, over what is usual.

    rows: [n, D], scaled. All rows see the same noise, so that a row's score does not depend on the others.
    Gates alone give back a row like those that they have seen, and know how far these lie apart: the unit is
    the variance expected there. What is expected at x itself would not do, since far from the data no gate
    has learnt it. A network with a base is given the row, may pass it on where it has seen nothing, and what
    it expects there means nothing: the unit is the noise's variance.
    """
    rows = np.clip(rows, -FAR, FAR)
    error, restored = np.zeros(len(rows)), np.zeros_like(rows)
    for xi in draw_noise(network.settings.seed, 0, draws, rows.shape[1]):
        mean = network.predict(rows + network.noise * xi, threads)[0]
        error += np.mean((mean - rows) ** 2, axis=1) / draws
        restored += mean / draws
    if network.settings.base_model == "none":
        usual = network.predict(restored, threads)[1].mean(axis=1)
    else:
        usual = np.full(len(rows), np.mean(network.noise**2))
    relative: FloatArray = error / usual
    return relative


def restoring_error(network: Denoiser, rows: FloatArray, threads: Threads) -> float:
    """Return the mean squared error of mu(x + xi), one xi for each row, over the noise's variance."""
    xi = draw_noise(network.settings.seed, 0, *rows.shape)
    mean = network.predict(rows + network.noise * xi, threads)[0]
    return float(np.mean(((mean - rows) / network.noise) ** 2))
