"""`MissingValues`: a step of a pipeline that fills gaps by what the density of the table expects there."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ggln.density.checks import check_counts
from ggln.density.estimator import DenoisingDensity
from ggln.estimators.base import ROWS, refuse_bad
from ggln.estimators.ranges import JOBS, SEED, LateParameters

FloatArray = NDArray[np.float64]


class MissingValues(LateParameters, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill in missing values, NaN, by the density of the table (`DenoisingDensity`).

    The density is learnt from rows with gaps as they are. A missing value becomes its expectation given the
    known values of its row or, for multiple imputation, a draw from its distribution, together with the
    others of the row. A column without any value is filled with zeros.

    Parameters
    ----------
    sample : bool
        Whether `transform` draws missing values instead of taking their expectation. `draws` draws several
        times.
    random_state : None, int or RandomState
        Seed of folds and draws.
    n_jobs : None or int
        Threads. The result does not depend on them.

    Attributes
    ----------
    density_ : DenoisingDensity
        The density of the table.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ggln.density import MissingValues
    >>> X = np.random.default_rng(0).normal(size=(300, 1)) * [1.0, 2.0]  # the second is twice the first
    >>> X[::3, 1] = np.nan
    >>> bool(abs(MissingValues(random_state=0).fit(X).transform([[0.5, np.nan]])[0, 1] - 1.0) < 0.1)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "sample": ["boolean"],
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        sample: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sample = sample
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn the density of a table with gaps. `y` is ignored."""
        self._require_parameters(begin=True)
        rows = self._rows(X, reset=True)
        self.density_ = DenoisingDensity(random_state=self.random_state, n_jobs=self.n_jobs).fit(rows)
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the rows, (n, columns), without gaps; known values stay exactly as they are."""
        check_is_fitted(self)
        self._check_parameters()  # those of draws count at once
        rows = self._rows(X, reset=False)
        return self.density_.infill(rows, sample=self.sample, random_state=self.random_state)

    def draws(
        self, X: ArrayLike, n: int = 5, random_state: int | np.random.RandomState | None = None
    ) -> FloatArray:
        """Return n tables, (n, rows, columns), each with different draws of the missing values.

        Fit a model to each, and average. The spread of the results shows how uncertain the gaps are.
        """
        check_is_fitted(self)
        check_counts(1, n=n)
        self._check_parameters()
        rows = self._rows(X, reset=False)
        random = check_random_state(self.random_state if random_state is None else random_state)
        seeds = random.randint(2**31 - 1, size=n)
        return np.array([self.density_.infill(rows, sample=True, random_state=int(seed)) for seed in seeds])

    def _check_parameters(self) -> None:
        self._validate_params()

    def _rows(self, X: ArrayLike, reset: bool) -> FloatArray:
        rows: FloatArray = validate_data(self, X, reset=reset, **ROWS)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None), gaps=True)
        return rows
