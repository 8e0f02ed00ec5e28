"""Standardisation, from a whole table or from a stream that may be cut anywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.constants import CONSTANT_RATIO, OUTLIER, SETTLED_ROWS
from ggln.engine.jit import exact_kernel

FloatArray = NDArray[np.float64]


@exact_kernel
def scale_of(count: Any, mean: Any, squares: Any) -> Any:
    """Return the standard deviation sqrt(squares / count), or 1 for a constant or for no rows at all."""
    if count == 0:
        return 1.0
    deviation = np.sqrt(squares / count)
    if deviation <= CONSTANT_RATIO * abs(mean):
        return 1.0
    return deviation


@exact_kernel
def standardize_rows(
    state: Any, rows: Any, limit: Any, active: Any, learning: Any, scaled: Any, shifts: Any, scales: Any
) -> None:
    """Standardise rows one by one, each with the statistics of the rows before it, then learn from it.

    state: [3, d] # OUT, count, mean and sum of squared deviations of each column (Welford's algorithm);
    rows: [n, d]; scaled: [n, d] # OUT, clipped to [-limit, limit]; shifts, scales: [n, d] # OUT, or empty.
    Once the scale is known well, a value counts as at most `OUTLIER` deviations off: a single one of 1e6
    would make all later ones look alike.
    """
    for t in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            value, shift, scale = rows[t, j], 0.0, 1.0
            if active:
                shift, scale = state[1, j], scale_of(state[0, j], state[1, j], state[2, j])
            scaled[t, j] = min(max((value - shift) / scale, -limit), limit)
            if shifts.shape[0] > 0:
                shifts[t, j], scales[t, j] = shift, scale
            if learning:
                if state[0, j] >= SETTLED_ROWS and state[2, j] > 0.0:
                    reach = OUTLIER * np.sqrt(state[2, j] / state[0, j])
                    value = min(max(value, state[1, j] - reach), state[1, j] + reach)
                state[0, j] += 1.0
                delta = value - state[1, j]
                state[1, j] += delta / state[0, j]
                state[2, j] += delta * (value - state[1, j])


@exact_kernel
def is_constant(count: Any, mean: Any, squares: Any) -> Any:
    """Return whether a column has been the same in all rows; a single row does not tell."""
    return count > 1.0 and np.sqrt(squares / count) <= CONSTANT_RATIO * abs(mean)


@exact_kernel
def hold_constants(state: Any, rows: Any, held: Any) -> None:
    """Write rows with the constant itself for all values of columns that are constant # OUT [n, d].

    state: as in `standardize_rows`. A value of a column that no row had is missing. Missing values stay so.
    """
    known = state[0].max()
    for j in range(rows.shape[1]):
        count, mean = state[0, j], state[1, j]
        empty, constant = known > 1.0 and count == 0.0, is_constant(count, mean, state[2, j])
        for t in range(rows.shape[0]):
            value = rows[t, j]
            if empty:
                value = np.nan
            elif constant and value == value:
                value = mean
            held[t, j] = value


@exact_kernel
def units_of(state: Any, active: Any, shift: Any, scale: Any) -> None:
    """Write what standardised values are multiplied by and moved to, [d] each # OUT."""
    for j in range(shift.size):
        shift[j], scale[j] = 0.0, 1.0
        if active:
            shift[j], scale[j] = state[1, j], scale_of(state[0, j], state[1, j], state[2, j])


@exact_kernel
def within(rows: Any, limit: Any) -> Any:
    """Return whether all numbers are finite and at most `limit` in size."""
    for t in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if not abs(rows[t, j]) <= limit:
                return False
    return True


@exact_kernel
def restore_moments(state: Any, active: Any, networks: Any, least: Any, mean: Any, second: Any) -> None:
    """See `Scaler.restore_moments`."""
    for j in range(mean.shape[1]):
        shift, scale = 0.0, 1.0
        if active:
            shift, scale = state[1, j], scale_of(state[0, j], state[1, j], state[2, j])
        average = mean[0, j] / networks
        variance = max(second[0, j] / networks - average * average, least)
        mean[0, j], second[0, j] = shift + scale * average, scale * np.sqrt(variance)


NOTHING = np.empty((0, 0))


class Scaler:
    """Running mean and standard deviation of each column.

    With `active` false it passes values through, and only clips them. With `hold`, columns that were constant
    stay so, whatever comes.
    """

    def __init__(self, columns: int, limit: float, active: bool, hold: bool = False) -> None:
        self.state = np.zeros((3, columns))
        self.limit, self.active, self.hold = limit, active, hold

    def fit(self, rows: FloatArray) -> None:
        """Take the statistics of a whole table, in three passes: a sum's rounding grows with its length."""
        mean = rows.mean(axis=0)
        mean += (rows - mean).mean(axis=0)
        self.state[0], self.state[1], self.state[2] = rows.shape[0], mean, ((rows - mean) ** 2).sum(axis=0)

    def settle(self, rows: FloatArray, weights: FloatArray) -> None:
        """As `fit`, for rows of weights [n] > 0, and without missing values; a constant is its own mean."""
        missing = np.isnan(rows)
        if missing.any() or (weights != 1.0).any():
            values, counted = np.where(missing, 0.0, rows), np.where(missing, 0.0, weights[:, None])
            count = counted.sum(axis=0)
            mean = (counted * values).sum(axis=0) / np.where(count > 0.0, count, 1.0)
            mean += (counted * (values - mean)).sum(axis=0) / np.where(count > 0.0, count, 1.0)
            self.state[:] = count, mean, (counted * (values - mean) ** 2).sum(axis=0)
        else:
            self.fit(rows)
        low = np.min(rows, axis=0, where=~missing, initial=np.inf)
        constant = low == np.max(rows, axis=0, where=~missing, initial=-np.inf)
        self.state[1:, constant] = low[constant], np.zeros(np.count_nonzero(constant))

    def widened(self, columns: int) -> "Scaler":
        """Return a scaler of the same kind for so many columns, which knows nothing yet."""
        return Scaler(columns, self.limit, self.active, self.hold)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update(state, state=memory.writeable(state["state"]))

    def shift_and_scale(self) -> tuple[FloatArray, FloatArray]:
        """Return what standardised values are multiplied by and moved to, to be in the user's units again."""
        shift, scale = np.empty((2, self.state.shape[1]))
        units_of(self.state, self.active, shift, scale)
        return shift, scale

    def constant(self) -> NDArray[np.bool_]:
        """Return which columns hold the same whatever comes."""
        columns = range(self.state.shape[1])
        return np.array([self.hold and bool(is_constant(*self.state[:, j])) for j in columns], np.bool_)

    def transform(self, rows: FloatArray) -> FloatArray:
        """Standardise rows with the statistics as they are; with `hold`, without further columns."""
        held = rows
        if self.hold:
            rows = np.ascontiguousarray(rows[:, : self.state.shape[1]])
            held = np.empty(rows.shape)
            hold_constants(self.state, rows, held)
        scaled = np.empty(held.shape)
        standardize_rows(self.state, held, self.limit, self.active, False, scaled, NOTHING, NOTHING)
        return scaled

    def learn(self, rows: FloatArray) -> FloatArray:
        """Standardise rows one after the other and learn from each."""
        scaled = np.empty(rows.shape)
        standardize_rows(self.state, rows, self.limit, self.active, True, scaled, NOTHING, NOTHING)
        return scaled

    def learn_recorded(self, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """As `learn`; return also each row's shift and scale."""
        scaled, shifts, scales = np.empty(rows.shape), np.empty(rows.shape), np.empty(rows.shape)
        standardize_rows(self.state, rows, self.limit, self.active, True, scaled, shifts, scales)
        return scaled, shifts, scales

    def restore_moments(self, mean: FloatArray, second: FloatArray, networks: int, least: float) -> None:
        """Turn sums of moments over networks into mean and deviation, in the user's units # OUT.

        mean, second: [1, D]; least: the smallest variance there can be: rounding must not make it vanish.
        """
        restore_moments(self.state, self.active, networks, least, mean, second)
