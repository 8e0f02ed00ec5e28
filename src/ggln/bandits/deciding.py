"""How a policy decides: what arms are expected to pay, which one to play, and what that would earn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ggln.bandits import logs
from ggln.bandits.exploration import COUNTS, RULES
from ggln.bandits.offpolicy import PolicyValues, policy_values
from ggln.core.arm_learner import ArmLearner
from ggln.single_rows import in_order, with_names

FloatArray = NDArray[np.float64]
Label = Any
"""A string or an integer; NumPy's as well."""


class Deciding:
    """What a policy can be asked that has the parameters and attributes below."""

    reward: str
    exploration: str
    exploration_weight: float
    pseudo_count: str
    arms_: list[Any]
    _range: tuple[float, float] | None  # what is mapped to [0, 1]; None standardises rewards
    _learner: ArmLearner | None
    _random: np.random.Generator

    def _begin(self) -> None:
        """Check the parameters and name the arms, at the first call of anything."""
        raise NotImplementedError

    def select(self, context: ArrayLike) -> Any:
        """Return the arm to play in a context, a 1-D array or a dict of features.

        Nothing is learnt before `update`. An arm with a pseudo-count of 0 comes first; of several, one at
        random, so that decisions whose rewards are still to come do not all fall on the same.
        """
        self._begin()
        row = self._row(context)
        if self._learner is None:
            return self.arms_[int(self._random.integers(len(self.arms_)))]
        learner = self._learner
        forecast = learner.forecast(row)
        counts = np.where(learner.plays[:, None] > 0, COUNTS[self.pseudo_count](forecast), 0.0)
        unknown = np.flatnonzero(counts[:, 0] <= 0.0)
        if unknown.size:
            return self.arms_[int(self._random.choice(unknown))]
        rule = RULES[self.exploration]
        scores = rule(forecast, counts, learner.rows, self.exploration_weight, self._random)
        return self.arms_[int(np.argmax(scores))]

    def predict(self, contexts: ArrayLike) -> Any:
        """Return the arm that is expected to pay most: for a 1-D context, or a list for each of several.

        An arm that was never played is not chosen, unless none was: nothing is known of it. `select` does.
        """
        expected = self.predict_expectations(contexts)
        best = np.argmax(self._known(expected), axis=-1)
        return self.arms_[int(best)] if best.ndim == 0 else [self.arms_[arm] for arm in best]

    def predict_expectations(self, contexts: Any, return_std: bool = False) -> Any:
        """Return what each arm is expected to pay, in the order of `arms_`.

        Parameters
        ----------
        contexts : array-like of shape (features,) or (n, features), or a dict of features
        return_std : bool
            Whether to return the rewards' predictive standard deviation, too.

        Returns
        -------
        expected : array of shape (n_arms,) or (n, n_arms)
            0 before anything was learnt.
        std : of the same shape, with `return_std`
        """
        self._begin()
        rows = self._rows(contexts)
        one = isinstance(contexts, Mapping) or np.ndim(contexts) == 1
        shift, scale = 0.0, 1.0
        mean = np.zeros((len(self.arms_), rows.shape[0]))
        std = np.ones_like(mean)
        if self._learner is not None:
            forecast = self._learner.forecast(rows)
            mean, std = forecast.mean, np.sqrt(forecast.variance)
            shift, scale = self._learner.units()
        expected, deviation = (shift + scale * mean).T, (scale * std).T
        if one:
            expected, deviation = expected[0], deviation[0]
        return (expected, deviation) if return_std else expected

    def evaluate(
        self, contexts: ArrayLike, arms: Sequence[Label], rewards: ArrayLike, propensities: ArrayLike
    ) -> PolicyValues:
        """Estimate from logged decisions what `predict` would earn per decision.

        The decisions must not have been learnt: keep the last part of a log for this. See `PolicyValues`.
        """
        self._begin()
        expected = np.atleast_2d(self.predict_expectations(contexts))
        count = expected.shape[0]
        numbers = logs.arm_numbers(self.arms_, arms, count)
        paid, chances = self._rewards("rewards", rewards, count), logs.probabilities(propensities, count)
        return policy_values(expected, self._known(expected).argmax(axis=1), numbers, paid, chances)

    def _known(self, expected: FloatArray) -> FloatArray:
        """Return expectations in which arms that were never played cannot be the best, if any was played."""
        if self._learner is None or not self._learner.plays.any():
            return expected
        return np.where(self._learner.plays > 0, expected, -np.inf)

    @property
    def _features(self) -> int | None:
        """Return the length of a context, None before one was learnt."""
        return getattr(self, "n_features_in_", None)

    @property
    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _row(self, context: Any) -> FloatArray:
        """Return a single context, checked, [1, features]; one with names is read by name."""
        known = self._names if self._learner is not None else with_names(context)[0]
        return logs.context_row(in_order(context, known, "context"), self._features)

    def _rows(self, contexts: Any) -> FloatArray:
        """Return contexts, checked, [n, features]; names of columns have to be those that were learnt."""
        if isinstance(contexts, Mapping) or getattr(contexts, "ndim", 2) == 1:
            return self._row(contexts)
        rows = logs.context_rows(contexts, self._features)
        if self._learner is not None and (self._names is not None or hasattr(contexts, "columns")):
            validate_data(self, contexts, reset=False, skip_check_array=True)
        return rows

    def _rewards(self, name: str, rewards: ArrayLike, count: int) -> FloatArray:
        """Return rewards, checked."""
        paid = logs.numbers(name, rewards, count)
        if self.reward != "gaussian":
            logs.refuse_outside(paid, *(self._range or (0.0, 1.0)), self.reward)
        return paid
