"""How good a model's predictions are, for rows that come piece by piece."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.scores import by_row, summarize
from ggln.tables.online import Worker
from ggln.tables.read import Bad, OpenTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggln.tables.model import TableRegressor

FloatArray = NDArray[np.float64]
PIECE = 1024
"""Rows that are judged at a time."""
TOGETHER = "all of them"
COLUMNS = {"rmse": ".4g", "nll": ".4f", "crps": ".4g"} | {
    f"coverage_{level}": ".1%" for level in (50, 90, 95)
}
TITLES = {"rmse": "RMSE", "nll": "NLL", "crps": "CRPS"} | {
    f"coverage_{level}": f"inside {level} %" for level in (50, 90, 95)
}
"""What tables of scores show, and what it is called there."""


def judge(
    model: "TableRegressor", pieces: Iterable[tuple[FloatArray, FloatArray]], n_jobs: int | None
) -> dict[str, Results]:
    """Return the scores of each target, and of all together if they are several; none if there are no rows.

    pieces: X [n, d] and Y [n, D].
    """
    names = model.targets
    parts: dict[str, list[dict[str, FloatArray]]] = {}
    with Worker(model.regressor_, n_jobs) as worker:
        for X, Y in pieces:
            joint: Any = worker.distribution(X)
            several = len(names) > 1
            for i, name in enumerate(names):
                one, y = joint.marginal(i) if several else joint, Y[:, i]
                parts.setdefault(name, []).append(by_row(one, y) | {"crps": one.crps(y)})
            if several:
                parts.setdefault(TOGETHER, []).append(by_row(joint, Y))
    found = {name: _averages(some) for name, some in parts.items()}
    if TOGETHER in found:
        found[TOGETHER]["crps"] = sum(found[name]["crps"] for name in names) / len(names)
    return found


def _averages(parts: Sequence[dict[str, FloatArray]]) -> Results:
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return summarize(rows) | ({"crps": rows["crps"].mean()} if "crps" in rows else {})


class Labelled:
    """The rows of a table that have their targets, as numbers, piece by piece; the others are counted."""

    def __init__(self, model: "TableRegressor", table: OpenTable, report: "Callable[[Bad], None]") -> None:
        self.encoder, self.table, self.report = model.schema_.copy().bind(table, targets=True), table, report
        self.rows = self.unlabelled = 0

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        for chunk in self.table.chunks(PIECE):
            encoded = self.encoder(chunk)
            for bad in encoded.bad:
                self.report(bad)
            known = ~np.isnan(encoded.Y).any(axis=1)
            self.rows += int(known.sum())
            self.unlabelled += int((~known).sum())
            if known.any():
                yield encoded.X[known], encoded.Y[known]
