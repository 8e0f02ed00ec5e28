"""From what a classifier's networks give each class to probabilities and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ggln.engine.gradient.learner import Learner, Predictions
from ggln.engine.newton.classes import ClassLearner
from ggln.estimators import labels
from ggln.estimators.base import NetworkEstimator
from ggln.estimators.numeric import in_parts

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]


class ProbabilityMixin(NetworkEstimator):
    """How a classifier answers that has `classes_`, and a learner of each class against all others."""

    learner_: Learner | ClassLearner
    classes_: Labels

    def predict(self, X: ArrayLike) -> Labels:
        """Return the most probable class of each row; of equally probable ones, the first of `classes_`."""
        return self._labels(self.predict_proba(X))

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of each class, (n, classes), in the order of `classes_`."""
        return labels.normalise(self._chances(X))

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithms of `predict_proba`: always finite, as no class is ever ruled out."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the logit of each class against all others, (n, classes); (n,) for two classes."""
        chances = self._chances(X)
        logits = np.log(chances) - np.log1p(-chances)
        return logits[:, 0] if logits.shape[1] == 1 else logits

    def predict_proba_one(self, x: ArrayLike | Mapping[str, float]) -> dict[Any, float]:
        """Return the probability of each class for a single row, with the least overhead."""
        self._require_fitted("predict_proba_one")
        chances, _ = self.learner_.moments_one(self._one(x))
        return dict(zip(self.classes_.tolist(), labels.normalise(chances)[0].tolist(), strict=True))

    def predict_one(self, x: ArrayLike | Mapping[str, float]) -> Any:
        """Return the most probable class of a single row."""
        chances = self.predict_proba_one(x)
        return max(chances, key=chances.__getitem__)

    def _require_fitted(self, method: str) -> None:
        if not hasattr(self, "learner_"):
            check_is_fitted(
                self,
                msg=f"{method} has to know the classes: call partial_fit(X, y, classes=...) or fit first",
            )

    def _chances(self, X: ArrayLike) -> FloatArray:
        """Return each class's own probability against all others, [n, outputs]."""
        tables = map(self._check_rows, in_parts(X))
        with self._threads() as threads:
            return np.concatenate([self.learner_.moments(rows, threads)[0] for rows in tables])

    def _labels(self, probabilities: FloatArray) -> Labels:
        best: Labels = self.classes_[probabilities.argmax(axis=1)]
        return best


def mix(predictions: Predictions | FloatArray) -> FloatArray:
    """Return each class's own probability, mixed over the neurons of all networks, [n, outputs].

    Networks that are solved have mixed theirs.
    """
    if isinstance(predictions, np.ndarray):
        return predictions
    logits, weights = predictions.components[:2]
    chances = np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))
    subscripts = "nek,nekd->nd" if weights.ndim == 3 else "ek,nekd->nd"
    mixed: FloatArray = np.einsum(subscripts, weights, chances) / weights.shape[-2]
    return mixed
