"""Numbers that were measured several times, with other seeds or on other rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.reproduction.shared.record import Results


class Mean(NamedTuple):
    """A mean over seeds, and its standard error; None for a single seed."""

    mean: float
    error: float | None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.error is None else f"{self.mean:.3f} ± {self.error:.3f}"


def average(values: Iterable[float]) -> Mean:
    """Return the mean of values, one for each seed."""
    found = list(values)
    return Mean(float(np.mean(found)), standard_error(found))


def standard_error(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the standard error of a mean; None for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def means(parts: Sequence[Results]) -> Results:
    """Return the mean of each score over some results; of lists, number by number."""
    return {score: np.mean([part[score] for part in parts], axis=0).tolist() for score in parts[0]}


def averages(cells: Mapping[tuple[int, int], Results]) -> Results:
    """Return means over (split, seed) pairs, with their standard errors over splits and over seeds."""
    first, *others = cells.values()
    names = [name for name in first if all(name in cell for cell in others)]  # older jobs lack new measures
    result: Results = {"splits": len({s for s, _ in cells}), "seeds": len({s for _, s in cells})}
    for name in names:
        result[name] = np.mean([cell[name] for cell in cells.values()])
        result[f"{name}_error_splits"] = _error({pair: cell[name] for pair, cell in cells.items()}, 0)
        result[f"{name}_error_seeds"] = _error({pair: cell[name] for pair, cell in cells.items()}, 1)
    return result


def _error(values: Mapping[tuple[int, int], float], axis: int) -> float | None:
    """Return the standard error of the mean over splits (axis 0) or seeds (1); None for a single one."""
    groups = defaultdict(list)
    for pair, value in values.items():
        groups[pair[axis]].append(value)
    return standard_error([float(np.mean(group)) for group in groups.values()])
