"""Kernels for rows of which each value has a noise of its own, or is missing: noise without end.

A row is y = x + xi, xi_j ~ N(0, v_j), known where y is not NaN; x comes from one of K Gaussians N(m_k, S_k).
With o the known columns and L L' = S_oo + V_oo, z = L^-1 (y - m)_o and G = S_:o L^-T:

    log p_k(y) = -z'z / 2 - log |L| - |o| / 2 log 2 pi,   E_k[x | y] = m + G z,   Cov_k[x | y] = S - G G'.

Rows with the same columns known share L and G. `reference` says the same in plain NumPy.
"""

import math

import numpy as np

from ggln.engine.gaussians import constants
from ggln.engine.jit import exact_kernel, inner_exact

LOG_2PI = math.log(2.0 * math.pi)
LEAST_PIVOT, NEGLIGIBLE = constants.LEAST_PIVOT, constants.NEGLIGIBLE


@inner_exact
def factor(covariance, noise, known, lower):
    """Write L, the root of S_oo + V_oo, to lower # OUT [o, o]; return log |L|.

    covariance: [D, D]; noise: [D], variances; known: [o], the known columns.
    """
    log_root = 0.0
    for a in range(known.size):
        i = known[a]
        for b in range(a):
            total = covariance[i, known[b]]
            for c in range(b):
                total -= lower[a, c] * lower[b, c]
            lower[a, b] = total / lower[b, b]
        total = covariance[i, i] + noise[i]
        least = LEAST_PIVOT * total
        for c in range(a):
            total -= lower[a, c] ** 2
        lower[a, a] = np.sqrt(max(total, least))
        log_root += np.log(lower[a, a])
    return log_root


@inner_exact
def gain(covariance, wanted, known, lower, found):
    """Write the lines of G = S_:o L^-T for the wanted columns [w] to found # OUT [w, o]."""
    for i in range(wanted.size):
        for a in range(known.size):
            total = covariance[wanted[i], known[a]]
            for c in range(a):
                total -= lower[a, c] * found[i, c]
            found[i, a] = total / lower[a, a]


@inner_exact
def whiten(row, mean, known, lower, z):
    """Write z = L^-1 (y - m)_o to z # OUT [o]; return z'z."""
    square = 0.0
    for a in range(known.size):
        total = row[known[a]] - mean[known[a]]
        for c in range(a):
            total -= lower[a, c] * z[c]
        z[a] = total / lower[a, a]
        square += z[a] * z[a]
    return square


@inner_exact
def open_gates(logs, gates):
    """Write the shares exp(log_k) / sum to gates # OUT [K]; return the logarithm of the sum."""
    top = -np.inf
    for k in range(logs.size):
        top = max(top, logs[k])
    total = 0.0
    for k in range(logs.size):
        gates[k] = np.exp(logs[k] - top)
        total += gates[k]
    for k in range(logs.size):
        gates[k] /= total
    return top + np.log(total)


@exact_kernel
def describe(rows, first, last, starts, masks, noise, log_shares, means, covariances, log_density, expected):
    """Describe the rows of the patterns from `first` to `last`: log_density # OUT [n], expected # OUT [n, D].

    rows: [n, D], those of a pattern together; starts: [P + 1], where patterns begin; masks: [P, D], what is
    known in each; noise: [D]; log_shares: [K]; means: [K, D]; covariances: [K, D, D]. Without expected rows
    to write, [0, D], only densities are found. Known values without any noise are expected as they are.
    """
    count, columns = means.shape
    wanted = expected.shape[0] > 0
    lower = np.empty((count, columns, columns))
    gains = np.empty((count if wanted else 0, columns, columns))
    z, logs, gates = np.empty((count, columns)), np.empty(count), np.empty(count)
    roots, clean = np.empty(count), not noise.any()
    for pattern in range(first, last):
        known = np.flatnonzero(masks[pattern])
        asked = np.flatnonzero(~masks[pattern]) if clean else np.arange(columns)
        for k in range(count):
            roots[k] = factor(covariances[k], noise, known, lower[k])
            if wanted:
                gain(covariances[k], asked, known, lower[k], gains[k])
        for t in range(starts[pattern], starts[pattern + 1]):
            for k in range(count):
                square = whiten(rows[t], means[k], known, lower[k], z[k])
                logs[k] = log_shares[k] - 0.5 * (square + known.size * LOG_2PI) - roots[k]
            log_density[t] = open_gates(logs, gates)
            if wanted:
                expected[t] = rows[t]
                expected[t][asked] = 0.0
                for k in range(count):
                    if gates[k] > NEGLIGIBLE:
                        for i in range(asked.size):
                            value = means[k, asked[i]]
                            for a in range(known.size):
                                value += gains[k, i, a] * z[k, a]
                            expected[t, asked[i]] += gates[k] * value


@exact_kernel
def add_rows(rows, starts, masks, log_shares, means, covariances, counts, sums, squares):
    """Add rows without noise to counts # OUT [K], sums # OUT [K, D] and squares # OUT [K, D, D].

    These are the expectations of gates, and of gates times x and x x', given what is known of the rows; of
    squares the lower triangle. Return the log likelihood.
    """
    count, columns = means.shape
    noise = np.zeros(columns)
    lower, gains = np.empty((count, columns, columns)), np.empty((count, columns, columns))
    rest = np.empty((count, columns, columns))
    z, logs, gates = np.empty((count, columns)), np.empty(count), np.empty(count)
    roots, value = np.empty(count), np.empty(columns)
    likelihood = 0.0
    for pattern in range(masks.shape[0]):
        known = np.flatnonzero(masks[pattern])
        missing = np.flatnonzero(~masks[pattern])
        for k in range(count):
            roots[k] = factor(covariances[k], noise, known, lower[k])
            gain(covariances[k], missing, known, lower[k], gains[k])
            for i in range(missing.size):
                for j in range(i + 1):
                    total = covariances[k, missing[i], missing[j]]
                    for a in range(known.size):
                        total -= gains[k, i, a] * gains[k, j, a]
                    rest[k, i, j] = total
        for t in range(starts[pattern], starts[pattern + 1]):
            for k in range(count):
                square = whiten(rows[t], means[k], known, lower[k], z[k])
                logs[k] = log_shares[k] - 0.5 * (square + known.size * LOG_2PI) - roots[k]
            likelihood += open_gates(logs, gates)
            for k in range(count):
                part = gates[k]
                if part <= NEGLIGIBLE:
                    continue
                value[:] = rows[t]
                for i in range(missing.size):
                    value[missing[i]] = means[k, missing[i]]
                    for a in range(known.size):
                        value[missing[i]] += gains[k, i, a] * z[k, a]
                counts[k] += part
                for i in range(columns):
                    sums[k, i] += part * value[i]
                    for j in range(i + 1):
                        squares[k, i, j] += part * value[i] * value[j]
                for i in range(missing.size):
                    for j in range(i + 1):
                        squares[k, missing[i], missing[j]] += part * rest[k, i, j]
    return likelihood


@exact_kernel
def draw_rows(rows, starts, masks, log_shares, means, covariances, uniform, normal, drawn):
    """Write rows without noise to drawn # OUT [n, D], with random values where nothing is known.

    uniform: [n], which picks one of the Gaussians by its gate; normal: [n, D], of which the missing columns
    make the draw from it.
    """
    count, columns = means.shape
    noise = np.zeros(columns)
    lower, gains = np.empty((count, columns, columns)), np.empty((count, columns, columns))
    rest, root = np.zeros((columns, columns)), np.empty((columns, columns))
    z, logs, gates, roots = np.empty((count, columns)), np.empty(count), np.empty(count), np.empty(count)
    for pattern in range(masks.shape[0]):
        known, missing = np.flatnonzero(masks[pattern]), np.flatnonzero(~masks[pattern])
        for k in range(count):
            roots[k] = factor(covariances[k], noise, known, lower[k])
            gain(covariances[k], missing, known, lower[k], gains[k])
        for t in range(starts[pattern], starts[pattern + 1]):
            for k in range(count):
                square = whiten(rows[t], means[k], known, lower[k], z[k])
                logs[k] = log_shares[k] - 0.5 * square - roots[k]
            open_gates(logs, gates)
            left, k = uniform[t] - gates[0], 0
            while left > 0.0 and k < count - 1:
                k += 1
                left -= gates[k]
            for i in range(missing.size):
                for j in range(i + 1):
                    total = covariances[k, missing[i], missing[j]]
                    for a in range(known.size):
                        total -= gains[k, i, a] * gains[k, j, a]
                    rest[i, j] = total
            factor(rest, noise, np.arange(missing.size), root)
            drawn[t] = rows[t]
            for i in range(missing.size):
                value = means[k, missing[i]]
                for a in range(known.size):
                    value += gains[k, i, a] * z[k, a]
                for j in range(i + 1):
                    value += root[i, j] * normal[t, missing[j]]
                drawn[t, missing[i]] = value
