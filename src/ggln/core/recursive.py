"""Recursive Bayesian regressions on all features together: the regressors of a stream.

Appendix C of the paper regresses the target on each feature alone, which cannot say what features tell only
together. Here the regression is on the features x, a constant, and smooth steps s(v.(x - c)) with random v
and c, s(a) = a / sqrt(1 + a^2): a function that is nonlinear in x and linear in what is learnt, so that every
row is learnt exactly and for good.

`triangle` has the mathematics. With m inputs, a row costs 3 m^2 operations.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.core import memory
from ggln.core.constants import RECURSIONS, STEP_LIMIT, WAVE
from ggln.core.jit import Specialized, exact_kernel, inner_exact
from ggln.core.threads import Threads
from ggln.core.triangle import derivatives, follow_wave

FloatArray = NDArray[np.float64]


class Regression(NamedTuple):
    """What one regression knows; `noise` is its errors on rows before it learnt them."""

    directions: Any  # [d, steps]
    offsets: Any  # [steps]  v.c
    triangle: Any  # [m, m + D]  R and z
    noise: Any  # [2]  rows of prior and data, and the sum of their squared errors, per output


@inner_exact
def write_inputs(regression: Any, x: Any, line: Any) -> None:
    """Write a row's inputs into `line` # OUT [m + D]: the features, a constant, the steps."""
    features, offsets = x.size, regression.offsets
    steps = line[features + 1 : features + 1 + offsets.size]
    for h in range(steps.size):
        steps[h] = -offsets[h]
    for j in range(features):
        line[j] = min(max(x[j], -STEP_LIMIT), STEP_LIMIT)
        direction = regression.directions[j]
        for h in range(steps.size):
            steps[h] += direction[h] * line[j]
    line[features] = 1.0
    for h in range(steps.size):
        steps[h] /= np.sqrt(1.0 + steps[h] * steps[h])


@exact_kernel
def follow(
    regression: Any, side: Any, goals: Any, learning: Any, least: Any, means: Any, precisions: Any
) -> None:
    """Predict row after row, each before it is learnt, if rows are to be learnt at all.

    side: [n, d]; goals: [n, D]; least: the smallest variance; means: [n, D], precisions: [n] # OUT. Several
    rows pass the triangle together, each after the one before it.
    """
    triangle, noise = regression.triangle, regression.noise
    size, length = triangle.shape
    lines, rests, leverages = np.empty((WAVE, length)), np.empty((WAVE, length)), np.empty(WAVE)
    for first in range(0, side.shape[0], WAVE):
        rows = min(WAVE, side.shape[0] - first)
        for t in range(rows):
            write_inputs(regression, side[first + t], lines[t])
            for d in range(length - size):
                lines[t, size + d] = goals[first + t, d] if learning else 0.0
        found = means[first : first + rows], precisions[first : first + rows]
        follow_wave(triangle, noise, lines, rests, leverages, learning, least, found[0], found[1])


def name_of(steps: int, among: int) -> str:
    """Return what a regression is called in explanations."""
    if not steps:
        return "linear regression"
    return f"regression on {steps} steps of " + (f"up to {among} features" if among else "all features")


NAMES = [name_of(steps, among) for steps, among, _, _ in RECURSIONS]


def draw_steps(
    steps: int, among: int, steepness: float, features: int, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return directions [d, steps] and offsets [steps] of random steps, which are centred where rows are.

    Each looks at a random number of features up to `among`, or at all of them.
    """
    counts = random.integers(1, min(among, features) + 1, steps) if among else np.full(steps, features)
    ranks = random.random((features, steps)).argsort(axis=0).argsort(axis=0)
    directions = np.where(ranks < counts, random.standard_normal((features, steps)), 0.0)
    directions *= steepness / np.sqrt(counts)
    return directions, (directions * random.standard_normal((features, steps))).sum(axis=0)


@exact_kernel
def follow_all(
    regressions: Any, side: Any, goals: Any, learning: Any, least: Any, means: Any, precisions: Any
) -> None:
    """`follow` with all regressions, for single rows. means: [R, n, D], precisions: [R, n] # OUT."""
    for r in range(len(regressions)):
        follow(regressions[r], side, goals, learning, least, means[r], precisions[r])


class Recursions:
    """The regressions of a stream: `constants.RECURSIONS`, from few inputs to many.

    Parameters
    ----------
    features, outputs
        Of the rows, standardised.
    least
        The smallest variance a prediction may have.
    random
        Draws the steps.
    """

    def __init__(self, features: int, outputs: int, least: float, random: np.random.Generator) -> None:
        self.least, self.outputs = least, outputs
        self._row_kernels = Specialized()
        self.regressions = []
        for steps, among, steepness, prior in RECURSIONS:
            directions, offsets = draw_steps(steps, among, steepness, features, random)
            size = features + 1 + steps
            triangle = np.sqrt(prior) * np.eye(size, size + outputs)
            regression = Regression(directions, offsets, triangle, np.ones(2))
            self.regressions.append(regression)

    def learn(
        self, side: FloatArray, goals: FloatArray, threads: Threads | None
    ) -> tuple[FloatArray, FloatArray]:
        """Learn rows in their order; return what was predicted before: means [n, R, D], precisions [n, R]."""
        return self._follow(side, goals, True, threads)

    def predict(self, side: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means [n, R, D] and precisions [n, R] for new rows."""
        return self._follow(side, np.empty((0, self.outputs)), False, None)

    def slopes(self, side: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of `predict` by the features: [n, R, D, d] and [n, R, d]."""
        clipped = np.clip(side, -STEP_LIMIT, STEP_LIMIT)
        inside, features = np.abs(side) < STEP_LIMIT, side.shape[1]
        means, precisions, predicted = [], [], self.predict(side)[1]
        for r, regression in enumerate(self.regressions):
            along = clipped @ regression.directions - regression.offsets
            steps = along / np.sqrt(1.0 + along**2)
            inputs = np.hstack([clipped, np.ones((len(side), 1)), steps])
            moved = np.zeros((*inputs.shape, features))  # each input by each feature
            moved[:, np.arange(features), np.arange(features)] = 1.0
            moved[:, features + 1 :] = (1.0 + along**2)[..., None] ** -1.5 * regression.directions.T
            moved *= inside[:, None]
            by_mean, by_precision = derivatives(regression.triangle, inputs, predicted[:, r])
            means.append(np.einsum("md,nmf->ndf", by_mean, moved))
            precisions.append(np.einsum("nm,nmf->nf", by_precision, moved))
        return np.stack(means, axis=1), np.stack(precisions, axis=1)

    def _follow(
        self, side: FloatArray, goals: FloatArray, learning: bool, threads: Threads | None
    ) -> tuple[FloatArray, FloatArray]:
        count, rows = len(self.regressions), side.shape[0]
        means, precisions = np.empty((count, rows, self.outputs)), np.empty((count, rows))
        # kernels for single rows do not look at the types again, which a view would change
        arguments = np.ascontiguousarray(side), np.ascontiguousarray(goals), learning, self.least
        if threads is None:
            self._row_kernels.call(follow_all, (tuple(self.regressions), *arguments, means, precisions))
        else:
            tasks = [
                (follow, (regression, *arguments, means[r], precisions[r]))
                for r, regression in enumerate(self.regressions)
            ]
            threads.run(tasks[::-1])  # the longest first
        return np.ascontiguousarray(means.swapaxes(0, 1)), np.ascontiguousarray(precisions.T)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions, which can be made anew."""
        return {**vars(self), "_row_kernels": Specialized()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update(state)
        self.regressions = [memory.writeable(regression) for regression in self.regressions]

    def state(self) -> dict[str, FloatArray]:
        """Return what was learnt, by name; the steps are drawn again."""
        return {
            f"recursion.{r}.{name}": getattr(regression, name)
            for r, regression in enumerate(self.regressions)
            for name in ("triangle", "noise")
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a state."""
        for name, array in self.state().items():
            array[:] = arrays[name]
