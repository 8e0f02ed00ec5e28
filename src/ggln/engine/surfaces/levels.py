"""How far the levels of arms differ, by the evidence of all: the width of levels in the priors of lines.

The level of arm a is N(0, L^2 s_a^2) in advance, with s_a^2 the arm's noise and L the same for all. The rows
of arm a say that it is m_a, with variance s_a^2 / n_a. So m_a is N(0, s_a^2 (1 / n_a + L^2)), which tells how
likely each L is.
"""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.surfaces import constants
from ggln.engine.surfaces.kernels import Surface
from ggln.engine.surfaces.solve import Units

FloatArray = NDArray[np.float64]


def level_width(units: Units, lines: list[Surface], width: float) -> float:
    """Return the deviation of arms' levels over the width of lines: the root of its mean square.

    A line's posterior of its level, divided by its prior, is what the rows say of the level.
    """
    if not lines:
        return 1.0
    noises = np.array([line.noise[1] / line.noise[0] * (line.paid[1] / units.paid[1]) ** 2 for line in lines])
    scales = np.array([line.widths[0] * line.paid[1] / units.paid[1] for line in lines])
    shifts = np.array([(line.paid[0] - units.paid[0]) / units.paid[1] for line in lines])
    after = np.array([line.spread[0, 0] for line in lines])
    rows = np.maximum(1.0 / after - 1.0, constants.FEWEST_TOLD)
    told = np.array([line.mean[0] for line in lines]) / (after * rows)
    levels = np.sqrt(units.features.shape[1]) * shifts + scales * told
    tried = constants.LEVELS[:, None] * width
    variances = noises * (scales**2 / rows + tried**2)
    scores = np.sum(np.log(variances) + levels**2 / variances, axis=1)
    scores += (np.log(constants.LEVELS) / constants.LEVEL_SPREAD) ** 2
    shares = np.exp(-0.5 * (scores - scores.min()))
    return float(np.sqrt(shares @ constants.LEVELS**2 / shares.sum()))
