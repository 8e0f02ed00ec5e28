"""What a mixture of Gaussians says about rows: densities, expectations, draws.

Every row may have noise of its own on each value. A missing value is one whose noise has no end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.gaussians import constants, kernels
from ggln.engine.gaussians.model import Gaussians
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]


class Patterns(NamedTuple):
    """Rows in an order in which those with the same gaps follow each other."""

    order: Indices  # [n]
    starts: Indices  # [P + 1]
    masks: NDArray[np.bool_]  # [P, D], what is known


def find_patterns(rows: FloatArray, most: int | None = None) -> Patterns:
    """Return the patterns of gaps of rows [n, D]; those of more than `most` rows are cut."""
    known = ~np.isnan(rows)
    if known.all():
        masks, inverse = known[:1], np.zeros(len(rows), np.intp)
    else:
        packed, inverse = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True)
        masks = np.unpackbits(packed, axis=1, count=rows.shape[1]).astype(np.bool_)
    order = np.argsort(inverse.ravel(), kind="stable")
    counts = np.bincount(inverse.ravel(), minlength=len(masks))
    if most is None:
        return Patterns(order, np.append(0, counts.cumsum()), masks)
    pieces = [[most] * (c // most) + [c % most] * (c % most > 0) for c in counts.tolist()]
    lengths = np.array([length for own in pieces for length in own], np.intp)
    masks = np.repeat(masks, [len(own) for own in pieces], axis=0)
    return Patterns(order, np.append(0, lengths.cumsum()), masks)


def describe(
    model: Gaussians, rows: FloatArray, noise: FloatArray, threads: Threads, expect: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return the log density [n] of noisy rows, and the expectation [n, D] of the rows without their noise.

    rows: [n, D], NaN where nothing is known; noise: [D], variances. The density is that of what is known. If
    not asked to `expect`, the second is empty. A row's answer does not depend on the others.
    """
    patterns = find_patterns(rows, constants.ROWS_AT_ONCE)
    inside = rows[patterns.order]
    density, expected = np.empty(len(rows)), np.empty((len(rows) if expect else 0, rows.shape[1]))
    given = noise, np.log(model.shares), model.means, model.covariances, density, expected
    count = len(patterns.masks)
    ends = [(start, min(start + constants.PATTERNS, count)) for start in range(0, count, constants.PATTERNS)]
    threads.run([(kernels.describe, (inside, *own, *patterns[1:], *given)) for own in ends])
    back = np.argsort(patterns.order)
    return density[back], expected[back] if expect else expected


def draw(model: Gaussians, rows: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return rows [n, D] with random values, given the others, where they are NaN."""
    patterns, drawn = find_patterns(rows), np.empty_like(rows)
    uniform, normal = random.random(len(rows)), random.standard_normal(rows.shape)
    order = patterns.order
    given = np.log(model.shares), model.means, model.covariances, uniform[order], normal[order]
    kernels.draw_rows(rows[order], *patterns[1:], *given, drawn)
    return drawn[np.argsort(order)]
