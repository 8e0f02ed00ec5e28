"""The predictive distribution of rows in partitions: what it is asked is answered later, by each."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ggln.distributed.collections import aligned, delayed, joined

LIKE_ROWS = "mean", "std", "var"


class DaskDistribution:
    """The predictive distribution of each row. Answers are Dask arrays, a chunk for each partition.

    It has what the distribution of rows in one place has: `mean`, `std`, `log_prob(y)`, `cdf(y)`, `sf(y)`,
    `crps(y)`, `quantile(q)`, `interval(level)`. `to_delayed` gives the distributions of the partitions.
    """

    def __init__(self, parts: Sequence[Any], rows: Sequence[float], outputs: int, X: Any) -> None:
        self._parts, self._rows, self._outputs, self._X = list(parts), list(rows), outputs, X

    def to_delayed(self) -> list[Any]:
        """Return the delayed distribution of each partition; None where it has no rows."""
        return list(self._parts)

    @property
    def mean(self) -> Any:
        """Means, (n,) or (n, outputs)."""
        return self._of_rows("mean")

    @property
    def std(self) -> Any:
        """Standard deviations, (n,) or (n, outputs)."""
        return self._of_rows("std")

    def log_prob(self, y: Any) -> Any:
        """Log density of targets, for several outputs together: (n,)."""
        return self._of_targets("log_prob", y, ())

    def cdf(self, y: Any) -> Any:
        """Probability below targets, (n,) or (n, outputs)."""
        return self._of_targets("cdf", y, self._after)

    def sf(self, y: Any) -> Any:
        """Probability above targets, (n,) or (n, outputs)."""
        return self._of_targets("sf", y, self._after)

    def crps(self, y: Any) -> Any:
        """Continuous ranked probability score of targets, (n,) or (n, outputs)."""
        return self._of_targets("crps", y, self._after)

    def quantile(self, q: Any) -> Any:
        """Quantiles: scalar q -> (n, ..), q (k,) -> (k, n, ..)."""
        before = np.shape(q)
        answer = partial(_answer, name="quantile", before=before, after=self._after, arguments=(q,))
        parts = [delayed(answer)(part) for part in self._parts]
        return joined(parts, self._rows, len(before), before, self._after)

    def interval(self, level: float) -> tuple[Any, Any]:
        """Central interval: lower and upper ends, (n, ..) each."""
        return self.quantile((1.0 - level) / 2.0), self.quantile((1.0 + level) / 2.0)

    @property
    def _after(self) -> tuple[int, ...]:
        return () if self._outputs == 1 else (self._outputs,)

    def _of_rows(self, name: str) -> Any:
        answer: Callable[..., Any] = partial(_answer, name=name, before=(), after=self._after)
        return joined([delayed(answer)(part) for part in self._parts], self._rows, 0, (), self._after)

    def _of_targets(self, name: str, y: Any, after: tuple[int, ...]) -> Any:
        _, targets = aligned(self._X, y=y)
        answer: Callable[..., Any] = partial(_answer, name=name, before=(), after=after)
        parts = [delayed(answer)(*pair) for pair in zip(self._parts, targets, strict=True)]
        return joined(parts, self._rows, 0, (), after)


def _answer(
    distribution: Any,
    y: Any = None,
    *,
    name: str,
    before: tuple[int, ...],
    after: tuple[int, ...],
    arguments: tuple[Any, ...] = (),
) -> Any:
    """Return what the distribution of a partition answers."""
    if distribution is None:
        return np.empty((*before, 0, *after))
    found = getattr(distribution, name)
    if y is not None:
        y = np.asarray(y, np.float64)
        arguments = (y[:, 0] if y.ndim == 2 and not after and name != "log_prob" else y,)
    return np.asarray(found(*arguments) if callable(found) else found)
