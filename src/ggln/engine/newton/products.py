"""Products of a context's factors, rows of F [chunk * Q, M], with matrices of a neuron's size.

Solving spends most of its time here. Eight lines share the loads of the ninth, and stay in registers.
"""

from ggln.engine.jit import inner_fast
from ggln.engine.newton.lanes import LANES, load, multiply_add, repeat, spread, store, times, total


@inner_fast
def add_squares(factors, count, size, matrix):
    """Add the first `count` factors' outer products to the lower triangle of `matrix` # OUT.

    Eight lines of a matrix by one vector stay in registers while the factors pass.
    """
    width = matrix.shape[1]
    for top in range(0, size, LANES):
        for left in range(0, top + 1, LANES):
            place = top * width + left
            s0, s1 = load(matrix, place), load(matrix, place + width)
            s2, s3 = load(matrix, place + 2 * width), load(matrix, place + 3 * width)
            s4, s5 = load(matrix, place + 4 * width), load(matrix, place + 5 * width)
            s6, s7 = load(matrix, place + 6 * width), load(matrix, place + 7 * width)
            for r in range(count):
                line, f = r * width + top, load(factors, r * width + left)
                s0 = multiply_add(repeat(factors, line), f, s0)
                s1 = multiply_add(repeat(factors, line + 1), f, s1)
                s2 = multiply_add(repeat(factors, line + 2), f, s2)
                s3 = multiply_add(repeat(factors, line + 3), f, s3)
                s4 = multiply_add(repeat(factors, line + 4), f, s4)
                s5 = multiply_add(repeat(factors, line + 5), f, s5)
                s6 = multiply_add(repeat(factors, line + 6), f, s6)
                s7 = multiply_add(repeat(factors, line + 7), f, s7)
            store(matrix, place, s0)
            store(matrix, place + width, s1)
            store(matrix, place + 2 * width, s2)
            store(matrix, place + 3 * width, s3)
            store(matrix, place + 4 * width, s4)
            store(matrix, place + 5 * width, s5)
            store(matrix, place + 6 * width, s6)
            store(matrix, place + 7 * width, s7)


@inner_fast
def whiten(inverse, factors, count, size, products):
    """Write F V # OUT for the first `count` factors, eight at a time, that share the loads of V."""
    width = inverse.shape[1]
    for first in range(0, count, LANES):
        line = first * width
        for left in range(0, size, LANES):
            s0, s1, s2, s3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
            s4, s5, s6, s7 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
            for k in range(left, size):
                along = load(inverse, k * width + left)
                s0 = multiply_add(repeat(factors, line + k), along, s0)
                s1 = multiply_add(repeat(factors, line + width + k), along, s1)
                s2 = multiply_add(repeat(factors, line + 2 * width + k), along, s2)
                s3 = multiply_add(repeat(factors, line + 3 * width + k), along, s3)
                s4 = multiply_add(repeat(factors, line + 4 * width + k), along, s4)
                s5 = multiply_add(repeat(factors, line + 5 * width + k), along, s5)
                s6 = multiply_add(repeat(factors, line + 6 * width + k), along, s6)
                s7 = multiply_add(repeat(factors, line + 7 * width + k), along, s7)
            place = line + left
            store(products, place, s0)
            store(products, place + width, s1)
            store(products, place + 2 * width, s2)
            store(products, place + 3 * width, s3)
            store(products, place + 4 * width, s4)
            store(products, place + 5 * width, s5)
            store(products, place + 6 * width, s6)
            store(products, place + 7 * width, s7)


@inner_fast
def write_hat(products, first, hat):
    """Write S = F H^-1 F' # OUT [Q, Q] of the row whose F V are the lines of products from `first` on."""
    width = products.shape[1]
    for i in range(hat.shape[0]):
        for k in range(i + 1):
            one, other = (first + i) * width, (first + k) * width
            value = times(load(products, one), load(products, other))
            for j in range(LANES, width, LANES):
                value = multiply_add(load(products, one + j), load(products, other + j), value)
            hat[i, k] = total(value)
            hat[k, i] = hat[i, k]
