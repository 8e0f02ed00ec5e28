"""What a kind of neuron provides: short functions on the natural parameters of one row."""

import numpy as np

from ggln.engine.jit import Protocol, inner_fast
from ggln.engine.newton import constants
from ggln.engine.newton.lanes import LANES, load, multiply_add, spread, store

LEAST_PRECISION = 1e-6
"""A product is a density if its precision exceeds this: with targets of variance one, a variance of a million
says nothing."""
KEPT = 0.25
"""A row that is learnt, or left out, keeps at least this fraction of its precision."""


def loss(kind, totals, row, y, t):
    """Loss of totals[row] for the target y[t], infinite where they are no density. totals: [n, Q]; y: [n, D].

    Rows are named by their place: a view of each would be counted by Numba, which takes as long as the loss.
    """


def derive(kind, totals, row, y, t, root, residue):
    """Write the lower triangle A [Q, Q] and r [Q] # OUT: the factors are F = A z and the gradient is F'r."""


def width(kind, hat, root):
    """Variance of the mean because weights are uncertain, over its own. hat: F H^-1 F' [Q, Q]; root: A."""


def damp(kind, variance):
    """Factor on the totals that makes a prediction as wide as that variance of its mean asks for."""


def stride(kind, totals, row, change):
    """Largest s <= 1 for which totals[row] + s change keep enough of the precision."""


def mean_of(kind, totals, mean):
    """Write the mean, or the logit, # OUT [D] of a density."""


def bound(kind, totals, centre, reach, least, most):
    """Bring totals # OUT [Q] into range: means within `reach` of `centre`, precisions in [least, most]."""


def put(kind, axis, value, precision, planes):
    """Write an input's natural parameters # OUT [Q]: a Gaussian at `value` along one output.

    It is along all of them if axis < 0. A precision of 0 is an input that says nothing.
    """


def expand(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Write scale * A z of row t into factors[first:first + Q] # OUT; add scale * F'r to gradient # OUT [M].

    root: A [Q, Q]; residue: r [Q]; inputs: z [n, Q, M], of which `size` are used. All lines are padded with
    zeros to whole vectors (`lanes`).
    """


def shift(kind, hat, weight, root, residue):
    """Turn r # OUT [Q] into what leaving out a row of weight c changes its totals by.

    That is A^-1 c (I - c S)^-1 S r. hat: S = F H^-1 F' [Q, Q], which may be overwritten; root: A. Pivots of
    I - c S are at least LEAST_PIVOT.
    """


@inner_fast
def expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient):
    """See `expand`, for any number of planes."""
    planes, width = root.shape[0], inputs.shape[2]
    for i in range(planes):
        told = spread(scale * residue[i])
        for j in range(0, size, LANES):
            value = spread(0.0)
            for q in range(i + 1):
                along = load(inputs, (t * planes + q) * width + j)
                value = multiply_add(spread(scale * root[i, q]), along, value)
            store(factors, (first + i) * factors.shape[1] + j, value)
            store(gradient, j, multiply_add(told, value, load(gradient, j)))


@inner_fast
def shift_planes(hat, weight, root, residue):
    """See `shift`, for any number of planes."""
    size = residue.size
    moved = np.zeros(size)
    for i in range(size):
        for k in range(size):
            moved[i] += weight * hat[i, k] * residue[k]
    for i in range(size):  # elimination: hat becomes I - c S, in the lower triangle
        for k in range(i + 1):
            hat[i, k] = (1.0 if i == k else 0.0) - weight * hat[i, k]
    for k in range(size):
        pivot = max(hat[k, k], constants.LEAST_PIVOT)
        hat[k, k] = pivot
        for i in range(k + 1, size):
            ratio = hat[i, k] / pivot
            for j in range(k + 1, i + 1):
                hat[i, j] -= ratio * hat[j, k]
            moved[i] -= ratio * moved[k]
    for back in range(size):
        i = size - 1 - back
        value = moved[i]
        for k in range(i + 1, size):
            value -= hat[k, i] * moved[k]
        moved[i] = value / hat[i, i]
    for i in range(size):  # back from factors to planes
        value = moved[i]
        for k in range(i):
            value -= root[i, k] * residue[k]
        residue[i] = value / root[i, i]


def shift_any(kind, hat, weight, root, residue):
    """See `shift`."""
    shift_planes(hat, weight, root, residue)


Loss = Protocol(loss)
Derive = Protocol(derive)
Width = Protocol(width)
Damp = Protocol(damp)
Stride = Protocol(stride)
MeanOf = Protocol(mean_of)
Bound = Protocol(bound)
Put = Protocol(put)
Expand = Protocol(expand)
Shift = Protocol(shift, shift_any)
