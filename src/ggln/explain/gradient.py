"""Explanations of networks that learn by gradient steps."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ggln.distributions.assembly import gaussians
from ggln.engine.gradient import inspect
from ggln.engine.gradient.learner import Learner
from ggln.engine.threads import Threads
from ggln.explain.contributions import Explanation, explain
from ggln.explain.gates import ActiveGates, active_gates
from ggln.explain.slopes import slopes

FloatArray = NDArray[np.float64]


class GradientInspector:
    """What can be said of a learner that takes gradient steps."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def typical(self) -> FloatArray | None:
        """Return rows that the model keeps: none."""
        return None

    def explain(
        self,
        rows: FloatArray,
        features: list[str],
        groups: Mapping[str, Sequence[str]],
        background: FloatArray | None,
        count: int,  # noqa: ARG002  for a background only
        threads: Threads,  # noqa: ARG002
    ) -> Explanation:
        """Return the terms of the weighted sum that a prediction is; there is nothing to compare with."""
        if background is not None:
            raise ValueError(
                f'background needs step="newton", got step={self.learner.settings.step!r}: contributions of '
                "networks that learn by gradient steps are compared with nothing"
            )
        return explain(self.learner, rows, features).together(groups)

    def slopes(self, rows: FloatArray) -> FloatArray:
        """Return derivatives [n, features, D]."""
        return slopes(self.learner, rows)

    def view(self, rows: FloatArray) -> FloatArray:
        """Return rows as networks see them."""
        return self.learner.side(rows)

    def mean(self, values: FloatArray, gates: FloatArray, threads: Threads) -> FloatArray:
        """Return predicted means [n, D] of some rows' values with other rows' gates."""
        shift, scale = self.learner.targets.shift_and_scale()
        found: FloatArray = shift + scale * self.learner.ensemble.moments(values, threads, gates)[0]
        return found

    def contexts(self, rows: FloatArray) -> NDArray[np.int32]:
        """Return contexts [n, networks, neurons], bit i of gate i."""
        ensemble = self.learner.ensemble
        found = inspect.active_contexts(ensemble, self.learner.side(rows))
        return found.T.reshape(len(rows), ensemble.networks, ensemble.neurons)

    def active_gates(self, row: FloatArray, names: list[str]) -> ActiveGates:
        """Return the gates of all neurons and the sides on which a row [1, d] lies."""
        return active_gates(self.learner, row, names)

    def neurons(self, rows: FloatArray, threads: Threads) -> list[tuple[FloatArray, FloatArray]]:
        """Return every neuron's mean and variance [n, neurons, D], layer by layer."""
        settings = self.learner.settings
        means, covariances = gaussians(self.learner.predictions(rows, threads), settings.outputs)
        if covariances.ndim == 5:
            covariances = np.diagonal(covariances, axis1=3, axis2=4)
        variances = np.broadcast_to(covariances, means.shape)
        shape = len(rows), -1, settings.outputs
        return [
            (means[:, :, a:b].reshape(shape), variances[:, :, a:b].reshape(shape))
            for a, b in itertools.pairwise(np.cumsum((0, *settings.layer_sizes)))
        ]
