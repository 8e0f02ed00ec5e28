"""Standardisation, from a whole table or from a stream that may be cut anywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core import memory
from ggln.core.constants import CONSTANT_RATIO, OUTLIER, SETTLED_ROWS
from ggln.core.jit import exact_kernel

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

    With `active` false it passes values through, and only clips them.
    """

    def __init__(self, columns: int, limit: float, active: bool) -> None:
        self.state = np.zeros((3, columns))
        self.limit, self.active = limit, active

    def fit(self, rows: FloatArray) -> None:
        """Take the statistics of a whole table, in three passes: a sum's rounding grows with its length."""
        mean = rows.mean(axis=0)
        mean += (rows - mean).mean(axis=0)
        self.state[0], self.state[1], self.state[2] = rows.shape[0], mean, ((rows - mean) ** 2).sum(axis=0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update(state, state=memory.writeable(state["state"]))

    def shift_and_scale(self) -> tuple[FloatArray, FloatArray]:
        """Return what standardised values are multiplied by and moved to, to be in the user's units again."""
        columns = self.state.shape[1]
        if not self.active:
            return np.zeros(columns), np.ones(columns)
        scale = np.array([scale_of(*self.state[:, j]) for j in range(columns)])
        return self.state[1].copy(), scale

    def transform(self, rows: FloatArray) -> FloatArray:
        """Standardise rows with the statistics as they are."""
        scaled = np.empty(rows.shape)
        standardize_rows(self.state, rows, self.limit, self.active, False, scaled, NOTHING, NOTHING)
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
