"""Matern bumps (nu = 5/2) of unit height, many at a time.

With s the squared distance from the centre and a = sqrt(5 s), the height is (1 + a + a^2 / 3) exp(-a), with
the derivative -5/6 (1 + a) exp(-a) by s.

The loops run over bumps, or over rows, with an exponential of our own, since the library's is a call for each
number: 1,000 bumps of 10 features take 3 us instead of 11. Each number is computed by itself, and sums are
taken in a fixed order, so that nothing depends on what is computed beside it.
"""

from typing import Any

import numpy as np

from ggln.engine.jit import add_to_exponent, exact_kernel, fused_multiply_add, inner_exact

LEAST_EXPONENT = -700.0
"""exp(x) is that of this for any x below: 1e-304, so that the result is a normal number."""
PER_LOG, LOG, LOG_REST = 1.0 / np.log(2.0), float(np.log(2.0)), 2.3190468138462996e-17
"""1 / log 2, and log 2 in two parts."""
SHIFT = 1.5 * 2.0**52
"""Adding it rounds to an integer, which then stands in the last bits."""


@inner_exact
def exponential(x: Any) -> Any:
    """exp(x) for x <= 0, within two units in the last place: 2^n exp(r), n an integer and |r| <= log(2) / 2.

    exp(r) is Taylor's series up to r^13, whose rest is below 1e-17. No branches: compilers can vectorise it.
    """
    x = max(x, LEAST_EXPONENT)
    shifted = fused_multiply_add(x, PER_LOG, SHIFT)
    n = shifted - SHIFT
    r = fused_multiply_add(n, -LOG_REST, fused_multiply_add(n, -LOG, x))
    series = 1.0 / 6227020800.0
    series = fused_multiply_add(series, r, 1.0 / 479001600.0)
    series = fused_multiply_add(series, r, 1.0 / 39916800.0)
    series = fused_multiply_add(series, r, 1.0 / 3628800.0)
    series = fused_multiply_add(series, r, 1.0 / 362880.0)
    series = fused_multiply_add(series, r, 1.0 / 40320.0)
    series = fused_multiply_add(series, r, 1.0 / 5040.0)
    series = fused_multiply_add(series, r, 1.0 / 720.0)
    series = fused_multiply_add(series, r, 1.0 / 120.0)
    series = fused_multiply_add(series, r, 1.0 / 24.0)
    series = fused_multiply_add(series, r, 1.0 / 6.0)
    series = fused_multiply_add(series, r, 0.5)
    series = fused_multiply_add(series, r, 1.0)
    series = fused_multiply_add(series, r, 1.0)
    return add_to_exponent(series, shifted)


@exact_kernel
def exponentials(values: Any) -> Any:
    """Return exp of values [n] <= 0: `exponential` as it is in a vectorised loop."""
    found = np.empty_like(values)
    for j in range(values.size):
        found[j] = exponential(values[j])
    return found


@inner_exact
def write_squares(points: Any, centre: Any, found: Any) -> None:
    """Write the squared distances of points [d, w] from a centre [d] into found # OUT [w]."""
    found[:] = 0.0
    for i in range(centre.size):
        line, middle = points[i], centre[i]
        for j in range(found.size):
            step = middle - line[j]
            found[j] = fused_multiply_add(step, step, found[j])


@inner_exact
def write_heights(points: Any, centre: Any, found: Any) -> None:
    """Write the heights at points [d, w] of the bump at a centre [d] into found # OUT [w].

    Both in units of the length scales. Or those at one point of the bumps at many centres: it is the same.
    """
    write_squares(points, centre, found)
    for j in range(found.size):
        square = found[j]
        a = np.sqrt(5.0 * square)
        found[j] = fused_multiply_add(5.0 / 3.0, square, 1.0 + a) * exponential(-a)


@inner_exact
def write_steepness(points: Any, centre: Any, found: Any) -> None:
    """Write twice the derivatives by the squared distance, of the same bumps, into found # OUT [w]."""
    write_squares(points, centre, found)
    for j in range(found.size):
        a = np.sqrt(5.0 * found[j])
        found[j] = -5.0 / 3.0 * (1.0 + a) * exponential(-a)


@inner_exact
def fold(values: Any) -> Any:
    """Return the sum of values # OUT [w], half upon half: vectorised, in an order that w alone decides."""
    size = values.size
    if size == 0:
        return 0.0
    while size > 1:
        half = (size + 1) // 2
        upper = values[half:size]
        for j in range(upper.size):
            values[j] += upper[j]
        size = half
    return values[0]
