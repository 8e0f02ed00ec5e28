"""The loss of each row's prediction before it was learnt, over time."""

import copy
from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_consistent_length

from ggln.palette import BLUE, ORANGE
from ggln.plots.display import Display, FloatArray, count_rows, legend_above, take, unwrap
from ggln.plots.style import styled

Loss = Literal["nll", "squared_error", "absolute_error", "crps"]
LABELS = {
    "nll": "negative log-likelihood, nats",
    "squared_error": "squared error",
    "absolute_error": "absolute error",
    "crps": "CRPS",
}
CHUNK = 1024
"""Rows learnt at once: their predictions are not kept, only their losses."""


def losses_of(y: Any, distribution: Any, loss: Loss) -> FloatArray:
    """Return each row's loss; the mean over several outputs, but for the joint likelihood."""
    if loss not in LABELS:
        raise ValueError(f"loss must be one of {list(LABELS)}, got {loss!r}")
    targets = np.asarray(y, np.float64)
    if loss == "nll":
        return -np.asarray(distribution.log_prob(targets))
    if loss == "crps":
        found = np.asarray(distribution.crps(targets))
    else:
        error = np.abs(targets - distribution.mean)
        found = error**2 if loss == "squared_error" else error
    return found if found.ndim == 1 else found.mean(axis=1)


def learn_in_chunks(estimator: Any, X: Any, y: Any) -> Iterator[tuple[FloatArray, Any]]:
    """Let a copy of the estimator learn a stream; yield targets and what was predicted before, by and by."""
    model, rows = unwrap(estimator, X, "prequential")
    check_consistent_length(range(count_rows(rows)), y)
    learner, targets = copy.deepcopy(model), np.asarray(y, np.float64)
    for start in range(0, len(targets), CHUNK):
        part = slice(start, start + CHUNK)
        yield targets[part], learner.prequential(take(rows, part), targets[part])


class PrequentialDisplay(Display):
    """Losses of a stream, each row predicted before it was learnt.

    Parameters
    ----------
    losses : (n,)
    loss : str
        Which one it is.
    window : int, optional
        Rows of the moving mean; a twentieth of all by default.
    """

    def __init__(self, *, losses: FloatArray, loss: Loss = "nll", window: int | None = None) -> None:
        self.losses, self.loss = losses, loss
        self.window = max(1, losses.size // 20) if window is None else window
        if not 1 <= self.window <= losses.size:
            raise ValueError(f"window must be from 1 to the {losses.size} rows, got {window}")

    @property
    def moving(self) -> FloatArray:
        """Means over the last `window` rows, from row `window` on."""
        sums = np.cumsum(np.concatenate([[0.0], self.losses]))
        means: FloatArray = (sums[self.window :] - sums[: -self.window]) / self.window
        return means

    @property
    def running(self) -> FloatArray:
        """Means over all rows so far."""
        means: FloatArray = np.cumsum(self.losses) / np.arange(1, self.losses.size + 1)
        return means

    @styled
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the moving mean and the mean of all rows so far."""
        ax = self._start(ax)
        rows = np.arange(1, self.losses.size + 1)
        ax.plot(
            rows[self.window - 1 :], self.moving, color=BLUE, label=f"mean of the last {self.window} rows"
        )
        # the first few means are those of a model that knows nothing: they would set the scale
        settled = slice(min(self.window - 1, self.losses.size - 1), None)
        ax.plot(
            rows[settled],
            self.running[settled],
            color=ORANGE,
            linestyle="--",
            label="mean of all rows so far",
        )
        ax.set(xlabel="rows learnt", ylabel=LABELS[self.loss])
        legend_above(ax, 2)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: Loss = "nll",
        window: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw how a copy of the estimator, fitted or not, fares on a stream; the estimator is unchanged."""
        found = [losses_of(*chunk, loss) for chunk in learn_in_chunks(estimator, X, y)]
        return cls(losses=np.concatenate(found), loss=loss, window=window).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        distribution: Any,
        *,
        loss: Loss = "nll",
        window: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the losses of predictions in their order, such as `prequential` returns."""
        return cls(losses=losses_of(y, distribution, loss), loss=loss, window=window).plot(ax)
