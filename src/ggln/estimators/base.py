"""What all estimators share: checks of what they are given, errors that say what to do, and progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ggln.engine import constants
from ggln.engine.checks import require
from ggln.engine.gradient.learner import Learner
from ggln.engine.scaling import within
from ggln.engine.threads import Threads
from ggln.estimators.named_rows import by_name, complete, in_order
from ggln.estimators.numeric import as_numbers, dense, naming_text, place_of
from ggln.estimators.ranges import MOST, LateParameters, is_real, is_whole
from ggln.estimators.whole import learn_part
from ggln.estimators.workers import threads_for, workers_for

FloatArray = NDArray[np.float64]

ROWS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
"""How rows are brought into the engine. The order in memory is the order of summation: in another one, a data
frame would give other last bits than an array. What is not finite is looked for here, to say where."""

GAPS = (
    'Networks that learn by gradient steps need every feature: use step="newton", which takes missing values '
    "as they are, fill gaps, for example with scikit-learn's SimpleImputer, or leave out such rows"
)
"""What to do about a missing feature."""

ONE = np.ones(1)
"""The weight of a single row."""

Observer = Callable[[str, int, Learner | None], AbstractContextManager[Callable[[int], object]]]


class NetworkEstimator(LateParameters):
    """What an estimator with the parameters and attributes below is given."""

    layer_sizes: Sequence[int]
    context_dim: int | Sequence[int] | None
    weight_range: tuple[float, float]
    step: str
    min_variance: float
    max_variance: float
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    learner_: Any

    _coming: list[Any] = []  # noqa: RUF012
    """Features that rows had, and that join when the networks are laid out next."""
    _ignored: list[Any] = []  # noqa: RUF012
    """Features that came too late, and have been warned of."""
    _observer: Observer | None = None
    """Told of every stage of learning, its steps and the learner at work: the bar of the command line."""

    # Checks --------------------------------------------------------------------------------------------

    def _check_network(self) -> None:
        """Refuse parameters of the network that scikit-learn's declared ranges cannot."""
        self._check_layers()
        dims, most = self._context_dims(), constants.CONTEXT_DIM_MAX
        missing = not dims and self.context_dim is not None
        if missing or not all(is_whole(dim) and 0 <= dim <= most for dim in dims):
            raise ValueError(
                f"context_dim must be one or several integers from 0 to {most}, got {self.context_dim!r}"
            )
        bounds = list(self.weight_range)
        if len(bounds) != 2 or not all(is_real(bound) and abs(bound) <= 1e9 for bound in bounds):
            raise ValueError(f"weight_range must be two numbers up to 1e9, got {self.weight_range!r}")
        if not bounds[0] < bounds[1] or bounds[1] < 1.0:
            raise ValueError(f"weight_range must be (low, high) with high >= 1, got {self.weight_range!r}")

    def _check_layers(self) -> None:
        """Refuse layers that are none."""
        sizes = list(self.layer_sizes)
        if not sizes or not all(is_whole(size) and 0 < size <= MOST for size in sizes):
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
        X = dense(X)
        with naming_text(X=X):
            rows: FloatArray = validate_data(self, X, reset=False, **ROWS)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None), self._takes_gaps())
        return rows

    def _takes_gaps(self) -> bool:
        """Return whether features may be missing: for networks that are solved, begun or to be begun."""
        begun = getattr(self, "learner_", None)
        return self.step == "newton" if begun is None else not isinstance(begun, Learner)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Take back what scikit-learn noted about the features, if anything goes wrong within."""
        before = {name: value for name, value in vars(self).items() if name.endswith("_in_")}
        begun = self._begun()
        try:
            yield
        except BaseException:
            if not begun and self._begun():  # some rows were learnt, with these features
                raise
            for name in [name for name in vars(self) if name.endswith("_in_")]:
                delattr(self, name)
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def _begun(self) -> bool:
        """Return whether there is a learner."""
        return hasattr(self, "learner_")

    def _one(self, x: Any) -> FloatArray:
        """Return a single row to predict, checked, as an array of shape (1, features)."""
        names: Any = getattr(self, "feature_names_in_", None)
        if not isinstance(x, np.ndarray):
            x = by_name(x, names)
            if isinstance(x, Mapping):
                if not getattr(self.learner_, "young", False):
                    self._ignore(x, names)
                x = self._values(x, names)
        return self._checked(x, names, self.n_features_in_)

    def _one_to_learn(self, x: Any) -> tuple[FloatArray, list[Any]]:
        """Return a single row to learn, checked, and the names of features that wait to join.

        While a stream is young, a feature that was never there before joins when the networks are laid out
        next. Later it is ignored.
        """
        names: Any = getattr(self, "feature_names_in_", None)
        x = x if isinstance(x, np.ndarray) else by_name(x, names)
        if not isinstance(x, Mapping):
            return self._widened(self._checked(x, names, self.n_features_in_)), self._coming
        coming = self._coming
        if not complete(x, names):
            if getattr(self.learner_, "young", False):
                known = {*names, *coming}
                coming = [*coming, *(name for name in x if name not in known)]
            else:
                self._ignore(x, names)
        everyone = [*names, *coming]
        return self._checked(self._values(x, everyone), everyone, len(everyone)), coming

    def _values(self, x: Mapping[Any, Any], names: Sequence[Any]) -> list[Any]:
        """Return the values of a row in the order of the features; what it lacks is missing."""
        if not self._takes_gaps():
            x = {name: value for name, value in x.items() if name in set(names)}
            return list(in_order(x, names))
        return [x.get(name, np.nan) for name in names]

    def _ignore(self, x: Mapping[Any, Any], names: Sequence[Any]) -> None:
        """Say once of each feature that networks know nothing of it."""
        if complete(x, names):
            return
        unknown = [name for name in x if name not in {*names, *self._ignored}]
        if unknown:
            self._ignored = [*self._ignored, *unknown]
            warnings.warn(
                f"features {unknown} appear after the networks were laid out without them: they are ignored",
                stacklevel=4,
            )

    def _widened(self, rows: FloatArray) -> FloatArray:
        """Return rows with missing values for the features that wait to join."""
        if not self._coming:
            return rows
        return np.pad(rows, ((0, 0), (0, len(self._coming))), constant_values=np.nan)

    def _join(self, coming: list[Any]) -> None:
        """Let features join that the networks have been laid out with by now."""
        self._coming = coming
        if coming and self.learner_.features > self.n_features_in_:
            names = [*getattr(self, "feature_names_in_", ()), *coming]
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_, self._coming = len(names), []

    def _take_one(self, row: FloatArray, coming: list[Any], target: FloatArray) -> None:
        """Learn a single row, checked, as a whole."""

        def keep(learner: Any) -> None:
            self.learner_ = learner
            self._join(coming)

        learn_part(self.learner_, 1, lambda learner: learner.learn_one(row, target, ONE), keep)

    def _checked(self, x: Any, names: Any, features: int) -> FloatArray:
        """Return the values of a single row as an array (1, features)."""
        row = as_numbers("x", x, names)
        if row.shape != (1, features):
            raise ValueError(
                f"x has shape {np.shape(x)}, but this model expects a 1-D array of {features} features"
            )
        if not within(row, constants.MAX_MAGNITUDE):
            refuse_bad("x", row, names, self._takes_gaps())
        return row

    # Small parts ---------------------------------------------------------------------------------------

    def _context_dims(self) -> tuple[int, ...]:
        """Return the context dimensions that the networks have in turn; none where the rows decide."""
        if self.context_dim is None:
            return ()
        given: Any = self.context_dim
        if isinstance(given, Integral):
            return (int(given),)
        return tuple(dim.item() if isinstance(dim, np.generic) else dim for dim in given)

    def _shape(self) -> dict[str, Any]:
        """Return layers, contexts and range of the weights, as the engine's settings have them."""
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
        self._require_jobs()
        return threads_for(self.n_jobs)

    def _workers(self) -> Threads:
        """Return who solves the networks of a table."""
        self._require_jobs()
        return workers_for(self.n_jobs)

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


def restored(estimator: Any, header: Mapping[str, Any], tuples: Sequence[str]) -> Any:
    """Return an estimator with the parameters of a model file, checked; lists of JSON are tuples again."""
    parameters = dict(header["parameters"])
    for name in tuples:
        if isinstance(parameters[name], list):
            parameters[name] = tuple(parameters[name])
    model = estimator(**parameters)
    model._require_parameters(begin=True)
    return model


def take_names(model: Any, header: Mapping[str, Any]) -> None:
    """Take over the names of features from a model file; those that wait to join, too, where there are."""
    names, coming = header["feature_names"], header.get("coming", [])
    learner = getattr(model, "learner_", None)
    known = model.n_features_in_ + len(coming)
    require(not coming or getattr(learner, "young", False), "features wait that nobody waits for")
    require(learner is None or learner.columns <= known, "rows have more columns than there are features")
    for name in (*(names or ()), *coming):
        require(isinstance(name, str | int | float), f"{name!r} is no name of a feature")
    require(names is None or len(names) == model.n_features_in_, "feature_names are not as many as features")
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that a `random_state` is, or one drawn from it."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def refuse_bad(
    name: str, values: FloatArray, feature_names: Any, gaps: bool = False, about_gaps: str = GAPS
) -> None:
    """Raise ValueError naming the first NaN, infinity or overflowing value, if there is one.

    name: X and y are of several rows, x of a single one; gaps: whether NaN is a missing value, and welcome;
    about_gaps: what to do where it is not.
    """
    bad = ~(np.abs(values) <= constants.MAX_MAGNITUDE)
    if gaps:
        bad &= ~np.isnan(values)
    if not bad.any():
        return
    place = np.argwhere(bad)[0]
    value = values[tuple(place)]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}, which is too large"
    where = place_of(tuple(place), name != "x", feature_names).lstrip(", ")
    remedy = f"Values must be finite numbers, at most {constants.MAX_MAGNITUDE:g} in size: correct it"
    if np.isnan(value):
        remedy = "Leave out such rows" if name == "y" else about_gaps
    if np.isnan(value) and name == "y" and np.isnan(values).all():
        where, remedy = "it has no number at all", "Rows without a target cannot be learnt"
    raise ValueError(f"Input {name} contains {what}: {where}. {remedy}; the model is unchanged")


def check_weights(sample_weight: ArrayLike | None, rows: FloatArray) -> FloatArray:
    """Return checked weights of rows; without any, each counts once."""
    given = np.broadcast_to(1.0, rows.shape[:1]) if sample_weight is None else sample_weight
    with naming_text(sample_weight=given):
        weights: FloatArray = check_array(
            given, dtype=np.float64, order="C", ensure_2d=False, input_name="sample_weight", copy=True
        )
    if weights.shape != rows.shape[:1]:
        raise ValueError(f"sample_weight is of shape {weights.shape}, but there are {rows.shape[0]} rows")
    least, most = constants.WEIGHT_RANGE
    if not ((weights == 0) | ((weights >= least) & (weights <= most))).all():
        raise ValueError(
            f"sample_weight must hold numbers between {least:g} and {most:g}, or 0 for rows that do not "
            "count; the model is unchanged"
        )
    return weights


def refuse_nothing(weights: FloatArray) -> None:
    """Refuse a table of which no row counts."""
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: nothing can be learnt; the model is unchanged")


def those_that_count(weights: FloatArray, *arrays: Any) -> tuple[Any, ...]:
    """Return arrays without the rows of weight 0: left in, they would take part in drawing folds."""
    counted = weights > 0
    return arrays if counted.all() else tuple(array[counted] for array in arrays)


def refuse_arguments(method: str, refused: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that other estimators may take."""
    if "sample_weight" in refused:
        raise TypeError(
            f"{method} takes no sample_weight: networks learn row by row, and every row counts once. Give "
            "rows with more weight several times, or draw rows in proportion to their weights"
        )
    if refused:
        raise TypeError(f"{method} takes X and y, got also {', '.join(map(repr, refused))}")
