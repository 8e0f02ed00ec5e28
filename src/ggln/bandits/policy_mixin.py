"""How a policy decides: what arms are expected to pay, which one to play, and what that would earn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ggln.bandits import logs, sampling
from ggln.bandits.exploration import COUNTS, RULES
from ggln.bandits.offpolicy import PolicyValues, policy_values
from ggln.bandits.policies import chances_of
from ggln.engine.arms.learner import ArmLearner
from ggln.engine.surfaces.learner import SurfaceLearner
from ggln.engine.surfaces.posterior import Posterior
from ggln.estimators.named_rows import in_order, with_names
from ggln.estimators.whole import whole

FloatArray = NDArray[np.float64]
Label = Any
"""A string or an integer; NumPy's as well."""


FEWEST_KNOWN = 2
"""Rewards from which on the unit of rewards is known: before, any arm is played."""
EXACT_WEIGHT, GATED_WEIGHT = 1.0, 0.3
"""Factors on deviations by default. By upper bounds of posteriors with 0.7 and 1, regrets are 86 and 72 on
linear rewards (LinUCB 74; four episodes), 347 and 366 on products, 254 and 275 on binary products (two); the
wheel pays 4468 and 4552, Jester 3252 and 3231 (five). So it was before arms shared anything."""
PATIENCE = 1024
"""Decisions after which one that waits for its reward counts 1/e."""


class PolicyMixin:
    """What a policy can be asked that has the parameters and attributes below."""

    reward: str
    step: str
    exploration: str | None
    exploration_weight: float | None
    pseudo_count: str
    arms_: list[Any]
    _range: tuple[float, float] | None  # what is mapped to [0, 1]; None standardises rewards
    _learner: ArmLearner | SurfaceLearner | None
    _random: np.random.Generator
    _pending: FloatArray  # [A]

    def _begin(self) -> None:
        """Check the parameters and name the arms, at the first call of anything."""
        raise NotImplementedError

    @whole
    def select(self, context: Any) -> Any:
        """Return the arm to play in a context, a 1-D array or a dict of features; a list of arms for several.

        Nothing is learnt before `update`, but a decision counts as pending until then. With upper bounds,
        arms whose rewards are still to come look less unknown, so decisions in between are spread over the
        arms. With step="capped" and "ogd", an arm with a pseudo-count of 0 comes first; of several, one at
        random.
        """
        self._begin()
        one, rows = self._contexts(context)
        chosen = [self.arms_[number] for number in self._choose(rows)]
        return chosen[0] if one else chosen

    def propensities(self, context: Any) -> FloatArray:
        """Return the probability with which `select` would play each arm, in the order of `arms_`.

        It is 1 for a single arm unless decisions are drawn (exploration="thompson") or arms tie. Log it
        with each decision: off-policy estimates need it.

        Parameters
        ----------
        context : array-like of shape (features,) or (n, features), or a dict of features

        Returns
        -------
        array of shape (n_arms,) or (n, n_arms)
        """
        self._begin()
        one, rows = self._contexts(context)
        found = self._chances(rows)
        return found[0] if one else found

    def _contexts(self, context: Any) -> tuple[bool, FloatArray]:
        """Return whether this is a single context, and it or all of them as rows [n, d]."""
        one = isinstance(context, Mapping) or np.ndim(context) == 1
        return one, self._row(context) if one else self._rows(context)

    @property
    def pending_(self) -> dict[Any, float]:
        """How many decisions of each arm wait for a reward; one that never gets it is slowly forgotten."""
        self._begin()
        return dict(zip(self.arms_, self._pending.tolist(), strict=True))

    def _choose(self, rows: FloatArray) -> list[int]:
        """Return the numbers of the arms to play in contexts [n, d], one after the other."""
        if isinstance(self._learner, SurfaceLearner) and self._learner.moments[0, 0] >= FEWEST_KNOWN:
            posterior, found = self._learner.posterior(rows), []
            rule, weight = self._rule()
            drawn = sampling.draws(posterior, weight, self._random) if rule == "thompson" else None
            for t in range(len(rows)):
                one = Posterior(posterior.shares, *(part[t : t + 1] for part in posterior[1:]))
                scores = drawn[t] if drawn is not None else self._bounds(one, rule, weight)[0]
                found.append(self._decided(int(np.argmax(scores))))
            return found
        if isinstance(self._learner, ArmLearner):
            return [self._decided(self._gated(rows[t : t + 1])) for t in range(len(rows))]
        return [self._decided(int(self._random.integers(len(self.arms_)))) for _ in rows]

    @whole
    def decided(self, arm: Label) -> Any:
        """Count a decision for an arm as pending, as `select` does: one that was taken elsewhere."""
        self._begin()
        self._decided(logs.arm_number(self.arms_, arm))
        return self

    def _bounds(self, posterior: Posterior, rule: str, weight: float) -> FloatArray:
        """Return the scores [n, A] of rules that draw nothing.

        A line has 1 + d weights, so a decision in any other context tells on average 1 / (1 + d) of what one
        in this context would. With rewards up to 500 steps late, the regret on products is 558 then, and 584
        if pending decisions do not count at all (three tuning episodes).
        """
        assert self._features is not None
        pending = self._pending / (1.0 + self._features)
        return sampling.upper_bounds(posterior, weight if rule == "ucb" else 0.0, pending)

    def _decided(self, number: int) -> int:
        """Count a decision as pending, and return it."""
        self._pending *= 1.0 - 1.0 / PATIENCE
        self._pending[number] += 1.0
        return number

    def _gated(self, row: FloatArray) -> int:
        """Return the number of the arm to play, by networks with pseudo-counts."""
        learner = self._learner
        assert isinstance(learner, ArmLearner)
        forecast = learner.forecast(row)
        counts = np.where(learner.plays[:, None] > 0, COUNTS[self.pseudo_count](forecast), 0.0)
        unknown = np.flatnonzero(counts[:, 0] <= 0.0)
        if unknown.size:
            return int(self._random.choice(unknown))
        rule, weight = self._rule()
        return int(np.argmax(RULES[rule](forecast, counts, learner.rows, weight, self._random)))

    def _chances(self, rows: FloatArray) -> FloatArray:
        """Return the probability of each arm in contexts [n, d]: [n, A]."""
        learner, (rule, weight) = self._learner, self._rule()
        even = np.full((len(rows), len(self.arms_)), 1.0 / len(self.arms_))
        if isinstance(learner, SurfaceLearner):
            if learner.moments[0, 0] < FEWEST_KNOWN:
                return even
            posterior = learner.posterior(rows)
            if rule == "thompson":
                return sampling.chances(posterior, weight)
            return sampling.ties(self._bounds(posterior, rule, weight))
        if learner is None:
            return even
        forecast = learner.forecast(rows)
        counts = np.where(learner.plays[:, None] > 0, COUNTS[self.pseudo_count](forecast), 0.0)
        known = np.maximum(counts, np.finfo(float).tiny)
        if rule == "thompson":
            variance = (forecast.variance / known).T[..., None]
            posterior = Posterior(np.ones((len(counts), 1)), forecast.mean.T[..., None], variance, variance)
            found = sampling.chances(posterior, weight)
        else:
            found = sampling.ties(RULES[rule](forecast, known, learner.rows, weight, self._random).T)
        unknown = (counts <= 0.0).T
        share = unknown / np.maximum(unknown.sum(axis=1, keepdims=True), 1)
        return np.where(unknown.any(axis=1, keepdims=True), share, found)

    def _rule(self) -> tuple[str, float]:
        """Return how arms are explored, and the factor on deviations or on the bonus."""
        exact = self._exact
        rule = self.exploration or ("ucb" if exact else "thompson")
        usual = EXACT_WEIGHT if exact else GATED_WEIGHT
        return rule, usual if self.exploration_weight is None else self.exploration_weight

    @property
    def _exact(self) -> bool:
        """Whether arms have posteriors in closed form; trees of rewards do not."""
        return self.step == "newton" and self.reward != "ctree"

    def predict(self, contexts: ArrayLike) -> Any:
        """Return the arm that is expected to pay most: for a 1-D context, or a list for each of several.

        An arm that was never played is not chosen, unless none was, because nothing is known about it.
        `select` does choose it.
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
            Whether to return the rewards' predictive standard deviation as well.

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
        if isinstance(self._learner, SurfaceLearner):
            posterior = self._learner.posterior(rows)
            mean, std = posterior.mean().T, np.sqrt(posterior.variance() + posterior.noise()).T
            if self.reward == "bernoulli":
                mean = np.clip(mean, 0.0, 1.0)
        elif self._learner is not None:
            forecast = self._learner.forecast(rows)
            mean, std = forecast.mean, np.sqrt(forecast.variance)
            shift, scale = self._learner.units()
        expected, deviation = (shift + scale * mean).T, (scale * std).T
        if one:
            expected, deviation = expected[0], deviation[0]
        return (expected, deviation) if return_std else expected

    def evaluate(
        self,
        contexts: ArrayLike,
        arms: Sequence[Label],
        rewards: ArrayLike,
        propensities: ArrayLike,
        policy: Any = None,
    ) -> PolicyValues:
        """Estimate from logged decisions what a policy would earn per decision; by default, `predict`.

        The decisions must not have been learnt: keep the last part of a log for this. See `PolicyValues`.

        Parameters
        ----------
        contexts, arms, rewards, propensities :
            The log, as `partial_fit` takes it.
        policy : optional
            Another policy; the expectations of this one are then the model. See `ggln.bandits.evaluate`.
        """
        self._begin()
        expected = np.atleast_2d(self.predict_expectations(contexts))
        count = expected.shape[0]
        numbers = logs.arm_numbers(self.arms_, arms, count)
        paid, chances = self._rewards("rewards", rewards, count), logs.probabilities(propensities, count)
        if policy is None:
            best = self._known(expected).argmax(axis=1)
            return policy_values(expected, np.eye(len(self.arms_))[best], numbers, paid, chances)
        return policy_values(expected, chances_of(policy, contexts, self.arms_), numbers, paid, chances)

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
