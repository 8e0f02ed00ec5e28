"""Ranges of parameters: numbers are numbers, of which True and False are none."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _param_validation
from sklearn.utils._param_validation import validate_parameter_constraints

MOST = 10**9
"""Of anything that is counted: what is beyond would never end, or be no integer of compiled code."""


def is_whole(value: Any) -> bool:
    """Return whether this is an integer; to Python, True is one.

    >>> is_whole(1), is_whole(True), is_whole(1.0)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Return whether this is a number; to Python, True is one.

    >>> is_real(0.5), is_real(True), is_real("0.5")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


class Interval(_param_validation.Interval):
    """A range of numbers, as scikit-learn has it, without True and False."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a parameter is in the range; a number that NumPy cannot hold is in none."""
        try:
            return not isinstance(val, bool) and bool(super().is_satisfied_by(val))
        except (OverflowError, TypeError):
            return False


SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), np.random.RandomState, None]
COUNTS = Interval(Integral, 1, MOST, closed="both")
JOBS = [None, Interval(Integral, -MOST, -1, closed="both"), COUNTS]
RATE = Interval(Real, 0, 1e9, closed="right")
SCALE = Interval(Real, 1e-9, 1e9, closed="both")
"""Settings with the meaning of a scale: the kernels square them in single precision, which ends at 1e38."""


class LateParameters:
    """Parameters may be set once something is learnt: all are checked before anything more is learnt.

    They count from the next `fit` on; `n_jobs` and `verbose` count at once.
    """

    _unchecked = False

    def _check_parameters(self) -> None:
        """Raise ValueError where a parameter cannot be what it is."""
        raise NotImplementedError

    def set_params(self, **params: Any) -> Any:
        """Set parameters, as scikit-learn does; they are checked by whatever learns next."""
        super().set_params(**params)  # type: ignore[misc]
        if params and any(
            name.endswith("_") for name in vars(self)
        ):  # where nothing is learnt, all are checked
            self._unchecked = True
        return self

    def _require_parameters(self, begin: bool = False) -> None:
        """Check the parameters where learning is to begin, or where some were set since they were checked."""
        if begin or self._unchecked:
            self._check_parameters()
            vars(self).pop("_unchecked", None)

    def _require_jobs(self) -> None:
        """Check what counts at once, where it was set since: whoever asks learns nothing."""
        if self._unchecked:
            given = {"n_jobs": self.n_jobs}  # type: ignore[attr-defined]
            validate_parameter_constraints({"n_jobs": JOBS}, given, type(self).__name__)
