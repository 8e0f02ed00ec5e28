"""`GLCB`: contextual bandits with gated linear networks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _get_feature_names

from ggln import persistence
from ggln.bandits import likes, logs, networks
from ggln.bandits.exploration import COUNTS, RULES
from ggln.bandits.policy_mixin import Label, PolicyMixin
from ggln.engine import constants
from ggln.engine.arms.learner import ArmLearner, Decisions
from ggln.engine.checks import numbered, require
from ggln.engine.surfaces.learner import SurfaceLearner
from ggln.engine.threads import Threads
from ggln.estimators.base import draw_seed, take_names
from ggln.estimators.named_rows import with_names
from ggln.estimators.ranges import RATE, SEED, Interval, LateParameters
from ggln.estimators.regressor import GGLNRegressor
from ggln.estimators.whole import Uninterrupted, lock_of, parts, whole
from ggln.estimators.workers import threads_for

FloatArray = NDArray[np.float64]
EXPLORING = 3
"""The stream of random numbers for exploration; in `build` that of hinges, which arms do not have."""
ONE = Threads(1)
MOST_ARMS = 10**6
"""Each is looked at for every decision."""
AT_ONCE = ("exploration", "exploration_weight", "pseudo_count", "n_jobs")
"""Parameters that may be set at any time; of the others, what was learnt is made."""


class GLCB(PolicyMixin, LateParameters, BaseEstimator):
    """Choose among arms by context, and learn online what they pay: gated linear contextual bandits.

    Every arm has closed-form posteriors of what it pays: Bayesian regressions on the features, on their
    products and on smooth bumps, weighted by their predictions from before they learnt. The width of the
    posterior says how little is known about an arm in a context. Decisions are learnt one at a time. The
    first 2048 of each arm are kept, in order to solve it afresh as they grow. With step="capped" or "ogd"
    an arm has gated linear networks by gradient descent instead, and their gates say how little is known.

    Parameters
    ----------
    n_arms : int, optional
        Number of arms, called 0, 1, ...; or give `arms`.
    arms : sequence of str or int, optional
        The arms by name.
    reward : {"gaussian", "bernoulli", "ctree"}
        What rewards are: any numbers; 0 or 1, and numbers in between; or numbers in `reward_range`, cut into
        2**depth bins, with a tree of Bernoulli variables over them that can have any shape of distribution.
    exploration : {"thompson", "ucb", "bonus", "greedy"} or None
        How to try arms about which little is known: by a draw from the posterior of their mean reward, by
        an upper confidence bound on it, by the paper's bonus sqrt(log t / N) with N the pseudo-count, or
        not at all. None is "ucb" with posteriors, where "bonus" is the same as "greedy", and "thompson"
        with networks.
    exploration_weight : float, optional
        Factor on the posterior's deviation, or on the bonus. None is 1 with posteriors, 0.3 with networks.
    pseudo_count : {"soft_min", "mean", "leverage"}
        What N is, with networks. If N_k says how often the arm was played in the active context of neuron
        k, N is the soft minimum (mean (1 + N_k)^-1/2)^-2 - 1, or the mean, as in the paper. Or the number
        of decisions that the joint regression of base_model="linear" has seen in the context's direction.
    reward_range : (float, float) or None
        Rewards from this range are mapped to [0, 1]; None standardises them, by the first 1024 decisions.
        `exploration_weight` is in these units. With reward="ctree", None is (0, 1).
    arm_features : dict of arms and arrays, optional
        Descriptions of arms: an arm that is added later begins from similar arms. See `add_arm`.
    depth : int, 1 to 8
        Of the tree of reward="ctree".
    layer_sizes, context_dim, n_estimators, gating, gating_bias : optional
        Of each arm's networks, as in `GGLNRegressor`. Gates cannot come from trees here.
    base_model : {"linear", "blr", "feature", "none"}
        As in `GGLNRegressor`. "linear" puts a Bayesian linear regression on all features together beside the
        features themselves.
    base_variance, bias_range, bias_variance, min_variance, max_variance, projection, barrier : optional
        As in `GGLNRegressor`. These and `base_model` are for Gaussian rewards. The networks of the other
        kinds take the features as logits, and have probabilities in [0.01, 0.99].
    learning_rate, weight_range : optional
        As in `GGLNRegressor`. None takes 0.03 and (0, 1000) for Gaussian rewards, 0.1 and (-200, 200) else.
    step : {"newton", "capped", "ogd"}
        "newton": posteriors in closed form. The others are gradient steps of networks, as in
        `GGLNRegressor`; all parameters of networks are for them. Trees (reward="ctree") always learn by
        gradient steps; with "newton", by capped ones.
    aggregation, standardize : optional
        As in `GGLNRegressor`; `standardize` is about contexts.
    random_state : None, int or RandomState
        Seed of gates and of exploration: with it, decisions are reproducible.
    n_jobs : None or int
        Threads of `partial_fit`. The result does not depend on them.

    Attributes
    ----------
    arms_ : list
        The current arms, in the order of `predict_expectations`.
    n_features_in_, feature_names_in_ :
        Length of a context, and the names of its features if the first ones learnt had some: the columns of
        a data frame, or the keys of a dict.

    Examples
    --------
    >>> import numpy as np
    >>> from ggln.bandits import GLCB
    >>> random = np.random.default_rng(0)
    >>> policy = GLCB(arms=["tea", "coffee"], random_state=0)
    >>> for _ in range(200):
    ...     hour = random.uniform(0, 24, size=1)
    ...     arm = policy.select(hour)
    ...     pleasure = float((arm == "tea") == (hour[0] > 14)) + 0.1 * random.standard_normal()
    ...     _ = policy.update(hour, arm, pleasure)
    >>> policy.predict([[8.0], [20.0]])
    ['coffee', 'tea']
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **{name: GGLNRegressor._parameter_constraints[name] for name in networks.PARAMETERS},
        "n_arms": [Interval(Integral, 1, MOST_ARMS, closed="both"), None],
        "arms": ["array-like", None],
        "reward": [StrOptions({"gaussian", "bernoulli", "ctree"})],
        "depth": [Interval(Integral, 1, 8, closed="both")],
        "exploration": [StrOptions(set(RULES)), None],
        "exploration_weight": [Interval(Real, 0, 1e9, closed="both"), None],
        "pseudo_count": [StrOptions(set(COUNTS))],
        "reward_range": ["array-like", None],
        "arm_features": [dict, None],
        "step": [StrOptions({"newton", "capped", "ogd"})],
        "gating": [StrOptions({"sphere", "axis", "mixed"})],
        "base_model": [StrOptions({"none", "feature", "blr", "linear"})],
        "learning_rate": [RATE, None],
        "weight_range": ["array-like", None],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both")],
        "standardize": ["boolean"],
        "random_state": SEED,
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        arms: Sequence[Label] | None = None,
        reward: str = "gaussian",
        exploration: str | None = None,
        exploration_weight: float | None = None,
        pseudo_count: str = "soft_min",
        reward_range: tuple[float, float] | None = None,
        arm_features: Mapping[Label, ArrayLike] | None = None,
        depth: int = 3,
        layer_sizes: Sequence[int] = (32, 32, 32),
        context_dim: int = 4,
        n_estimators: int = 1,
        gating: str = "mixed",
        gating_bias: float | str = "data",
        base_model: str = "linear",
        base_variance: float | None = 100.0,
        bias_range: float = 5.0,
        bias_variance: float = 10.0,
        learning_rate: float | None = None,
        step: str = "newton",
        projection: str = "clip",
        barrier: float = 1e-6,
        weight_range: tuple[float, float] | None = None,
        min_variance: float = 1e-3,
        max_variance: float = 1e2,
        aggregation: str = "switching",
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_arms = n_arms
        self.arms = arms
        self.reward = reward
        self.exploration = exploration
        self.exploration_weight = exploration_weight
        self.pseudo_count = pseudo_count
        self.reward_range = reward_range
        self.arm_features = arm_features
        self.depth = depth
        self.layer_sizes = layer_sizes
        self.context_dim = context_dim
        self.n_estimators = n_estimators
        self.gating = gating
        self.gating_bias = gating_bias
        self.base_model = base_model
        self.base_variance = base_variance
        self.bias_range = bias_range
        self.bias_variance = bias_variance
        self.learning_rate = learning_rate
        self.step = step
        self.projection = projection
        self.barrier = barrier
        self.weight_range = weight_range
        self.min_variance = min_variance
        self.max_variance = max_variance
        self.aggregation = aggregation
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    _seed: int
    _given: dict[str, Any]  # parameters that it began with
    _described: dict[Any, FloatArray]  # features of arms
    _retired: dict[Any, SurfaceLearner]  # arms that were removed, and may come back

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show the arms there are by now, whichever it began with."""
        if not hasattr(self, "arms_"):
            return str(super().__repr__(N_CHAR_MAX))
        count, names = self._given["n_arms"], self._given["arms"]
        if self.arms_ == list(range(count) if names is None else names):
            return str(super().__repr__(N_CHAR_MAX))
        now = self.get_params() | {"n_arms": None, "arms": self.arms_}
        return repr(type(self)(**now))

    # Learning ------------------------------------------------------------------------------------------

    @whole
    def update(self, context: ArrayLike, arm: Label, reward: float) -> Self:
        """Learn what an arm paid in a context."""
        self._begin()
        row, number = self._row(context), logs.arm_number(self.arms_, arm)
        paid = self._rewards("reward", [reward], 1)
        learner = self._learner or self._new_learner(row.shape[1])
        self._learn(learner, Decisions(row, np.array([number]), paid[:, None], np.ones(1)), ONE)
        self._keep(learner, with_names(context)[0])
        return self

    def partial_fit(
        self,
        contexts: ArrayLike,
        arms: Sequence[Label],
        rewards: ArrayLike,
        propensities: ArrayLike | None = None,
    ) -> Self:
        """Learn logged decisions in their order, as so many calls of `update` would.

        Parameters
        ----------
        contexts : array-like of shape (n, features)
        arms : sequence of n arms
            What was played.
        rewards : array-like of shape (n,)
            What it paid.
        propensities : array-like of shape (n,), optional
            The probability with which the policy of the log played that arm. Each decision's step is then
            multiplied by 1 / (arms * propensity), between 1/5 and 5: contexts count as they would if arms
            had been played evenly. Without them, all decisions count alike. That is also right if the log's
            policy saw nothing that is missing from the contexts, and it varies less. The regression of
            base_model="linear" counts all decisions alike.
        """
        with lock_of(self):
            self._learn_log(contexts, arms, rewards, propensities)
        return self

    def _learn_log(self, contexts: ArrayLike, arms: Any, rewards: ArrayLike, propensities: Any) -> None:
        """Learn logged decisions part by part, each as a whole."""
        self._begin()
        rows, names = self._rows(contexts), _get_feature_names(contexts)
        count = rows.shape[0]
        numbers = logs.arm_numbers(self.arms_, arms, count)
        paid = self._rewards("rewards", rewards, count)
        paces = np.ones(count)
        if propensities is not None:
            paces = logs.weights(logs.probabilities(propensities, count), len(self.arms_))
        learner = self._learner or self._new_learner(rows.shape[1])
        log = Decisions(rows, numbers, paid[:, None], paces)
        with threads_for(self.n_jobs) as threads:
            for own in parts(count):
                with Uninterrupted():
                    self._learn(learner, log.take(own), threads)
                    self._keep(learner, names)

    def _learn(self, learner: ArmLearner | SurfaceLearner, decisions: Decisions, threads: Threads) -> None:
        """Learn decisions in their order, which then wait no more."""
        if isinstance(learner, SurfaceLearner):
            for context, arm, reward, pace in zip(*decisions, strict=True):
                learner.learn(context, int(arm), float(reward[0]), float(pace))
        else:
            learner.learn(decisions, threads)
        came = np.bincount(decisions.arms, minlength=len(self.arms_))
        self._pending = np.maximum(self._pending - came, 0.0)

    # Arms ----------------------------------------------------------------------------------------------

    @whole
    def add_arm(self, arm: Label | None = None, features: ArrayLike | None = None) -> Self:
        """Add an arm; by default its name is the smallest number that is not taken.

        An arm that was removed comes back with all that was known about it. A new one begins with the prior
        that the rewards of the others give or, if arms are described, from similar arms.

        Parameters
        ----------
        arm : str or int, optional
        features : array-like, optional
            Description of the arm, as in `arm_features`.
        """
        self._begin()
        if arm is None:
            arm = next(number for number in range(len(self.arms_) + 1) if number not in self.arms_)
        names = logs.labels([*self.arms_, arm])
        described = likes.described(self._described, names[-1], features)
        if names[-1] in self._retired:
            assert isinstance(self._learner, SurfaceLearner)
            self._learner.put(self._retired.pop(names[-1]))
        elif isinstance(self._learner, SurfaceLearner):
            self._learner.add(likes.rows_lent(described, self.arms_, names[-1]))
        elif self._learner is not None:
            self._learner.add()
        self.arms_, self._described = names, described
        self._pending = np.append(self._pending, 0.0)
        return self

    @whole
    def remove_arm(self, arm: Label, forget: bool = False) -> Self:
        """Remove an arm. `add_arm` brings it back as it was, unless it is to be forgotten.

        With step="capped" and "ogd" it is always forgotten.
        """
        self._begin()
        number = logs.arm_number(self.arms_, arm)
        if len(self.arms_) == 1:
            raise ValueError(f"arm {arm!r} is the only one: a policy needs at least one")
        others = [other for other in range(len(self.arms_)) if other != number]
        if isinstance(self._learner, SurfaceLearner):
            if not forget:
                self._retired[self.arms_[number]] = self._learner.take([number])
            self._learner = self._learner.take(others)
        elif self._learner is not None:
            self._learner.remove(number)
        self.arms_ = [self.arms_[other] for other in others]
        self._pending = self._pending[others]
        return self

    @whole
    def warm_start(self, arm: Label, like: Label, rows: float = likes.ROWS) -> Self:
        """Let an arm begin with what is known about another, as if it had paid the same in that many rows.

        The arm's own rewards count as well, and soon count more.
        """
        self._begin()
        number, other = logs.arm_number(self.arms_, arm), logs.arm_number(self.arms_, like)
        if not isinstance(self._learner, SurfaceLearner):
            raise ValueError('warm_start needs step="newton" and something learnt: update the policy first')
        if number == other or not 0.0 < rows <= likes.MOST_ROWS:
            raise ValueError(
                f"warm_start needs another arm and rows in (0, {likes.MOST_ROWS:g}], "
                f"got {like!r} and {rows!r}"
            )
        self._learner.borrow(number, [(other, float(rows))])
        return self

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file that `ggln.load` reads; it then decides as this one would have."""
        self._begin()
        header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "parameters": {**self.get_params(), "random_state": self._seed, "arm_features": None},
            "arms": self.arms_,
            "pending": self._pending.tolist(),
            "described": [[arm, features.tolist()] for arm, features in self._described.items()],
            "retired": [],
            "random": self._random.bit_generator.state,
            "feature_names": None if self._names is None else list(self._names),
        }
        arrays: persistence.Arrays = {}
        if self._learner is not None:
            header["learner"], arrays = self._learner.state()
        for number, (arm, learner) in enumerate(self._retired.items()):
            values, own = learner.state()
            header["retired"].append([arm, values])
            arrays |= {f"retired.{number}.{name}": array for name, array in own.items()}
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        parameters = header["parameters"]
        for name in ("layer_sizes", "weight_range", "reward_range"):
            if isinstance(parameters[name], list):
                parameters[name] = tuple(parameters[name])
        policy = cls(**parameters)
        policy._begin()
        policy.arms_ = logs.labels(list(header["arms"]))
        policy._random.bit_generator.state = header["random"]
        if "learner" in header:
            kind = SurfaceLearner if policy._exact else ArmLearner
            own = {name: array for name, array in arrays.items() if not name.startswith("retired.")}
            policy._keep(policy._fitting(kind.from_state(header["learner"], own)), header["feature_names"])
            take_names(policy, header)
        policy._pending = np.array(header.get("pending", [0.0] * len(policy.arms_)), np.float64)
        sane = policy._pending.shape == (len(policy.arms_),) and np.isfinite(policy._pending).all()
        require(sane and (policy._pending >= 0.0).all(), "pending decisions are not those of the arms")
        retired = header.get("retired", [])
        logs.labels([*policy.arms_, *(arm for arm, _ in retired)])
        for arm, features in header.get("described", []):
            policy._described = likes.described(policy._described, arm, features)
        for (arm, values), own in zip(retired, numbered(arrays, "retired."), strict=True):
            learner = SurfaceLearner.from_state(values, own)
            require(learner.features == policy._features and len(learner.names) == 1, f"{arm!r} is no arm")
            policy._retired[arm] = learner
        return policy

    def _fitting(self, learner: ArmLearner | SurfaceLearner) -> ArmLearner | SurfaceLearner:
        """Return a learner from a file, if it is one for these arms and rewards."""
        fits = len(learner.plays) == len(self.arms_)
        if isinstance(learner, ArmLearner):
            settings = networks.settings(self.get_params(), learner.features, self._seed)
            own = learner.settings
            fits &= (own.family, own.outputs) == (settings.family, settings.outputs)
            fits &= learner.reward_range == self._range
        require(fits, "the learner is not one of these arms and rewards")
        return learner

    # Checks --------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Check the parameters and name the arms, at the first call of anything."""
        if hasattr(self, "arms_"):
            if self._unchecked:
                self._refuse_changes()
                self._require_parameters()
            return
        self._require_parameters(begin=True)
        labels = self._labels()
        self._range = networks.reward_range(self.get_params())
        self._seed = draw_seed(self.random_state)
        self._random = np.random.default_rng([self._seed, EXPLORING])
        self._learner = None
        self._described = likes.check(self.arm_features, labels)
        self._retired = {}
        self._pending = np.zeros(len(labels))
        self._given = self.get_params(deep=False)
        self.arms_ = labels

    def _check_parameters(self) -> None:
        self._validate_params()
        labels = self._labels()
        networks.check(self.get_params())
        likes.check(self.arm_features, labels)

    def _labels(self) -> list[str | int]:
        """Return the arms to begin with."""
        if (self.n_arms is None) == (self.arms is None):
            raise ValueError("give either n_arms or arms: how many there are, or their names")
        return logs.labels(list(range(self.n_arms or 0) if self.arms is None else self.arms))

    def _refuse_changes(self) -> None:
        """Refuse parameters that were set since, and that only a new policy could have."""
        for name, value in self.get_params(deep=False).items():
            before = self._given[name]
            if name not in AT_ONCE and value is not before and repr(value) != repr(before):
                raise ValueError(
                    f"{name} was {before!r} when the policy began and cannot be {value!r} now: set it back, "
                    "or make a new GLCB"
                )

    def _new_learner(self, features: int) -> ArmLearner | SurfaceLearner:
        if self._exact:
            return SurfaceLearner(features, len(self.arms_), self._seed)
        settings = networks.settings(self.get_params(), features, self._seed)
        return ArmLearner(settings, len(self.arms_), self._range)

    def _keep(self, learner: ArmLearner | SurfaceLearner, names: Any) -> None:
        """Keep what was learnt and, of the first contexts, the names of their features if they have some."""
        if self._learner is None and names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._learner, self.n_features_in_ = learner, learner.features
