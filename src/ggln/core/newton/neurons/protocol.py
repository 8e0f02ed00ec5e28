"""What a kind of neuron provides: short functions on the natural parameters of one row."""

from ggln.core.jit import Protocol, inner_fast

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
    """Write the lower triangle A [Q, Q] and r [Q] # OUT, of which the factors are A z and the gradient F'r."""


def width(kind, hat, root):
    """Variance of the mean because weights are uncertain, over its own. hat: F H^-1 F' [Q, Q]; root: [Q, Q]."""


def damp(kind, variance):
    """Factor on the totals that makes a prediction as wide as that variance of its mean asks for."""


def stride(kind, totals, row, change):
    """Largest s <= 1 for which totals[row] + s change keep enough of the precision."""


def mean_of(kind, totals, mean):
    """Write the mean, or the logit, # OUT [D] of a density."""


def bound(kind, totals, centre, reach, least, most):
    """Bring totals # OUT [Q] into range: the mean within `reach` of `centre` [D], precisions in [least, most]."""


def put(kind, axis, value, precision, planes):
    """Write an input's natural parameters # OUT [Q]: a Gaussian at `value` along one output, or all if axis < 0.

    A precision of 0 is an input that says nothing.
    """


def expand(kind, root, residue, inputs, t, size, scale, first, factors, gradient):
    """Write scale * A z of row t into factors[first:first + Q] # OUT, and add scale * F'r to gradient # OUT [m].

    root: A [Q, Q]; residue: r [Q]; inputs: z [n, Q, m], of which `size` are used.
    """


Loss = Protocol(loss)
Derive = Protocol(derive)
Width = Protocol(width)
Damp = Protocol(damp)
Stride = Protocol(stride)
MeanOf = Protocol(mean_of)
Bound = Protocol(bound)
Put = Protocol(put)
Expand = Protocol(expand)


@inner_fast
def expand_planes(root, residue, inputs, t, size, scale, first, factors, gradient):
    """See `expand`, for any number of planes."""
    for i in range(root.shape[0]):
        coefficient = scale * root[i, 0]
        for j in range(size):
            factors[first + i, j] = coefficient * inputs[t, 0, j]
        for q in range(1, i + 1):
            coefficient = scale * root[i, q]
            if coefficient != 0.0:
                for j in range(size):
                    factors[first + i, j] += coefficient * inputs[t, q, j]
        coefficient = scale * residue[i]
        for j in range(size):
            gradient[j] += coefficient * factors[first + i, j]
