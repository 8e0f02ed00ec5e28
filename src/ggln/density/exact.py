"""The density that is solved: local Gaussians, mixed by gates that read the noisy row.

Every Gaussian is a linear denoiser in closed form, for any noise, m + S (S + V)^-1 (y - m); its gate is its
share in the density of the noisy row. Nothing has to be drawn or descended: the same model serves every
strength of the noise, and a missing value is one whose noise has no end.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.density.layouts import check_gaussians
from ggln.density.scaling import CONSTANT, Range
from ggln.engine.gaussians import mixture
from ggln.engine.gaussians.model import Gaussians, sample
from ggln.engine.gaussians.solve import Choice, Sums, Table, maximise, solve
from ggln.engine.stream import next_half, spans
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
LEVELS = 0.8, 0.4, 0.2, 0.1, 0.05
"""Strengths of the noise, in spreads of the data, unless others are asked for."""
BLOCK_ROWS = 64
"""Rows of a stream that are learnt together, between two solutions."""
KEPT_NUMBERS = 1 << 21
"""Numbers of rows that are kept, in order to be solved afresh: 16 MB. Larger tables go on in blocks."""
SOLVED_WORK, SOLVED_ROWS, FEWEST_SOLVED = 1 << 24, 1 << 14, 1 << 10
"""The Gaussians are solved for a random part of many rows: as many as make rows times columns squared the
first number, between the third and the second. All rows then move them in `MORE_ROUNDS` rounds."""
MORE_ROUNDS = 2
OUTER_SHARE, OUTER_REACH = 0.01, 1e4
"""Values further from the median than so many mean deviations, of all but the outer hundredth, count as the
outermost of the others: a single one of 1e20 would leave no room for these. With a reach of 30, digits left
out are told by an area under the ROC curve of 0.91 instead of 0.98: a pixel that is hardly ever lit is
ordinary."""
LEAST_DEVIATION = 2.0 / 3.0
"""Deviations of scaled columns count as at least this, a third of the range: a pixel that is hardly ever lit
is no fine detail. With a sixth, filling in the gaps of seven tables errs by 5 % more."""
FAR = 1e100
"""Standardised values are cut off here: the squares of larger ones might overflow."""


class Units(NamedTuple):
    """How columns are standardised."""

    range: Range  # to [-1, 1]
    deviations: FloatArray  # [D], of scaled columns
    low: FloatArray  # [D], in the user's units; what is learnt is brought between the two
    high: FloatArray  # [D]

    def learnt(self, rows: FloatArray) -> FloatArray:
        """Return standardised rows to be learnt."""
        return self.standardised(np.clip(rows, self.low, self.high))

    def standardised(self, rows: FloatArray) -> FloatArray:
        """Return rows [n, D] in the solver's units."""
        return self.from_scaled(self.range.to_scaled(rows))

    def from_scaled(self, rows: FloatArray) -> FloatArray:
        """Return scaled rows in the solver's units."""
        cut: FloatArray = np.clip(rows / self.deviations, -FAR, FAR)
        return cut

    def to_scaled(self, rows: FloatArray) -> FloatArray:
        """Return standardised rows, scaled."""
        scaled: FloatArray = rows * self.deviations
        return scaled


def find_units(rows: FloatArray) -> Units:
    """Return the units of rows [n, D], which may have gaps; single wild values do not decide."""
    columns = rows.shape[1]
    middle, half, deviations = np.zeros(columns), np.ones(columns), np.zeros(columns)
    low, high = np.full(columns, -np.inf), np.full(columns, np.inf)
    for j, column in enumerate(rows.T):
        values = column[~np.isnan(column)]
        if values.size == 0:
            continue
        center = np.median(values)
        apart = np.sort(np.abs(values - center))
        usual = apart[: max(values.size - max(int(OUTER_SHARE * values.size), 1), 1)].mean()
        if apart[-1] > OUTER_REACH * usual > 0.0:
            values = values[np.abs(values - center) <= OUTER_REACH * usual]
            low[j], high[j] = values.min(), values.max()
        ends = values.min(), values.max()
        size, reach = max(abs(ends[0]), abs(ends[1])), ends[1] / 2 - ends[0] / 2
        middle[j] = ends[0] / 2 + ends[1] / 2
        half[j] = reach if reach > CONSTANT * size else size if size > 0 else 1.0
        deviations[j] = ((values - middle[j]) / half[j]).std()
    spread = float(np.sqrt(np.mean(deviations**2)))
    scaling = Range(middle, half, spread if spread > 0 else 1.0)
    return Units(scaling, np.maximum(deviations, LEAST_DEVIATION), low, high)


def solved_rows(columns: int) -> int:
    """Return for how many rows the Gaussians are solved."""
    return min(max(SOLVED_WORK // columns**2, FEWEST_SOLVED), SOLVED_ROWS)


class Level:
    """The solved density with one strength of the noise, in scaled units."""

    def __init__(self, model: Gaussians, units: Units, noise: FloatArray) -> None:
        self.model, self.units, self.noise = model, units, noise

    @property
    def variances(self) -> FloatArray:
        """Of the noise, standardised: [D]."""
        return np.asarray((self.noise / self.units.deviations) ** 2)

    def predict(self, rows: FloatArray, threads: Threads) -> tuple[FloatArray, None]:
        """Return the mean [n, D] of scaled rows without their noise."""
        inside = self.units.from_scaled(rows)
        return self.units.to_scaled(mixture.describe(self.model, inside, self.variances, threads)[1]), None

    def score(self, rows: FloatArray, threads: Threads) -> FloatArray:
        """Return (mu(x) - x) / lambda, the gradient of the log-density of scaled noisy rows."""
        return (self.predict(rows, threads)[0] - rows) / self.noise**2

    def log_density(self, rows: FloatArray, threads: Threads) -> FloatArray:
        """Return the log-density [n] of scaled noisy rows, of what is known of each, standardised."""
        inside = self.units.from_scaled(rows)
        return mixture.describe(self.model, inside, self.variances, threads, expect=False)[0]

    def surprise(self, rows: FloatArray, threads: Threads) -> FloatArray:
        """Return 2 (sup log p - log p(x)) for each value known of scaled rows, at least 0: [n].

        The supremum is that of the sum of all Gaussians' peaks. One Gaussian far away gives the squared
        distance in deviations, a mean over the columns.
        """
        known = ~np.isnan(rows)
        found = self.log_density(rows, threads)
        peaks = np.empty(len(rows))
        masks, inverse = np.unique(known, axis=0, return_inverse=True)
        for number, mask in enumerate(masks):
            peaks[inverse.ravel() == number] = log_peak(self.model, self.variances, mask)
        excess: FloatArray = 2.0 * (peaks - found) / np.maximum(known.sum(axis=1), 1)
        return np.maximum(excess, 0.0)


def log_peak(model: Gaussians, variances: FloatArray, known: NDArray[np.bool_]) -> float:
    """Return the logarithm of the sum of all peaks of the density of noisy rows, of the known columns."""
    inner = model.covariances[:, known][:, :, known] + np.diag(variances[known])
    logs = np.log(model.shares) - 0.5 * np.linalg.slogdet(2.0 * np.pi * inner)[1]
    return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))


class GatedGaussians:
    """The solved density of rows in the user's units, for a table or a stream.

    levels: strengths of the noise, the largest first, in `unit`. What is known depends on the rows alone, not
    on the calls: rows are kept and solved afresh whenever they have grown by a third or a half; blocks of
    rows in between, and all later ones, move the Gaussians by one step of expectation maximisation.
    """

    def __init__(self, columns: int, levels: Sequence[float], unit: str, seed: int) -> None:
        self.columns, self.levels, self.unit, self.seed = columns, list(levels), unit, seed
        self.rows = 0
        self.kept: list[FloatArray] | None = []  # all rows, while they are few enough
        self.waiting = np.empty((0, columns))  # rows that do not fill a block yet
        self.units: Units
        self.model: Gaussians
        self.choice: Choice
        self.sums: Sums
        self.networks: list[Level] = []

    @property
    def range(self) -> Range:
        """How rows are scaled."""
        return self.units.range

    @property
    def features(self) -> int:
        """Columns."""
        return self.columns

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring it to where all are solved afresh."""
        return self.kept is not None and next_half(self.rows) <= self.rows + rows

    @property
    def due(self) -> int:
        """Rows up to which it stays as it is: to be solved afresh, or because a block is full."""
        full = self.rows + BLOCK_ROWS - len(self.waiting)
        return full if self.kept is None else min(full, next_half(self.rows))

    def fit(self, rows: FloatArray, threads: Threads, progress: Callable[[int], object]) -> None:
        """Solve a table. Only before anything else was learnt."""
        self.rows = len(rows)
        self._solve(rows, threads)
        self.kept = [rows.copy()] if rows.size <= KEPT_NUMBERS else None
        progress(len(rows))

    def partial_fit(self, rows: FloatArray, threads: Threads, progress: Callable[[int], object]) -> None:
        """Learn rows in their order, going on from what is known."""
        for own in spans(self, len(rows)):
            self._learn(rows[own], threads)
            progress(own.stop - own.start)

    def _learn(self, rows: FloatArray, threads: Threads) -> None:
        solved = self.rows + len(rows) == next_half(self.rows)
        self.rows += len(rows)
        self.waiting = np.concatenate([self.waiting, rows])
        if self.kept is not None:
            self.kept.append(rows.copy())
            if solved:
                self.kept = [np.concatenate(self.kept)]
                self._solve(self.kept[0], threads)
            if self.rows * self.columns > KEPT_NUMBERS:
                self.kept = None
        if len(self.waiting) == BLOCK_ROWS:
            self.sums = self.sums.plus(self._table(self.waiting).expect(self.model)[0])
            self.model = maximise(self.sums, self._pull, self.choice.floor)
            self.waiting = self.waiting[:0]
            self._ready()

    @property
    def _pull(self) -> float:
        """In rows of one Gaussian; those of all folds share them."""
        return self.choice.pull * self.columns * self.choice.gaussians / len(self.model.shares)

    def _table(self, rows: FloatArray) -> Table:
        inside = self.units.learnt(rows)
        return Table.of(inside[~np.isnan(inside).all(axis=1)])

    def _solve(self, rows: FloatArray, threads: Threads) -> None:
        """Find units and Gaussians; rows of which nothing is known say nothing."""
        rows = rows[~np.isnan(rows).all(axis=1)]
        self.units = find_units(rows)
        inside = self.units.learnt(rows) if len(rows) else np.zeros((1, self.columns))
        count = solved_rows(self.columns)
        some = np.sort(np.random.default_rng(self.seed).permutation(len(inside))[:count])
        self.model, self.choice = solve(inside[some], self.seed, threads)
        table = Table.of(inside)
        self.sums = table.expect(self.model)[0]
        for _ in range(MORE_ROUNDS if len(inside) > count else 0):
            self.model = maximise(self.sums, self._pull, self.choice.floor)
            self.sums = table.expect(self.model)[0]
        self.waiting = self.waiting[:0]
        self._ready()

    def _ready(self) -> None:
        noises = [self.range.noise(level, self.unit) for level in self.levels]
        self.networks = [Level(self.model, self.units, noise) for noise in noises]

    # What is asked of it -------------------------------------------------------------------------------

    def infill(self, rows: FloatArray, threads: Threads) -> FloatArray:
        """Return the expectation of scaled rows given what is known of them."""
        inside, none = self.units.from_scaled(rows), np.zeros(self.columns)
        return self.units.to_scaled(mixture.describe(self.model, inside, none, threads)[1])

    def draw(self, rows: FloatArray, random: np.random.Generator) -> FloatArray:
        """Return random scaled rows given what is known of them."""
        inside = self.units.from_scaled(rows)
        return self.units.to_scaled(mixture.draw(self.model, inside, random))

    def sample(self, count: int, random: np.random.Generator) -> FloatArray:
        """Return random scaled rows."""
        return self.units.to_scaled(sample(self.model, count, random))

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        values = {
            "columns": self.columns,
            "levels": self.levels,
            "unit": self.unit,
            "seed": self.seed,
            "rows": self.rows,
            "keeps": self.kept is not None,
            "spread": self.range.spread,
            "choice": list(self.choice),
        }
        kept = np.concatenate([self.waiting[:0], *(self.kept or [])])
        arrays: Arrays = {"kept": kept, "waiting": self.waiting}
        arrays |= {"middle": self.range.middle, "half": self.range.half}
        arrays |= dict(zip(("deviations", "low", "high"), self.units[1:], strict=True))
        arrays |= {f"model.{name}": array for name, array in self.model._asdict().items()}
        arrays |= {f"sums.{name}": array for name, array in self.sums._asdict().items()}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "GatedGaussians":
        """Return what `state` described."""
        check_gaussians(values, arrays, BLOCK_ROWS)
        self = cls(*(values[name] for name in ("columns", "levels", "unit", "seed")))
        self.rows, self.kept = values["rows"], [arrays["kept"]] if values["keeps"] else None
        self.waiting = arrays["waiting"]
        scaling = Range(arrays["middle"], arrays["half"], values["spread"])
        self.units = Units(scaling, *(arrays[name] for name in ("deviations", "low", "high")))
        self.model = Gaussians(*(arrays[f"model.{name}"] for name in Gaussians._fields))
        self.sums = Sums(*(arrays[f"sums.{name}"] for name in Sums._fields))
        count, pull, floor = values["choice"]
        self.choice = Choice(count, pull, floor)
        self._ready()
        return self
