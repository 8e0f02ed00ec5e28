"""Everything that decides what exact networks are; the shape of each network follows from it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants
from ggln.engine.newton.layouts import check_settings
from ggln.engine.newton.network import Shape

GATES, FOLDS, BUMPS, SHELLS = range(4)
"""Streams of random numbers: for gates, folds, the centres of bumps, and rows of shells."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides what networks are, and how they learn. `GGLNRegressor` documents each."""

    layer_sizes: tuple[int, ...]
    context_dims: tuple[int, ...]  # of the kinds of networks in turn; none: as many as the rows can fill
    n_estimators: int | None  # none: as many as the rows leave time for
    regressions: bool  # whether there is a regression on bumps below networks
    base_variance: float
    bias_range: float
    bias_variance: float
    min_variance: float
    max_variance: float
    covariance: str
    standardize: bool | str
    features: int
    outputs: int
    seed: int
    online: bool = False  # a stream, not a table
    regressors: int = 0  # that the user handed in, and whose predictions are below networks as well
    gating: str = "residual"
    without: tuple[str, ...] = ()  # ingredients left out, to see what each is worth
    most_kept: int = constants.KEPT_NUMBERS  # features of rows that a table keeps, in order to grow
    forgetting: str | int | None = None  # "auto", or rows after which a row counts 1/e

    def random(self, network: int, purpose: int) -> np.random.Generator:
        """Return a network's own stream of random numbers."""
        return np.random.default_rng([self.seed, network, purpose])

    @property
    def base_models(self) -> int:
        """Base models of networks: the regression on bumps, and regressors that the user handed in."""
        return int(self.regressions) + self.regressors

    def networks(self, rows: int) -> int:
        """Return how many networks there are for so many rows.

        More of them are better, and cost more: small tables have more. A stream pays for each of them with
        every row.
        """
        if self.n_estimators is not None:
            return self.n_estimators
        more = () if self.online else constants.MORE_NETWORKS
        return next((count for most, count in more if rows <= most), constants.NETWORKS)

    @property
    def kinds(self) -> int:
        """Kinds of networks: deep ones on features alone, and shallow ones above the regressions.

        A single network is a shallow one.
        """
        return 1 if self.n_estimators == 1 or "features-only networks" in self.without else 2

    def assign_folds(self, rows: int) -> NDArray[np.int64]:
        """Return the fold of each row: parts of nearly the same size, at random."""
        return self.random(0, FOLDS).permutation(rows) % constants.FOLDS

    def shape(self, network: int, rows: int) -> Shape:
        """Return what a network for so many rows is made of.

        Deep networks have as many gates as the rows can fill, and every context is believed.
        """
        group = network % self.kinds
        few = self.features * self.outputs <= constants.MOST_FEATURES
        shallow = group == self.kinds - 1
        dims = self.context_dims or (_context_dim(rows, shallow),)
        return Shape(
            self.layer_sizes,
            dims[group % len(dims)],
            shallow * self.base_models,
            self.outputs > 1 and few,
            self.bias_range,
            1.0 / self.bias_variance,
            1.0 / self.base_variance,
            1.0 / self.max_variance,
            1.0 / self.min_variance,
            constants.PULL if shallow else constants.DEEP_PULL,
            shallow and "shares of contexts" not in self.without,
            self.gating,
            without=self.without,
        )


def _context_dim(rows: int, shallow: bool) -> int:
    """Return how many gates the neurons of a network for so many rows have."""
    fine, coarse = (
        round(math.log2(max(rows, 1) / each)) for each in (constants.CONTEXT_ROWS, constants.MANY_ROWS)
    )
    if shallow:
        return max(min(fine, constants.SHALLOW_DIM), 1)
    return max(min(fine, constants.DEEP_DIM), coarse, 1)


def restore_settings(values: dict[str, Any]) -> Settings:
    """Return settings from plain values, in which tuples may have become lists."""
    tuples = {name: tuple(values[name]) for name in ("layer_sizes", "context_dims", "without")}
    settings = Settings(**{**values, **tuples})
    check_settings(settings)
    return settings
