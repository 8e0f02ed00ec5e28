"""Neurons for several outputs with diagonal or full precisions (Eq. 4), and what isotropic ones share.

The structures differ in a few short functions (see `covariance`); the loops over inputs, rows and
neurons are here, those of isotropic neurons in `isotropic_loops`. With P_j the precision of input j,
h_j = P_j mu_j, P and mu those of the product, the gradient is dl/dw_j = <G, P_j> - 2 (y - mu) . h_j,
G = -P^-1 + (y - mu)(y + mu)'.

A product of isotropic Gaussians is isotropic, so the other structures would never leave that family by
themselves: their biases are narrow along one direction and wide along the others, which lets each direction
have its own variance.
"""

import numpy as np

from ggln.engine.jit import Protocol, inner_fast
from ggln.engine.neurons.covariance import (
    add_isotropic,
    add_moments,
    constrain,
    count_biases,
    count_constraints,
    log_determinant,
    marginals,
    predict,
    respond,
    squared_distance,
    to_natural,
    write_bias,
)
from ggln.engine.neurons.diagonal import Diagonal
from ggln.engine.neurons.full import Full
from ggln.engine.neurons.isotropic import Isotropic
from ggln.engine.neurons.projection import Clip, Exact, LogBarrier, move, repair, settle
from ggln.engine.neurons.protocol import AddMoments, Energies, Infer, Learn, Send, SendBase
from ggln.engine.neurons.univariate import weights_at


@inner_fast
def finish(kind, layer, messages, t):
    """Set the bias inputs, and sum up what all neurons share # OUT."""
    sums, moments = messages.sums[t], messages.moments[t]
    zero = sums.dtype.type(0)
    natural = np.empty_like(sums)
    for f in range(sums.size):
        sums[f] = zero
    for c in range(moments.size):
        moments[c] = zero
    first_bias = layer.dense - count_biases(kind)
    for j in range(layer.dense):
        if j >= first_bias:
            write_bias(kind, j - first_bias, natural)
            for f in range(sums.size):
                messages.dense[t, f, j] = natural[f]
        for f in range(sums.size):
            natural[f] = messages.dense[t, f, j]
            sums[f] += natural[f]
        add_moments(kind, natural, moments)


@inner_fast
def clear(layer, messages, t):
    """Set the padding to zero # OUT."""
    for f in range(messages.sums.shape[1]):
        for j in range(layer.dense, layer.stride):
            messages.dense[t, f, j] = messages.dense.dtype.type(0)


def _send_base(kind, layer, means, precisions, messages, start, stop):
    natural = np.empty_like(messages.sums[0])
    size = natural.size - kind.outputs
    along_axes = means.shape[2] < kind.outputs
    for t in range(start, stop):
        clear(layer, messages, t)
        for j in range(means.shape[1]):
            precision = precisions[t, j]
            for f in range(natural.size):
                natural[f] = natural.dtype.type(0)
            add_isotropic(kind, natural, precision)
            for d in range(kind.outputs):
                if not along_axes:
                    natural[size + d] = precision * means[t, j, d]
                elif d == j % kind.outputs:
                    natural[size + d] = precision * means[t, j, 0]
            for f in range(natural.size):
                messages.dense[t, f, j] = natural[f]
        finish(kind, layer, messages, t)


def _send(kind, layer, below, outputs, messages, start, stop):
    natural = np.empty_like(messages.sums[0])
    for t in range(start, stop):
        clear(layer, messages, t)
        for j in range(below.size):
            to_natural(kind, outputs[t, below.first + j], natural)
            for f in range(natural.size):
                messages.dense[t, f, j] = natural[f]
        finish(kind, layer, messages, t)


def product(kind, layer, row, messages, t, natural):
    """S = sum_j w_j phi_j (Eq. 4, 5) into `natural` # OUT, for w = prior + row."""


def pull_back(kind, layer, coefficients, messages, t, change):
    """Write c . phi_j for every input j into `change` # OUT, laid out as a row of weights."""


Product, PullBack = Protocol(product), Protocol(pull_back)


@Product.register(Diagonal)
@Product.register(Full)
def _product(kind, layer, row, messages, t, natural):
    for f in range(natural.size):
        line = messages.dense[t, f]
        total = layer.prior * messages.sums[t, f]
        for j in range(layer.stride):
            total += row[j] * line[j]
        natural[f] = total


@inner_fast
def set_initial(layer, limits, sums, initial):
    """Write the natural parameters with the initial weights, times limits.rounding, into `initial` # OUT."""
    for f in range(sums.size):
        initial[f] = limits.rounding * layer.prior * sums[f]


@PullBack.register(Diagonal)
@PullBack.register(Full)
def _pull_back(kind, layer, coefficients, messages, t, change):
    change[:] = coefficients.dtype.type(0)
    for f in range(coefficients.size):
        line, coefficient = messages.dense[t, f], coefficients[f]
        for j in range(layer.stride):
            change[j] += coefficient * line[j]


def add_barrier(projection, kind, limits, natural, coefficients, constraints, bounds, scales):
    """Add the gradient of the barrier on the constraints to `coefficients` # OUT."""


def mend(projection, kind, limits, layer, row, messages, t, natural, constraints, bounds, scales):
    """Apply the projection's repair to a row # OUT whose product may violate a constraint."""


AddBarrier, Mend = Protocol(add_barrier), Protocol(mend)


@AddBarrier.register(Clip)
@AddBarrier.register(Exact)
def _no_barrier(projection, kind, limits, natural, coefficients, constraints, bounds, scales):
    pass


@AddBarrier.register(LogBarrier)
def _add_barrier(projection, kind, limits, natural, coefficients, constraints, bounds, scales):
    constrain(kind, natural, limits, constraints, bounds, scales)
    for k in range(bounds.size):
        slack = bounds[k]
        for f in range(natural.size):
            slack -= constraints[k, f] * natural[f]
        push = projection.strength / max(slack, limits.floor * scales[k])
        for f in range(natural.size):
            coefficients[f] += push * constraints[k, f]


@Mend.register(Clip)
def _no_mending(projection, kind, limits, layer, row, messages, t, natural, constraints, bounds, scales):
    pass


@Mend.register(Exact)
@Mend.register(LogBarrier)
def _mend(projection, kind, limits, layer, row, messages, t, natural, constraints, bounds, scales):
    product(kind, layer, row, messages, t, natural)
    constrain(kind, natural, limits, constraints, bounds, scales)
    count = 0
    for k in range(bounds.size):
        scales[k] = row.dtype.type(0)  # from here on the value of the constraint
        for f in range(natural.size):
            scales[k] += constraints[k, f] * natural[f]
        if scales[k] > bounds[k]:
            count += 1
    if count == 0:
        settle(projection, row, layer.prior)
        return
    rows = np.zeros((count, row.size), row.dtype)
    targets, lengths = np.empty(count, row.dtype), np.empty(count, row.dtype)
    count = 0
    for k in range(bounds.size):
        if scales[k] > bounds[k]:
            initial = row.dtype.type(0)
            for f in range(natural.size):
                initial += constraints[k, f] * messages.sums[t, f]
            pull_back(kind, layer, constraints[k], messages, t, rows[count])
            targets[count] = bounds[k] - layer.prior * initial
            lengths[count] = (rows[count] * rows[count]).sum()
            count += 1
    repair(projection, row, rows, targets, lengths, layer.prior)


def _learn(
    kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
):
    inputs, size = layer.stride, kind.outputs
    natural, initial = np.empty_like(messages.sums[0]), np.empty_like(messages.sums[0])
    coefficients, change = np.empty_like(natural), np.empty(inputs, pool.dtype)
    scratch = np.empty((size, size + 1), pool.dtype)
    count = count_constraints(kind)
    constraints = np.empty((count, natural.size), pool.dtype)
    bounds, scales = np.empty(count, pool.dtype), np.empty(count, pool.dtype)
    for k in range(layer.first + start, layer.first + stop):
        for t in range(columns.size):
            row = weights_at(pool, slots[k, columns[t]], inputs)
            product(kind, layer, row, messages, t, natural)
            set_initial(layer, limits, messages.sums[t], initial)
            predict(kind, natural, initial, limits, outputs[t, k], scratch)
            trace = respond(kind, outputs[t, k], scratch, targets[t], messages.moments[t], coefficients)
            rate = min(step.rate, step.cap / max(trace, limits.min_sum))
            add_barrier(projection, kind, limits, natural, coefficients, constraints, bounds, scales)
            pull_back(kind, layer, coefficients, messages, t, change)
            for j in range(inputs):
                row[j] = move(projection, row[j], row[j] - rate * change[j], layer.prior, rate, limits.floor)
            mend(projection, kind, limits, layer, row, messages, t, natural, constraints, bounds, scales)


def _infer(kind, limits, layer, pool, slots, columns, messages, outputs, start, stop):
    inputs, size = layer.stride, kind.outputs
    natural, initial = np.empty_like(messages.sums[0]), np.empty_like(messages.sums[0])
    scratch = np.empty((size, size + 1), pool.dtype)
    for k in range(layer.first + start, layer.first + stop):
        for t in range(columns.size):
            row = weights_at(pool, slots[k, columns[t]], inputs)
            product(kind, layer, row, messages, t, natural)
            set_initial(layer, limits, messages.sums[t], initial)
            predict(kind, natural, initial, limits, outputs[t, k], scratch)


def _energies(kind, outputs, target, energy, scale):
    for k in range(energy.size):
        distance = squared_distance(kind, outputs[k], target)
        energy[k] = 0.5 * (distance - log_determinant(kind, outputs[k]))
        scale[k] = 1.0


def _add_output_moments(kind, outputs, weights, spread, mean, second):
    one_mean, variance = np.empty(kind.outputs), np.empty(kind.outputs)
    for k in range(weights.size):
        if weights[k] > 0.0:
            marginals(kind, outputs[k], one_mean, variance)
            for d in range(kind.outputs):
                mean[d] += weights[k] * one_mean[d]
                second[d] += weights[k] * (spread * variance[d] + one_mean[d] * one_mean[d])


for _kind in (Diagonal, Full):
    SendBase.register(_kind)(_send_base)
    Send.register(_kind)(_send)
    Learn.register(_kind)(_learn)
    Infer.register(_kind)(_infer)
for _any_kind in (Isotropic, Diagonal, Full):
    Energies.register(_any_kind)(_energies)
    AddMoments.register(_any_kind)(_add_output_moments)
