"""The mixture of joint neurons: each output is judged alone, and a copula joins them.

Joint neurons may have one precision for all outputs, and their inputs know nothing of correlations. So what
a kind of networks says of all outputs is taken as what it says of each. Rows left out tell the rest: a factor
on the precision for each kind and output, the shape of each output (`shapes`), and how outputs go together
(`copula`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.copula import Copula, JointBlend, levels_of
from ggln.engine.newton.mixture import Arrays, Numbers, SpreadMixture

FloatArray = NDArray[np.float64]
LEAST_SQUARE = 1e-12
"""Of errors in units of their predicted deviation: a kind cannot be better than that."""


class JointMixture:
    """A mixture for each output of joint neurons, and the copula that joins them; standardised units."""

    def __init__(self, kind: Any, make: Callable[[], SpreadMixture]) -> None:
        self.kind = kind
        self.marginals = [make() for _ in range(int(kind.outputs))]
        self.copula = Copula(int(kind.outputs))
        self.factors = np.ones((1, int(kind.outputs)))  # [K, D], on precisions

    @property
    def judged(self) -> list[float]:
        """The weight of the rows that each output's shares come from."""
        return [own.judged for own in self.marginals]

    @judged.setter
    def judged(self, weights: list[float]) -> None:
        for own, weight in zip(self.marginals, weights, strict=True):
            own.judged = weight

    def _alone(self, kinds: Numbers) -> list[Any]:
        """Return what each kind says of each output alone: D times [n, K, 2]."""
        planes = self.kind.alone(kinds) * self.factors[..., None]
        return [np.ascontiguousarray(planes[..., d, :]) for d in range(planes.shape[-2])]

    def judge(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, every: FloatArray) -> None:
        """Find all from what each kind said of rows that it did not know; see `SpreadMixture.judge`."""
        planes = self.kind.alone(kinds)  # [n, K, D, 2]
        squares = planes[..., 0] * (goals[:, None] - planes[..., 1] / planes[..., 0]) ** 2
        counted = weights if weights.any() else np.ones_like(weights)
        self.factors = 1.0 / np.maximum(np.average(squares, axis=0, weights=counted), LEAST_SQUARE)
        levels = np.empty((2, *goals.shape))
        for d, (own, alone) in enumerate(zip(self.marginals, self._alone(kinds), strict=True)):
            own.judge(alone, goals[:, d : d + 1], weights, every[:, d : d + 1])
            levels[..., d] = levels_of(own.blend(alone), goals[:, d])
        self.copula.judge(levels, weights)

    def follow(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, record: bool) -> Any:
        """Let all follow rows; return what was predicted before each, if asked to `record`."""
        blends, levels = [], np.empty((2, *goals.shape))
        for d, (own, alone) in enumerate(zip(self.marginals, self._alone(kinds), strict=True)):
            blends.append(own.follow(alone, goals[:, d : d + 1], weights, True))
            levels[..., d] = levels_of(blends[-1], goals[:, d])
        joined = self.copula.follow(levels, weights, record)
        return JointBlend(tuple(blends), *joined) if record else None

    def blend(self, kinds: FloatArray) -> JointBlend:
        """Return what is predicted of rows with kinds [n, K, Q]."""
        pairs = zip(self.marginals, self._alone(kinds), strict=True)
        return JointBlend(tuple(own.blend(alone) for own, alone in pairs), *self.copula.now())

    def moments(self, kinds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and standard deviations [n, D]."""
        pairs = zip(self.marginals, self._alone(kinds), strict=True)
        found = [own.moments(alone) for own, alone in pairs]
        return np.hstack([mean for mean, _ in found]), np.hstack([deviation for _, deviation in found])

    def mean(self, means: Numbers, kinds: Numbers) -> Numbers:
        """Return the mean [.., D] of the mixture of kinds of means [K, .., D] and planes [K, .., Q]."""
        planes = self.kind.alone(kinds)
        factors = self.factors.reshape(len(kinds), *[1] * (planes.ndim - 3), -1, 1)
        planes = planes * factors
        found = [own.mean(means[..., d : d + 1], planes[..., d, :]) for d, own in enumerate(self.marginals)]
        return np.concatenate(found, axis=-1)

    def state(self) -> Arrays:
        """Return the arrays of a model file."""
        arrays = {"factors": self.factors} | self.copula.state()
        for d, own in enumerate(self.marginals):
            arrays |= {f"marginal.{d}.{name}": array for name, array in own.state().items()}
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.factors = arrays["factors"]
        self.copula.restore(arrays)
        for d, own in enumerate(self.marginals):
            prefix = f"marginal.{d}."
            own.restore({n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)})
