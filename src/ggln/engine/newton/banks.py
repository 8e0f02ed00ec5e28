"""What the experts of a changing stream know: sums of their regressions, and their shares.

Experts of a learner are the learner as it is and its correctors (`correctors`). The last experts of every
array are nobody's: their regressions are of the target itself, without networks below.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants

FloatArray = NDArray[np.float64]
EXPERTS = len(constants.MEMORIES) + 1
COUNT, LEVEL, SPREAD, SPREAD_COUNT, LAST, FAR = range(6)
"""Places of a regression's numbers: weight of its rows, mean residual, v and the weight of its rows, the
residual of the last row and whether it was far off."""


class Bank(NamedTuple):
    """Regressions of L learners, and nobody's: all arrays begin with [L + 1, K], K memories."""

    numbers: FloatArray  # [L + 1, K, 6]
    means: FloatArray  # [L + 1, K, p]  of the features, and of the prediction, which is the last
    scatter: FloatArray  # [L + 1, K, p, p]  sums of products around the means; lower triangle
    products: FloatArray  # [L + 1, K, p]  the same with residuals
    slopes: FloatArray  # [L + 1, K, p]


def new_bank(learners: int, features: int, level: float = 0.0) -> Bank:
    """Return regressions that know nothing. Of wide rows they look at the prediction alone.

    level: what nobody's predict until they know a row.
    """
    used = 1 + (features if features < constants.MOST_FEATURES else 0)
    shape = learners + 1, len(constants.MEMORIES)
    numbers = np.zeros((*shape, 6))
    numbers[..., SPREAD], numbers[..., SPREAD_COUNT] = 1.0, constants.SPREAD_ROWS
    numbers[-1, :, LEVEL] = level
    return Bank(numbers, *(np.zeros((*shape, *own)) for own in ((used,), (used, used), (used,), (used,))))


def chosen_banks(bank: Bank, chosen: NDArray[np.intp]) -> Bank:
    """Return the regressions of some of the learners, and nobody's."""
    kept = np.append(chosen, -1)
    return Bank(*(array[kept] for array in bank))


def joined_banks(bank: Bank, other: Bank) -> Bank:
    """Return the regressions of all learners of both, and nobody's of the first."""
    pairs = zip(bank, other, strict=True)
    return Bank(*(np.concatenate([one[:-1], two[:-1], one[-1:]]) for one, two in pairs))


def prior_shares(learners: int) -> FloatArray:
    """Return what the shares of experts come back to, [L + 1, E]: half for learners as they are."""
    found = np.full((learners + 1, EXPERTS), 0.5 / ((learners + 1) * (EXPERTS - 1)))
    found[:-1, 0], found[-1, 0] = 0.5 / learners, 0.0
    return found


def joined_shares(shares: FloatArray, part: float) -> FloatArray:
    """Return shares [L + 2, E] with those of another learner, which takes a part of what learners have."""
    own = prior_shares(1)[:1]
    own *= part * shares[:-1].sum() / own.sum()
    return np.concatenate([(1.0 - part) * shares[:-1], own, shares[-1:]])


def chosen_shares(shares: FloatArray, chosen: NDArray[np.intp]) -> FloatArray:
    """Return the shares [C + 1, E] of some of the learners, and nobody's."""
    kept = shares[np.append(chosen, -1)]
    found: FloatArray = kept / kept.sum()
    return found


def renewed_bank(bank: Bank, other: Bank) -> Bank:
    """Return the regressions of the learners of one, and nobody's of another."""
    return Bank(*(np.concatenate([one[:-1], two[-1:]]) for one, two in zip(bank, other, strict=True)))


def renewed_shares(shares: FloatArray) -> FloatArray:
    """Return shares of which nobody's have next to nothing, until they are right about some rows."""
    found = shares.copy()
    found[-1] = constants.RENEWED_SHARE * prior_shares(1)[-1]
    found /= found.sum()
    return found
