"""The mixture of one output: spreads, and the form that rows left out ask for (`forms`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import Specialized
from ggln.engine.newton import constants
from ggln.engine.newton.form_kernels import blend_rows, follow_form, moments_one, moments_rows
from ggln.engine.newton.forms import Form, find_form, no_form
from ggln.engine.newton.mixture import Arrays, Blend, Numbers, SpreadMixture
from ggln.engine.newton.reference_forms import mean_of

FloatArray = NDArray[np.float64]
PREFIX = "form."


class ShapeMixture(SpreadMixture):
    """Components at offsets, atoms and lattices beside the spreads."""

    def __init__(self, kind: Any) -> None:
        super().__init__(kind)
        self.form = no_form()
        self.ring = np.empty((constants.RECENT_ROWS, 0))  # the latest rows of a stream (`follow_form`)
        self.counts = np.zeros(3, np.int64)  # rows the form comes from; since then; in the ring so far
        self._kernels = Specialized()

    def judge(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, every: FloatArray) -> None:
        """Find shares and form; see `SpreadMixture.judge`."""
        super().judge(kinds, goals, weights, every)
        self.form, _ = find_form(kinds, goals[:, 0], weights, self.shares, every[:, 0])
        self.ring = np.zeros((constants.RECENT_ROWS, 2 * kinds.shape[1] + 3))
        self.counts[:] = len(kinds), 0, 0

    def follow(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, record: bool) -> Any:
        """Let shares and form follow rows; return the mixture before each, if asked to `record`."""
        found = self.follow_components(kinds, goals, weights)
        return _as_blend(found) if record else None

    def follow_components(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """As `follow`; return weights, means and deviations of the mixture before each row, [3, n, P]."""
        targets, parts, start = np.ascontiguousarray(goals[:, 0]), [], 0
        while start < len(kinds):
            due = max(constants.FEWEST_RECENT, self.counts[0] // 2) - self.counts[1]
            rows = slice(start, min(start + int(due), len(kinds)))
            found = self._empty(rows.stop - start)
            lesson = kinds[rows], targets[rows], weights[rows], self.shares, self.form, self.judged
            places = self.ring, int(self.counts[2])
            self.judged = self._kernels.call(follow_form, (*lesson, *places, found[0], found[1], found[2]))
            self.counts[1:] += rows.stop - start
            if rows.stop - start == due:
                self._renew()
            parts.append(found)
            start = rows.stop
        return _joined(parts)

    def _renew(self) -> None:
        """Find a form from the latest rows; it takes over if it is likelier."""
        self.counts[:2] = self.counts[0] + self.counts[1], 0
        count, size = int(self.counts[2]), len(self.ring)
        rows = self.ring[np.arange(max(count - size, 0), count) % size]
        planes = rows[:, :-3].reshape(len(rows), -1, 2)
        goals, weights, logs = rows[:, -3].copy(), rows[:, -2].copy(), rows[:, -1]
        if np.count_nonzero(weights) < constants.FEWEST_RECENT // 2:
            return
        form, likelihood = find_form(planes, goals, weights, self.shares, goals[weights > 0])
        if likelihood > weights @ logs / weights.sum():
            self.form = form

    def blend(self, kinds: FloatArray) -> Blend:
        """Return the mixture of kinds [n, K, 2]."""
        return _as_blend(self._blended(kinds))

    def _empty(self, rows: int) -> FloatArray:
        return np.empty((3, rows, self.form.components(self.shares)))

    def _blended(self, kinds: FloatArray) -> FloatArray:
        """Return weights, means and deviations [3, n, P]."""
        found = self._empty(len(kinds))
        blend_rows(kinds, self.shares, self.form, *found)
        return found

    def moments(self, kinds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation [n, 1] of the mixture."""
        if len(kinds) == 1:  # at the lowest latency
            mean, deviation = self._kernels.call(moments_one, (kinds, self.shares, self.form))
            return np.array([[mean]]), np.array([[deviation]])
        found = np.empty((2, len(kinds)))
        moments_rows(*self._blended(kinds), *found)
        return found[0][:, None], found[1][:, None]

    def mean(self, means: Numbers, kinds: Numbers) -> Numbers:
        """Return the mean [.., 1] of the mixture of kinds of means [K, .., 1] and planes [K, .., 2]."""
        centres, precisions = np.moveaxis(means[..., 0], 0, -1), np.moveaxis(kinds[..., 0], 0, -1)
        return mean_of(centres, precisions, self.shares, self.form)[..., None]

    def state(self) -> Arrays:
        """Return the arrays of a model file."""
        own = {PREFIX + name: array for name, array in self.form._asdict().items()}
        used = self.ring[: min(int(self.counts[2]), len(self.ring))]
        return super().state() | own | {PREFIX + "ring": used, PREFIX + "counts": self.counts}

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        super().restore(arrays)
        self.form = Form(*(np.require(arrays[PREFIX + name], requirements="W") for name in Form._fields))
        used = arrays[PREFIX + "ring"]
        self.ring = np.zeros((constants.RECENT_ROWS, used.shape[1]))
        self.ring[: len(used)] = used
        self.counts[:] = arrays[PREFIX + "counts"]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions, which can be made anew."""
        return {name: value for name, value in vars(self).items() if name != "_kernels"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        super().__setstate__(state)
        self._kernels = Specialized()


def _joined(parts: list[FloatArray]) -> FloatArray:
    """Return mixtures of rows one after the other; where components are missing, some have no weight."""
    if len(parts) == 1:
        return parts[0]
    most = max(part.shape[2] for part in parts)
    wide = []
    for part in parts:
        own = np.pad(part, ((0, 0), (0, 0), (0, most - part.shape[2])), mode="edge")
        own[0, :, part.shape[2] :] = 0.0
        wide.append(own)
    return np.concatenate(wide, axis=1)


def _as_blend(found: FloatArray) -> Blend:
    weights, means, deviations = found
    return Blend(weights, means[..., None], deviations[..., None] ** 2)
