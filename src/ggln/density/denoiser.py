"""One network that undoes noise of one strength, and the networks of all strengths together.

Rows are scaled to [-1, 1]. A network sees a row with noise xi ~ N(0, diag(noise^2)) and regresses to the row
itself; then mu(x) = x + noise^2 * grad log p(x), p the density of noisy rows (Appendix F). The noise of row
number i is a function of the seed and of i alone, so that it does not matter how rows are cut into calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.density.layouts import check_denoisers
from ggln.density.scaling import Range, find_range
from ggln.engine import constants
from ggln.engine.gating import Gates
from ggln.engine.gradient.build import Settings, build, draw_gates, settings_from
from ggln.engine.gradient.layouts import check_ensemble
from ggln.engine.stream import begins_within, next_power, spans
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
NOISE, ORDER = 10, 12  # streams of random numbers
NOISE_ROWS = 64
"""Rows whose noise is drawn together: setting up a generator takes as long as a few hundred numbers."""

PACES = 32
"""Parts of an epoch, at least, in which the annealed step has one length each."""

FURTHEST = 100.0
"""Scaled rows are learnt as at most so far away: a single one of 1e20 would leave weights that are no
numbers."""


def draw_noise(seed: int, first: int, count: int, columns: int) -> FloatArray:
    """Return standard normal numbers [count, columns] for the rows from number `first` on."""
    parts = []
    for block in range(first // NOISE_ROWS, -(-(first + count) // NOISE_ROWS)):
        drawn = np.random.default_rng([seed, NOISE, block]).standard_normal((NOISE_ROWS, columns))
        parts.append(drawn[max(first - block * NOISE_ROWS, 0) : first + count - block * NOISE_ROWS])
    return np.concatenate(parts)


class Denoiser:
    """Networks for one strength of the noise.

    settings: of the networks, with as many outputs as features; noise: [D], deviations in scaled units;
    gates: of the networks.
    """

    def __init__(self, settings: Settings, noise: FloatArray, gates: Gates) -> None:
        self.settings, self.noise = settings, noise
        self.ensemble = build(settings, gates)

    def learn(self, rows: FloatArray, first: int, threads: Threads) -> None:
        """Learn scaled rows [n, D], the first of which is number `first` of all that were learnt."""
        block = self.ensemble.block_rows
        for start in range(0, rows.shape[0], block):
            clean = rows[start : start + block]
            noise = draw_noise(self.settings.seed, first + start, *clean.shape)
            self.ensemble.learn(clean + self.noise * noise, clean.astype(self.settings.dtype), threads)

    def predict(self, rows: FloatArray, threads: Threads) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance [n, D] of the rows without their noise."""
        return self.ensemble.moments(rows, threads)

    def score(self, rows: FloatArray, threads: Threads) -> FloatArray:
        """Return (mu(x) - x) / lambda, the gradient of the log-density of scaled noisy rows."""
        return (self.predict(rows, threads)[0] - rows) / self.noise**2


class Denoisers:
    """Networks for all strengths of the noise, which learn rows in the user's units.

    settings: of the networks for the first strength; levels: deviations, the largest first, in `unit`
    ("spread" or "data"); widened: whether the range is that of noisy rows; range_rows: rows that the range is
    taken from.

    A stream does not know its range at first: whenever the number of rows is a power of two up to
    `constants.WARMUP_ROWS`, range and networks are drawn afresh from all rows so far and these are learnt
    again.
    """

    def __init__(
        self, settings: Settings, levels: Sequence[float], unit: str, widened: bool, range_rows: int | None
    ) -> None:
        self.settings, self.levels, self.unit = settings, list(levels), unit
        self.widened, self.range_rows = widened, range_rows
        self.rows, self.warming = 0, True
        self.first_rows = np.empty((0, settings.features))
        self.range: Range
        self.networks: list[Denoiser] = []

    def _begin(self, rows: FloatArray) -> None:
        """Take the range from rows in the user's units, and draw the networks' gates through them."""
        seen = rows[: self.range_rows]
        self.range = find_range(seen, max(self.levels) if self.widened else None, self.settings.seed)
        scaled = self.range.to_scaled(seen[:: max(1, len(seen) // constants.GATE_ROWS)])
        self.networks = []
        for number, level in enumerate(self.levels):
            noise = self.range.noise(level, self.unit)
            settings = settings_for(self.settings, noise, number)
            self.networks.append(Denoiser(settings, noise, draw_gates(settings, scaled)))

    def fit(
        self,
        rows: FloatArray,
        epochs: int,
        shuffle: bool,
        anneal: bool,
        threads: Threads,
        progress: Callable[[int], object],
    ) -> None:
        """Learn a table, a row at a time, in `epochs` passes. Only before anything else was learnt.

        anneal: whether the step shrinks to nothing on the way, in a fixed number of paces.
        """
        self._begin(rows)
        self.networks[0].ensemble.require(rows.shape[0])
        random = np.random.default_rng([self.settings.seed, ORDER])
        total = epochs * len(rows)
        full = [network.ensemble.rules for network in self.networks]
        for _ in range(epochs):
            order = random.permutation(len(rows)) if shuffle else np.arange(len(rows))
            for part in np.array_split(
                order, min(len(rows), max(PACES, -(-len(rows) // constants.BLOCK_ROWS)))
            ):
                pace = 1.0 - self.rows / total if anneal else 1.0
                for network, rules in zip(self.networks, full, strict=True):
                    network.ensemble.rules = rules._replace(step=rules.step.times(pace))
                self._learn(rows[part], threads)
                progress(len(part))
        for network, rules in zip(self.networks, full, strict=True):
            network.ensemble.rules = rules
        self.warming = False

    def partial_fit(self, rows: FloatArray, threads: Threads, progress: Callable[[int], object]) -> None:
        """Learn rows once, in their order, going on from what is known."""
        if not self.networks:
            self._begin(rows[:1])
        self.networks[0].ensemble.require(rows.shape[0])
        for own in spans(self, len(rows), constants.BLOCK_ROWS):
            self._learn(rows[own], threads)
            if self.warming:
                self._warm_up(rows[own], threads)
            progress(own.stop - own.start)

    def solves_within(self, rows: int) -> bool:
        """Return whether so many further rows bring it to where networks are drawn afresh."""
        return begins_within(self, rows)

    @property
    def due(self) -> int:
        """Rows at which networks are drawn afresh; 0: never."""
        return next_power(self.rows) if self.warming else 0

    @property
    def features(self) -> int:
        """Columns."""
        return self.settings.features

    @property
    def seed(self) -> int:
        """Of all that is drawn."""
        return self.settings.seed

    def _learn(self, rows: FloatArray, threads: Threads) -> None:
        scaled = np.clip(self.range.to_scaled(rows), -FURTHEST, FURTHEST)
        for network in self.networks:
            network.learn(scaled, self.rows, threads)
        self.rows += len(rows)

    def _warm_up(self, rows: FloatArray, threads: Threads) -> None:
        """Keep the first rows; begin afresh with them when their number is a power of two."""
        self.first_rows = np.concatenate([self.first_rows, rows])
        count = len(self.first_rows)
        if count & (count - 1) == 0:
            self._begin(self.first_rows)
            self.rows = 0
            self._learn(self.first_rows, threads)
        if count >= constants.WARMUP_ROWS:
            self.first_rows, self.warming = self.first_rows[:0], False

    # State ---------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that is known, as plain values and as arrays."""
        settings = asdict(self.settings)
        settings["dtype"] = np.dtype(self.settings.dtype).name
        values = {
            "settings": settings,
            "levels": self.levels,
            "unit": self.unit,
            "widened": self.widened,
            "range_rows": self.range_rows,
            "rows": self.rows,
            "warming": self.warming,
            "spread": self.range.spread,
            "times": [network.ensemble.time for network in self.networks],
        }
        arrays: Arrays = {"range.middle": self.range.middle, "range.half": self.range.half}
        arrays["first_rows"] = self.first_rows
        for number, network in enumerate(self.networks):
            arrays |= {f"{number}.{name}": array for name, array in network.ensemble.state().items()}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: Arrays) -> "Denoisers":
        """Return what `state` described."""
        names = ("levels", "unit", "widened", "range_rows")
        self = cls(settings_from(values["settings"]), *(values[name] for name in names))
        parts = check_denoisers(values, arrays, self.settings)
        self.rows, self.warming = values["rows"], values["warming"]
        self.range = Range(arrays["range.middle"], arrays["range.half"], values["spread"])
        self.first_rows = arrays["first_rows"]
        for number, (level, time) in enumerate(zip(self.levels, values["times"], strict=True)):
            own, noise = parts[number], self.range.noise(level, self.unit)
            gates = Gates(own["gates.codes"], own["gates.offsets"], own["gates.normals"])
            network = Denoiser(settings_for(self.settings, noise, number), noise, gates)
            check_ensemble(own, network.ensemble, self.settings)
            network.ensemble.restore(own, time)
            self.networks.append(network)
        return self


def settings_for(settings: Settings, noise: FloatArray, number: int) -> Settings:
    """Return the settings of one strength's networks: variances in proportion, and a seed of its own."""
    values = asdict(settings)
    strength = float(np.mean(noise**2))
    for name in ("base_variance", "bias_variance", "min_variance", "max_variance"):
        values[name] = float(np.clip(values[name] * strength, 1e-9, 1e9))
    return Settings(**{**values, "seed": settings.seed + number})
