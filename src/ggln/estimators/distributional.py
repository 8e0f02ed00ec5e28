"""What a regressor answers: moments, distributions, and what single neurons predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggln.distributions.assembly import Distribution, mixture
from ggln.engine.gradient.learner import Learner
from ggln.estimators.base import NetworkEstimator
from ggln.estimators.numeric import in_parts
from ggln.explain.methods import inspector

FloatArray = NDArray[np.float64]


class NeuronLayer(NamedTuple):
    """What each neuron of a layer predicts: arrays of shape (rows, neurons), or (rows, neurons, outputs)."""

    mean: FloatArray
    variance: FloatArray

    def nll(self, y: FloatArray) -> FloatArray:
        """Return each neuron's mean negative log-likelihood in nats: y (rows,) -> (neurons,)."""
        losses = np.log(2 * np.pi * self.variance) + (y[:, None] - self.mean) ** 2 / self.variance
        average: FloatArray = 0.5 * losses.mean(axis=0)
        return average


class DistributionMixin(NetworkEstimator):
    """How a regressor answers that has a learner of as many outputs as it was given."""

    learner_: Learner
    n_outputs_: int
    _flat_target: bool  # whether the targets were one column without a name

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the predictive mean and, if asked for, its standard deviation or covariance.

        Returns
        -------
        mean : (n,) or (n, outputs), as the targets were
        std : of the same shape, with `return_std`
        cov : (n, outputs, outputs), with `return_cov`
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov cannot both be asked for")
        parts = in_parts(X)
        if len(parts) > 1:
            found = [self.predict(part, return_std, return_cov) for part in parts]
            several = return_std or return_cov
            return tuple(map(np.concatenate, zip(*found, strict=True))) if several else np.concatenate(found)
        rows = self._check_rows(X)
        with self._threads() as threads:
            mean, std = self.learner_.moments(rows, threads)
            if not return_cov:
                return (self._shaped(mean), self._shaped(std)) if return_std else self._shaped(mean)
            if self.n_outputs_ == 1:
                return self._shaped(mean), std[:, :, None] ** 2
            joint: Any = mixture([self.learner_.predictions(rows, threads)], self.n_outputs_)
            return self._shaped(mean), joint.cov

    def predict_dist(self, X: ArrayLike) -> Distribution:
        """Return the predictive distribution of each row, a mixture over neurons and networks.

        For several outputs it has `region_level(y)`, the level of the smallest joint region that holds y.
        """
        tables = map(self._check_rows, in_parts(X))
        with self._threads() as threads:
            return mixture([self.learner_.predictions(rows, threads) for rows in tables], self.n_outputs_)

    def predict_one(self, x: ArrayLike | Mapping[str, float], return_std: bool = False) -> Any:
        """Return the mean for a single row, with the least overhead: a float, or an array of outputs.

        It is 0 before anything was learnt, so that a stream can predict before it learns.
        """
        if not hasattr(self, "learner_"):
            return (0.0, 1.0) if return_std else 0.0
        mean, std = self.learner_.moments_one(self._one(x))
        if self.n_outputs_ == 1:
            return (float(mean[0, 0]), float(std[0, 0])) if return_std else float(mean[0, 0])
        return (mean[0], std[0]) if return_std else mean[0]

    def support(self, X: ArrayLike) -> FloatArray:
        """Return how well the learnt rows cover each row: 1 inside, towards 0 far away.

        It is s^2 / (s^2 + v): s is the typical standard deviation inside, and v the variance that is added
        outside. v is 0 if every feature is within the range of the rows learnt. It grows with the distance
        beyond that range, as errors grew when outer rows were left out. `predict_dist` and `predict` add
        the same v. A feature that was constant is not outside, nor is a missing value of a feature that was
        missing before.

        Returns
        -------
        support : (n,) or (n, outputs), as the targets were
        """
        tables = list(map(self._check_rows, in_parts(X)))
        learner: Any = self.learner_
        if isinstance(learner, Learner):
            raise ValueError(
                f'support(X) needs step="newton", got step={self.step!r}: networks of gradient steps do not '
                "know how errors grow outside"
            )
        return self._shaped(np.concatenate([learner.support(rows) for rows in tables]))

    def neurons(self, X: ArrayLike) -> list[NeuronLayer]:
        """Return every neuron's mean and variance, layer by layer; the networks' layers side by side."""
        rows = self._check_rows(X)
        with self._threads() as threads:
            layers = inspector(self.learner_).neurons(rows, threads)
        if self.n_outputs_ == 1:
            layers = [(mean[..., 0], variance[..., 0]) for mean, variance in layers]
        return [NeuronLayer(mean, variance) for mean, variance in layers]

    def _shaped(self, values: FloatArray) -> FloatArray:
        """Return (n, outputs) values in the shape that the targets had."""
        return values[:, 0] if self._flat_target else values
