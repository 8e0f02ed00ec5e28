"""Compiled parts of `forms`: the mixture of one row, and how shares are found and go on.

A row's mixture has, one after the other: each kind of prediction with each of the spreads; components at
offsets from their mean, in units of their deviation; atoms; and the values of a lattice. What stands in each
place, and why, is in `forms`.
"""

import math

import numpy as np

from ggln.engine.jit import exact_kernel, fast_kernel, inner_exact
from ggln.engine.newton import constants

SPREADS = np.asarray(constants.SPREADS)
WINDOW = constants.LATTICE_VALUES
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@fast_kernel
def climb(densities, weights, members, pull, rounds, tables):
    """Let tables # OUT [C, M] climb the likelihood of rows: p(y) = sum_c phi_c sum_j T_cj f_j.

    densities: f, [n, M]; weights: [n]; members: phi, [n, C], rows that sum to one; pull: [M], rows that each
    class is given in advance. Expectation maximisation, so many rounds.
    """
    rows, components = densities.shape
    classes = tables.shape[0]
    found = np.empty(tables.shape)
    for _ in range(rounds):
        for c in range(classes):
            for j in range(components):
                found[c, j] = 0.0
        for t in range(rows):
            if weights[t] <= 0.0:
                continue
            total = 0.0
            for c in range(classes):
                if members[t, c] > 0.0:
                    own = 0.0
                    for j in range(components):
                        own += tables[c, j] * densities[t, j]
                    total += members[t, c] * own
            if total > 0.0:
                for c in range(classes):
                    part = weights[t] * members[t, c] / total
                    if part > 0.0:
                        for j in range(components):
                            found[c, j] += part * densities[t, j]
        for c in range(classes):
            total = 0.0
            for j in range(components):
                tables[c, j] = tables[c, j] * found[c, j] + pull[j]
                total += tables[c, j]
            for j in range(components):
                tables[c, j] /= total


@inner_exact
def mix_tables(members, tables, mixed):
    """Write sum_c phi_c T_cj, [M] # OUT."""
    for j in range(mixed.size):
        mixed[j] = 0.0
    for c in range(tables.shape[0]):
        if members[c] > 0.0:
            for j in range(mixed.size):
                mixed[j] += members[c] * tables[c, j]


@inner_exact
def belong(value, knots, members):
    """Write how far a value belongs to each class, [C] # OUT: linear between knots [C], one beyond them."""
    last = knots.size - 1
    for c in range(last + 1):
        members[c] = 0.0
    if value <= knots[0]:
        members[0] = 1.0
    elif value >= knots[last]:
        members[last] = 1.0
    else:
        c = 0
        while value >= knots[c + 1]:
            c += 1
        part = (value - knots[c]) / (knots[c + 1] - knots[c])
        members[c], members[c + 1] = 1.0 - part, part


@inner_exact
def place(planes, shares, form, means, deviations, members):
    """Write means and deviations [P] # OUT of all components of a row, and its members [2, C] # OUT.

    planes: [K, 2], precisions and precisions times means; shares: [K * spreads]. Return the first value of
    the lattice that takes part.
    """
    kinds, spreads = planes.shape[0], SPREADS.size
    centre = 0.0
    for k in range(kinds):
        mean, deviation, total = planes[k, 1] / planes[k, 0], math.sqrt(1.0 / planes[k, 0]), 0.0
        for s in range(spreads):
            means[k * spreads + s] = mean
            deviations[k * spreads + s] = deviation * math.sqrt(SPREADS[s])
            total += shares[k * spreads + s]
        centre += total * mean
    variance = 0.0
    for j in range(kinds * spreads):
        variance += shares[j] * (deviations[j] ** 2 + (means[j] - centre) ** 2)
    scale, place = math.sqrt(variance), kinds * spreads
    for j in range(form.offsets.size):
        means[place + j] = centre + scale * form.offsets[j]
        deviations[place + j] = scale * form.widths[j]
    place += form.offsets.size
    for j in range(form.atoms.size):
        means[place + j], deviations[place + j] = form.atoms[j], form.narrow[0]
    place += form.atoms.size
    first, count = 0, min(form.values.size, WINDOW)
    if form.values.size > WINDOW:
        first = int(np.searchsorted(form.values, centre)) - WINDOW // 2
        first = min(max(first, 0), form.values.size - WINDOW)
    for j in range(count):
        means[place + j], deviations[place + j] = form.values[first + j], form.narrow[0]
    belong(scale, form.knots[0], members[0])
    belong(centre, form.knots[1], members[1])
    return first


@inner_exact
def cells(mixed, means, deviations, place, count, weights):
    """Write the masses of a mixture in the cells around values, which sum to one, weights[place:] # OUT.

    A cell ends half-way to the next value; the outermost have no end. mixed: [M].
    """
    below = 0.0
    for i in range(count):
        upto = 1.0
        if i < count - 1:
            edge, upto = 0.5 * (means[place + i] + means[place + i + 1]), 0.0
            for j in range(mixed.size):
                if mixed[j] > 0.0:
                    upto += mixed[j] * 0.5 * math.erfc((means[j] - edge) / (deviations[j] * math.sqrt(2.0)))
        weights[place + i] = max(upto - below, 0.0)
        below = upto


@inner_exact
def weigh(shares, form, members, means, deviations, mixed, parts):
    """Write what each expert makes of the components, parts [E + 2, P] # OUT; mixed: [M] # OUT.

    The experts: the spreads alone; each table; the lattice.
    """
    base, tables = shares.size, form.tables.shape[0]
    atoms = base + form.offsets.size + form.atoms.size
    for e in range(tables + 2):
        for j in range(parts.shape[1]):
            parts[e, j] = 0.0
    for j in range(base):
        parts[0, j] = shares[j]
    for e in range(tables):
        mix_tables(members[e % 2], form.tables[e], mixed)
        for j in range(atoms):
            parts[1 + e, j] = mixed[j]
    if form.values.size > 0:
        for j in range(atoms):
            mixed[j] = 0.5 * (parts[1, j] + parts[2, j])
        cells(mixed, means, deviations, atoms, parts.shape[1] - atoms, parts[tables + 1])


@inner_exact
def compose(form, parts, weights):
    """Write the weights of all components, [P] # OUT: what experts say, by their shares."""
    for j in range(weights.size):
        weights[j] = 0.0
    for e in range(parts.shape[0]):
        if form.experts[e] > 0.0:
            for j in range(weights.size):
                weights[j] += form.experts[e] * parts[e, j]


@exact_kernel
def blend_rows(planes, shares, form, weights, means, deviations):
    """Write the mixtures of rows: weights, means and deviations [n, P] # OUT. planes: [n, K, 2]."""
    components = means.shape[1]
    members = np.empty(form.knots.shape)
    mixed = np.empty(shares.size + form.offsets.size + form.atoms.size)
    parts = np.empty((form.tables.shape[0] + 2, components))
    for t in range(planes.shape[0]):
        place(planes[t], shares, form, means[t], deviations[t], members)
        weigh(shares, form, members, means[t], deviations[t], mixed, parts)
        compose(form, parts, weights[t])


@exact_kernel
def moments_rows(weights, means, deviations, mean, deviation):
    """Write mean and deviation [n] # OUT of mixtures [n, P]."""
    for t in range(weights.shape[0]):
        centre = 0.0
        for j in range(weights.shape[1]):
            centre += weights[t, j] * means[t, j]
        variance = 0.0
        for j in range(weights.shape[1]):
            variance += weights[t, j] * (deviations[t, j] ** 2 + (means[t, j] - centre) ** 2)
        mean[t], deviation[t] = centre, math.sqrt(variance)


@exact_kernel
def moments_one(planes, shares, form):
    """Return mean and deviation of a single row's mixture. planes: [1, K, 2]."""
    components = shares.size + form.offsets.size + form.atoms.size + min(form.values.size, WINDOW)
    weights, means, deviations = (
        np.empty((1, components)),
        np.empty((1, components)),
        np.empty((1, components)),
    )
    mean, deviation = np.empty(1), np.empty(1)
    blend_rows(planes, shares, form, weights, means, deviations)
    moments_rows(weights, means, deviations, mean, deviation)
    return mean[0], deviation[0]


@inner_exact
def densities_at(y, means, deviations, densities):
    """Write the densities of components at y, [P] # OUT, divided by that of the highest; return its log."""
    top = -np.inf
    for j in range(means.size):
        z = (y - means[j]) / deviations[j]
        densities[j] = -0.5 * z * z - math.log(deviations[j])
        top = max(top, densities[j])
    for j in range(means.size):
        densities[j] = math.exp(densities[j] - top)
    return top - HALF_LOG_TWO_PI


@exact_kernel
def follow_form(planes, goals, counted, shares, form, judged, ring, first, weights, means, deviations):
    """Let shares # OUT, tables # OUT and experts # OUT follow rows one by one; return the weight of all rows.

    planes: [n, K, 2]; goals, counted: [n], targets and the weights of rows; judged: the weight of rows
    before; ring: [R, 2 K + 3] # OUT, the latest rows: planes, target, weight, and the logarithm of the
    density that was predicted for it; first: how many rows it was given before. weights, means, deviations:
    [n, P] # OUT, what was predicted before each row was known.
    """
    components = means.shape[1]
    tables, classes = form.tables.shape[0], form.knots.shape[1]
    members, densities = np.empty(form.knots.shape), np.empty(components)
    mixed = np.empty(shares.size + form.offsets.size + form.atoms.size)
    parts, heights = np.empty((tables + 2, components)), np.empty(tables + 2)
    for t in range(planes.shape[0]):
        place(planes[t], shares, form, means[t], deviations[t], members)
        weigh(shares, form, members, means[t], deviations[t], mixed, parts)
        compose(form, parts, weights[t])
        keep = ring[(first + t) % ring.shape[0]]
        for k in range(planes.shape[1]):
            keep[2 * k], keep[2 * k + 1] = planes[t, k, 0], planes[t, k, 1]
        keep[-3], keep[-2], keep[-1] = goals[t], 0.0, 0.0
        if not counted[t] > 0.0:
            continue
        top = densities_at(goals[t], means[t], deviations[t], densities)
        total = 0.0
        for e in range(tables + 2):
            heights[e] = 0.0
            for j in range(components):
                heights[e] += parts[e, j] * densities[j]
            total += form.experts[e] * heights[e]
        if not total > 0.0:
            continue
        keep[-2], keep[-1] = counted[t], top + math.log(total)
        judged += counted[t]
        pace = counted[t] / judged
        for e in range(tables + 2):
            form.experts[e] += pace * (form.experts[e] * heights[e] / total - form.experts[e])
        if heights[0] > 0.0:
            for j in range(shares.size):
                shares[j] += pace * (shares[j] * densities[j] / heights[0] - shares[j])
        for e in range(tables):
            if heights[1 + e] > 0.0:
                for c in range(classes):
                    part = counted[t] * members[e % 2, c] / heights[1 + e]
                    if part > 0.0:
                        follow_class(form.tables[e, c], densities, part, form.seen[e], c)
    return judged


@inner_exact
def follow_class(table, densities, part, seen, c):
    """Let the shares of a class # OUT [M] follow a row, of which it explains part * sum_j table_j f_j."""
    own = 0.0
    for j in range(table.size):
        own += part * table[j] * densities[j]
    seen[c] += own
    for j in range(table.size):
        table[j] += (part * table[j] * densities[j] - own * table[j]) / seen[c]
