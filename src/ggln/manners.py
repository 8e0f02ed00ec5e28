"""Manners that all estimators share: what they take, what they refuse and how they say it, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from ggln.conversion import as_numbers, naming_text, place_of
from ggln.core import constants
from ggln.core.learner import Learner
from ggln.core.scaling import within
from ggln.core.threads import Threads

FloatArray = NDArray[np.float64]
RATE = Interval(Real, 0, 1e9, closed="right")

ROWS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
"""How rows are brought into the core. The order in memory is the order of summation: in another one, a data
frame would give other last bits than an array. What is not finite is looked for here, to say where."""

GAPS = (
    "Fill gaps, for example with scikit-learn's SimpleImputer, or leave out such rows; for regression, "
    "ggln.TableRegressor takes gaps as they are"
)
"""What to do about a missing feature."""

COUNTS = Interval(Integral, 1, None, closed="left")
JOBS = [None, Interval(Integral, None, -1, closed="right"), COUNTS]

Observer = Callable[[str, int, Learner | None], AbstractContextManager[Callable[[int], object]]]


class Manners:
    """What an estimator with the parameters and attributes below is given."""

    layer_sizes: Sequence[int]
    context_dim: int | Sequence[int] | None
    weight_range: tuple[float, float]
    min_variance: float
    max_variance: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    n_features_in_: int

    _observer: Observer | None = None
    """Told of every stage of learning, its steps and the learner at work: the bar of the command line."""

    # Checks --------------------------------------------------------------------------------------------

    def _check_network(self) -> None:
        """Refuse parameters of the network that scikit-learn's declared ranges cannot."""
        self._check_layers()
        dims, most = self._context_dims(), constants.CONTEXT_DIM_MAX
        missing = not dims and self.context_dim is not None
        if missing or not all(isinstance(dim, Integral) and 0 <= dim <= most for dim in dims):
            raise ValueError(
                f"context_dim must be one or several integers from 0 to {most}, got {self.context_dim!r}"
            )
        bounds = list(self.weight_range)
        if len(bounds) != 2 or not all(isinstance(bound, Real) and abs(bound) <= 1e9 for bound in bounds):
            raise ValueError(f"weight_range must be two numbers up to 1e9, got {self.weight_range!r}")
        if not bounds[0] < bounds[1] or bounds[1] < 1.0:
            raise ValueError(f"weight_range must be (low, high) with high >= 1, got {self.weight_range!r}")

    def _check_layers(self) -> None:
        """Refuse layers that are none."""
        sizes = list(self.layer_sizes)
        if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
            raise ValueError(f"layer_sizes must be a sequence of positive integers, got {self.layer_sizes!r}")

    def _check_variances(self) -> None:
        """Refuse an empty range of variances."""
        if not self.min_variance < self.max_variance:
            raise ValueError(
                f"min_variance must be below max_variance, got {self.min_variance} and {self.max_variance}"
            )

    def _check_initial_weight(self, least: float) -> None:
        """Refuse a range of weights that the initial ones, of which `least` is the least, are not in."""
        if not self.weight_range[0] < least:
            raise ValueError(
                f"weight_range must begin below the initial weight 1 / inputs, here {least:.3g}, "
                f"got {self.weight_range!r}"
            )

    def _check_rows(self, X: ArrayLike) -> FloatArray:
        """Return checked rows to predict."""
        check_is_fitted(self)
        with naming_text(X=X):
            rows: FloatArray = validate_data(self, X, reset=False, **ROWS)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        return rows

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Take back what scikit-learn noted about the features, if anything goes wrong within."""
        before = {name: value for name, value in vars(self).items() if name.endswith("_in_")}
        try:
            yield
        except BaseException:
            for name in [name for name in vars(self) if name.endswith("_in_")]:
                delattr(self, name)
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def _one(self, x: Any) -> FloatArray:
        """Return a single row, checked, as an array of shape (1, features)."""
        names = getattr(self, "feature_names_in_", None)
        row = as_numbers("x", x if isinstance(x, np.ndarray) else in_order(x, names), names)
        if row.shape != (1, self.n_features_in_):
            raise ValueError(
                f"x has shape {np.shape(x)}, but this model expects a 1-D array of "
                f"{self.n_features_in_} features"
            )
        if not within(row, constants.MAX_MAGNITUDE):
            refuse_bad("x", row, names)
        return row

    # Small parts ---------------------------------------------------------------------------------------

    def _context_dims(self) -> tuple[int, ...]:
        """Return the context dimensions that the networks have in turn; none where the rows decide."""
        if self.context_dim is None:
            return ()
        if isinstance(self.context_dim, Sequence | np.ndarray):
            return tuple(dim.item() if isinstance(dim, np.generic) else dim for dim in self.context_dim)
        return (int(self.context_dim),)

    def _shape(self) -> dict[str, Any]:
        """Return layers, contexts and range of the weights, as the core's settings have them."""
        dims = self._context_dims()
        return {
            "layer_sizes": tuple(int(size) for size in self.layer_sizes),
            "weight_range": tuple(float(bound) for bound in self.weight_range),
            "context_dim": max(dims),
            "context_dims": dims if len(dims) > 1 else (),
        }

    def _seed(self) -> int:
        return draw_seed(self.random_state)

    def _threads(self) -> Threads:
        return Threads(joblib.effective_n_jobs(self.n_jobs))

    @contextmanager
    def _progress(
        self, what: str, steps: int, learner: Learner | None = None
    ) -> Iterator[Callable[[int], object]]:
        """Give a function that is told how many steps were done, and shows them if `verbose`."""
        if self._observer is not None:
            with self._observer(what, steps, learner) as advance:
                yield advance
            return
        if not self.verbose:
            yield lambda _: None
            return
        from rich.progress import Progress

        with Progress() as bar:
            task = bar.add_task(what, total=steps)
            yield lambda done: bar.advance(task, done)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that a `random_state` is, or one drawn from it."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _of_frame(x: Any) -> bool:
    """Return whether this is a row of a data frame."""
    return hasattr(x, "to_dict") and getattr(x, "ndim", 0) == 1


def with_names(x: Any) -> tuple[list[Any] | None, Any]:
    """Return the names and the values of a row that nothing was learnt before: a dict's, or a named row's."""
    if _of_frame(x) and all(isinstance(name, str) for name in x.index):
        x = x.to_dict()
    return (list(x), list(x.values())) if isinstance(x, Mapping) else (None, x)


def in_order(x: Any, names: Any, what: str = "x") -> Any:
    """Return the values of a single row in the order of the features; a dict or a named row is read by name.

    names: of the features, None where there are none; what: the row is called in an error.
    """
    if names is not None and _of_frame(x):
        x = x.to_dict()
    if not isinstance(x, Mapping):
        return x
    if names is None:
        raise ValueError(
            f"{what} is a dict, but this model was fitted without feature names: give a 1-D array"
        )
    missing, unknown = [n for n in names if n not in x], [n for n in x if n not in set(names)]
    if missing or unknown:
        lacks = [f"lacks the features {missing}"] if missing else []
        has = [f"has the unknown features {unknown}"] if unknown else []
        raise ValueError(f"{what} " + " and ".join(lacks + has))
    return [x[name] for name in names]


def refuse_bad(name: str, values: FloatArray, feature_names: Any) -> None:
    """Raise ValueError naming the first NaN, infinity or overflowing value, if there is one.

    name: X and y are of several rows, x of a single one.
    """
    bad = ~(np.abs(values) <= constants.MAX_MAGNITUDE)
    if not bad.any():
        return
    place = np.argwhere(bad)[0]
    value = values[tuple(place)]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}, which is too large"
    where = place_of(tuple(place), name != "x", feature_names).lstrip(", ")
    remedy = f"Values must be finite numbers, at most {constants.MAX_MAGNITUDE:g} in size: correct it"
    if np.isnan(value):
        remedy = "Leave out such rows" if name == "y" else GAPS
    if np.isnan(value) and name == "y" and np.isnan(values).all():
        where, remedy = "it has no number at all", "Rows without a target cannot be learnt"
    raise ValueError(f"Input {name} contains {what}: {where}. {remedy}; the model is unchanged")


def refuse_arguments(method: str, refused: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that other estimators may take."""
    if "sample_weight" in refused:
        raise TypeError(
            f"{method} takes no sample_weight: networks learn row by row, and every row counts once. Give "
            "rows with more weight several times, or draw rows in proportion to their weights"
        )
    if refused:
        raise TypeError(f"{method} takes X and y, got also {', '.join(map(repr, refused))}")
