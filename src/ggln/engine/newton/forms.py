"""The form of a prediction: skewness, humps, atoms and lattices, from rows that chose nothing.

A row's prediction by spreads alone (`mixture`) is symmetric around nearly one mean m, with a deviation s. To
its components others are added, at m + s o_j with deviation s h_j: offsets o_j are quantiles of (y - m) / s
on rows left out, and widths h_j follow the distance between them. Where targets repeat, narrow components
stand at the repeated values, the atoms.

What the shares of all these components are is answered by several experts:

* the spreads alone;
* tables of shares for classes by s, and for classes by m; between two classes, shares are interpolated;
* the same with atoms, if there are any;
* a lattice, if most targets repeat: each value has the mass that the tables without atoms give to its cell.

Tables maximise the likelihood of rows left out, by expectation maximisation. The shares of experts do so as
well, with tables from the other folds of these rows: an expert that fits noise is not believed.

In a stream, shares go on by the same rule, row by row. The latest rows are kept, as they were predicted: when
the rows have grown by half, a new form is found from them. It takes the place of the old one if it is
likelier, each judged by rows that it did not know.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants
from ggln.engine.newton.form_kernels import HALF_LOG_TWO_PI, blend_rows, climb
from ggln.engine.newton.mixture import equal_shares

FloatArray = NDArray[np.float64]
TINY = 1e-300


class Form(NamedTuple):
    """All that makes a prediction more than spreads; in standardised units."""

    offsets: FloatArray  # [J]
    widths: FloatArray  # [J]
    atoms: FloatArray  # [A]
    values: FloatArray  # [V]  of a lattice, in ascending order
    narrow: FloatArray  # [1]  the deviation of components at atoms and values
    knots: FloatArray  # [2, C]  middles of the classes by deviation, and by mean
    tables: FloatArray  # [E, C, M]  shares; even tables are by deviation, odd ones by mean
    seen: FloatArray  # [E, C]  weight of the rows that they come from
    experts: FloatArray  # [E + 2]  shares of the spreads alone, of the tables, and of the lattice

    def components(self, shares: FloatArray) -> int:
        """Return how many components a row has."""
        lattice = min(self.values.size, constants.LATTICE_VALUES)
        return shares.size + self.offsets.size + self.atoms.size + lattice


def no_form() -> Form:
    """Return the form of spreads alone."""
    none, classes = np.empty(0), constants.CLASSES
    return Form(
        offsets=none,
        widths=none.copy(),
        atoms=none.copy(),
        values=none.copy(),
        narrow=np.ones(1),
        knots=np.tile(np.arange(float(classes)), (2, 1)),
        tables=np.empty((0, classes, 0)),
        seen=np.empty((0, classes)),
        experts=np.array([1.0, 0.0]),
    )


def find_form(
    planes: FloatArray, goals: FloatArray, weights: FloatArray, shares: FloatArray, every: FloatArray
) -> tuple[Form, float]:
    """Return the form that rows left out ask for, and the mean log-likelihood that it has in all folds.

    planes: [n, K, 2], what each kind said of them; goals, weights: [n]; shares: those of the spreads; every:
    all targets that were learnt, by which atoms and lattices are known.
    """
    rows = np.flatnonzero(weights > 0)
    if rows.size < constants.FEWEST_FORM_ROWS:
        return no_form(), -np.inf
    rows = rows[:: -(-rows.size // constants.MOST_FORM_ROWS)]
    planes, goals, weights = planes[rows], goals[rows], weights[rows]
    special = repeated(every)
    form = _learn(planes, goals, weights, shares, *special)
    folds = np.arange(rows.size) % constants.FORM_FOLDS
    heights = np.empty((rows.size, form.experts.size))  # of each expert, at rows that it does not know
    for fold in range(constants.FORM_FOLDS):
        known, new = folds != fold, folds == fold
        lesson = planes[known], goals[known], weights[known]
        own = _common(
            _densities(*lesson[:2], shares, no_form()), weights[known], equal_shares(planes.shape[1])
        )
        heights[new] = _heights(planes[new], goals[new], own, _learn(*lesson, own, *special))
    there = np.arange(form.experts.size) < form.experts.size - (form.values.size == 0)
    even = np.full(there.sum(), 1.0 / there.sum())
    form.experts[there] = _common(heights[:, there], weights, even)
    likelihood = weights @ np.log(heights @ form.experts) / weights.sum() - HALF_LOG_TWO_PI
    return form, float(likelihood)


def repeated(every: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the atoms, the values of the lattice (none unless there is one), and how narrow both are."""
    found, counts = np.unique(every, return_counts=True)
    often = counts >= max(constants.VALUE_ROWS, constants.VALUE_SHARE * every.size)
    heavy = counts >= max(constants.ATOM_ROWS, constants.ATOM_SHARE * every.size)
    if not heavy.any() or found.size == 1:
        return np.empty(0), np.empty(0), 1.0
    most = np.argsort(-counts[heavy], kind="stable")[: constants.MOST_ATOMS]
    values = found[often]
    narrow = constants.LATTICE_WIDTH * float(np.diff(values).min(initial=np.inf))
    if (
        counts[often].sum() < constants.LATTICE_SHARE * every.size
        or not 1 < values.size <= constants.MOST_VALUES
    ):
        values, narrow = np.empty(0), min(narrow, constants.ATOM_WIDTH)
    return np.sort(found[heavy][most]), values, narrow


def quantiles(values: FloatArray, weights: FloatArray, levels: FloatArray) -> FloatArray:
    """Return quantiles of weighted values [n]: each stands in the middle of its weight."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    return np.interp(levels, (upto - 0.5 * weights[order]) / upto[-1], values[order])


def _learn(
    planes: FloatArray,
    goals: FloatArray,
    weights: FloatArray,
    shares: FloatArray,
    atoms: FloatArray,
    values: FloatArray,
    narrow: float,
) -> Form:
    """Return a form whose experts have no shares yet."""
    centre, scale = _spread(planes, shares)
    offsets, widths = offsets_of((goals - centre) / scale, weights)
    knots = np.stack([_middles(scale, weights), _middles(centre, weights)])
    members = _members(scale, knots[0]), _members(centre, knots[1])
    empty = no_form()
    form = empty._replace(
        offsets=offsets, widths=widths, atoms=atoms, values=values, narrow=np.array([narrow]), knots=knots
    )
    densities = _densities(planes, goals, shares, form)
    smooth, even = shares.size + offsets.size, np.full(offsets.size, 1.0 / offsets.size)
    found = []
    for used in (smooth, densities.shape[1])[: 1 + (atoms.size > 0)]:
        own, part = np.ascontiguousarray(densities[:, :used]), 0.1 if used > smooth else 0.0
        halves = 0.5 * (1.0 - part) * np.concatenate([shares, even])
        base = np.concatenate([halves, np.full(used - smooth, part / max(atoms.size, 1))])
        common = _common(own, weights, base, constants.FORM_ROWS)
        for phi in members:
            table = np.tile(common, (constants.CLASSES, 1))
            climb(own, weights, phi, constants.CLASS_ROWS * common, constants.FORM_ROUNDS, table)
            found.append(np.pad(table, ((0, 0), (0, densities.shape[1] - used))))
    seen = np.stack([weights @ phi for phi in members]) + constants.CLASS_ROWS
    return form._replace(
        tables=np.stack(found),
        seen=np.tile(seen, (len(found) // 2, 1)),
        experts=np.zeros(len(found) + 2),
    )


def offsets_of(errors: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where components stand for standardised errors [n], and how wide they are: [J] each."""
    reach = min(constants.OFFSET_REACH, np.log(errors.size / 3.0))
    levels = 1.0 / (1.0 + np.exp(-np.linspace(-reach, reach, constants.OFFSETS + 2)))
    at = quantiles(errors, weights, levels)
    widths = np.maximum(0.5 * constants.OFFSET_WIDTH * (at[2:] - at[:-2]), constants.LEAST_WIDTH)
    return at[1:-1].copy(), widths


def _common(
    densities: FloatArray, weights: FloatArray, base: FloatArray, rows: float = constants.SHARE_ROWS
) -> FloatArray:
    """Return the likeliest shares [M] of densities [n, M], with so many rows like `base` in advance."""
    table, everyone = base[None].copy(), np.ones((len(densities), 1))
    climb(np.ascontiguousarray(densities), weights, everyone, rows * base, constants.FORM_ROUNDS, table)
    found: FloatArray = table[0]
    return found


def _blended(planes: FloatArray, shares: FloatArray, form: Form) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and deviations [n, P] of rows."""
    weights, means, deviations = np.empty((3, len(planes), form.components(shares)))
    blend_rows(planes, shares, form, weights, means, deviations)
    return weights, means, deviations


def _spread(planes: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation [n] by spreads alone."""
    weights, means, deviations = _blended(planes, shares, no_form())
    centre = np.sum(weights * means, axis=1)
    variance = np.sum(weights * (deviations**2 + (means - centre[:, None]) ** 2), axis=1)
    return centre, np.sqrt(variance)


def _logs(goals: FloatArray, means: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return log densities [n, P] at the targets, without the constant."""
    found: FloatArray = -0.5 * ((goals[:, None] - means) / deviations) ** 2 - np.log(deviations)
    return found


def _densities(planes: FloatArray, goals: FloatArray, shares: FloatArray, form: Form) -> FloatArray:
    """Return the densities [n, M] of all components but the lattice's, divided by the row's highest."""
    _, means, deviations = _blended(planes, shares, form._replace(values=np.empty(0)))
    logs = _logs(goals, means, deviations)
    found: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found


def _heights(planes: FloatArray, goals: FloatArray, shares: FloatArray, form: Form) -> FloatArray:
    """Return the density [n, E + 2] of each expert at the targets."""
    found = np.empty((len(goals), form.experts.size))
    for e in range(form.experts.size):
        alone = form._replace(experts=np.eye(form.experts.size)[e])
        weights, means, deviations = _blended(planes, shares, alone)
        found[:, e] = np.sum(weights * np.exp(_logs(goals, means, deviations)), axis=1)
    return found + TINY


def _middles(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the middles of classes of the same weight; equal ones are taken apart."""
    levels = (np.arange(constants.CLASSES) + 0.5) / constants.CLASSES
    found = quantiles(values, weights, levels)
    steps = np.arange(constants.CLASSES) * max(float(np.abs(found).max()), TINY) * 1e-12
    return found + steps


def _members(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Return how far values [n] belong to each class, [n, C]."""
    return np.stack([np.interp(values, knots, one) for one in np.eye(knots.size)], axis=1)
