"""The loops of isotropic neurons (Eq. 5), made for many outputs.

Natural parameters of input j are its precision p_j and h_j = p_j mu_j. Two kinds of input:

* dense ones, the neurons below: lines [p_j, h_j] of a matrix [inputs, F]. All neurons of a layer need the
  products of that matrix with their weights, and with the D + 1 coefficients of their gradients: the matrix
  work. It runs over pairs of neurons and four inputs (or two) at a time, on a matrix that stays in the cache.
  A neuron goes through the pair or alone by its index, so no cut of a layer or a block changes a bit; a BLAS,
  whose rounding depends on the shapes and on its threads, would.
* one-hot ones, a mean along one axis: base inputs "coordinate" or "axes", along each axis in turn, then the
  biases, -rD and +rD along each axis. Each costs O(1) to read and to update, however many outputs there are.

Rows come first and neurons second: the inputs of a row are read once from memory, whatever the layer's size.
"""

import numpy as np

from ggln.engine.jit import inner_fast
from ggln.engine.neurons.covariance import count_constraints
from ggln.engine.neurons.isotropic import Isotropic, predict_isotropic, respond_isotropic
from ggln.engine.neurons.multivariate import Product, PullBack, add_barrier, mend, product
from ggln.engine.neurons.projection import move
from ggln.engine.neurons.protocol import Infer, Learn, Send, SendBase
from ggln.engine.neurons.univariate import weights_at

# Messages ------------------------------------------------------------------------------------------------


@inner_fast
def finish(kind, layer, messages, t):
    """Set unused lines to zero, and sum up what all neurons share # OUT messages.

    moments: sums over dense inputs of p^2 and |h|^2; over one-hot ones the same; the largest sum of h^2 along
    one axis among the one-hot ones; then for each output the sums of p h over the dense and over the one-hot
    inputs.
    """
    sums, moments, dense = messages.sums[t], messages.moments[t], messages.dense[t]
    size, zero = kind.outputs, messages.sums.dtype.type(0)
    sums[:] = moments[:] = zero
    for j in range(layer.dense, layer.stride):
        dense[j, :] = zero
    for j in range(layer.dense):
        line, precision, length = dense[j], dense[j, 0], zero
        for f in range(line.size):
            sums[f] += line[f]
        for d in range(size):
            length += line[1 + d] * line[1 + d]
            moments[5 + d] += precision * line[1 + d]
        moments[0] += precision * precision
        moments[1] += length
    base, largest = layer.hot - 2 * size, zero
    for d in range(size):
        squares = zero
        for j in range(d, base, size):
            precision, weighted = messages.hot_precision[j], messages.hot[t, j]
            sums[0] += precision
            sums[1 + d] += weighted
            moments[2] += precision * precision
            squares += weighted * weighted
            moments[5 + size + d] += precision * weighted
        moments[3] += squares
        largest = max(largest, squares)
    weighted, biases = kind.bias_precision * kind.bias_mean, sums.dtype.type(2 * size)
    sums[0] += biases * kind.bias_precision * layer.bias_prior / layer.prior  # their means cancel
    moments[2] += biases * kind.bias_precision * kind.bias_precision
    moments[3] += biases * weighted * weighted
    moments[4] = largest + weighted * weighted + weighted * weighted


@SendBase.register(Isotropic)
def _send_base(kind, layer, means, precisions, messages, start, stop):
    along_axes = layer.hot > 2 * kind.outputs
    for t in range(start, stop):
        for j in range(means.shape[1]):
            precision = precisions[t, j]
            if along_axes:
                messages.hot_precision[j] = precision
                messages.hot[t, j] = precision * means[t, j, 0]
            else:
                messages.dense[t, j, 0] = precision
                for d in range(kind.outputs):
                    messages.dense[t, j, 1 + d] = precision * means[t, j, d]
        finish(kind, layer, messages, t)


@Send.register(Isotropic)
def _send(kind, layer, below, outputs, messages, start, stop):
    for t in range(start, stop):
        for j in range(below.size):
            output, line = outputs[t, below.first + j], messages.dense[t, j]
            precision = output[kind.outputs]
            line[0] = precision
            for d in range(kind.outputs):
                line[1 + d] = precision * output[d]
        finish(kind, layer, messages, t)


# The matrix work -----------------------------------------------------------------------------------------


@inner_fast
def begin(layer, sums, natural):
    """Set `natural` # OUT to what the initial weights give."""
    for f in range(natural.size):
        natural[f] = layer.prior * sums[f]


@inner_fast
def add_four(dense, t, j, row, natural):
    """Add the inputs j to j + 3 of row t with their weights to `natural` # OUT.

    Indices, not views: with few outputs, counting references would take longer than the sums.
    """
    u0, u1, u2, u3 = row[j], row[j + 1], row[j + 2], row[j + 3]
    for f in range(natural.size):
        natural[f] += (
            u0 * dense[t, j, f] + u1 * dense[t, j + 1, f] + u2 * dense[t, j + 2, f] + u3 * dense[t, j + 3, f]
        )


@inner_fast
def add_four_twice(dense, t, j, row0, row1, natural0, natural1):
    """`add_four` for two neurons, which share the loads of the inputs."""
    u0, u1, u2, u3 = row0[j], row0[j + 1], row0[j + 2], row0[j + 3]
    v0, v1, v2, v3 = row1[j], row1[j + 1], row1[j + 2], row1[j + 3]
    for f in range(natural0.size):
        a, b, c, d = dense[t, j, f], dense[t, j + 1, f], dense[t, j + 2, f], dense[t, j + 3, f]
        natural0[f] += u0 * a + u1 * b + u2 * c + u3 * d
        natural1[f] += v0 * a + v1 * b + v2 * c + v3 * d


@inner_fast
def dot(coefficients, dense, t, j):
    """C . phi_j of one input."""
    total = coefficients.dtype.type(0)
    for f in range(coefficients.size):
        total += coefficients[f] * dense[t, j, f]
    return total


@inner_fast
def dots(first, second, dense, t, j):
    """C . phi_j of two neurons and two inputs."""
    total0 = total1 = total2 = total3 = first.dtype.type(0)
    for f in range(first.size):
        total0 += first[f] * dense[t, j, f]
        total1 += first[f] * dense[t, j + 1, f]
        total2 += second[f] * dense[t, j, f]
        total3 += second[f] * dense[t, j + 1, f]
    return total0, total1, total2, total3


@inner_fast
def add_hot(kind, layer, row, messages, t, natural):
    """Add the one-hot inputs with their weights to `natural` # OUT."""
    base = layer.hot - 2 * kind.outputs
    first, bias = layer.stride, layer.stride + base
    precision = total = natural.dtype.type(0)
    for i in range(0, base, kind.outputs):
        for d in range(kind.outputs):
            precision += row[first + i + d] * messages.hot_precision[i + d]
            natural[1 + d] += row[first + i + d] * messages.hot[t, i + d]
    weighted = kind.bias_precision * kind.bias_mean
    for d in range(kind.outputs):
        low, high = row[bias + 2 * d], row[bias + 2 * d + 1]
        total += low + high
        natural[1 + d] += weighted * (high - low)
    natural[0] += precision + kind.bias_precision * total


@Product.register(Isotropic)
def _product(kind, layer, row, messages, t, natural):
    begin(layer, messages.sums[t], natural)
    for j in range(0, layer.stride, 4):
        add_four(messages.dense, t, j, row, natural)
    add_hot(kind, layer, row, messages, t, natural)


@inner_fast
def products(kind, layer, row0, row1, messages, t, natural):
    """S of two neurons # OUT natural [2, F]."""
    natural0, natural1 = natural[0], natural[1]
    begin(layer, messages.sums[t], natural0)
    begin(layer, messages.sums[t], natural1)
    for j in range(0, layer.stride, 4):
        add_four_twice(messages.dense, t, j, row0, row1, natural0, natural1)
    add_hot(kind, layer, row0, messages, t, natural0)
    add_hot(kind, layer, row1, messages, t, natural1)


@PullBack.register(Isotropic)
def _pull_back(kind, layer, coefficients, messages, t, change):
    change[:] = coefficients.dtype.type(0)
    for j in range(layer.dense):
        change[j] = dot(coefficients, messages.dense, t, j)
    base, weighted = layer.hot - 2 * kind.outputs, kind.bias_precision * kind.bias_mean
    for i in range(0, base, kind.outputs):
        for d in range(kind.outputs):
            change[layer.stride + i + d] = (
                coefficients[0] * messages.hot_precision[i + d] + coefficients[1 + d] * messages.hot[t, i + d]
            )
    for d in range(kind.outputs):
        common, along = coefficients[0] * kind.bias_precision, weighted * coefficients[1 + d]
        change[layer.stride + base + 2 * d] = common - along
        change[layer.stride + base + 2 * d + 1] = common + along


# Learning and predicting ---------------------------------------------------------------------------------


@inner_fast
def move_hot(kind, projection, limits, layer, rate, coefficients, messages, t, row):
    """Take the gradient step of the weights of one-hot inputs # OUT row."""
    prior, floor, base = layer.prior, limits.floor, layer.hot - 2 * kind.outputs
    first, bias = layer.stride, layer.stride + base
    for i in range(0, base, kind.outputs):
        for d in range(kind.outputs):
            j = i + d
            change = coefficients[0] * messages.hot_precision[j] + coefficients[1 + d] * messages.hot[t, j]
            weight = row[first + j]
            row[first + j] = move(projection, weight, weight - rate * change, prior, rate, floor)
    common, prior = rate * coefficients[0] * kind.bias_precision, layer.bias_prior
    weighted = rate * kind.bias_precision * kind.bias_mean
    for d in range(kind.outputs):
        along = weighted * coefficients[1 + d]
        low, high = row[bias + 2 * d], row[bias + 2 * d + 1]
        row[bias + 2 * d] = move(projection, low, low - common + along, prior, rate, floor)
        row[bias + 2 * d + 1] = move(projection, high, high - common - along, prior, rate, floor)


@inner_fast
def answer(kind, projection, limits, step, layer, messages, t, target, natural, output, coefficients, room):
    """Predict # OUT output; write the gradient's coefficients # OUT and return the step's length."""
    initial = limits.rounding * layer.prior * messages.sums[t, 0]
    predict_isotropic(kind, natural, initial, limits, output)
    rate = respond_isotropic(kind, step, limits, output, target, messages.moments[t], coefficients)
    add_barrier(projection, kind, limits, natural, coefficients, *room)
    return rate


@Learn.register(Isotropic)
def _learn(
    kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
):
    inputs, size = layer.stride + layer.hot_stride, messages.sums.shape[1]
    natural, coefficients = np.zeros((2, size), pool.dtype), np.zeros((2, size), pool.dtype)
    count = count_constraints(kind)
    room = np.empty((count, size), pool.dtype), np.empty(count, pool.dtype), np.empty(count, pool.dtype)
    paired = layer.first + layer.size - layer.size % 2
    rules = projection, limits, step, layer, messages
    for t in range(columns.size):
        column, target = columns[t], targets[t]
        k = layer.first + start
        while k < layer.first + stop:
            row0 = weights_at(pool, slots[k, column], inputs)
            if k >= paired:
                product(kind, layer, row0, messages, t, natural[0])
                rate0 = answer(kind, *rules, t, target, natural[0], outputs[t, k], coefficients[0], room)
                for j in range(layer.dense):
                    moved = row0[j] - rate0 * dot(coefficients[0], messages.dense, t, j)
                    row0[j] = move(projection, row0[j], moved, layer.prior, rate0, limits.floor)
            else:
                row1 = weights_at(pool, slots[k + 1, column], inputs)
                products(kind, layer, row0, row1, messages, t, natural)
                rate0 = answer(kind, *rules, t, target, natural[0], outputs[t, k], coefficients[0], room)
                rate1 = answer(kind, *rules, t, target, natural[1], outputs[t, k + 1], coefficients[1], room)
                move_dense(
                    projection, limits, layer, messages.dense, t, coefficients, (rate0, rate1), row0, row1
                )
                move_hot(kind, projection, limits, layer, rate1, coefficients[1], messages, t, row1)
                mend(projection, kind, limits, layer, row1, messages, t, natural[1], *room)
            move_hot(kind, projection, limits, layer, rate0, coefficients[0], messages, t, row0)
            mend(projection, kind, limits, layer, row0, messages, t, natural[0], *room)
            k += 1 if k >= paired else 2


@inner_fast
def move_dense(projection, limits, layer, dense, t, coefficients, rates, row0, row1):
    """Take the gradient step of two neurons' weights of dense inputs # OUT row0, row1."""
    prior, floor, first, second = layer.prior, limits.floor, coefficients[0], coefficients[1]
    for j in range(0, layer.stride, 2):
        c0, c1, c2, c3 = dots(first, second, dense, t, j)
        row0[j] = move(projection, row0[j], row0[j] - rates[0] * c0, prior, rates[0], floor)
        row0[j + 1] = move(projection, row0[j + 1], row0[j + 1] - rates[0] * c1, prior, rates[0], floor)
        row1[j] = move(projection, row1[j], row1[j] - rates[1] * c2, prior, rates[1], floor)
        row1[j + 1] = move(projection, row1[j + 1], row1[j + 1] - rates[1] * c3, prior, rates[1], floor)


@Infer.register(Isotropic)
def _infer(kind, limits, layer, pool, slots, columns, messages, outputs, start, stop):
    inputs, paired = layer.stride + layer.hot_stride, layer.first + layer.size - layer.size % 2
    natural = np.zeros((2, messages.sums.shape[1]), pool.dtype)
    for t in range(columns.size):
        initial = limits.rounding * layer.prior * messages.sums[t, 0]
        k = layer.first + start
        while k < layer.first + stop:
            row0 = weights_at(pool, slots[k, columns[t]], inputs)
            if k >= paired:
                product(kind, layer, row0, messages, t, natural[0])
            else:
                row1 = weights_at(pool, slots[k + 1, columns[t]], inputs)
                products(kind, layer, row0, row1, messages, t, natural)
                predict_isotropic(kind, natural[1], initial, limits, outputs[t, k + 1])
            predict_isotropic(kind, natural[0], initial, limits, outputs[t, k])
            k += 1 if k >= paired else 2
