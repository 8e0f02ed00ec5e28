"""Switching aggregation: which neuron to believe (Appendix D)."""

from typing import Any

import numpy as np

from ggln.engine.jit import exact_kernel, fast_kernel, fused_multiply_add

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts: the first has trailing zeros, so that its product with an exponent is exact."""
ROUNDER = 1.5 * 2.0**52
"""Added to a small number, it leaves the nearest integer in the last bits of the sum."""
LOWEST = -700.0
"""Below this the exponential would leave the normal numbers; as a density it is zero all the same."""
FAINTEST = -80.0
"""Densities below e^-80 of the best one's count as that: still a normal number in single precision, and
nothing beside the share of the weight that every model gets back at each step."""


@exact_kernel
def exp_negative(x: Any) -> Any:
    """e^x for x <= 0 to 1e-14 relative, branch-free, so that loops over it use vector instructions.

    Compiled exactly: reassociation would undo the rounding trick.
    """
    x = max(x, LOWEST)
    shifted = fused_multiply_add(x, LOG2_E, ROUNDER)
    exponent = shifted - ROUNDER
    r = fused_multiply_add(exponent, -LN2_LOW, fused_multiply_add(exponent, -LN2_HIGH, x))
    # Taylor series to the 11th order in Horner's form: exact to double precision on |r| <= ln(2)/2
    series = fused_multiply_add(r, 1 / 39916800, 1 / 3628800)
    series = fused_multiply_add(series, r, 1 / 362880)
    series = fused_multiply_add(series, r, 1 / 40320)
    series = fused_multiply_add(series, r, 1 / 5040)
    series = fused_multiply_add(series, r, 1 / 720)
    series = fused_multiply_add(series, r, 1 / 120)
    series = fused_multiply_add(series, r, 1 / 24)
    series = fused_multiply_add(series, r, 1 / 6)
    series = fused_multiply_add(series, r, 1 / 2)
    series = fused_multiply_add(series, r, 1.0)
    series = fused_multiply_add(series, r, 1.0)
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return series * power


@fast_kernel
def densities(energy: Any, scale: Any, density: Any) -> Any:
    """Write the densities scale * exp(-energy) of a row's models # OUT, as multiples of e^-(least energy).

    The common factor does not matter to `switch`; with it, the likeliest model's density cannot underflow.
    Return the least energy.
    """
    least = energy[0]
    for i in range(energy.size):
        least = min(least, energy[i])
    for i in range(energy.size):
        density[i] = scale[i] * exp_negative(max(least - energy[i], FAINTEST))
    return least


@fast_kernel
def switch(weights: Any, time: Any, density: Any) -> Any:
    """Move the weights # OUT on from time t to t + 1, given every model's density at the target.

    weights: [m], non-negative with sum 1; density: [m], up to a common factor.
    w <- alpha/(m-1) + ((1-alpha) - alpha/(m-1)) w rho / sum(w rho), alpha = 1/(t+1). The sum is 1 again:
    dividing by sum(w rho) is the renormalisation, and rounding does not build up. Return sum(w rho), the
    mixture's density up to the same factor.
    """
    models = weights.size
    if models < 2:
        return density[0]
    evidence = 0.0
    for i in range(models):
        weights[i] *= density[i]
        evidence += weights[i]
    share = 1.0 / ((time + 1.0) * (models - 1.0))
    keep = (1.0 - 1.0 / (time + 1.0) - share) / evidence
    for i in range(models):
        weights[i] = share + keep * weights[i]
    return evidence


@fast_kernel
def switch_networks(shares: Any, time: Any, evidence: Any, history: Any) -> None:
    """Move the networks' shares in the mixture # OUT over a block of rows, as neurons' weights are moved.

    shares: [E]; evidence: [E, T], every network's log-density at the target, up to a common term; history:
    [T, E] # OUT, the shares from before each row, or empty where it is not wanted.
    """
    density = np.empty(shares.size)
    for t in range(evidence.shape[1]):
        if history.shape[0] > 0:
            for e in range(shares.size):
                history[t, e] = shares[e]
        most = evidence[0, t]
        for e in range(shares.size):
            most = max(most, evidence[e, t])
        for e in range(shares.size):
            density[e] = exp_negative(max(evidence[e, t] - most, FAINTEST))
        switch(shares, time + t, density)
