"""A Bayesian regression on random hinges, learnt row after row: base predictions where features are many.

A hinge is max(v . x - b, 0) with v along the difference of two random rows and b through a third one, as
gates are drawn. The regression on a constant and the hinges is nonlinear in x and linear in what is learnt,
so that every row is learnt exactly; `triangle` has the mathematics. With m hinges, a row costs 3 m^2
operations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.bases.triangle import follow_wave
from ggln.engine.constants import HINGE_LIMIT, HINGE_PRIOR, WAVE
from ggln.engine.gating import sample_pairs
from ggln.engine.jit import exact_kernel, fused_multiply_add, inner_exact
from ggln.engine.neurons.projection import clip

FloatArray = NDArray[np.float64]
TOGETHER = 4
"""Rows whose hinges are summed together, sharing the loads of the normals."""
BLOCK = 256
"""Rows whose hinges are held at a time."""


@inner_exact
def add_feature(normal: Any, x: Any, line: Any) -> None:
    """Add a feature's part to all hinges of a row # OUT line."""
    for h in range(normal.size):
        line[h] = fused_multiply_add(normal[h], x, line[h])


@exact_kernel
def write_inputs(normals: Any, offsets: Any, side: Any, inputs: Any) -> None:
    """Write the hinges of rows and a constant # OUT inputs [n, m + 1].

    normals: [d, m]; offsets: [m]; side: [n, d]. Sums are fused in the order of the features, so that they
    do not depend on how many rows there are.
    """
    hinges = offsets.size
    for first in range(0, side.shape[0], TOGETHER):
        stop = min(first + TOGETHER, side.shape[0])
        for t in range(first, stop):
            for h in range(hinges):
                inputs[t, h] = -offsets[h]
        for j in range(normals.shape[0]):
            for t in range(first, stop):
                add_feature(normals[j], clip(side[t, j], -HINGE_LIMIT, HINGE_LIMIT), inputs[t, :hinges])
        for t in range(first, stop):
            for h in range(hinges):
                inputs[t, h] = max(inputs[t, h], 0.0)
            inputs[t, hinges] = 1.0


@exact_kernel
def follow(
    triangle: Any,
    noise: Any,
    inputs: Any,
    goals: Any,
    learning: Any,
    least: Any,
    means: Any,
    precisions: Any,
) -> None:
    """Predict row after row, each before it is learnt, if rows are to be learnt at all.

    triangle: [m + 1, m + 1 + D], noise: [2] # OUT; inputs: [n, m + 1]; goals: [n, D]; least: the smallest
    variance; means: [n, D], precisions: [n] # OUT.
    """
    size, length = triangle.shape
    lines, rests, leverages = np.empty((WAVE, length)), np.empty((WAVE, length)), np.empty(WAVE)
    for first in range(0, inputs.shape[0], WAVE):
        rows = min(WAVE, inputs.shape[0] - first)
        for t in range(rows):
            for i in range(size):
                lines[t, i] = inputs[first + t, i]
            for d in range(length - size):
                lines[t, size + d] = goals[first + t, d] if learning else 0.0
        found = means[first : first + rows], precisions[first : first + rows]
        follow_wave(triangle, noise, lines, rests, leverages, learning, least, found[0], found[1])


class HingeRegression:
    """Learns with a stream, or along the rows of a table, what their targets are.

    Parameters
    ----------
    hinges, outputs
        How many.
    least
        The smallest variance a prediction may have.
    rows
        Standardised ones [n, d], that hinges are drawn from; without any, directions are on the sphere.
    random
        Draws the hinges.
    """

    def __init__(
        self, hinges: int, outputs: int, least: float, rows: FloatArray, random: np.random.Generator
    ) -> None:
        gates = sample_pairs(hinges, 1, rows, "data", random)
        spread = np.std(rows @ gates.normals.T, axis=0) if rows.shape[0] > 1 else np.ones(hinges)
        scale = np.where(spread > 0.0, spread, 1.0)
        self.normals = np.ascontiguousarray((gates.normals / scale[:, None]).T)
        self.offsets = gates.offsets[:, 0] / scale
        self.triangle = np.sqrt(HINGE_PRIOR) * np.eye(hinges + 1, hinges + 1 + outputs)
        self.noise = np.ones(2)  # rows of prior and data, and the sum of their squared errors, per output
        self.least, self.outputs = least, outputs

    def learn(self, side: FloatArray, goals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Learn rows in their order; return what was predicted before: means [n, D], precisions [n]."""
        return self._follow(side, goals, True)

    def predict(self, side: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means [n, D] and precisions [n] for new rows."""
        return self._follow(side, np.empty((0, self.outputs)), False)

    def _follow(self, side: FloatArray, goals: FloatArray, learning: bool) -> tuple[FloatArray, FloatArray]:
        rows, block = side.shape[0], BLOCK
        means, precisions = np.empty((rows, self.outputs)), np.empty(rows)
        inputs = np.empty((min(block, rows), self.offsets.size + 1))
        for start in range(0, rows, block):
            part = slice(start, min(start + block, rows))
            some = inputs[: part.stop - start]
            write_inputs(self.normals, self.offsets, np.ascontiguousarray(side[part]), some)
            known = np.ascontiguousarray(goals[part], np.float64)
            found = means[part], precisions[part]
            follow(self.triangle, self.noise, some, known, learning, self.least, *found)
        return means, precisions

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})

    def state(self) -> dict[str, FloatArray]:
        """Return what was drawn and learnt, by name."""
        return {
            "hinges.normals": self.normals,
            "hinges.offsets": self.offsets,
            "hinges.triangle": self.triangle,
            "hinges.noise": self.noise,
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a state."""
        for name, array in self.state().items():
            array[:] = arrays[name]
