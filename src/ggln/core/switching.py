"""Switching aggregation: which neuron to believe (Appendix D)."""

from typing import Any

import numpy as np

from ggln.core.jit import exact_kernel, fast_kernel

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact."""
ROUNDER = 1.5 * 2.0**52
"""Added to a small number, it leaves the nearest integer in the last bits of the sum."""
LOWEST = -700.0
"""Below this the exponential would leave the normal numbers; as a density it is zero all the same."""


@exact_kernel
def exp_negative(x: Any) -> Any:
    """e^x for x <= 0 to 1e-14 relative, branch-free, so that loops over it use vector instructions.

    Compiled exactly: reassociation would undo the rounding trick.
    """
    x = max(x, LOWEST)
    shifted = x * LOG2_E + ROUNDER
    exponent = shifted - ROUNDER
    r = x - exponent * LN2_HIGH - exponent * LN2_LOW
    # Taylor series to the 11th order in Horner's form: exact to double precision on |r| <= ln(2)/2
    series = r * (1 / 39916800) + 1 / 3628800
    series = series * r + 1 / 362880
    series = series * r + 1 / 40320
    series = series * r + 1 / 5040
    series = series * r + 1 / 720
    series = series * r + 1 / 120
    series = series * r + 1 / 24
    series = series * r + 1 / 6
    series = series * r + 1 / 2
    series = (series * r + 1.0) * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return series * power


@fast_kernel
def switch(weights: Any, time: Any, energy: Any, scale: Any) -> None:
    """Move the weights # OUT on from time t to t + 1, given every model's density at the target.

    weights: [m], non-negative with sum 1; the densities are scale * exp(-energy), up to one factor
    (both are overwritten).
    w <- alpha/(m-1) + ((1-alpha) - alpha/(m-1)) w rho / sum(w rho), alpha = 1/(t+1), then normalised.
    """
    models = weights.size
    if models < 2:
        return
    least = energy[0]
    for i in range(models):
        least = min(least, energy[i])
    evidence = 0.0
    for i in range(models):
        scale[i] *= weights[i] * exp_negative(least - energy[i])
        evidence += scale[i]
    share = 1.0 / ((time + 1.0) * (models - 1.0))
    keep = (1.0 - 1.0 / (time + 1.0) - share) / evidence
    total = 0.0
    for i in range(models):
        weights[i] = share + keep * scale[i]
        total += weights[i]
    for i in range(models):
        weights[i] /= total
