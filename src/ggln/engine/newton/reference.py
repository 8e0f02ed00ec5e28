"""The plain twin of exact learning: the weights of one context of one neuron, for every kind of neuron.

A neuron's loss is convex in its weights w, and the Hessian of each row is F'F, with few factors as rows of F.
`reference_structures` describes the kinds of neuron; how they learn is the same for all, and here:

  solve               minimises the loss of all rows plus a pull towards a centre; w and H^-1 are the state
  leave_out           each row's totals as if the row had not been learnt
  go_on               predicts one more row, then learns it
  posterior_variance  how uncertain the mean is because the weights are

Inputs are tuples of arrays, (P_j [n, m, ..], b_j [n, m, ..]) or (logits [n, m],), for n rows of m inputs.
"""

from typing import NamedTuple

import numpy as np

from ggln.engine.newton.reference_structures import BoolArray, FloatArray, Parts, Structure

ARMIJO, HALVINGS = 1e-4, 12
"""A step is halved, at most so often, until the loss falls by this fraction of what its slope promises."""
SETTLED = 1e-9
"""The last step is the one whose decrement g'H^-1 g is below this: the weights then move by less than 1e-4 of
their standard deviation, and what is left after that step is of the order of its square."""
LEAST_PIVOT = 0.02
"""An eigenvalue of I - F H^-1 F', the share that other rows have in a direction that a row needs, is taken as
at least this: a row that determines its own context moves its weights 50 times as far as H^-1 g, no more."""
MOST_TOLD = 1e6
"""A row that is learnt online tells at most so many times what was known, tr(F H^-1 F'); one that would tell
more counts less. Where L is next to nothing, mu = q / L is anything, and the factors are enormous."""
ROUNDING = 1e-13
"""f'H^-1 f below this fraction of |f|^2 tr(H^-1) is rounding: all is known in this direction already, and an
update would ruin H^-1."""


class Solution(NamedTuple):
    """What is known of a context's weights."""

    weights: FloatArray  # [m]
    inverse: FloatArray  # [m, m]  H^-1, with the pull in H


def combine(inputs: Parts, weights: FloatArray) -> Parts:
    """Return the totals of each row, sum_j w_j inputs_j (Eq. 4), for weights [m] or [n, m]."""
    of_rows = np.broadcast_to(weights, inputs[0].shape[:2])
    return tuple(np.einsum("nj...,nj->n...", part, of_rows) for part in inputs)


def take(parts: Parts, rows: BoolArray) -> Parts:
    """Return some of the rows."""
    return tuple(part[rows] for part in parts)


def present(structure: Structure, inputs: Parts, row_weights: FloatArray, w: FloatArray) -> BoolArray:
    """Return which rows count, [n]: those of positive weight whose product is a density."""
    rows = row_weights > 0
    rows[rows] = structure.admissible(combine(take(inputs, rows), w))
    return rows


def derivatives(
    structure: Structure, inputs: Parts, y: FloatArray, row_weights: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradients c g, [n, m], and factors sqrt(c) F, [n, R, m], of rows of weights c."""
    totals = combine(inputs, w)
    g, F = structure.gradient(inputs, totals, y), structure.factors(inputs, totals)
    return row_weights[:, None] * g, np.sqrt(row_weights)[:, None, None] * F


def invert(factors: FloatArray, pull: FloatArray) -> FloatArray:
    """Return (sum over rows of F'F + diag(pull))^-1, [m, m], for factors [n, R, m] and pull [m] > 0.

    H = T'T by a QR decomposition of the factors, which are never squared: where inputs are alike or L is
    small, the pull would drown in the rounding of squares.
    """
    stacked = np.vstack([factors.reshape(-1, pull.size), np.diag(np.sqrt(pull))])
    half = np.linalg.inv(np.linalg.qr(stacked, mode="r")).astype(np.float64)
    return half @ half.T


def solve(
    structure: Structure,
    inputs: Parts,  # [n, m, ..] each
    y: FloatArray,  # [n, ..]
    row_weights: FloatArray,  # [n], >= 0
    centre: FloatArray,  # [m]
    pull: FloatArray,  # [m], > 0
    iterations: int = 50,
) -> Solution:
    """Minimise sum_i c_i loss_i(w) + 1/2 sum_j pull_j (w_j - centre_j)^2 by Newton's method from the centre.

    Rows of weight c_i = 0 are absent. So are rows whose product is no density at the centre (`present`): one
    row of inputs without precision does not keep a context from learning the others. A centre that solved a
    problem with these rows in it, as a parent's does, has densities for all of them.
    """
    rows = present(structure, inputs, row_weights, centre)
    inputs, y, c = take(inputs, rows), y[rows], row_weights[rows]

    def objective(w: FloatArray) -> float:
        totals = combine(inputs, w)
        if not structure.admissible(totals).all():
            return np.inf
        return float(c @ structure.loss(totals, y) + 0.5 * pull @ (w - centre) ** 2)

    w = centre
    for _ in range(iterations):
        g, F = derivatives(structure, inputs, y, c, w)
        slope = g.sum(axis=0) + pull * (w - centre)
        direction = invert(F, pull) @ slope
        value, decrement = objective(w), slope @ direction
        for step in 0.5 ** np.arange(HALVINGS + 1):
            # the last step's fall may be less than the loss's rounding: any density will do
            bound = value - ARMIJO * step * decrement if decrement >= SETTLED else np.inf
            if objective(w - step * direction) < bound:
                break
        else:
            break
        w = w - step * direction
        if decrement < SETTLED:
            break
    return Solution(w, invert(derivatives(structure, inputs, y, c, w)[1], pull))


def leave_out(
    structure: Structure,
    inputs: Parts,  # [n, m, ..] each
    y: FloatArray,  # [n, ..]
    row_weights: FloatArray,  # [n], >= 0
    w: FloatArray,  # [m]
    inverse: FloatArray,  # [m, m]
) -> Parts:
    """Return each row's totals with the weights that its context would have without it, to first order.

    w and inverse are the solution with all rows. Without row i it is w + (H - F'F)^-1 g, by Woodbury
    w + H^-1 (g + F' (I - F H^-1 F')^-1 F H^-1 g). Rows of weight 0 keep the weights w, as do rows that are no
    densities there; those that were none at the centre, which `solve` did not learn, should come with weight
    0. What is returned need not be a density's: then the row alone had made it one.
    """
    rows = present(structure, inputs, row_weights, w)
    g, F = derivatives(structure, take(inputs, rows), y[rows], row_weights[rows], w)
    values, vectors = np.linalg.eigh(np.eye(F.shape[1]) - F @ inverse @ F.swapaxes(1, 2))
    F = vectors.swapaxes(1, 2) @ F  # the same F'F, one factor for each eigenvalue
    along = np.einsum("nrj,jk,nk->nr", F, inverse, g) / np.maximum(values, LEAST_PIVOT)
    weights = np.tile(w, (len(y), 1))
    weights[rows] += (g + np.einsum("nr,nrj->nj", along, F)) @ inverse
    return combine(inputs, weights)


def go_on(
    structure: Structure,
    inputs: Parts,  # [m, ..] each
    y: FloatArray | float,  # [..]
    row_weight: float,
    w: FloatArray,  # [m]
    inverse: FloatArray,  # [m, m]
) -> tuple[Parts, Solution]:
    """Return one row's totals, as predicted before it is learnt, and what is known of the weights after it.

    H becomes H + F'F, factor by factor (Sherman and Morrison), and w becomes w - H^-1 g; less far if the row
    would lose too much of its own precision (`stride`). A row that is absent for `solve`, of weight 0 or no
    density, changes nothing.
    """
    row, target = tuple(part[None] for part in inputs), np.asarray(y, np.float64)[None]
    totals = combine(row, w)
    predicted = tuple(total[0] for total in totals)
    c = np.array([row_weight], np.float64)
    if not present(structure, row, c, w)[0]:
        return predicted, Solution(w, inverse)
    (g,), (F,) = derivatives(structure, row, target, c, w)
    share = MOST_TOLD / max(np.einsum("rj,jk,rk->", F, inverse, F), MOST_TOLD)
    g, F = share * g, np.sqrt(share) * F
    for f in F:
        h = inverse @ f
        if f @ h > ROUNDING * (f @ f) * np.trace(inverse):
            inverse = inverse - np.outer(h, h) / (1 + f @ h)
    step = inverse @ g
    return predicted, Solution(w - structure.stride(totals, combine(row, step))[0] * step, inverse)


def posterior_variance(
    structure: Structure,
    inputs: Parts,  # [n, m, ..] each
    w: FloatArray,  # [m]
    inverse: FloatArray,  # [m, m]
) -> FloatArray:
    """Variance of each row's means, or logit, [n, ..]: s' (scale H^-1) s with s_j = dmu / dw_j.

    scale H^-1 is the weights' covariance, by Laplace's approximation. Infinite where there is no density.
    """
    totals = combine(inputs, w)
    rows = structure.admissible(totals)
    s = structure.slopes(take(inputs, rows), take(totals, rows))
    variance = np.full(totals[-1].shape, np.inf)
    variance[rows] = structure.scale * np.einsum("nj...,jk,nk...->n...", s, inverse, s)
    return variance
