"""Neurons that predict a probability."""

from typing import Any, NamedTuple

import numpy as np

from ggln.engine.newton.neurons.protocol import (
    Bound,
    Damp,
    Derive,
    Expand,
    Loss,
    MeanOf,
    Put,
    Stride,
    Width,
    expand_planes,
)

FURTHEST_LOGIT = 2.0
"""A row's logit moves at most this far beyond even odds: as far as a Newton step from even odds can lead."""
LEAST_SPREAD = 1e-4
"""p (1 - p) is at least this in the curvature: certainty would divide by zero."""
LOGIT_VARIANCE = np.pi / 8.0
"""A logit of variance v predicts as a sure one divided by sqrt(1 + pi v / 8) (MacKay 1992)."""


class Bernoulli(NamedTuple):
    """A probability: one plane, the logit. The loss is the negative log-likelihood itself."""

    outputs: Any

    @property
    def planes(self) -> int:
        """Natural parameters of an input."""
        return 1


@Loss.register(Bernoulli)
def loss_bernoulli(kind, totals, row, y, t):
    """log(1 + exp z) - y z."""
    z = totals[row, 0]
    if not abs(z) < np.inf:
        return np.inf
    return max(z, 0.0) + np.log1p(np.exp(-abs(z))) - y[t, 0] * z


@Derive.register(Bernoulli)
def derive_bernoulli(kind, totals, row, y, t, root, residue):
    """sqrt(p (1 - p)) x, and (p - y) x as a multiple of it."""
    p = 1.0 / (1.0 + np.exp(-totals[row, 0]))
    root[0, 0] = np.sqrt(max(p * (1.0 - p), LEAST_SPREAD))
    residue[0] = (p - y[t, 0]) / root[0, 0]


@Width.register(Bernoulli)
def width_bernoulli(kind, hat, root):
    """x'H^-1 x, the variance of the logit."""
    return hat[0, 0] / (root[0, 0] * root[0, 0])


@Damp.register(Bernoulli)
def damp_bernoulli(kind, variance):
    """Draw the logit towards even odds."""
    return 1.0 / np.sqrt(1.0 + LOGIT_VARIANCE * variance)


@Stride.register(Bernoulli)
def stride_bernoulli(kind, totals, row, change):
    """Move the logit by at most |z| + 2."""
    furthest = abs(totals[row, 0]) + FURTHEST_LOGIT
    return 1.0 if abs(change[0]) <= furthest else furthest / abs(change[0])


@MeanOf.register(Bernoulli)
def mean_bernoulli(kind, totals, mean):
    """The logit stands for the mean."""
    mean[0] = totals[0]


@Bound.register(Bernoulli)
def bound_bernoulli(kind, totals, centre, reach, least, most):
    """Keep the logit within reach of the centre."""
    totals[0] = min(max(totals[0], centre[0] - reach), centre[0] + reach)


@Put.register(Bernoulli)
def put_bernoulli(kind, axis, value, precision, planes):
    """A logit; one of precision 0 is 0."""
    planes[0] = value if precision > 0.0 else 0.0


@Expand.register(Bernoulli)
def expand_bernoulli(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Plane by plane."""
    expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient)
