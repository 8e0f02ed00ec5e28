"""A learner of which old rows count less: by 1/e after as many rows as it is told.

It keeps its latest rows and is solved afresh, with rows that count exp(-age / memory), whenever half a memory
has gone by. So old rows count less in networks, regressions, units and shares alike, by the same number; in
between, rows are learnt one by one as always. Rows that would count less than one in fifty are dropped.
"""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import constants
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.stream import Progress
from ggln.engine.stream import next_half
from ggln.engine.threads import Threads

FloatArray = NDArray[np.float64]


class FadingLearner(ExactLearner):
    """An `ExactLearner` whose rows fade; they are taken in their order, those of `fit` too."""

    @property
    def memory(self) -> int:
        """Rows after which a row counts 1/e."""
        return int(self.settings.forgetting or 1)

    def _keep(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> None:
        """Keep the rows that still count, and say when they are solved afresh."""
        step = max(self.memory // constants.FADING_STEPS, 1)
        self.due = self.rows + step
        if self.settings.online:
            self.due = max(min(self.due, next_half(self.rows)), self.rows + 1)
        kept = slice(-constants.FADED * self.memory, None)
        self.first_rows = [(X[kept].copy(), Y[kept].copy(), weights[kept].copy())]

    def release(self) -> None:
        """Keep the rows all the same: those that fade have to go."""

    def _find_units(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> None:
        super()._find_units(X, Y, self._faded(weights))

    def _solve(
        self, X: FloatArray, Y: FloatArray, weights: FloatArray, threads: Threads, progress: Progress
    ) -> None:
        """Solve rows, the older ones less."""
        super()._solve(X, Y, self._faded(weights), threads, progress)

    def _faded(self, weights: FloatArray) -> FloatArray:
        ages = np.arange(len(weights) - 1, -1, -1.0)
        found: FloatArray = weights * np.exp(-ages / self.memory)
        return found
